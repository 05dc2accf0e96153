"""What a plan detects of the derived mutants.

    shadow   in a simulation: one sound run of each play; what never differs in it is not played
    play     the others, play after play, several at a time, until a rule fails
    judge    each batch of recorded histories together, every history by itself

A mutant is *detected* when a MUST fails on what was recorded. One that breaks the lab, or does not
end within its limit, ends in a sentence and is not detected. What is known is kept line by line,
under a key of the code that made it: a measurement that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from conformance.derived import AnyMutant
from conformance.derived.plays import Play, plays_of
from conformance.derived.shadow import shadowing
from conformance.derived.work import Told, die_with_parent, play_and_judge, within
from conformance.profiles import profile_of
from harness.errors import LabBroken
from harness.scratch import ScratchFolder
from reference_impl.decisions import Mutant, SqlMutant, load_mutant

DETECTED, SURVIVED, NOT_REACHED, BROKE = "detected", "survived", "not reached", "broke the lab"
A_BATCH = 8
SHADOW_S = 600.0
Progress = Callable[[str], None]


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
    known = _known(how.kept)
    left = {ref: one for ref, one in mutants.items() if one.name not in known}
    with ScratchFolder("derived") as folder, _Pool(how.workers) as pool:
        for plays, group in _groups(left, how):
            for result in _measured(plays, group, how, pool, folder, progress):
                known[result.mutant] = result
                _keep(how.kept, result)
    return [known[one.name] for one in mutants.values()]


def _groups(
    mutants: Mapping[str, AnyMutant], how: Measurement
) -> list[tuple[tuple[Play, ...], dict[str, AnyMutant]]]:
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
        groups.setdefault(plays, {})[ref] = mutant
    return list(groups.items())


def _measured(
    plays: Sequence[Play],
    mutants: Mapping[str, AnyMutant],
    how: Measurement,
    pool: _Pool,
    folder: Path,
    progress: Progress,
) -> Iterator[Result]:
    """Results as they become known."""
    reached = _reached(plays, mutants, pool, folder, progress)
    waiting = dict(mutants)
    played: set[str] = set()
    for play in plays:
        batch = {ref: one for ref, one in waiting.items() if one.name in reached[play]}
        progress(f"{play.name}: {len(batch)} of {len(waiting)} mutants")
        for done, (ref, told) in enumerate(pool.play(play, list(batch), folder), start=1):
            progress(f"{play.name}: {done} of {len(batch)} mutants")
            played.add(ref)
            if told.broken or told.failed:
                mutant = waiting.pop(ref)
                outcome = BROKE if told.broken else DETECTED
                yield Result(
                    mutant=mutant.name,
                    decision=mutant.decision,
                    outcome=outcome,
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


def _reached(
    plays: Sequence[Play],
    mutants: Mapping[str, AnyMutant],
    pool: _Pool,
    folder: Path,
    progress: Progress,
) -> dict[Play, frozenset[str]]:
    """Which mutants each play can show: in a simulation those that answer differently in it."""
    names = frozenset(one.name for one in mutants.values())
    simulated = [play for play in plays if play.world == "sim"]
    if any(isinstance(one, SqlMutant) for one in mutants.values()):
        simulated = []  # their answers are given by a database
    reached = dict.fromkeys(plays, names)
    for play, told in pool.shadow(simulated, list(mutants), folder):
        progress(f"shadow: {play.name}")
        if told.broken or told.failed:
            what = told.broken or f"fails {' '.join(told.failed)}"
            raise LabBroken(f"the sound reference does not pass {play.name}: {what}")
        reached[play] = frozenset(told.differing)
    return reached


class _Pool:
    """Processes that play; none outlives the one that started it."""

    def __init__(self, workers: int) -> None:
        self._pool = ProcessPoolExecutor(
            workers, mp_context=get_context("spawn"), initializer=die_with_parent
        )
        self._folders = 0

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def play(
        self, play: Play, references: Sequence[str], folder: Path
    ) -> Iterator[tuple[str, Told]]:
        """Play a play on each mutant."""
        size = A_BATCH if play.world == "sim" else 1
        some = [references[at : at + size] for at in range(0, len(references), size)]
        tasks = {
            self._pool.submit(play_and_judge, play, batch, self._folder(folder)): batch
            for batch in some
        }
        for future in as_completed(tasks):
            yield from zip(tasks[future], future.result(), strict=True)

    def shadow(
        self, plays: Sequence[Play], references: Sequence[str], folder: Path
    ) -> Iterator[tuple[Play, Told]]:
        """Play each play on the sound reference, with all mutants asked beside it."""
        tasks: dict[Future[Told], Play] = {
            self._pool.submit(shadow_play, play, references, self._folder(folder)): play
            for play in plays
        }
        for future in as_completed(tasks):
            yield tasks[future], future.result()

    def _folder(self, folder: Path) -> Path:
        self._folders += 1
        return folder / str(self._folders)


def shadow_play(play: Play, references: Sequence[str], folder: Path) -> Told:
    """One sound play in this process: who differed, and whether the reference passed."""
    mutants = [load_mutant(one) for one in references]
    python = [one for one in mutants if isinstance(one, Mutant)]
    with within(SHADOW_S, of_cpu=True), shadowing(python) as shadow:
        (told,) = play_and_judge(play, [None], folder)
    return replace(told, differing=tuple(sorted(shadow.differing)))


def _known(kept: Path | None) -> dict[str, Result]:
    if kept is None or not kept.exists():
        return {}
    lines = [line for line in kept.read_text("utf-8").split("\n") if line.endswith("}")]
    found = [Result(**{**one, "rules": tuple(one["rules"])}) for one in map(json.loads, lines)]
    return {one.mutant: one for one in found}


def _keep(kept: Path | None, result: Result) -> None:
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
