"""Recorded programs on real processes: the same steps, in real time.

A step means what it means in `ScriptedMachine`, with signals and a link proxy in place of simulated
faults; time passes more slowly, and so does whatever the brokers wait for. A delayed link holds
what is sent until it is healed. What a program may need beyond that, a moment between two messages,
it cannot be given here: `mutants.ONLY_SIMULATED` names those that only such a moment shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from conformance.classic.arena import Heal
from conformance.classic.at_rest import Rest, read_everything
from conformance.classic.live_arena import LiveArena
from conformance.machines.classic import PROPERTIES
from conformance.machines.judging import PROFILES, RULES
from conformance.machines.scripted import BLIND, PERSISTENT, Appends
from harness.clients.admin import Leadership, create_topic, elect_preferred, leadership
from harness.clients.operations import Defect, TopicPartition
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan, broker_id, broker_name
from harness.deployments.process_cluster import ProcessCluster, linked_cluster
from harness.history import Run
from harness.proxies.links import CLIENTS, LinkProxy
from harness.rules import Judged
from harness.scratch import ScratchFolder
from harness.simulation.network import LAB
from harness.steps.machine_program import Step
from harness.workloads.partition_log import PartitionClients
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run

SLOWER = 2.0  # than simulated time: a process that is not given the processor must not look dead
SLOWED = ("broker.session.timeout.ms", "replica.lag.time.max.ms", "replica.socket.timeout.ms")
BOUND_S = 30.0  # in which a healed cluster has to come to rest
SILENT_S = 0.1
MOST_SENDS = 1000  # in a program
BROKERS = (1, 2, 3)
_LOST = (OSError, TimeoutError)


def plan_of(mutants: tuple[str, ...]) -> DeploymentPlan:
    """The cluster of the machine, with longer patience."""
    slowed = {name: str(int(int(PROPERTIES[name]) * SLOWER)) for name in SLOWED}
    return DeploymentPlan(brokers=3, properties={**PROPERTIES, **slowed}, mutants=mutants)


def verdicts_in_processes(
    programs: Iterable[Sequence[Step]], mutants: tuple[str, ...] = ()
) -> Sequence[Judged]:
    """What every rule says of programs, played one after the other on one cluster."""
    engine = InlineEngine()
    try:
        with ScratchFolder("programs") as folder:
            run = Run.create(
                folder / "run",
                run="programs",
                sut="reference",
                world="process",
                profiles=list(PROFILES),
                seed=0,
            )
            with linked_cluster(plan_of(mutants)) as (cluster, links):
                arena = LiveArena(run, cluster, world="process", brokers=BROKERS, links=links)
                asyncio.run(_play_all(programs, arena, cluster, links))
                arena.writer.close()
            run.seal()
            return judge_run(run.folder, RULES, engine, reference=True).judged
    finally:
        engine.close()


async def _play_all(
    programs: Iterable[Sequence[Step]], arena: LiveArena, cluster: ProcessCluster, links: LinkProxy
) -> None:
    for number, program in enumerate(programs):
        await Played(arena=arena, cluster=cluster, links=links, number=number).play(program)


@dataclass(slots=True, kw_only=True)
class Played:
    """One program on a topic of its own; each public method is a step."""

    arena: LiveArena
    cluster: ProcessCluster
    links: LinkProxy
    number: int  # of the program: values, sends and topics of one run have names of their own
    clients: PartitionClients = field(init=False)
    rest: Rest = field(init=False)
    _active: list[Heal] = field(default_factory=list)
    _suspended: dict[str, Callable[[], None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        recorder = self.arena.recorder
        self.clients = PartitionClients(
            network=self.arena.network,
            address=self.arena.address,
            recorder=recorder,
            tp=TopicPartition(recorder.topic(self.topic), 0),
            recorded_topic=self.topic,
            now_ms=self.arena.now_ms,
            sends=self.number * MOST_SENDS,
        )
        self.rest = Rest(
            clients=self.clients,
            brokers=BROKERS,
            campaign=self.topic,
            bound_s=BOUND_S,
            idempotent=PERSISTENT,
            nodes=self.arena.nodes,
        )

    @property
    def topic(self) -> str:
        """One for each program."""
        return f"t{self.number}"

    async def play(self, program: Sequence[Step]) -> None:
        """All steps, then peace, then the last reads."""
        await create_topic(
            self._client(1),
            self.clients.tp.topic,
            assignments=[list(BROKERS)],
            configs={"min.insync.replicas": "2"},
        )
        if await self.rest.converge():
            for step in program:
                do: Callable[..., Awaitable[None]] = getattr(self, step.name)
                await do(**step.arguments)
            for heal in self._active:
                await heal()
            if await self.rest.converge():
                self.leader_uncertain_ends()
        await self.rest.progress()
        await read_everything(self.clients, self.topic, BROKERS)
        self.leader_uncertain_ends()

    # ── clients ──────────────────────────────────────────────────────────────────────────────────

    async def append(self, what: str, ask: str) -> None:
        """See `ScriptedMachine`."""
        await Appends(self.clients, broker_id(ask)).make(what)

    async def append_blindly(self, by: str, at: str, defect: str, soon: int) -> None:
        """See `ScriptedMachine`; answers are held from the beginning, requests come through."""
        cut = self.links.cut(at, [CLIENTS], both=False) if soon else None
        producer_id = BLIND[by]
        await self.clients.send_blindly(
            by, broker_id(at), producer_id=producer_id, defect=Defect(defect)
        )
        if cut is not None:
            self.links.heal(cut)
            await asyncio.sleep(SILENT_S)

    async def fetch(self, at: str, offset: int, max_bytes: int) -> None:
        """See `ScriptedMachine`."""
        await self.clients.read("f", broker_id(at), offset, max_bytes=max_bytes)

    async def list_offset(self, ask: str, timestamp: int) -> None:
        """See `ScriptedMachine`."""
        await self.clients.look("o", broker_id(ask), timestamp)

    async def find_time(self, ask: str, which: int, later: int) -> None:
        """See `ScriptedMachine`."""
        stamps = self.clients.stamps
        if stamps:
            stamp = stamps[which % len(stamps)]
            await self.clients.look("o", broker_id(ask), stamp + later)

    async def find_epoch(self, ask: str, back: int) -> None:
        """See `ScriptedMachine`."""
        await self.clients.ask_epoch_end("o", broker_id(ask), back)

    async def delete_to(self, ask: str, offset: int) -> None:
        """See `ScriptedMachine`."""
        await self.clients.delete("d", broker_id(ask), offset)

    async def elect(self, ask: str, ms: int) -> None:
        """The preferred leader leads again, once all are in sync."""
        await self.rest.look_until_at_rest()
        with suppress(*_LOST):
            await elect_preferred(self._client(broker_id(ask)), self.clients.tp, timeout_s=BOUND_S)
        await self.rest.look_until_at_rest()

    async def wait(self, ms: int) -> None:
        """Time passes."""
        await asyncio.sleep(SLOWER * ms / 1000)

    # ── faults ───────────────────────────────────────────────────────────────────────────────────

    async def kill(self, node: str, lasts: int | None, ms: int) -> None:
        """SIGKILL; it starts again when it is healed."""
        self._suspend("replica-up")
        self._active.append(await self.arena.kill(node))

    async def pause(self, node: str, lasts: int | None, ms: int) -> None:
        """SIGSTOP."""
        self._suspend("one-leader")
        self._active.append(await self.arena.pause(node, self.clients.stalled))

    async def isolate(self, node: str, lasts: int | None, ms: int) -> None:
        """A node hears no other, and no other hears it."""
        self._suspend("one-leader")
        self._active.append(await self.arena.cut(node, both=True))

    async def cut(self, here: str, there: str, both: bool, lasts: int | None, ms: int) -> None:
        """Nothing passes between two of them."""
        self._suspend("one-leader")
        self._hold(here, there, both=both)

    async def delay(self, here: str, there: str, by: int, lasts: int | None, ms: int) -> None:
        """What is sent from here to there is late: it comes when this is healed."""
        await self.cut(here, there, both=False, lasts=lasts, ms=ms)

    async def cut_followers(self, ms: int) -> None:
        """The followers hear each other no more; who leads they hear as before."""
        seen = await self._seen(1)
        here, there = [one for one in BROKERS if seen is None or one != seen.leader][:2]
        self._hold(broker_name(here), broker_name(there), both=True)

    async def heal(self, which: int, ms: int) -> None:
        """One of the faults ends."""
        await self._active.pop(which % len(self._active))()

    async def roll(self, ms: int) -> None:
        """All brokers are killed and started, one after the other."""
        self._suspend("replica-up")
        for broker in BROKERS:
            await (await self.arena.kill(broker_name(broker)))()
            await self.rest.look_until_at_rest()

    def _hold(self, here: str, there: str, *, both: bool) -> None:
        here, there = (CLIENTS if one == LAB else one for one in (here, there))
        recorder = self.arena.recorder
        begun = recorder.begin_fault("cut-link", f"{here} {'↔' if both else '→'} {there}")
        made = self.links.cut(here, [there], both=both)

        async def heal() -> None:
            if made.evidence["deliveries_held"]:
                recorder.landed(begun, made.evidence)
            recorder.end_fault(begun, made.evidence)
            self.links.heal(made)

        self._active.append(heal)

    def _suspend(self, assumption: str) -> None:
        """From now on, until the cluster is whole and at rest, it does not hold."""
        if assumption not in self._suspended:
            self._suspended[assumption] = self.arena.recorder.suspend_assumption(
                assumption, self.topic
            )

    def leader_uncertain_ends(self) -> None:
        while self._suspended:
            self._suspended.popitem()[1]()

    # ── the cluster ──────────────────────────────────────────────────────────────────────────────

    async def _seen(self, broker: int) -> Leadership | None:
        with suppress(*_LOST):
            return await leadership(self._client(broker), self.clients.tp, timeout_s=1.0)
        return None

    def _client(self, broker: int) -> RawClient:
        return RawClient(self.arena.network, self.arena.address(broker))
