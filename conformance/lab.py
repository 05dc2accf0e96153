"""The lab: take a system, a world and a plan; record a run.

One run folder holds everything: the header says what was asked for, so that the run can be repeated
from it; the history says what was planned, what of it was skipped and what happened. What that is
worth is said by `spark_checkers.judge`, from the folder alone.
"""

from __future__ import annotations

import datetime
from contextlib import suppress

from conformance.catalogue import CATALOGUE
from conformance.derived.rates import known_rates
from conformance.profiles import PROFILES, find_profile
from conformance.profiles.profile import Plan, Played, Profile, Progress
from harness.errors import DidNotStart
from harness.history import Run
from harness.history.plan import LabShard, PlannedWaiver, RunPlan, Skip
from harness.sut import Sut


def profiles_of(plan: Plan) -> list[Profile]:
    """The profiles of a plan."""
    return [find_profile(name) for name in plan.profiles]


def run_plan(sut: Sut, plan: Plan) -> RunPlan:
    """The plan as it stands in the history."""
    profiles = profiles_of(plan)
    brokers = max(one.deployment(sut, plan.world).brokers for one in profiles)
    return RunPlan(
        rules=plan.rules or tuple(sorted(rule.id for one in profiles for rule in one.rules)),
        parts=tuple(part for one in profiles for part in one.parts(plan)),
        claimed=sut.profiles,
        examined=plan.profiles,
        whole=plan.whole,
        reference=sut.adapter.by_our_reading,
        mutants=sut.mutants,
        brokers=sut.adapter.brokers_expected(sut, brokers) if brokers else None,
        day=None if plan.day is None else plan.day.isoformat(),
        waivers=tuple(
            PlannedWaiver(
                rule=CATALOGUE[one.rule].id, reason=one.reason, until=one.until.isoformat()
            )
            for one in sut.waivers
        ),
        rates=known_rates(plan.profiles),
    )


def smoke(run: Run, sut: Sut, plan: Plan) -> int:
    """The smoke tests of all profiles; how much was asked.

    Of a system that does not get ready nothing is asked: the run will show it.
    """
    asked = 0
    for profile in profiles_of(plan):
        with suppress(DidNotStart):
            asked += profile.smoke(run, sut, plan)
    return asked


def record(run: Run, sut: Sut, plan: Plan, *, progress: Progress = lambda text: None) -> Played:
    """Play the plan, seal the history. What was recorded stays, whatever happens."""
    played = Played()
    lab = LabShard(run)
    try:
        lab.plan(run_plan(sut, plan))
        for profile in profiles_of(plan):
            try:
                played.add(profile.record(run, sut, plan, progress))
            except DidNotStart as failure:
                lab.found("nodes", failure.nodes)
        for name, reason in played.skipped.items():
            lab.skip(Skip(what="part", name=name, reason=reason))
        for name in sut.profiles:
            if name not in plan.profiles:
                lab.skip(Skip(what="profile", name=name, reason=_not_examined(sut, name)))
        if played.levers:
            rows = [{"profile": name, "levers": one} for name, one in played.levers.items()]
            lab.found("levers", rows)
        if played.brokers:
            lab.found("brokers", [{"id": broker} for broker in played.brokers])
        lab.close(at=now())
    except BaseException:
        lab.abandon()
        raise
    finally:
        run.seal()
    return played


def now() -> str:
    """The time of day, as headers and footers say it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_examined(sut: Sut, name: str) -> str:
    if name not in PROFILES:
        return "there are no rules for it yet"
    return PROFILES[name].unplayable(sut) or "it was not asked for"
