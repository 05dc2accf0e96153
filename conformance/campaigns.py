"""Campaigns: a file says which roles there are and which steps are played on all of them.

    name = "every-role-is-hurt"
    profiles = ["classic", "migration"]
    rules = ["KFK-030", …]                  # to be exercised; if left out, all
    brokers = 3
    control_plane = true
    object_store = true
    steps = ''' … '''                       # one a line, as `harness/steps` has them

or, in place of the steps, tables `[load]` and `[chaos]` from which they are made (`chaos.py`).

Everything runs in one deployment: brokers, controller, control plane, object store, clients. In a
simulation control plane and store are in memory, elsewhere PostgreSQL and an S3 server. The
partition `t-0` is the one that Kafka clients use. Every fault is a part of the plan: if one does
not land, the profiles that the campaign names are left without proof.
"""

from __future__ import annotations

import random
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from conformance.chaos import LOADED, Chaos, chaos_steps, part_name, read_chaos
from conformance.classic.playing import tidy_up
from conformance.classic.transactions import SETTINGS as TRANSACTION_SETTINGS
from conformance.driver import VOCABULARIES, Driver
from conformance.lab import now
from conformance.profiles import find_profile
from conformance.profiles.profile import Progress
from conformance.tiered.topics import OF_THE_REFERENCE
from conformance.tiered.topics import SETTINGS as TIER_SETTINGS
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.plan import QUICK_TO_NOTICE, DeploymentPlan
from harness.errors import UsageError
from harness.history import Run
from harness.history.plan import LabShard, Part, RunPlan, Skip
from harness.steps.step import NEMESIS, Step
from harness.steps.text import parse
from harness.sut import Sut
from nemesis.faults import FAULTS
from nemesis.offered import not_offered
from nemesis.schedule import Strike

MOST_BROKERS = 9
TABLES = ("load", "chaos", "clients")
FOUND_LASTING = 2.0  # Kafka's own settings take nine seconds to notice that one is gone
_FIELDS = {
    "name": str,
    "profiles": list,
    "rules": list,
    "brokers": int,
    "control_plane": bool,
    "object_store": bool,
    "steps": str,
    "load": dict,
    "chaos": dict,
    "clients": dict,
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
    chaos: Chaos | None = None

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """The roles it wants, as this world has them."""
        simulated = world == "sim"
        return DeploymentPlan(
            brokers=self.brokers,
            racks=("a", "b", "c"),
            properties=self._properties(sut),
            mutants=sut.mutants,
            control_plane=_kind(self.control_plane, simulated, "postgres"),
            object_store=_kind(self.object_store or self._tiers(sut), simulated, "s3"),
            own_database=True,
        )

    def _tiers(self, sut: Sut) -> bool:
        """Whether the reference needs a store for its tiers; Apache Kafka has a folder."""
        return self.chaos is not None and self.chaos.tiering and sut.reference is not None

    def _properties(self, sut: Sut) -> Mapping[str, str]:
        if self.chaos is None:
            return QUICK_TO_NOTICE
        ours = OF_THE_REFERENCE if self._tiers(sut) else {}
        tiers = TIER_SETTINGS if self.chaos.tiering else {}
        return {**TRANSACTION_SETTINGS, **tiers, **ours}

    def parts(self) -> tuple[Part, ...]:
        """Every fault that its steps begin, or every kind of fault of its chaos."""
        if self.chaos is not None:
            return tuple(
                Part(
                    name=part_name(self.name, one),
                    profile=self.profiles[0],
                    faults=(one.fault,),
                    scope="profile",
                )
                for one in self.chaos.faults
            )
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
    except UnicodeDecodeError as problem:
        why = f"it is not UTF-8 (byte {problem.start})"
        raise UsageError(f"{path} is no campaign: {why}") from None
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"{path} is no campaign: {problem}") from None
    for name, value in given.items():
        if name not in _FIELDS:
            raise UsageError(f"{path}: a campaign has no {name!r}; it has {', '.join(_FIELDS)}")
        if type(value) is not _FIELDS[name]:
            raise UsageError(f"{path}: {name} is {_FIELDS[name].__name__}, not {value!r}")
    _check_kind(path, given)
    if not 0 <= given.get("brokers", 0) <= MOST_BROKERS:
        raise UsageError(f"{path}: brokers is 0 to {MOST_BROKERS}, not {given['brokers']}")
    profiles = tuple(find_profile(str(one)).name for one in given.pop("profiles"))
    rules = tuple(CATALOGUE[str(one)].id for one in given.pop("rules", ()))
    tables: dict[str, Any] = {name: given.pop(name) for name in TABLES if name in given}
    try:
        if tables:
            given["chaos"], given["steps"] = read_chaos(tables), ()
        else:
            steps = parse(given.pop("steps"), *VOCABULARIES)
            given["steps"] = _with_parts(given["name"], steps)
    except UsageError as problem:
        raise UsageError(f"{path}{'' if tables else ', steps'}, {problem}") from None
    return Campaign(profiles=profiles, rules=rules, **given)


