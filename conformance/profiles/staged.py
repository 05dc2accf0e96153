"""A profile whose run is made of stages, each on a deployment of its own, into one run.

What plays it is imported when it is played: it needs the Kafka protocol, which commands that only
look at rules do not load.
"""

from __future__ import annotations

from conformance.classic.stages import Stage, StageRun
from conformance.profiles.profile import Plan, Played, Profile, Progress
from harness.at_once import at_the_same_time
from harness.deployments.deploy import deploy
from harness.history import Run
from harness.history.plan import Part
from harness.sut import Sut
from harness.workloads.look_steps import look_around


class Staged(Profile):
    """A profile in stages."""

    all_stages: tuple[Stage, ...] = ()

    def parts(self, plan: Plan) -> tuple[Part, ...]:
        """Those of its stages."""
        return tuple(part for stage in self._stages(plan) for part in stage.parts())

    def smoke(self, run: Run, sut: Sut, plan: Plan) -> int:
        """Five requests that any cluster answers."""
        from conformance.classic.smoke import smoke

        roles, at = self.deployment(sut, plan.world), self.smoke_shard
        with deploy(sut, roles, run=run, world=plan.world, seed=plan.seed, shard=at) as on:
            return on.run(smoke(on, sut.name)) + look_around(on, self.probes)

    def record(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> Played:
        """Every stage on a deployment of its own.

        Processes wait more than they work: there two stages are played at a time.
        """

        given = StageRun(
            run=run,
            world=plan.world,
            seed=plan.seed,
            sut=sut,
            probes=self.probes,
            first_is_enough=plan.first_is_enough,
            progress=progress,
        )
        at_once = 2 if plan.world == "process" and sut.adapter.started else 1
        played = Played()
        for done in at_the_same_time(lambda one: one.record(given), self._stages(plan), at_once):
            counted, skipped = dict(done.counted), dict(done.skipped)
            levers = {self.name: done.levers} if done.levers else {}
            played.add(
                Played(counted=counted, skipped=skipped, brokers=done.brokers, levers=levers)
            )
        return played

    def _stages(self, plan: Plan) -> tuple[Stage, ...]:
        return tuple(one for one in self.all_stages if not plan.stages or one.name in plan.stages)

    def stages(self) -> tuple[str, ...]:
        """In the order in which they are played."""
        return tuple(one.name for one in self.all_stages)

    def scripted(self) -> tuple[str, ...]:
        """Those that are lists of requests or steps."""
        return tuple(one.name for one in self.all_stages if one.scripted)
