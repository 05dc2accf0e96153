"""What a fault is: a name, what it hits, how it is done by levers, and what counts as landed.

Beginning a fault proves nothing. It has landed when counts in its evidence, taken where its levers
act, are above zero; a rule that rests on a fault is only judged where it landed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from harness.deployments.deployment import Deployment, Role
from harness.levers import Lever
from nemesis.targets import Takes, Target

ONE_LEADER, REPLICA_UP = "one-leader", "replica-up"
STOOD_STILL = ("threads_stopped", "callbacks_stalled", "questions_unanswered")
NODES = (Role.BROKER, Role.CONTROLLER, Role.CLIENT)

Options = Mapping[str, Any]
Inject = Callable[[Deployment, Target, Options], Awaitable[Sequence[Lever]]]
Landed = tuple[tuple[str, ...], ...]


class State(Enum):
    """What a node is while a fault is in force."""

    RUNNING = "running"
    STANDING = "standing still"
    DOWN = "down"


class OnHold(Enum):
    """What a fault does with requests that a `hold-request` on the same target holds."""

    IGNORES = "ignores them"
    NEEDS = "is about them"
    ENDS = "is about them if there are any, and holds none any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault. Each group of `landed` names counts of which one must be above zero."""

    name: str
    roles: tuple[Role, ...]
    takes: Takes
    does: str
    levers: tuple[str, ...]  # all of them are needed
    landed: Landed
    inject: Inject
    suspends: Mapping[Role, str] = field(default_factory=dict)  # by role of the nodes it hits
    state: State = State.RUNNING  # of the nodes it hits, while it is in force
    later: bool = False  # they are in that state only once it has landed
    at_once: bool = False  # over as soon as it has begun
    on_hold: OnHold = OnHold.IGNORES
    brokers: int = 0  # that a deployment needs, if brokers are hit
    options: Options = field(default_factory=dict)  # with their defaults
    targets: tuple[str, ...] = ()  # usual ones; {partition}, {client} and {object} are filled in

    def has_landed(self, evidence: Mapping[str, object]) -> bool:
        """Whether this evidence shows that the fault acted."""
        counted = {name for name, count in evidence.items() if isinstance(count, int) and count > 0}
        return bool(self.landed) and all(counted.intersection(group) for group in self.landed)