def _check_kind(path: Path, given: Mapping[str, Any]) -> None:
    """It has steps, or tables from which they are made."""
    chaotic = "chaos" in given
    if chaotic and "steps" in given:
        raise UsageError(f"{path}: a campaign has steps or [chaos], not both")
    needed = ("name", "profiles", "chaos" if chaotic else "steps")
    if missing := [name for name in needed if not given.get(name)]:
        raise UsageError(f"{path}: a campaign needs {', '.join(missing)}")
    if not chaotic and (tables := [name for name in ("load", "clients") if name in given]):
        raise UsageError(f"{path}: [{tables[0]}] goes with [chaos], not with steps")


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
        played = _play(run, sut, campaign, world, seed, progress)
        for skip in played.skips:
            lab.skip(skip)
        lab.found("brokers", [{"id": broker} for broker in played.brokers])
        for name in sut.profiles:
            if name not in campaign.profiles:
                lab.skip(Skip(what="profile", name=name, reason="the campaign is not about it"))
        lab.close(at=now())
    except BaseException:
        lab.abandon()
        raise
    finally:
        run.seal()
    return played.steps


@dataclass(frozen=True, slots=True)
class _Played:
    brokers: tuple[int, ...]
    steps: int
    skips: tuple[Skip, ...] = ()


def _play(
    run: Run, sut: Sut, campaign: Campaign, world: str, seed: int, progress: Progress
) -> _Played:
    plan = campaign.deployment(sut, world)
    with deploy(sut, plan, run=run, world=world, seed=seed) as system:
        chance = random.Random(f"{seed}/targets")
        steps, skips = campaign.steps, _requests(system)
        if campaign.chaos is not None:
            missing = _out_of_reach(system, campaign.chaos)
            skips += [
                Skip(what="part", name=part_name(campaign.name, one), reason=why)
                for one, why in missing.items()
            ]
            lasting = 1.0 if sut.adapter.started else FOUND_LASTING
            reachable = campaign.chaos.without(list(missing))
            steps = tuple(chaos_steps(campaign.name, reachable, seed, lasting_s=lasting))
        with Driver(system, campaign=campaign.name, chance=chance) as driver:
            driver.play(steps, progress=_going_on(driver, len(steps), progress))
        tidy_up(system, sut, campaign.chaos.topics if campaign.chaos else (LOADED,))
        return _Played(system.known, len(steps), tuple(skips))


def _going_on(driver: Driver, steps: int, progress: Progress) -> Progress:
    """The step that is played, the faults in force, and how much is recorded a second."""
    recorder, played = driver.deployment.recorder, count(1)
    began, lines = time.monotonic(), recorder.lines

    def told(step: str) -> None:
        rate = (recorder.lines - lines) / max(0.1, time.monotonic() - began)
        hurt = ", ".join(f"{one.fault.name} {one.target.label}" for one in driver.nemesis.active)
        faults = f" · in force: {hurt}" if hurt else ""
        progress(f"{next(played)} of {steps} · {step}{faults} · {rate:.0f} lines/s")

    return told


def _requests(on: Deployment) -> list[Skip]:
    return [Skip(what="request", name=one, reason=why) for one, why in on.lacks.items()]


def _out_of_reach(on: Deployment, chaos: Chaos) -> dict[Strike, str]:
    """The faults that this deployment does not offer, with the reason."""
    asked = {one: not_offered(on, FAULTS[one.fault], one.target) for one in chaos.faults}
    return {one: why for one, why in asked.items() if why is not None}
