"""The lab: take a system, a world and a plan; record a run.

One run folder holds everything: the header says what was asked for, so that the run can be repeated
from it; the history says what was planned, what of it was skipped and what happened. What that is
worth is said by `spark_checkers.judge`, from the folder alone.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from contextlib import suppress

from conformance.catalogue import CATALOGUE
from conformance.derived.rates import known_rates
from conformance.profiles import PROFILES, find_profile
from conformance.profiles.profile import Piece, Plan, Played, Profile, Progress
from harness.at_once import at_the_same_time
from harness.errors import CannotConnect, DidNotStart, NoAnswer
from harness.history import Run
from harness.history.plan import LabShard, PlannedWaiver, RunPlan, Skip
from harness.sut import Sut

AT_ONCE, AT_ONCE_ELSEWHERE = 3, 2


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

    def ask(profile: Profile) -> int:
        with suppress(DidNotStart):
            return profile.smoke(run, sut, plan)
        return 0

    return sum(at_the_same_time(ask, profiles_of(plan), _at_once(sut, plan)))


def _at_once(sut: Sut, plan: Plan) -> int:
    """How many pieces are recorded at a time: processes wait more than they work, ours the most."""
    if plan.world not in ("process", "docker") or not sut.adapter.started:
        return 1
    return AT_ONCE if sut.adapter.by_our_reading else AT_ONCE_ELSEWHERE


def record(run: Run, sut: Sut, plan: Plan, *, progress: Progress = lambda text: None) -> Played:
    """Play the plan, seal the history. What was recorded stays, whatever happens."""
    played = Played()
    lab = LabShard(run)
    try:
        lab.plan(run_plan(sut, plan))
        for failure in _play(run, sut, plan, progress, played):
            lab.found("nodes", failure.nodes)
        for name, reason in played.skipped.items():
            lab.skip(Skip(what="part", name=name, reason=reason))
        for name, reason in played.lacks.items():
            lab.skip(Skip(what="request", name=name, reason=reason))
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


def _play(
    run: Run, sut: Sut, plan: Plan, progress: Progress, played: Played
) -> Iterable[DidNotStart]:
    """Play every piece of the plan; what did not start.

    What a profile needs has not started once, or answers no more: no more of that profile is begun.
    """
    pieces = [
        (profile.name, piece)
        for profile in profiles_of(plan)
        for piece in profile.pieces(run, sut, plan, progress)
    ]
    at_once = _at_once(sut, plan)
    if at_once > 1:
        pieces.sort(key=lambda one: -one[1].takes_s)
    failed: dict[str, DidNotStart] = {}

    def play(given: tuple[str, Piece]) -> Played:
        name, piece = given
        try:
            return Played() if name in failed else piece.record()
        except DidNotStart as failure:
            failed[name] = failure
            return Played()
        except (CannotConnect, NoAnswer) as lost:
            if sut.adapter.started:
                raise
            # It has answered the smoke test: what has become of it since is for the rules.
            failed[name] = DidNotStart(str(lost), [])
            return Played()

    for done in at_the_same_time(play, pieces, at_once):
        played.add(done)
    return failed.values()


def now() -> str:
    """The time of day, as headers and footers say it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_examined(sut: Sut, name: str) -> str:
    if name not in PROFILES:
        return "there are no rules for it yet"
    return PROFILES[name].unplayable(sut) or "it was not asked for"
