"""A profile whose run is made of stages, each on a deployment of its own, into one run.

What plays it is imported when it is played: it needs the Kafka protocol, which commands that only
look at rules do not load.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from conformance.classic.stages import Stage, StageRun
from conformance.profiles.profile import Piece, Plan, Played, Profile, Progress
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
            return on.run(smoke(on, sut.name, at)) + look_around(on, self.probes)

    def pieces(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> Sequence[Piece]:
        """Every stage, on a deployment of its own."""
        given = StageRun(
            run=run,
            world=plan.world,
            seed=plan.seed,
            sut=sut,
            probes=self.probes,
            first_is_enough=plan.first_is_enough,
            progress=progress,
        )
        return [Piece(partial(self._record, one, given), one.takes_s) for one in self._stages(plan)]

    def _record(self, stage: Stage, given: StageRun) -> Played:
        done = stage.record(given)
        return Played(
            counted=dict(done.counted),
            skipped=dict(done.skipped),
            brokers=done.brokers,
            levers={self.name: done.levers} if done.levers else {},
            lacks=dict(done.lacks),
        )

    def _stages(self, plan: Plan) -> tuple[Stage, ...]:
        return tuple(one for one in self.all_stages if not plan.stages or one.name in plan.stages)

    def stages(self) -> tuple[str, ...]:
        """In the order in which they are played."""
        return tuple(one.name for one in self.all_stages)

    def simulates(self, stage: str) -> bool:
        """If it is played on a deployment."""
        return all(one.deploys for one in self.all_stages if one.name == stage)

    def scripted(self) -> tuple[str, ...]:
        """Those that are lists of requests or steps."""
        return tuple(one.name for one in self.all_stages if one.scripted)
