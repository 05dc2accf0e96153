"""What a deployment is: a system that runs in a world, with levers and probes.

What drives a run sees this and nothing else: where the roles are, what can be done to them
(`levers`), what can be seen of them from outside (`probe`), how time passes. Whether behind it are
nodes of a simulation, processes, containers or a cluster by address shows only in what is
offered: a lever or a probe that is not offered is never pulled, and the plan of a run says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from harness.errors import LabBroken
from harness.history.recorder import Recorder
from harness.levers import Lever
from harness.sut.protocol import Answer
from reference_impl.ports import Address, Network, ObjectStore

if TYPE_CHECKING:
    from harness.simulation.gate import Act

Result = TypeVar("Result")
Row = dict[str, object]
Names = Sequence[str]

CONTROL_PLANE = "control-plane"
OBJECT_STORE = "object-store"


class Role(StrEnum):
    """What a part of a deployment is for."""

    BROKER = "broker"
    CONTROLLER = "controller"
    CONTROL_PLANE = "control-plane"
    OBJECT_STORE = "object-store"
    CLIENT = "client"


class Hold(Lever, Protocol):
    """A lever that keeps requests in the network, and can let single transactions through."""

    async def pass_one(self) -> int:
        """Let one transaction through and wait until it is over or the next one is held; how many
        passed."""
        ...

    async def drop(self) -> None:
        """What is held never arrives, and nothing is held any more."""
        ...


class Levers:
    """What can be done to a deployment; `offered` names the methods that do something here.

    Nodes are brokers, the controller and clients, by name. Services are `control-plane` and
    `object-store`; what happens to a service happens to the calls of all nodes, or of `caller`.
    A deployment overrides what it offers; to pull anything else is a mistake of the lab.
    """

    offered: frozenset[str] = frozenset()
    not_offered: Mapping[str, str] = MappingProxyType({})
    """Why others are not, by name, where more can be said than that."""
    further_ends: tuple[str, ...] = ()
    """Nodes that links can be cut to although nothing else can be done to them."""

    async def kill(self, node: str) -> Lever:
        """End its process at once; released, it starts again and is ready."""
        self._refuse("kill")

    async def stop(self, node: str) -> Lever:
        """Let it stop in good order; released, it starts again and is ready."""
        self._refuse("stop")

    async def wipe(self, node: str) -> Lever:
        """End it and empty its disk."""
        self._refuse("wipe")

    async def pause(self, node: str) -> Lever:
        """Let its process stand still."""
        self._refuse("pause")

    async def cut(self, sources: Names, targets: Names, *, both: bool) -> Lever:
        """Let nothing pass from sources to targets, nor back if `both`; a service is a target."""
        self._refuse("cut")

    async def delay(self, sources: Names, targets: Names, seconds: float, *, both: bool) -> Lever:
        """What passes takes so much longer."""
        self._refuse("delay")

    async def lose_packets(
        self, sources: Names, targets: Names, fraction: float, *, both: bool
    ) -> Lever:
        """Lose this part of the packets between nodes; their senders send them again."""
        self._refuse("lose_packets")

    async def refuse(self, service: str, caller: str | None = None) -> Lever:
        """Refuse connections and calls."""
        self._refuse("refuse")

    async def slow(self, service: str, seconds: float, caller: str | None = None) -> Lever:
        """Calls take so much longer before they are carried out."""
        self._refuse("slow")

    async def fail(self, service: str, caller: str | None = None) -> Lever:
        """Answer calls with a hard error (503, an SQL error) and do nothing."""
        self._refuse("fail")

    async def fail_writes(self, service: str, like: str) -> Lever:
        """Answer writes of objects whose key is like this with an error; do all the rest."""
        self._refuse("fail_writes")

    async def disturb(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Give up on calls for reasons that pass, one after the other; at most so many."""
        self._refuse("disturb")

    async def lose_replies(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Carry calls out and lose the replies; at most so many."""
        self._refuse("lose_replies")

    async def drop_requests(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Lose calls before they arrive; at most so many."""
        self._refuse("drop_requests")

    async def hold(self, service: str, caller: str) -> Hold:
        """Keep the calls of a node in the network."""
        self._refuse("hold")

    async def kill_service(self, service: str) -> Lever:
        """End the database or the S3 server at once; released, it runs again."""
        self._refuse("kill_service")

    async def damage(self, how: str, key: str) -> Lever:
        """Let an object be `vanished`, `torn` or `corrupt` to its readers."""
        self._refuse("damage")

    # ── of simulated machines alone ──────────────────────────────────────────────────────────────

    async def lose_power(self, node: str) -> Lever:
        """Turn its machine off without a word; what was not synced may be gone."""
        self._refuse("lose_power")

    async def disk_full(self, node: str) -> Lever:
        """Leave no room on its disk."""
        self._refuse("disk_full")

    async def disk_slow(self, node: str, seconds: float) -> Lever:
        """Changes of its disk take so much longer."""
        self._refuse("disk_slow")

    async def disk_failing(self, node: str) -> Lever:
        """Answer changes of its disk with an error and do nothing."""
        self._refuse("disk_failing")

    async def sync_failing(self, node: str) -> Lever:
        """Let its syncs fail, and never sync what they should have."""
        self._refuse("sync_failing")

    async def shift_clock(self, node: str, milliseconds: int) -> Lever:
        """Move its time of day."""
        self._refuse("shift_clock")

    async def drift_clock(self, node: str, rate: float) -> Lever:
        """Let its clocks run at this rate."""
        self._refuse("drift_clock")

    async def at_effect(self, node: str, ahead: int, act: Act) -> Lever:
        """Do something to one of its next effects."""
        self._refuse("at_effect")

    def _refuse(self, lever: str, why: str = "") -> NoReturn:
        known = ", ".join(sorted(self.offered)) or "none"
        raise LabBroken(f"the lever {lever} is not offered here{why}; offered: {known}")


urgency: ContextVar[asyncio.Event | None] = ContextVar("urgency", default=None)
"""Set by who begins a call and will wait for it later, at which moment the event is set. Until then
a simulated client takes its time; elsewhere it means nothing."""


class ClientLost(OSError):
    """The client was killed while it waited for an answer."""


class Client(Protocol):
    """A client: a node of its own, which can be killed, paused and cut off like any other.

    What it has under way when it is killed ends in `ClientLost`; requests that have left it are
    carried out all the same. A paused client hears nothing until it goes on.
    """

    node: str

    async def ready(self) -> None:
        """Return when it runs; a client that was killed is started again."""
        ...

    async def kafka(self, work: Callable[[Network], Awaitable[Result]]) -> Result:
        """Talk to brokers over its own network."""
        ...

    async def control_plane(self, f: str, arguments: Mapping[str, Any]) -> Answer | None:
        """Ask the control plane about one partition; None if the outcome stays unknown."""
        ...

    async def control_plane_many(
        self, f: str, partitions: Sequence[Mapping[str, Any]]
    ) -> Sequence[Answer | None]:
        """Ask about several partitions in one call; an answer for each, in their order."""
        ...

    async def store(self, work: Callable[[ObjectStore], Awaitable[Result]]) -> Result:
        """Talk to the object store."""
        ...


class Deployment(Protocol):
    """A system in a world. Everything but `run` is for code inside its loop."""

    world: str
    brokers: tuple[int, ...]
    known: tuple[int, ...]
    """Every broker of the system, also those that take no part."""
    recorder: Recorder
    network: Network
    """The lab's own way to brokers, for looks that no fault may hide."""
    levers: Levers
    probes: frozenset[str]
    pace: float
    """Seconds of this world for one second of a program: processes are given more time."""
    upgrades: bool
    """Whether its control plane can begin with an older schema."""
    lacks: Mapping[str, str]
    """The requests that its brokers do not offer, with the reason (`harness.clients.asked`)."""

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Carry out work inside the loop of this world until it is done. From outside only."""
        ...

    def address(self, broker: int) -> Address:
        """Where clients find a broker."""
        ...

    def nodes(self, role: Role) -> tuple[str, ...]:
        """The names of the nodes of a role."""
        ...

    def now_ms(self) -> int:
        """The time that records are stamped with."""
        ...

    def now_ns(self) -> int:
        """The time that lines are stamped with."""
        ...

    async def probe(self, what: str) -> list[Row]:
        """Look from outside: `nodes`, `objects`, `control_plane`, `files`, `log_lines`,
        `metrics`."""
        ...

    async def client(self, name: str) -> Client:
        """The client of that name, made when first asked for; its node is `client-NAME`."""
        ...

    async def upgrade(self, logs: Sequence[tuple[str, int]]) -> None:
        """Create logs (topic, partition) under the older schema, then run the migrations left."""
        ...
