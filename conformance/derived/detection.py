"""What a plan detects of the derived mutants.

    shadow   in a simulation: one sound run of each play; what never differs in it is not played
    play     the others, play after play, several at a time, until a rule fails
    judge    each batch of recorded histories together, every history by itself

A mutant is *detected* when a MUST fails on what was recorded. One that breaks the lab, or does not
end within its limit, ends in a sentence and is not detected. What is known is kept (`kept.py`): a
measurement that was interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from conformance.derived import AnyMutant
from conformance.derived.kept import Kept
from conformance.derived.plays import Play, likeliest_first, plays_of
from conformance.derived.shadow import shadowing
from conformance.derived.work import Told, die_with_parent, play_and_judge, within
from conformance.profiles import profile_of
from harness.errors import LabBroken
from harness.scratch import ScratchFolder
from reference_impl.decisions import Mutant, SqlMutant, decisions, load_mutant

DETECTED, SURVIVED, NOT_REACHED, BROKE = "detected", "survived", "not reached", "broke the lab"
A_BATCH = 8
SHADOW_S = 600.0
Progress = Callable[[str], None]
Group = tuple[tuple[Play, ...], dict[str, AnyMutant]]  # plays in their order, and whom they show
Reached = Mapping[Play, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one mutant."""

    mutant: str
    decision: str
    outcome: str
    rules: tuple[str, ...] = ()
    play: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """How a plan is measured."""

    by: str
    world: str
    levers: str
    seed: int
    workers: int
    kept: Path | None = None  # where results are kept, line by line


def measure(
    mutants: Mapping[str, AnyMutant],
    how: Measurement,
    progress: Progress = lambda text: None,
) -> list[Result]:
    """Every mutant's result, in the order in which they were given."""
    found: dict[str, Result] = {}
    with ScratchFolder("derived") as folder, _Pool(how.workers, folder, Kept(how.kept)) as pool:
        groups = _groups(mutants, how)
        reached = _reached(groups, pool, progress)
        for plays, group in groups:
            for result in _measured(plays, group, reached, pool, progress):
                found[result.mutant] = result
    return [found[one.name] for one in mutants.values()]


def _groups(mutants: Mapping[str, AnyMutant], how: Measurement) -> list[Group]:
    """Mutants that are shown by the same plays."""
    groups: dict[tuple[Play, ...], dict[str, AnyMutant]] = {}
    for ref, mutant in mutants.items():
        profile = profile_of(mutant)
        plays = plays_of(
            profile.name,
            by=how.by,
            world=how.world,
            control_plane=profile.control_plane(mutant, how.world),
            levers=how.levers,
            seed=how.seed,
        )
        function = decisions()[mutant.decision].function
        decided_in = "" if function is None else function.__module__
        groups.setdefault(likeliest_first(plays, decided_in), {})[ref] = mutant
    return list(groups.items())


def _measured(
    plays: Sequence[Play],
    mutants: Mapping[str, AnyMutant],
    reached: Reached,
    pool: _Pool,
    progress: Progress,
) -> Iterator[Result]:
    """Results as they become known."""
    waiting = dict(mutants)
    played: set[str] = set()
    for play in plays:
        batch = {ref: one for ref, one in waiting.items() if one.name in reached[play]}
        for done, (ref, told) in enumerate(pool.play(play, batch), start=1):
            progress(f"{play.name}: {done} of {len(batch)} mutants")
            played.add(ref)
            if told.broken or told.failed:
                mutant = waiting.pop(ref)
                yield Result(
                    mutant=mutant.name,
                    decision=mutant.decision,
                    outcome=BROKE if told.broken else DETECTED,
                    rules=told.failed,
                    play=play.name,
                    detail=told.broken,
                )
    for ref, mutant in waiting.items():
        yield Result(
            mutant=mutant.name,
            decision=mutant.decision,
            outcome=SURVIVED if ref in played else NOT_REACHED,
        )


def _reached(groups: Sequence[Group], pool: _Pool, progress: Progress) -> Reached:
    """Which mutants each play can show: in a simulation those that answer differently in it."""
    of_play: dict[Play, dict[str, AnyMutant]] = {}
    for plays, mutants in groups:
        for play in plays:
            of_play.setdefault(play, {}).update(mutants)
    reached = {
        play: frozenset(one.name for one in mutants.values()) for play, mutants in of_play.items()
    }
    simulated = {
        play: list(mutants)
        for play, mutants in of_play.items()
        # The answers of SQL functions are given by a database.
        if play.world == "sim" and not any(isinstance(one, SqlMutant) for one in mutants.values())
    }
    for play, told in pool.shadow(simulated):
        progress(f"shadow: {play.name}")
        if told.broken or told.failed:
            what = told.broken or f"fails {' '.join(told.failed)}"
            raise LabBroken(f"the sound reference does not pass {play.name}: {what}")
        reached[play] = frozenset(told.differing)
    return reached


class _Pool:
    """Processes that play; none outlives the one that started it. What is known is not played."""

    def __init__(self, workers: int, folder: Path, kept: Kept) -> None:
        self._pool = ProcessPoolExecutor(
            workers, mp_context=get_context("spawn"), initializer=die_with_parent
        )
        self._folder = folder
        self._kept = kept
        self._folders = 0

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def play(self, play: Play, mutants: Mapping[str, AnyMutant]) -> Iterator[tuple[str, Told]]:
        """Play a play on each mutant."""
        left = []
        for ref, mutant in mutants.items():
            told = self._kept.told(play, mutant.name)
            if told is None:
                left.append(ref)
            else:
                yield ref, told
        size = A_BATCH if play.world == "sim" else 1
        some = [left[at : at + size] for at in range(0, len(left), size)]
        tasks = {
            self._pool.submit(play_and_judge, play, batch, self._next_folder()): batch
            for batch in some
        }
        for future in as_completed(tasks):
            for ref, told in zip(tasks[future], future.result(), strict=True):
                self._kept.keep(play, told, mutants[ref].name)
                yield ref, told

    def shadow(self, plays: Mapping[Play, Sequence[str]]) -> Iterator[tuple[Play, Told]]:
        """Play each play on the sound reference, with its mutants asked beside it."""
        tasks: dict[Future[Told], Play] = {
            self._pool.submit(shadow_play, play, references, self._next_folder()): play
            for play, references in plays.items()
        }
        for future in as_completed(tasks):
            yield tasks[future], future.result()

    def _next_folder(self) -> Path:
        self._folders += 1
        return self._folder / str(self._folders)


def shadow_play(play: Play, references: Sequence[str], folder: Path) -> Told:
    """One sound play in this process: who differed, and whether the reference passed."""
    mutants = [load_mutant(one) for one in references]
    python = [one for one in mutants if isinstance(one, Mutant)]
    with within(SHADOW_S, of_cpu=True), shadowing(python) as shadow:
        (told,) = play_and_judge(play, [None], folder)
    return replace(told, differing=tuple(sorted(shadow.differing)))
