"""What a plan detects of the derived mutants.

    play     one play after the other until a rule fails, the one that showed it last time first
    branch   in a simulation: one sound play for many mutants, which goes on with each of them from
             where it first answers differently; one that never does is not played (`branches.py`)
    judge    each batch of recorded histories together, every history by itself

A mutant is *detected* when a MUST fails on what was recorded. One that breaks the lab, or does not
end within its limit, ends in a sentence and is not detected. What is known is kept (`kept.py`): a
measurement that was interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from conformance.derived import HERE, AnyMutant
from conformance.derived.branches import play_branches
from conformance.derived.kept import Kept
from conformance.derived.plays import Play, likeliest_first, plays_of
from conformance.derived.work import Told, die_with_parent, play_and_judge
from conformance.profiles import find_profile, profile_of
from conformance.profiles.profile import Profile
from harness.errors import LabBroken
from harness.scratch import ScratchFolder
from reference_impl.decisions import Mutant, decisions

DETECTED, SURVIVED, NOT_REACHED, BROKE = "detected", "survived", "not reached", "broke the lab"
NOT_PLAYED = "not played"  # it is argued to be legal: whether it shows decides nothing
A_BATCH, BRANCHES = 8, 32  # mutants at a time, each from the start, or of one sound play
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one mutant."""

    mutant: str
    decision: str
    outcome: str
    profile: str = ""
    rules: tuple[str, ...] = ()
    play: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """How the plan of a profile is measured; where none is named, that of each mutant's own."""

    profile: str = ""
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
    say: Progress = lambda text: None,
) -> list[Result]:
    """Every mutant's result, in the order in which they were given.

    `progress` hears of each of them; `say` after each turn, in which every mutant that nothing has
    shown yet is played what is likeliest for it next.
    """
    kept = Kept(how.kept)
    plays = {ref: _plays(mutant, how, kept) for ref, mutant in mutants.items()}
    told: dict[str, dict[Play, Told]] = {ref: {} for ref in mutants}
    with ScratchFolder("derived") as folder, _Pool(how.workers, folder, kept) as pool:
        turns = max(map(len, plays.values()), default=0)
        for turn in range(turns):
            asked: dict[Play, dict[str, AnyMutant]] = {}
            for ref, mutant in mutants.items():
                if turn < len(plays[ref]) and not _decided(told[ref]):
                    asked.setdefault(plays[ref][turn], {})[ref] = mutant
            total = sum(map(len, asked.values()))
            for done, (play, ref, one) in enumerate(pool.play(asked), start=1):
                told[ref][play] = one
                progress(f"turn {turn + 1} of {turns}: {done} of {total} mutants, {play.name}")
            if total:
                say(_turn_told(turn + 1, turns, total, told))
    return [_result(mutant, how, told[ref]) for ref, mutant in mutants.items()]


def _turn_told(turn: int, turns: int, played: int, told: Mapping[str, Mapping[Play, Told]]) -> str:
    """One line for logs: a measurement takes from minutes to hours."""
    shown = sum(any(one.failed for one in each.values()) for each in told.values())
    open_still = sum(not _decided(each) for each in told.values())
    return (
        f"  turn {turn} of {turns}: {played} played · so far {shown} detected, {open_still} not"
        f" shown by anything"
    )


def _plays(mutant: AnyMutant, how: Measurement, kept: Kept) -> tuple[Play, ...]:
    """What shows a mutant, the likeliest first."""
    profile = _profile(mutant, how)
    plays = plays_of(
        profile.name,
        by=how.by,
        world=how.world,
        control_plane=profile.control_plane(mutant, how.world),
        levers=how.levers,
        seed=how.seed,
    )
    function = decisions()[mutant.decision].function
    ordered = likeliest_first(plays, "" if function is None else function.__module__)
    return tuple(sorted(ordered, key=lambda one: not kept.showed(one, mutant.name)))


def _profile(mutant: AnyMutant, how: Measurement) -> Profile:
    return find_profile(how.profile) if how.profile else profile_of(mutant)


def _decided(told: Mapping[Play, Told]) -> bool:
    return any(one.broken or one.failed for one in told.values())


def _result(mutant: AnyMutant, how: Measurement, told: Mapping[Play, Told]) -> Result:
    profile = _profile(mutant, how).name
    for play, one in told.items():
        if one.broken or one.failed:
            return Result(
                mutant=mutant.name,
                decision=mutant.decision,
                profile=profile,
                outcome=BROKE if one.broken else DETECTED,
                rules=one.failed,
                play=play.name,
                detail=one.broken,
            )
    reached = any(one.reached for one in told.values())
    outcome = SURVIVED if reached else NOT_REACHED
    return Result(mutant=mutant.name, decision=mutant.decision, profile=profile, outcome=outcome)


class _Pool:
    """Processes that play; none outlives the one that started it. What is known is not played."""

    def __init__(self, workers: int, folder: Path, kept: Kept) -> None:
        self._pool = ProcessPoolExecutor(
            workers, mp_context=get_context("spawn"), initializer=die_with_parent
        )
        self._workers = workers
        self._folder = folder
        self._kept = kept
        self._folders = 0

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def play(
        self, asked: Mapping[Play, Mapping[str, AnyMutant]]
    ) -> Iterator[tuple[Play, str, Told]]:
        """Play each play on its mutants, as they become known."""
        tasks: dict[Future[list[Told]], tuple[Play, list[str]]] = {}
        for play, mutants in asked.items():
            left: dict[bool, list[str]] = {True: [], False: []}
            for ref, mutant in mutants.items():
                told = self._kept.told(play, mutant.name)
                if told is None:
                    left[_branches(play, ref, mutant)].append(ref)
                else:
                    yield play, ref, told
            for branches, some in left.items():
                for batch in self._batches(play, some, branches=branches):
                    work = branched if branches else play_and_judge
                    task = self._pool.submit(work, play, batch, self._next_folder())
                    tasks[task] = play, batch
        for future in as_completed(tasks):
            play, batch = tasks[future]
            for ref, told in zip(batch, future.result(), strict=True):
                self._kept.keep(play, told, asked[play][ref].name)
                yield play, ref, told

    def _batches(self, play: Play, left: Sequence[str], *, branches: bool) -> list[list[str]]:
        """Of one size, as far as there are enough for every process."""
        most = BRANCHES if branches else A_BATCH if play.world == "sim" else 1
        size = max(1, min(most, -(-len(left) // self._workers)))
        return [list(left[at : at + size]) for at in range(0, len(left), size)]

    def _next_folder(self) -> Path:
        self._folders += 1
        return self._folder / str(self._folders)


def _branches(play: Play, reference: str, mutant: AnyMutant) -> bool:
    """What is not derived may be wrong elsewhere than in the answers of its decision.

    A copy of a process has none of its threads, so what is played outside of the simulation is
    played from the start.
    """
    simulated = play.world == "sim" and find_profile(play.profile).simulates(play.name)
    return simulated and isinstance(mutant, Mutant) and reference.startswith(HERE)


def branched(play: Play, references: Sequence[str], folder: Path) -> list[Told]:
    """One sound play with its branches, in this process."""
    sound, told = play_branches(play, references, folder)
    if sound.broken or sound.failed:
        what = sound.broken or f"fails {' '.join(sound.failed)}"
        raise LabBroken(f"the sound reference does not pass {play.name}: {what}")
    return told
