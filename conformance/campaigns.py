"""Campaigns: a file says which roles there are and which steps are played on all of them.

    name = "every-role-is-hurt"
    profiles = ["classic", "migration"]
    rules = ["KFK-030", …]                  # to be exercised; if left out, all
    brokers = 3
    control_plane = true
    object_store = true
    steps = ''' … '''                       # one a line, as `harness/steps` has them

Everything runs in one deployment: brokers, controller, control plane, object store, clients. In a
simulation control plane and store are in memory, elsewhere PostgreSQL and an S3 server. The
partition `t-0` is the one that Kafka clients use. Every fault is a part of the plan: if one does
not land, the profiles that the campaign names are left without proof.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.catalogue import CATALOGUE
from conformance.driver import VOCABULARIES, Driver
from conformance.lab import now
from conformance.profiles import find_profile
from conformance.profiles.profile import Progress
from harness.deployments.deploy import deploy
from harness.deployments.plan import QUICK_TO_NOTICE, DeploymentPlan
from harness.errors import UsageError
from harness.history import Run
from harness.history.plan import LabShard, Part, RunPlan
from harness.steps.step import NEMESIS, Step
from harness.steps.text import parse
from harness.sut import Sut
from nemesis.faults import FAULTS

MOST_BROKERS = 9
_FIELDS = {
    "name": str,
    "profiles": list,
    "rules": list,
    "brokers": int,
    "control_plane": bool,
    "object_store": bool,
    "steps": str,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What a campaign file says."""

    name: str
    profiles: tuple[str, ...]
    steps: tuple[Step, ...]
    rules: tuple[str, ...] = ()
    brokers: int = 3
    control_plane: bool = False
    object_store: bool = False

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """The roles it wants, as this world has them."""
        simulated = world == "sim"
        return DeploymentPlan(
            brokers=self.brokers,
            racks=("a", "b", "c"),
            properties=QUICK_TO_NOTICE,
            mutants=sut.mutants,
            control_plane=_kind(self.control_plane, simulated, "postgres"),
            object_store=_kind(self.object_store, simulated, "s3"),
            own_database=True,
        )

    def parts(self) -> tuple[Part, ...]:
        """Every fault that its steps begin."""
        return tuple(
            Part(
                name=str(step.arguments["part"]),
                profile=self.profiles[0],
                faults=(step.verb,),
                scope="profile",
            )
            for step in self.steps
            if "part" in step.arguments
        )


def _kind(wanted: bool, simulated: bool, live: str) -> str | None:
    return ("memory" if simulated else live) if wanted else None


def read_campaign(path: Path) -> Campaign:
    """The campaign in a file; a sentence says what is wrong with one that is none."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} is no campaign: {problem}") from None
    for name, value in given.items():
        if name not in _FIELDS:
            raise UsageError(f"{path}: a campaign has no {name!r}; it has {', '.join(_FIELDS)}")
        if type(value) is not _FIELDS[name]:
            raise UsageError(f"{path}: {name} is {_FIELDS[name].__name__}, not {value!r}")
    if missing := [name for name in ("name", "profiles", "steps") if not given.get(name)]:
        raise UsageError(f"{path}: a campaign needs {', '.join(missing)}")
    if not 0 <= given.get("brokers", 0) <= MOST_BROKERS:
        raise UsageError(f"{path}: brokers is 0 to {MOST_BROKERS}, not {given['brokers']}")
    profiles = tuple(find_profile(str(one)).name for one in given.pop("profiles"))
    rules = tuple(CATALOGUE[str(one)].id for one in given.pop("rules", ()))
    try:
        steps = parse(given.pop("steps"), *VOCABULARIES)
    except UsageError as problem:
        raise UsageError(f"{path}, steps, {problem}") from None
    given["steps"] = _with_parts(given["name"], steps)
    return Campaign(profiles=profiles, rules=rules, **given)


def _with_parts(name: str, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Each step that begins a fault names its part of the plan."""
    named = []
    for number, step in enumerate(steps, start=1):
        if step.actor == NEMESIS and step.verb in FAULTS:
            part = f"{name}/{number} {step.verb}"
            step = replace(step, arguments={**step.arguments, "part": part})
        named.append(step)
    return tuple(named)


def run_plan(sut: Sut, campaign: Campaign) -> RunPlan:
    """What a run of it sets out to do; never a whole certification."""
    of_profiles = [rule.id for name in campaign.profiles for rule in find_profile(name).rules]
    return RunPlan(
        rules=tuple(sorted(campaign.rules or of_profiles)),
        parts=campaign.parts(),
        claimed=sut.profiles,
        examined=campaign.profiles,
        whole=False,
        reference=sut.adapter.by_our_reading,
        mutants=sut.mutants,
        brokers=campaign.brokers or None,
    )


def record(
    run: Run,
    sut: Sut,
    campaign: Campaign,
    *,
    world: str,
    seed: int,
    progress: Progress = lambda text: None,
) -> int:
    """Play a campaign and seal its history; how many steps it was."""
    lab = LabShard(run)
    try:
        lab.plan(run_plan(sut, campaign))
        brokers = _play(run, sut, campaign, world, seed, progress)
        lab.found("brokers", [{"id": broker} for broker in brokers])
        lab.close(at=now())
    except BaseException:
        lab.abandon()
        raise
    finally:
        run.seal()
    return len(campaign.steps)


def _play(
    run: Run, sut: Sut, campaign: Campaign, world: str, seed: int, progress: Progress
) -> tuple[int, ...]:
    plan = campaign.deployment(sut, world)
    with deploy(sut, plan, run=run, world=world, seed=seed) as system:
        chance = random.Random(f"{seed}/targets")
        with Driver(system, campaign=campaign.name, chance=chance) as driver:
            driver.play(campaign.steps, progress=progress)
        return system.brokers
