"""The faults of the boundary register, as data.

A fault is a name, the role it hits, what it does, and what counts as landed: a count in its
evidence that must be above zero. Beginning a fault proves nothing; a rule that rests on one is only
judged where it landed. The worlds of the harness carry them out (the verb is how a script asks for
one); this table says what they are, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Role(Enum):
    """Whom a fault hits."""

    CLIENT = "client"
    CONTROL_PLANE = "control plane"
    LINK = "link between a client and the control plane"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault; `landed` is the evidence key that must count at least one."""

    name: str
    role: Role
    verb: str
    does: str
    landed: str
    shows: str
    healed_by: tuple[str, ...] = ()  # verbs that end it; none: it is over at once

    def has_landed(self, evidence: Mapping[str, object]) -> bool:
        """Whether this evidence shows that the fault bit."""
        count = evidence.get(self.landed)
        return isinstance(count, int) and count > 0


_ALL = (
    Fault(
        name="hold-request",
        role=Role.LINK,
        verb="hold",
        does="keeps a request in the network before the control plane sees it",
        landed="requests_held",
        shows="requests that wait in the proxy (bytes_held: how much of them)",
        healed_by=("release", "lose", "drop", "kill"),
    ),
    Fault(
        name="split-request",
        role=Role.LINK,
        verb="step",
        does="lets one transaction of a held request through and keeps the rest",
        landed="transactions_passed",
        shows="transactions that went through; requests_left says whether more of it waits",
    ),
    Fault(
        name="lose-reply",
        role=Role.LINK,
        verb="lose",
        does="has a request carried out and loses the reply on its way back",
        landed="replies_dropped",
        shows="replies thrown away after the commit (bytes_dropped: how much of them)",
    ),
    Fault(
        name="drop-request",
        role=Role.LINK,
        verb="drop",
        does="loses a request before the control plane sees it",
        landed="requests_dropped",
        shows="requests thrown away (bytes_dropped: how much of them)",
    ),
    Fault(
        name="kill-client",
        role=Role.CLIENT,
        verb="kill",
        does="kills a client at once while its operation is open",
        landed="operations_open",
        shows="operations that were open when it died",
    ),
    Fault(
        name="pause-client",
        role=Role.CLIENT,
        verb="pause",
        does="stops a client in its tracks; resumed, it does not know that time has passed",
        landed="requests_stalled",
        shows="requests that were open while it stood still",
        healed_by=("resume", "kill"),
    ),
    Fault(
        name="control-plane-refused",
        role=Role.CONTROL_PLANE,
        verb="refuse",
        does="refuses connections to the control plane and resets those that are used",
        landed="refusals",
        shows="connections and requests that were turned away",
        healed_by=("heal",),
    ),
    Fault(
        name="control-plane-broken",
        role=Role.CONTROL_PLANE,
        verb="break",
        does="makes the control plane answer every call with a hard error",
        landed="errors_answered",
        shows="errors that the database answered (sqlstate: the last of them)",
        healed_by=("mend",),
    ),
)

FAULTS: Mapping[str, Fault] = MappingProxyType({fault.name: fault for fault in _ALL})


def fault_of_verb(verb: str) -> Fault | None:
    """The fault that a verb of the script language is, if it is one."""
    return next((fault for fault in _ALL if fault.verb == verb), None)


def has_landed(name: str, evidence: Mapping[str, object]) -> bool:
    """Whether the evidence of a fault line shows that it bit; an unknown fault never did."""
    fault = FAULTS.get(name)
    return fault is not None and fault.has_landed(evidence)
