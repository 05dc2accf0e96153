"""The kill matrix: every mutant against every rule, through recorded evidence only.

For each mutant the lab records a run of the mutated reference, exactly as it would of any system.
All that was recorded is judged together, each history by itself. A mutant is killed when every rule
it names fails on its run; one that names no rule is killed when any rule fails. A run that breaks
the lab kills nothing. The unmutated reference is there too: a rule that fails on it cannot prove
anything.

A profile may have something shorter than a run that shows a mutant (`Profile.shown`).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from conformance.derived.work import die_with_parent
from conformance.lab import record
from conformance.profiles import find_profile, profile_of
from conformance.profiles.profile import AnyMutant, Plan
from harness.history import Run
from harness.history.sources import Source
from harness.rules import Catalogue, Judged, Judgement, Rule, Status, Verdict
from harness.scratch import ScratchFolder
from harness.sut import reference_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.many import judge_many
from spark_checkers.side_by_side import JudgingProfile

SEED = 1
ROUNDS = 1
FEW = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run of the reference, mutated or not."""

    mutant: str | None
    control_plane: str | None
    world: str
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Which rules failed, which were exercised, and whether the lab held."""

    failed: tuple[str, ...]
    exercised: tuple[str, ...]
    broken: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One mutant's line of the matrix."""

    mutant: AnyMutant
    reference: str
    outcome: Outcome

    @property
    def missed(self) -> tuple[str, ...]:
        """The named rules that did not notice."""
        return tuple(r for r in self.mutant.rules if r not in self.outcome.failed)

    @property
    def killed(self) -> bool:
        """Whether the mutant was seen by all rules it names, or by any if it names none."""
        if self.outcome.broken:
            return False
        return not self.missed if self.mutant.rules else bool(self.outcome.failed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The whole self-check of one world."""

    world: str
    baselines: Mapping[str, Outcome]
    rows: tuple[Row, ...]

    @property
    def sound(self) -> bool:
        """Whether the unmutated reference passed, with every rule that a mutant names exercised."""
        failed = any(b.failed or b.broken for b in self.baselines.values())
        return not failed and not self.unexercised

    @property
    def unexercised(self) -> list[str]:
        """Rules named by mutants that the unmutated reference never exercised."""
        exercised = {rule for b in self.baselines.values() for rule in b.exercised}
        return sorted({rule for row in self.rows for rule in row.mutant.rules} - exercised)

    @property
    def survivors(self) -> list[Row]:
        """Mutants that no rule, or not every rule they name, has noticed."""
        return [row for row in self.rows if not row.killed]

    def document(self) -> dict[str, Any]:
        """The matrix as JSON; without times, so that it can be compared."""
        return {
            "world": self.world,
            "reference": {
                name: {"failed": list(b.failed), "exercised": list(b.exercised)}
                for name, b in sorted(self.baselines.items())
            },
            "mutants": [
                {
                    "mutant": row.mutant.name,
                    "decision": row.mutant.decision,
                    "why": row.mutant.why,
                    "rules": list(row.mutant.rules),
                    "killed": row.killed,
                    "killed_by": list(row.outcome.failed),
                }
                for row in self.rows
            ],
        }


def kill_matrix(
    mutants: Mapping[str, AnyMutant],
    *,
    world: str = "sim",
    workers: int = 2,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Matrix:
    """Run every mutant in a pool of processes and gather the matrix in order of name."""
    broken = [_job(ref, mutant, world) for ref, mutant in mutants.items()]
    sound = dict.fromkeys(replace(job, mutant=None) for job in broken)
    jobs = [*sorted(sound, key=_baseline), *broken]
    with ScratchFolder("selfcheck") as folder:
        recordings = _record_all(jobs, folder, workers, progress)
        outcomes = _judge_all(recordings, folder)
    rows = [
        Row(mutant=mutants[job.mutant], reference=job.mutant, outcome=outcomes[job])
        for job in jobs
        if job.mutant is not None
    ]
    return Matrix(
        world=world,
        baselines={_baseline(j): o for j, o in outcomes.items() if j.mutant is None},
        rows=tuple(sorted(rows, key=lambda row: row.mutant.name)),
    )


def _job(reference: str, mutant: AnyMutant, world: str) -> Job:
    profile = profile_of(mutant)
    plane = profile.control_plane(mutant, world)
    return Job(mutant=reference, control_plane=plane, world=world, profile=profile.name)


def _baseline(job: Job) -> str:
    """What the sound system is called, against which a mutant stands."""
    return job.control_plane or job.profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What a job left to be judged, or why it left nothing."""

    job: Job
    histories: tuple[Path, ...] = ()
    outcome: Outcome | None = None
    """Where the run was judged at once, or broke the lab."""
    seconds: float = 0.0


def _record_all(
    jobs: Sequence[Job], folder: Path, workers: int, progress: Callable[[int, int], None]
) -> list[Recording]:
    """Play every job; few of them here, as starting a process takes longer than one of them."""
    folders = [folder / str(number) for number in range(len(jobs))]
    if len(jobs) <= FEW:
        return [record_job(job, at) for job, at in zip(jobs, folders, strict=True)]
    context = multiprocessing.get_context("spawn")
    recordings: list[Recording] = []
    with ProcessPoolExecutor(workers, mp_context=context, initializer=die_with_parent) as pool:
        waiting = [pool.submit(record_job, job, at) for job, at in zip(jobs, folders, strict=True)]
        try:
            for future in as_completed(waiting):
                recordings.append(future.result())
                progress(len(recordings), len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return recordings


def record_job(job: Job, folder: Path) -> Recording:
    """Record one run, of one history or several."""
    started = monotonic()
    folder.mkdir()
    histories: Sequence[Path] = ()
    outcome = None
    try:
        shown = find_profile(job.profile).shown(job.mutant, job.world, folder)
        histories = _record(job, folder) if shown is None else shown
    except (Exception, SystemExit) as error:
        # Whatever a mutant makes the lab do, it proves nothing about a rule.
        outcome = _outcome([], [str(error) or type(error).__name__], monotonic() - started)
    return Recording(
        job=job, histories=tuple(histories), outcome=outcome, seconds=monotonic() - started
    )


def _judge_all(recordings: Sequence[Recording], folder: Path) -> dict[Job, Outcome]:
    """All histories of a profile at once: a rule costs as much for one as for a hundred."""
    judged: dict[Path, Judgement | str] = {}
    for profile in sorted({recording.job.profile for recording in recordings}):
        ground = JudgingProfile(profiles=(profile,), reference=True)
        rules = find_profile(profile).rules
        sources = [
            Source(name=str(path), address=str(path))
            for recording in recordings
            if recording.job.profile == profile
            for path in recording.histories
        ]
        engine = InlineEngine()
        try:
            found = judge_many(
                sources,
                lambda _, ground=ground: ground,  # type: ignore[misc]
                lambda _, rules=rules: rules,  # type: ignore[misc]
                engine,
                folder / f"judged-{profile}",
                workers=1,
                kept=1,
            )
            judged |= {
                Path(one.source.address): one.judgement or one.unreadable or "it was not judged"
                for one in found
            }
        finally:
            engine.close()
    return {one.job: one.outcome or _outcome_of(one, judged) for one in recordings}


def _outcome_of(recording: Recording, judged: Mapping[Path, Judgement | str]) -> Outcome:
    found = [judged[path] for path in recording.histories]
    unread = [one for one in found if isinstance(one, str)]
    told = [one for each in found if not isinstance(each, str) for one in each.judged]
    return _outcome(told, unread, recording.seconds)


def _outcome(judged: Sequence[Judged], broken: Sequence[str], seconds: float) -> Outcome:
    unjudged = [one.reason for one in judged if one.verdict is Verdict.BROKEN]
    return Outcome(
        failed=_ids(one for one in judged if one.verdict is Verdict.FAIL),
        exercised=_ids(one for one in judged if one.result.exercised),
        broken="; ".join([*broken, *unjudged]),
        seconds=seconds,
    )


def _ids(judged: Iterable[Judged]) -> tuple[str, ...]:
    return tuple(sorted({one.rule.id for one in judged}))


def _record(job: Job, folder: Path) -> list[Path]:
    """By the lab, as any system would be."""
    mutants = () if job.mutant is None else (job.mutant,)
    sut = reference_sut(control_plane=job.control_plane, mutants=mutants)
    plan = Plan(world=job.world, seed=SEED, rounds=ROUNDS, profiles=(job.profile,))
    run = Run.create(folder / "run", run="selfcheck", sut=sut.name, world=job.world, seed=SEED)
    record(run, sut, plan)
    return [run.folder]


def statuses(catalogue: Catalogue, matrices: Iterable[Mapping[str, Any]]) -> dict[str, Status]:
    """What stands behind each rule, from recorded kill matrices."""
    exercised: set[str] = set()
    named: dict[str, list[bool]] = {}
    for matrix in matrices:
        for baseline in matrix["reference"].values():
            exercised |= set(baseline["exercised"])
        for mutant in matrix["mutants"]:
            for rule in mutant["rules"]:
                named.setdefault(rule, []).append(rule in mutant["killed_by"])
    return {rule.id: _status(rule, exercised, named.get(rule.id, [])) for rule in catalogue}


def _status(rule: Rule, exercised: set[str], kills: Sequence[bool]) -> Status:
    if rule.unprovable:
        return Status.UNPROVABLE
    if rule.planned:
        return Status.PLANNED
    return Status.PROVEN if rule.id in exercised and kills and all(kills) else Status.UNPROVEN
