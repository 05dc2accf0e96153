"""A cluster by address, with the hooks of its SUT file.

The lab starts none of its nodes. Brokers are those that Metadata names at the bootstrap address;
the hook `process` hurts them. The hook `control_plane` is a program for each client, which the lab
can ask, kill and stop; to lose a reply it is killed with the question in hand. The hooks `objects`,
`metrics` and `trace` are probes. Links can be cut where the hook knows how; which node is the
controller is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.clients.asked import lacking
from harness.clients.versions import OfferedAddress
from harness.deployments.control_program import ControlProgram, Deadlines
from harness.deployments.deployment import CONTROL_PLANE, Deployment, Role
from harness.deployments.external_journal import journal_of
from harness.deployments.external_nodes import ExternalNodes, find_brokers
from harness.deployments.hook_links import HookLinks
from harness.deployments.hooks import TraceFile, look_at_metrics, look_at_objects
from harness.deployments.live import LiveDeployment
from harness.deployments.live_client import LiveClient
from harness.deployments.live_levers import HURTING, LiveLevers
from harness.deployments.plan import CONTROLLER
from harness.deployments.process_client import ProcessClient
from harness.history import Run
from harness.levers import Lever, PulledLever
from harness.processes.program import Program
from harness.sut import Sut
from harness.sut.process_hook import OF_LINKS, SLOW, ProcessHook
from harness.sut.protocol import Answer

WORLD = "external"
MOST_BROKERS = 3
LOSE_REPLIES = "lose_replies"


@dataclass(slots=True, kw_only=True, eq=False)
class _Loss:
    """Replies that get lost: whose, how many at most, how many so far."""

    caller: str | None
    times: int | None
    dropped: int = 0

    def count(self) -> None:
        self.dropped += 1

    def concerns(self, node: str) -> bool:
        left = self.times is None or self.dropped < self.times
        return left and self.caller in (None, node)


class ExternalLevers(LiveLevers):
    """Levers on the nodes and links of the hook `process`, on the programs of `control_plane`."""

    losses: list[_Loss]
    links: HookLinks

    async def cut(self, sources: Sequence[str], targets: Sequence[str], *, both: bool) -> Lever:
        """Have the hook cut every link between them."""
        self._check("cut")
        return await self.links.cut(sources, targets, both=both)

    async def delay(
        self, sources: Sequence[str], targets: Sequence[str], seconds: float, *, both: bool
    ) -> Lever:
        """Have the hook slow every link between them."""
        self._check("delay")
        return await self.links.cut(sources, targets, both=both, seconds=seconds)

    async def lose_replies(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Kill the program of a client with the question in hand."""
        if service != CONTROL_PLANE or LOSE_REPLIES not in self.offered:
            self._refuse(LOSE_REPLIES, f" for {service}")
        loss = _Loss(caller=caller, times=times)
        self.losses.append(loss)

        async def release() -> None:
            self.losses.remove(loss)

        return PulledLever(lambda: {"replies_dropped": loss.dropped}, release)


class ExternalClient(ProcessClient):
    """A client whose control plane is asked by a program that may be killed for a lost reply."""

    def __init__(self, node: str, program: ControlProgram, losses: list[_Loss]) -> None:
        super().__init__(node, program=program)
        self._losses = losses

    async def ask(
        self, program: ControlProgram, f: str, partitions: Sequence[Mapping[str, Any]]
    ) -> Sequence[Answer | None]:
        """Ask, or lose the reply."""
        await self.passes()
        loss = next((one for one in self._losses if one.concerns(self.node)), None)
        return await program.ask(f, partitions, lose=None if loss is None else loss.count)


