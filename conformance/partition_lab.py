"""One partition of a deployment: its clients, its nemesis, and the player of steps on them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.deployments.at_rest import Elections, Watcher
from harness.deployments.deployment import Deployment
from harness.steps.player import Player
from harness.steps.step import Step, step_line
from harness.steps.vocabulary import Speaks
from harness.workloads.partition_load import AtWork, Load
from harness.workloads.partition_log import PartitionClients
from harness.workloads.partition_phases import UNSOUND, NoTopic, PhaseSteps
from harness.workloads.partition_steps import ClientsSteps, LoadSteps, PartitionSteps
from nemesis.nemesis import Nemesis
from nemesis.steps import NemesisSteps

MOST_SENDS = 1000  # in a program: values, sends and topics of one run have names of their own


class PartitionLab:
    """What plays on one partition; `number` tells several in one run apart."""

    def __init__(
        self,
        on: Deployment,
        *,
        topic: str,
        campaign: str,
        bound_s: float,
        number: int = 0,
        most_faults: int | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self.clients = PartitionClients(on=on, topic=topic, sends=number * MOST_SENDS)
        self.nemesis = Nemesis(on, chance=chance)
        at_work, elections = AtWork(), Elections(on)
        load = Load(self.clients, at_work)
        self.watcher = Watcher(on, self.clients.tp, (self.nemesis, elections))
        self.phases = PhaseSteps(
            self.clients, load, at_work, self.watcher, campaign=campaign, bound_s=bound_s
        )
        alone = PartitionSteps(self.clients, at_work, elections)
        together = ClientsSteps(alone, self.clients, load, at_work)
        faults = NemesisSteps(
            on,
            self.nemesis,
            partition=f"{topic}-0",
            most=most_faults,
            spared=lambda: UNSOUND if self.phases.unsound else "",
            stir=together.send_all,
        )
        self.vocabularies: tuple[Speaks, ...] = (
            faults,
            self.phases,
            LoadSteps(load),
            together,
            alone,
        )
        self.player = Player(on.recorder, self.vocabularies)

    async def carry_out(self, steps: Iterable[Step]) -> None:
        """Carry out steps that belong to every trial, and are not recorded as steps of its own."""
        await Player(_NotNoted(), self.vocabularies).play(steps)

    async def play(
        self, steps: Iterable[Step], progress: Callable[[str], None] = lambda text: None
    ) -> None:
        """Play steps up to the end, or until there turns out to be no topic."""
        try:
            for step in self.player.checked(steps):
                progress(step_line(step))
                await self.player.carry_out(step)
        except NoTopic:
            pass  # it is recorded, and there is nothing to go on with
        finally:
            self.watcher.stop()


class _NotNoted:
    def step(self, document: Mapping[str, Any], meant: Mapping[str, Any]) -> None:
        """Write nothing down."""
