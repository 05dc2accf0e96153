"""What can go wrong around a system under test, and whose fault it is.

    LabError
     ├─ UsageError           what was asked for cannot be done         exit 64
     │   └─ NoAnswer            nothing that the lab can read comes from an address
     ├─ AdapterError         the program in between misbehaves         verdict BROKEN, exit 3
     │   ├─ CannotConnect       it cannot be started or reached
     │   └─ ProtocolBreach      it says something that has no meaning
     ├─ DidNotStart          what the lab started does not get ready   judged: KFK-097
     └─ LabBroken            the lab itself failed                     verdict BROKEN, exit 3

A wrong boundary, an error code or a lost reply is none of these: that is behaviour, it is recorded
in the history and judged there. An error of this tree means that no history could be recorded.
"""

from __future__ import annotations


class LabError(Exception):
    """Root of everything that keeps a run from being recorded."""

    exit_code = 3


class UsageError(LabError):
    """The request cannot be carried out as written; the message says what would be possible."""

    exit_code = 64


class NoAnswer(UsageError):
    """An address hangs up, is silent, or says what is no answer."""


class AdapterError(LabError):
    """The program that connects the lab to a system misbehaves; the system is not judged."""


class CannotConnect(AdapterError):
    """Nothing usable answers where the SUT file points."""


class ProtocolBreach(AdapterError):
    """The program answered something that the protocol does not allow."""

    def __init__(self, what: str, *, got: str, want: str, see: str = "exec-protocol") -> None:
        super().__init__(
            f"{what}\n  got:  {got}\n  want: {want}\n  see:  harness/sut/README.md#{see}"
        )


class DidNotStart(LabError):
    """Nodes that the lab started run, and are not ready to serve within the bound.

    `nodes` are rows of the probe `nodes` that say so: where they are recorded, it is judged.
    """

    def __init__(self, what: str, nodes: list[dict[str, object]]) -> None:
        super().__init__(what)
        self.nodes = nodes


class LabBroken(LabError):
    """The lab itself failed; nothing follows from this run."""


def shown(line: bytes, *, limit: int = 160) -> str:
    """A piece of output for a message: printable, and never longer than a line."""
    text = line[:limit].decode("utf-8", "replace")
    clean = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    return clean + (" …" if len(line) > limit else "")


class Stopped(BaseException):
    """A command was stopped by its user; the message says what is kept, and how to go on.

    No `KeyboardInterrupt`: the library of the command line ends without a word on that.
    """
