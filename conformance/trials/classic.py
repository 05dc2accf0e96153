"""The classic cluster under a nemesis: producers, readers, elections; judged by Kafka's promises.

Three brokers, one topic with one partition on all of them, and clients that believe whichever
broker they ask. Whatever a step does, clients go on sending and reading. At the end everything is
healed; the cluster is given time to come to rest and its clients to make progress, then the log is
read from its start to its end at every broker.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.driver import Driver
from conformance.programs import BEGINNING, ENDING, PROPERTIES, REST_S, TOPIC
from conformance.trials.judging import JudgedTrial
from harness.deployments.plan import DeploymentPlan
from harness.errors import LabBroken
from harness.steps.step import Step, read_step
from harness.steps.vocabulary import Speaks
from harness.workloads.partition_steps import ClientsSteps
from nemesis.steps import NemesisSteps

LOAD: Step = read_step("load begin mix=few seed=1")
MOST_FAULTS = 3  # at a time


class ClassicTrial(JudgedTrial):
    """A cluster of three brokers and its clients."""

    plan = DeploymentPlan(brokers=3, properties=PROPERTIES)
    records_effects = False
    forgiving = True
    partition = f"{TOPIC}-0"
    drawn = (*ClientsSteps.drawn(), *NemesisSteps.drawn())

    async def build(self) -> None:
        """A cluster that is up, a topic, and clients that begin to work."""
        self.driver = Driver(
            self.system,
            topic=TOPIC,
            campaign="program",
            bound_s=REST_S,
            most_faults=MOST_FAULTS,
        )
        await self.driver.carry_out([*BEGINNING, LOAD])

    def vocabularies(self) -> Sequence[Speaks]:
        """Those of a partition."""
        return self.driver.vocabularies

    async def finish(self) -> None:
        """Heal, wait for rest and progress, then read everything everywhere."""
        await self.driver.carry_out(ENDING)
        if self.system.sim.uncaught and not self.mutants:
            raise LabBroken(f"a node left an error uncaught: {self.system.sim.uncaught[0]}")
