"""The agent protocol: one JSON object a line, a question in, its answer out.

    ← {"ready": true}                                     once, when it can be asked
    → {"id": 7, "f": "register_leader_epoch", "topic": "t", "partition": 0, "leader_epoch": 6}
    ← {"id": 7, "error": "NONE", "boundary": -1, "epoch": 6, "reset_epoch": -1}

An agent whose ready line has `"several_partitions": true` may also be asked about several at once:

    → {"id": 8, "f": "commit_batch", "partitions": [{"topic": "t", "partition": 0, …}, …]}
    ← {"id": 8, "partitions": [{"error": "NONE", "boundary": 10, …}, …]}      in the same order

The shape of every line is in `control_plane.schema.json`; a line that does not fit it is a
`ProtocolBreach`, never a finding against the system behind it. What the schema cannot say is said
here: the id must be that of the open question, and an answer with a known outcome carries what the
question asked for.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from harness.errors import ProtocolBreach, shown
from harness.sut.calls import Value
from reference_impl.ports.control_plane import BoundaryError

SCHEMA_FILE = Path(__file__).with_name("control_plane.schema.json")

# What an answer must carry beyond the state, when the call succeeded.
ANSWERS_WITH: Mapping[str, tuple[str, ...]] = {
    "describe_producers": ("seeds",),
    "commit_batch": ("base_offset",),
}

# What an answer may tell about the stored state; the boundary always, once it is definite.
STATE = ("boundary", "epoch", "reset_epoch", "seeds", "base_offset")
_ALWAYS = STATE[:1]
# A refusal for which a system has no name of ours: nothing changed.
REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: an error name and, when the outcome is known, the stored state."""

    error: str
    stored: Mapping[str, object] = field(hash=False)

    @classmethod
    def of(cls, reply: Mapping[str, object]) -> Answer:
        """What a reply of the reference says; its form needs no check."""
        stored = {name: reply[name] for name in STATE if reply.get(name) is not None}
        return cls(error=str(reply["error"]), stored=stored)

    @property
    def definite(self) -> bool:
        """Whether it says what happened; an unknown error says nothing."""
        if self.error == REFUSED:
            return True
        return self.error in BoundaryError.__members__ and BoundaryError(self.error).definite


def question(number: int, f: str, arguments: Mapping[str, Value]) -> bytes:
    """The line that asks; arguments that are absent are left out."""
    return _line({"id": number, "f": f, **_present(arguments)})


def question_many(number: int, f: str, partitions: Sequence[Mapping[str, Value]]) -> bytes:
    """The line that asks about several partitions at once."""
    return _line({"id": number, "f": f, "partitions": [_present(one) for one in partitions]})


def _present(arguments: Mapping[str, Value]) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if value is not None}


def _line(said: Mapping[str, object]) -> bytes:
    return json.dumps(said, separators=(",", ":")).encode()


def read_ready(line: bytes, *, called: str) -> bool:
    """The first line, and whether it understands questions about several partitions; anything but
    a ready sign is a breach."""
    said = _object(line, called)
    _fit(said, "ready", line, called, want='{"ready": true} as its first line')
    return bool(said.get("several_partitions"))


def read_answers(
    line: bytes, *, called: str, number: int | None, f: str, several: int | None
) -> Sequence[Answer]:
    """The answer to the open question for each of its partitions; `several` says how many, if it
    was one about several."""
    if several is None:
        return [read_answer(line, called=called, number=number, f=f)]
    want = f"an answer to {f!r} for each of {several} partitions"
    found = _object(line, called)
    _fit(found, "answers", line, called, want=want)
    _check_id(found, line, called, number)
    if len(found["partitions"]) != several:
        raise ProtocolBreach(
            f"{called} answered for {len(found['partitions'])} partitions.",
            got=shown(line),
            want=want,
        )
    return [_answer(one, line, called, f) for one in found["partitions"]]


def read_answer(line: bytes, *, called: str, number: int | None, f: str) -> Answer:
    """The answer to the open question (None: there is none, so nothing may be said)."""
    found = _object(line, called)
    if number is None:
        raise ProtocolBreach(
            f"{called} spoke without being asked.", got=shown(line), want="silence until a question"
        )
    _fit(found, "answer", line, called, want=f"an answer to {f!r}")
    _check_id(found, line, called, number)
    return _answer(found, line, called, f)


def _check_id(found: Mapping[str, Any], line: bytes, called: str, number: int | None) -> None:
    if found["id"] != number:
        raise ProtocolBreach(
            f"{called} answered another question.", got=shown(line), want=f'"id": {number}'
        )


def _answer(found: Mapping[str, Any], line: bytes, called: str, f: str) -> Answer:
    """What is said about one partition."""
    asked_for = (*STATE[:3], *ANSWERS_WITH.get(f, ()))
    stored = {name: found[name] for name in asked_for if found.get(name) is not None}
    answer = Answer(error=found["error"], stored=stored)
    for name in _needed(f, answer):
        if name not in stored:
            raise ProtocolBreach(
                f"{called} answered {f!r} without {name!r}.",
                got=shown(line),
                want=f'"{name}": …, because {answer.error} says what happened',
                see=f,
            )
    return answer


def _needed(f: str, answer: Answer) -> tuple[str, ...]:
    if not answer.definite:
        return ()
    if answer.error == BoundaryError.NONE:
        return (*_ALWAYS, *ANSWERS_WITH.get(f, ()))
    return _ALWAYS


def _object(line: bytes, called: str) -> dict[str, Any]:
    try:
        # A float is no offset, not even 1.0; as text it fails the schema with a clear message.
        found = json.loads(line, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProtocolBreach(
            f"{called} printed something that is not a JSON object.",
            got=shown(line),
            want="one JSON object a line, and nothing else on its output",
        )
    return found


def _fit(found: dict[str, Any], what: str, line: bytes, called: str, *, want: str) -> None:
    problem = jsonschema.exceptions.best_match(_validator(what).iter_errors(found))
    if problem is not None:
        where = "/".join(str(part) for part in problem.absolute_path)
        raise ProtocolBreach(
            f"{called} printed a line that does not fit: {where + ': ' if where else ''}"
            f"{problem.message[:200]}.",
            got=shown(line),
            want=want,
        )


@functools.cache
def _validator(what: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{what}"})
