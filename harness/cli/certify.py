"""The body of `certify` and `replay`: smoke, record, judge, say what it is worth.

Each stage is one line as soon as it is known. On success the last line is the certificate, on
failure the command that repeats the run.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from conformance.lab import now, record, smoke
from conformance.profiles import PROFILES, find_profile
from conformance.profiles.profile import Plan
from harness import __version__
from harness.cli.hidden import secrets_of
from harness.cli.judged_run import keep
from harness.cli.leaving import leaving_no_topics
from harness.cli.progress import Stage, plural, print_document
from harness.cli.runs import RUNS, called, next_run, under_way
from harness.cli.views import write_views
from harness.history import Run
from harness.history.run import HEADER_FILE
from harness.processes.java import java_home_for_spark
from harness.rules import Catalogue, Conclusion
from harness.rules.designs import designs_at
from harness.sut import Sut, UsageError, find_sut, reference_sut
from harness.sut.adapter import adapter_of
from reports import terminal
from reports.certificate import verdict_document
from reports.plain import hiding
from spark_checkers.engine import Engine, open_engine
from spark_checkers.judge import judge
from spark_checkers.sessions import CONNECT, begin_session

ENGINES = ("spark", "inline")
SPARK_LOG = "spark.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for; everything needed to ask for it again is in the run's header."""

    sut: str = "reference"
    profiles: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    world: str | None = None
    seed: int = 1
    rounds: int = 2
    engine: str = "spark"
    master: str = "local[*]"
    mutants: tuple[str, ...] = ()
    out: Path | None = None
    as_json: bool = False
    today: datetime.date = field(default_factory=datetime.date.today)


def run(options: Options) -> int:
    """Certify a system; the exit code is the verdict's."""
    check_engine(options.engine, options.master)
    designs_at(None)  # a setting that leads nowhere is told now, not when the report is drawn
    sut = _system(options)
    rules = _rules(options, sut)
    world = options.world or sut.adapter.worlds[0]
    sut.adapter.check_world(sut, world)
    for waiver in sut.waivers:
        CATALOGUE[waiver.rule]
    plan = _plan(options, world, rules)
    name = next_run(RUNS) if options.out is None else str(options.out)
    folder = options.out or RUNS / name
    check_folder(folder)
    stage = Stage.for_people(as_json=options.as_json)
    profiles = sorted({rule.profile for rule in rules})
    stage.say(
        f"{sut.name} {sut.version} · {', '.join(profiles)} {__version__} · {world}"
        f" · seed {options.seed}"
    )
    header = header_of(options, sut, world, name, profiles)
    run_ = Run.create(folder, **header)
    with under_way(folder):
        begin_engine(folder, options)
        with leaving_no_topics(sut, str(header["topic_tag"])):
            _record(run_, sut, plan, stage)
        return conclude(folder, options, stage)


def check_folder(folder: Path) -> None:
    """Refuse a folder in which there is something."""
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; a run needs a folder of its own")


def conclude(folder: Path, options: Options, stage: Stage) -> int:
    """Judge a recorded run, keep what was found and say it; the exit code is the verdict's."""
    conclusion = _judge(folder, options, stage)
    keep(folder, conclusion)
    write_views(folder, conclusion, stage)
    with hiding(secrets_of(conclusion.header)):
        if options.as_json:
            print_document(verdict_document(conclusion), indent=1)
        for line in terminal.closing(conclusion, str(folder), called(folder)):
            stage.say(line)
    return conclusion.exit_code


def replay(
    name: str,
    header: Mapping[str, Any],
    *,
    rules: Sequence[str],
    engine: str | None,
    as_json: bool,
) -> int:
    """Run again what a run's header says."""
    asked = header.get("options")
    if not isinstance(asked, dict):
        raise UsageError(f"run {name} was not made by certify; there is nothing to repeat")
    for kind, needed in _ASKED.items():
        for field_ in needed:
            if type(asked.get(field_)) is not kind:
                raise UsageError(f"the header of run {name} does not say {field_}: {HEADER_FILE}")
    return run(
        Options(
            sut=asked["sut"],
            profiles=tuple(map(str, asked["profiles"])),
            rules=tuple(rules or map(str, asked["rules"])),
            world=asked["world"],
            seed=asked["seed"],
            rounds=asked["rounds"],
            engine=engine or asked["engine"],
            mutants=tuple(map(str, asked["mutants"])),
            as_json=as_json,
        )
    )


# What a header says of the command, by type.
_ASKED = {
    str: ("sut", "world", "engine"),
    int: ("seed", "rounds"),
    list: ("profiles", "rules", "mutants"),
}


def _system(options: Options) -> Sut:
    if not options.mutants:
        return find_sut(options.sut)
    if not adapter_of(options.sut).by_our_reading:
        raise UsageError("--mutant changes the reference; somebody else's system cannot be mutated")
    from reference_impl.decisions import load_mutant

    for mutant in options.mutants:
        load_mutant(mutant)
    return reference_sut(mutants=options.mutants)


