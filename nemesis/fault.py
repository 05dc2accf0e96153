"""What a fault is: a name, the role it hits, what it does, and what counts as landed.

Beginning a fault proves nothing. It has landed when a count in its evidence, taken where the fault
acts, is above zero; a rule that rests on a fault is only judged where it landed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """Whom a fault hits."""

    CLIENT = "client"
    NODE = "node"
    DISK = "disk of a node"
    CLOCK = "clock of a node"
    LINK = "link between two of them"
    CONTROL_PLANE = "control plane"
    OBJECT_STORE = "object store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault; `landed` is the evidence key that must count at least one."""

    name: str
    role: Role
    does: str
    landed: str
    shows: str
    verb: str = ""  # how a script asks for it, where one can
    healed_by: tuple[str, ...] = ()  # verbs that end it; none: it is over at once

    def has_landed(self, evidence: Mapping[str, object]) -> bool:
        """Whether this evidence shows that the fault bit."""
        count = evidence.get(self.landed)
        return isinstance(count, int) and count > 0
