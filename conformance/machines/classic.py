"""The classic cluster under a nemesis: producers, readers, elections; judged by Kafka's promises.

Three brokers, one topic with one partition on all of them, and clients that believe whichever
broker they ask. Whatever a step does, clients go on sending and reading while time passes. At the
end everything is healed; the cluster is given time to come to rest and its clients to make
progress, then the log is read from its start to its end at every broker.

What rules assume is said in the history: a broker that was killed begins again at its checkpoints
(``replica-up``), and after a link or a process failed, or an election was asked for, a deposed
leader may not know it yet (``one-leader``), until all brokers name the same leader again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from conformance.classic.at_rest import Rest, read_everything
from conformance.classic.simulated_arena import nodes_of
from conformance.machines.clients_at_work import (
    BROKERS,
    IDEMPOTENT,
    LOOK_S,
    TP,
    ClientsAtWork,
)
from harness.clients.admin import create_topic, elect_preferred
from harness.deployments.plan import CONTROLLER, DeploymentPlan, broker_id
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.history.recorder import Recorder
from harness.simulation.errors import NodeFailed, StillWaiting
from harness.simulation.faults import Fault
from harness.simulation.observer import Evidence, Unobserved
from harness.steps.machine import step
from harness.steps.nemesis_steps import A_WHILE, SO_LONG, NemesisSteps
from harness.workloads.partition_log import PartitionClients

# Nothing happens in between, so nothing is lost by asking less often; what is in a hurry is woken.
PROPERTIES = {
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "700",
    "replica.fetch.wait.max.ms": "400",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "1000",
    "replica.high.watermark.checkpoint.interval.ms": "500",
}
RESTART_MS = 50
REST_S = 10.0  # of simulated time, in which a cluster without faults has to come to rest
TURN_MS = 400  # of simulated time, after which clients that are idle begin anew
SOON_MS = (0, 2, 5, 20)  # after the clients began: in the middle of what they do
DOWNFALLS = ("kill", "pause", "isolate_leader")


class ClassicMachine(ClientsAtWork, NemesisSteps):
    """A cluster of three brokers and its clients."""

    settle_s = 0.0  # there is a condition instead, in `finish`
    records_effects = False
    forgiving = True
    idempotent: ClassVar[Mapping[str, int]] = {}  # further producers that finish what they began
    max_faults = 3

    # What is lost on several disks at once is outside of what replication promises to survive.
    black_out = lose_power = break_disk = slow_disk = strike = None  # type: ignore[assignment]

    def build(self) -> None:
        """A cluster that is up, a topic, and nobody who knows anything yet."""
        self._trusted_again: Callable[[], None] | None = None
        self.sim.observer = _SuspendingFaults(self.recorder)
        self.cluster = SimulatedCluster(self.sim, DeploymentPlan(brokers=3, properties=PROPERTIES))
        self.clients = PartitionClients(
            network=self.sim.lab,
            address=self.cluster.address,
            recorder=self.recorder,
            tp=TP,
            now_ms=lambda: self.sim.now_ms,
        )
        self.rest = Rest(
            clients=self.clients,
            brokers=self.cluster.plan.broker_ids,
            campaign="program",
            bound_s=REST_S,
            pause_s=LOOK_S,
            idempotent={**IDEMPOTENT, **self.idempotent},
            nodes=lambda: nodes_of(self.sim),
        )
        self.cluster.settle()
        self.sim.run(self._create())
        self.sim.run(self.rest.converge())

    # ── what clients do, besides what they always do ─────────────────────────────────────────────

    @step(ask=BROKERS, acks=(-1, 1), ms=A_WHILE)
    def send(self, ask: str, acks: int, ms: int) -> None:
        """Everybody appends something, where one broker says the leader is."""
        self.send_all(broker_id(ask), acks)
        self.pass_time(ms)

    @step(back=(0, 1, 4, 1000), ms=A_WHILE)
    def read(self, back: int, ms: int) -> None:
        """Consumers read, one at each broker, whatever it is to the partition."""
        self.read_everywhere(max(0, self.clients.end - back))
        self.pass_time(ms)

    @step(ask=BROKERS, back=(0, 1, 2), ms=A_WHILE)
    def look(self, ask: str, back: int, ms: int) -> None:
        """Somebody asks for offsets: of the ends, of times, of epochs."""
        self.look_around(broker_id(ask), back)
        self.pass_time(ms)

    @step(ask=BROKERS, back=(1, 4), ms=A_WHILE)
    def delete(self, ask: str, back: int, ms: int) -> None:
        """Somebody deletes what is old; somebody else sends what must be refused."""
        self.delete_up_to(broker_id(ask), self.clients.end - back)
        self.pass_time(ms)

    @step(ask=BROKERS, ms=A_WHILE)
    def elect(self, ask: str, ms: int) -> None:
        """Somebody asks for the preferred leader, while others send."""
        self.leader_uncertain_begins()
        self.send_all(broker_id(ask), -1)
        self.start("e1", lambda: self._elect(broker_id(ask)))
        self.pass_time(ms)

    # ── what happens to leaders and followers ────────────────────────────────────────────────────

    @step(lasts=SO_LONG, ms=A_WHILE)
    def isolate_leader(self, lasts: int | None, ms: int) -> None:
        """Who leads is cut off from the other nodes, but not from its clients."""
        leader = self.leader()
        if leader is not None:
            others = [name for name in self.sim.nodes if name != leader]
            self._inject(lasts, ms, self.sim.faults.cut, leader, others)

    @step(how=DOWNFALLS, soon=SOON_MS, lasts=SO_LONG)
    def depose(self, how: str, soon: int, lasts: int | None) -> None:
        """The leader falls while clients send, and time passes until there is another."""
        leader = self.leader()
        if leader is None:
            return
        self.send_all(broker_id(leader), -1)
        self.sim.advance(soon / 1000)
        others = [name for name in self.sim.nodes if name != leader]
        fall: dict[str, Callable[[], Fault]] = {
            "kill": lambda: self.sim.faults.kill(leader),
            "pause": lambda: self.sim.faults.pause(leader),
            "isolate_leader": lambda: self.sim.faults.cut(leader, others),
        }
        self._inject(lasts, 0, fall[how])
        for _ in range(5):
            self.pass_time(TURN_MS)
            if self.leader(among=[name for name in BROKERS if name != leader]) != leader:
                return

    @step(which=(0, 1), controller=(False, True), lasts=SO_LONG, ms=A_WHILE)
    def part(self, which: int, controller: bool, lasts: int | None, ms: int) -> None:
        """A follower and its leader hear each other no more; or two followers, or a controller."""
        leader = self.leader()
        if leader is None:
            return
        followers = [name for name in BROKERS if name != leader]
        if controller:
            self._inject(lasts, ms, self.sim.faults.cut, followers[which], CONTROLLER)
        else:
            self._cut_brokers(lasts, ms, followers[which], leader)

    @step(ms=A_WHILE)
    def cut_followers(self, ms: int) -> None:
        """The two followers hear each other no more, which matters once one of them leads."""
        leader = self.leader()
        if leader is not None:
            here, there = [name for name in BROKERS if name != leader]
            self._cut_brokers(None, ms, here, there)

    @step(node=BROKERS, soon=SOON_MS, ms=A_WHILE)
    def bounce(self, node: str, soon: int, ms: int) -> None:
        """A broker dies while clients send, and is back at once."""
        self.send_all(broker_id(node), -1)
        self.sim.advance(soon / 1000)
        self._inject(RESTART_MS, ms, self.sim.faults.kill, node)

    @step(ms=A_WHILE)
    def roll(self, ms: int) -> None:
        """All brokers are restarted, one after the other, faster than is good for them."""
        for node in BROKERS:
            self._inject(RESTART_MS, TURN_MS, self.sim.faults.kill, node)
        self.pass_time(ms)

    # ── the end of an example ────────────────────────────────────────────────────────────────────

    def finish(self) -> None:
        """Start what is down, wait for those who wait, then read everything everywhere."""
        for name, node in self.sim.nodes.items():
            if not node.up:
                self.sim.start(name)
        with suppress(StillWaiting):
            self.sim.run_until(lambda: not self.busy, within_s=20.0)
        if self.sim.run(self.rest.converge()):
            self.leader_uncertain_ends()
        self.sim.run(self.rest.progress())
        self.sim.run(read_everything(self.clients, self.rest.campaign, self.rest.brokers))
        if self.sim.uncaught and not self.mutants:
            raise NodeFailed(f"nobody caught {self.sim.uncaught[0]}")

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def note_step(self, step: Any) -> None:
        """Before a step: see whether the brokers agree again."""
        super().note_step(step)
        if self._trusted_again is not None and not self._links_in_doubt() and self.agreed():
            self.leader_uncertain_ends()

    def pass_time(self, ms: int) -> None:
        """Let time pass, and clients work."""
        while ms > 0:
            turn = min(ms, TURN_MS)
            self.work()
            self.sim.advance(turn / 1000)
            ms -= turn

    def _inject(
        self, lasts: int | None, ms: int, inject: Callable[..., Fault], *args: Any, **options: Any
    ) -> None:
        if inject != self.sim.faults.kill:
            self.leader_uncertain_begins()
        super()._inject(lasts, ms, inject, *args, **options)

    def _cut_brokers(self, lasts: int | None, ms: int, here: str, there: str) -> None:
        """Between brokers only: who leads, all of them hear from the controller as before."""
        super()._inject(lasts, ms, self.sim.faults.cut, here, there)

    def leader_uncertain_begins(self) -> None:
        """From now on somebody may lead who does not know that it is over."""
        if self._trusted_again is None:
            about = f"{TP.topic}-{TP.partition}"
            self._trusted_again = self.recorder.suspend_assumption("one-leader", about)

    def leader_uncertain_ends(self) -> None:
        if self._trusted_again is not None:
            self._trusted_again()
            self._trusted_again = None

    def _links_in_doubt(self) -> bool:
        return any(fault.name != _KILLED for fault in self.sim.faults.active)

    async def _create(self) -> None:
        client = self.client(1)
        try:
            await create_topic(
                client,
                TP.topic,
                assignments=[[1, 2, 3]],
                configs={"min.insync.replicas": "2"},
            )
        finally:
            client.abort()

    async def _elect(self, ask: int) -> None:
        with suppress(OSError, TimeoutError):
            await elect_preferred(self.client(ask), TP, timeout_s=1.0)


_KILLED = "kill-node"


class _SuspendingFaults(Unobserved):
    """Tells the recorder of faults, and which assumption each of them breaks."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def fault(self, name: str, target: str, phase: str, evidence: Evidence) -> None:
        """Record it."""
        assumption = "replica-up" if name == _KILLED and phase == "begin" else None
        self._recorder.fault(name, target, phase, evidence, assumption=assumption)