class ExternalDeployment(LiveDeployment):
    """The system of a SUT file; leaving it ends the programs of the lab's clients."""

    pace = 5.0  # Kafka with its own settings takes nine seconds to notice that a broker is gone

    def __init__(
        self,
        run: Run,
        sut: Sut,
        nodes: ExternalNodes,
        brokers: tuple[int, ...],
        *,
        deadlines: Deadlines | None = None,
        part: int = 0,
        shard: str | None = None,
    ) -> None:
        self._hooks = sut.hooks
        self._folder = sut.folder
        self._deadlines = deadlines
        self._losses: list[_Loss] = []
        hurting = HURTING if "process" in sut.hooks and brokers else frozenset[str]()
        hurting |= {"cut"} if nodes.verbs.issuperset(OF_LINKS) else set()
        hurting |= {"delay"} if nodes.verbs.issuperset((*OF_LINKS, SLOW)) else set()
        if "control_plane" in sut.hooks:
            hurting |= {LOSE_REPLIES}
        self.lacks = lacking(nodes.offered) if brokers else {}
        self._external_nodes = nodes
        super().__init__(
            run,
            nodes,
            world=WORLD,
            brokers=brokers,
            controller=False,
            hurting=hurting,
            part=part,
            shard=shard,
        )
        if "objects" in sut.hooks:
            self.offer("objects", partial(look_at_objects, sut.hooks["objects"]))
        if "metrics" in sut.hooks:
            self.offer("metrics", partial(look_at_metrics, sut.hooks["metrics"]))
        if "trace" in sut.hooks:
            self.offer("trace", TraceFile(sut.hooks["trace"], sut.folder).look)

    def address(self, broker: int) -> OfferedAddress:
        """Where clients find a broker, and what it offers."""
        return OfferedAddress.of(super().address(broker), self._external_nodes.offered)

    def nodes(self, role: Role) -> tuple[str, ...]:
        """The names of the nodes of a role; a service that a hook answers for has its own."""
        if role == Role.CONTROL_PLANE and "control_plane" in self._hooks:
            return (CONTROL_PLANE,)
        return super().nodes(role)

    def make_levers(self, hurting: frozenset[str]) -> LiveLevers:
        """With the loss of replies."""
        levers = ExternalLevers(self._live_nodes, self.clients, hurting=hurting)
        levers.losses = self._losses
        levers.links = HookLinks(self._external_nodes)
        levers.further_ends = (CONTROLLER,) if CONTROLLER in self._external_nodes.verbs else ()
        hook = "process" in self._hooks
        why = dict.fromkeys((*sorted(HURTING), "cut", "delay"), "it has no hook process")
        if hook:
            why["cut"] = f"its hook process does not know {', '.join(OF_LINKS)}"
            why["delay"] = f"its hook process does not know {', '.join((*OF_LINKS, SLOW))}"
        levers.not_offered = why
        return levers

    def make_client(self, node: str, host: str | None) -> LiveClient:
        """With a program of its own, where there is the hook."""
        hook = self._hooks.get("control_plane")
        if hook is None:
            return super().make_client(node, host)
        called = f"{hook.address} (for {node})"

        def start(on_line: Callable[[bytes], None], on_end: Callable[[], None]) -> Program:
            return Program(
                hook.command, called=called, on_line=on_line, on_end=on_end, folder=self._folder
            )

        program = ControlProgram(called, start, deadlines=self._deadlines)
        return ExternalClient(node, program, self._losses)


@contextmanager
def external_deployment(
    run: Run,
    sut: Sut,
    *,
    brokers: bool = True,
    deadlines: Deadlines | None = None,
    part: int = 0,
    shard: str | None = None,
) -> Iterator[Deployment]:
    """The system of a SUT file, with `MOST_BROKERS` of its brokers or without any.

    Brokers that were killed or paused are started and resumed when it is left.
    """
    with journal_of(sut) as journal:
        found: Mapping[int, OfferedAddress] = find_brokers(sut) if brokers and sut.bootstrap else {}
        played = dict(list(found.items())[:MOST_BROKERS])
        hook = sut.hooks.get("process")
        order = ProcessHook(hook.command, sut.folder) if hook else None
        nodes = ExternalNodes(played, order, journal)
        with (
            nodes.mended(),
            ExternalDeployment(
                run, sut, nodes, tuple(played), deadlines=deadlines, part=part, shard=shard
            ) as deployed,
        ):
            deployed.known = tuple(found) or deployed.brokers
            yield deployed