def _rules(options: Options, sut: Sut) -> Catalogue:
    claims = ", ".join(sut.profiles)
    for profile in map(find_profile, options.profiles):
        if profile.name not in sut.profiles:
            raise UsageError(f"{sut.name} does not claim {profile.name!r}; it claims {claims}")
        if reason := profile.unplayable(sut):
            raise UsageError(f"{profile.name} cannot be played on {sut.name}: {reason}")
    playable = [name for name, one in PROFILES.items() if not one.unplayable(sut)]
    claimed = options.profiles or [name for name in playable if name in sut.profiles]
    chosen = Catalogue(rule for name in claimed for rule in PROFILES[name].rules)
    if options.rules:
        wanted = {CATALOGUE[rule].id for rule in options.rules}
        chosen = Catalogue(rule for rule in chosen if rule.id in wanted)
    if not len(chosen):
        raise UsageError(
            f"no rule is selected: {sut.name} claims {claims}, and the lab plays"
            f" {', '.join(playable) or 'nothing'} on it"
        )
    return chosen


def _plan(options: Options, world: str, rules: Iterable[Any]) -> Plan:
    wanted = {rule.id: rule.profile for rule in rules}
    return Plan(
        world=world,
        seed=options.seed,
        profiles=tuple(sorted(set(wanted.values()))),
        rules=tuple(wanted),
        whole=not options.rules and options.rounds > 0,
        day=options.today,
        rounds=options.rounds,
    )


def header_of(
    options: Options, sut: Sut, world: str, name: str, profiles: list[str]
) -> dict[str, Any]:
    """The header of a run: what was asked for, by whom it is played, where."""
    return {
        "run": name,
        "suite": __version__,
        "commit": _commit(),
        "engine": options.engine,
        "host": _host(),
        "sut": sut.name,
        "sut_version": sut.version,
        "world": world,
        "profiles": profiles,
        "seed": options.seed,
        "started": now(),
        # A system that is not ours may remember earlier runs: its topics carry a tag of this one.
        "topic_tag": f"{time.time_ns():x}" if world == "external" else "",
        "options": {
            "sut": options.sut,
            "profiles": list(options.profiles),
            "rules": list(options.rules),
            "world": world,
            "seed": options.seed,
            "rounds": options.rounds,
            "engine": options.engine,
            "mutants": list(options.mutants),
        },
    }


def _record(run_: Run, sut: Sut, plan: Plan, stage: Stage) -> None:
    with stage("smoke") as line:
        line.done(f"{smoke(run_, sut, plan)} calls answered")
    with stage("record") as line:
        played = record(run_, sut, plan, progress=line.progress)
        skipped = f", {len(played.skipped)} not playable here" if played.skipped else ""
        said = ", ".join(plural(number, what) for what, number in played.counted.items())
        line.done(f"{said}{skipped}")


def _judge(folder: Path, options: Options, stage: Stage) -> Conclusion:
    with stage("judge") as line:
        line.progress(f"starting {options.engine}")
        log = folder / SPARK_LOG
        engine = open_chosen_engine(options.engine, master=options.master, log=log)
        try:
            conclusion = judge(folder, CATALOGUE, engine, progress=line.progress)
        finally:
            engine.close()
        judgement = conclusion.judgement
        counted = plural(len(judgement.judged), "rule")
        line.done(f"{counted} over {judgement.events} events on {options.engine}")
    stage.detail("faults", conclusion.faults.landed)
    return conclusion


def _commit() -> str | None:
    """The commit of the suite, where it is a checkout; a plus where it was changed."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    git = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--dirty=+"]
    try:
        told = subprocess.run(git, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip() or None


def _host() -> str:
    """The kind of machine; its name is its owner's affair."""
    kind = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{kind}, {plural(os.cpu_count() or 1, 'core')}"


def check_engine(name: str, master: str) -> str | None:
    """The Java that the engine needs, if it needs one; a sentence if it cannot be had."""
    if name not in ENGINES:
        raise UsageError(f"there is no engine {name!r}; known: {', '.join(ENGINES)}")
    needs_java = name == "spark" and not master.startswith(CONNECT)
    return java_home_for_spark() if needs_java else None


def begin_engine(folder: Path, options: Options) -> None:
    """Let what takes seconds to start do so while the run is recorded."""
    if options.engine == "spark":
        java_home = check_engine(options.engine, options.master)
        begin_session(options.master, java_home=java_home, log=folder / SPARK_LOG)


def open_chosen_engine(name: str, *, master: str, log: Path) -> Engine:
    """The engine asked for on a command line."""
    java_home = check_engine(name, master)
    return open_engine(name, master=master, java_home=java_home, log=log)
