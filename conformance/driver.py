"""What plays steps on one deployment: the vocabularies of its roles, the nemesis and the player.

    with Driver(system, topic="t", campaign="c") as driver:
        driver.play(parse(text, *VOCABULARIES))

Brokers are driven through one partition, `TOPIC-0`; a control plane through its register; an object
store by its clients. Several drivers may follow each other on one deployment.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from harness.deployments.at_rest import Elections, Watcher
from harness.deployments.deployment import Deployment, Role
from harness.deployments.plan import broker_name
from harness.steps.player import Player
from harness.steps.step import Step
from harness.steps.vocabulary import Speaks
from harness.workloads.boundary_steps import BoundarySteps
from harness.workloads.edge_steps import EdgeSteps
from harness.workloads.librdkafka_steps import LibrdkafkaSteps
from harness.workloads.look_steps import LookSteps
from harness.workloads.object_steps import ObjectSteps
from harness.workloads.partition_load import AtWork, Load
from harness.workloads.partition_log import PartitionClients
from harness.workloads.partition_phases import UNSOUND, NoTopic, PhaseSteps
from harness.workloads.partition_steps import ClientsSteps, LoadSteps, PartitionSteps
from harness.workloads.tier_steps import TierSteps
from harness.workloads.topic_steps import AdminSteps, SettleSteps
from harness.workloads.topics import Topics
from harness.workloads.transaction_steps import TransactionSteps
from nemesis.fault import State
from nemesis.nemesis import Nemesis
from nemesis.steps import NemesisSteps

VOCABULARIES = (
    NemesisSteps,
    AdminSteps,
    SettleSteps,
    PhaseSteps,
    LoadSteps,
    ClientsSteps,
    PartitionSteps,
    EdgeSteps,
    TierSteps,
    TransactionSteps,
    LibrdkafkaSteps,
    ObjectSteps,
    LookSteps,
    BoundarySteps,
)


class Driver:
    """Plays steps, several times if one likes: what is open stays open until it is left.

    Several drivers of one run have a `topic` each; a campaign that does not come to rest within
    `bound_s` is hurt no more; chance, if given, chooses what targets leave open.
    """

    def __init__(
        self,
        on: Deployment,
        *,
        topic: str = "t",
        campaign: str = "",
        bound_s: float = 60.0,
        most_faults: int | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self.deployment = on
        self.nemesis = Nemesis(on, chance=chance)
        self.boundary = BoundarySteps(on, self.nemesis)
        self.watcher: Watcher | None = None
        self._phases: PhaseSteps | None = None
        self.vocabularies: list[Speaks] = [LookSteps(on)]
        if on.brokers:
            self.clients = PartitionClients(on=on, topic=topic)
            self.vocabularies += self._of_partition(campaign or topic, bound_s, most_faults)
        if on.nodes(Role.OBJECT_STORE):
            self.vocabularies.append(ObjectSteps(on))
        if on.nodes(Role.CONTROL_PLANE):
            self.vocabularies.append(self.boundary)
        self._player = Player(on.recorder, self.vocabularies)

    def _of_partition(
        self, campaign: str, bound_s: float, most_faults: int | None
    ) -> Iterable[Speaks]:
        on, clients, at_work = self.deployment, self.clients, AtWork()
        elections, load = Elections(on), Load(clients, at_work)
        topics = Topics(on, self._down)
        self.watcher = Watcher(on, clients.tp, (self.nemesis, elections))
        phases = PhaseSteps(
            clients, load, at_work, self.watcher, campaign=campaign, bound_s=bound_s
        )

        def given_up() -> str:
            unsound = phases.unsound or topics.unsound or any(one.unsound for one in of_logs)
            return UNSOUND if unsound else ""

        of_logs = [
            kind(
                on,
                self.watcher,
                elections,
                campaign=campaign,
                bound_s=bound_s,
                spared=given_up,
                in_peace=self._in_peace,
            )
            for kind in (EdgeSteps, TierSteps, TransactionSteps)
        ]
        alone = PartitionSteps(clients, at_work, elections)
        together = ClientsSteps(alone, clients, load, at_work)
        self._phases = phases
        faults = NemesisSteps(
            on,
            self.nemesis,
            partition=f"{clients.topic}-0",
            most=most_faults,
            spared=given_up,
            stir=together.send_all,
        )
        settle = SettleSteps(topics, campaign=campaign, bound_s=bound_s)
        return (
            faults,
            AdminSteps(topics),
            settle,
            phases,
            LoadSteps(load, clients, campaign),
            together,
            alone,
            *of_logs,
            LibrdkafkaSteps(on),
        )

    def _in_peace(self) -> bool:
        """Whether no fault is in force, and the cluster was at rest since the last one."""
        return not self.nemesis.active and not self.nemesis.waits_for_rest

    def _down(self) -> tuple[int, ...]:
        """The brokers that faults keep from answering."""
        hurt = [one for one in self.nemesis.active if one.fault.state is not State.RUNNING]
        nodes = [node for one in hurt for node in one.target.nodes]
        return tuple(one for one in self.deployment.brokers if broker_name(one) in nodes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What is open is recorded as unknown, faults end."""
        if self.watcher is not None:
            self.watcher.stop()
        self.deployment.run(self.boundary.finish())

    @property
    def recovered(self) -> bool:
        """Whether the cluster came to rest, and its clients made progress, each time it had to."""
        return self._phases is None or not self._phases.unsound

    @property
    def supports(self) -> frozenset[str]:
        """The verbs of the control plane's clients that can be played here."""
        return self.boundary.able

    @property
    def unanswered(self) -> int:
        """How many operations so far ended without a definite answer."""
        return self.deployment.recorder.unanswered

    def play(
        self,
        steps: Iterable[Step],
        *,
        part: str | None = None,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Play steps up to the end, or until there turns out to be no topic.

        `part` of the plan they are, if any.
        """
        recorder = self.deployment.recorder
        recorder.plan_part = part
        try:
            with suppress(NoTopic):  # it is recorded, and there is nothing to go on with
                self.deployment.run(self._player.play(steps, progress))
        finally:
            recorder.plan_part = None

    async def carry_out(self, steps: Iterable[Step]) -> None:
        """Carry out steps that belong to every trial, and are not recorded as steps of its own."""
        await Player(_NotNoted(), self.vocabularies).play(steps)


class _NotNoted:
    def step(self, document: Mapping[str, Any], meant: Mapping[str, Any]) -> None:
        """Write nothing down."""
