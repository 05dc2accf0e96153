"""The sound reference under many seeds: a rule that fails there is wrong, or the reference is.

Whatever a plan detects of mutants is worth as much as its silence about what is sound. Each seed is
a whole default run of one profile. What is known is kept (`kept.py`) seed by seed, so many of them
can be played in pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from conformance.derived.kept import Kept
from conformance.derived.plays import WHOLE, Play
from conformance.derived.work import Told, die_with_parent, play_and_judge
from harness.scratch import ScratchFolder

THE_REFERENCE = "the reference"  # in the place of a mutant
Progress = Callable[[str], None]


def play_seeds(
    profile: str,
    seeds: Sequence[int],
    *,
    world: str,
    workers: int,
    kept: Path | None = None,
    progress: Progress = lambda text: None,
) -> dict[int, Told]:
    """What a whole run of each seed shows of the reference."""
    known = Kept(kept)
    plays = [Play(name=WHOLE, profile=profile, world=world, seed=seed) for seed in seeds]
    found = {one.seed: known.told(one, THE_REFERENCE) for one in plays}
    left = [one for one in plays if found[one.seed] is None]
    for play, told in _played(left, workers if world == "sim" else 1):
        known.keep(play, told, THE_REFERENCE)
        found[play.seed] = told
        done = sum(one is not None for one in found.values())
        progress(f"{done} of {len(seeds)} seeds")
    return {seed: told for seed, told in found.items() if told is not None}


def _played(plays: Sequence[Play], workers: int) -> Iterator[tuple[Play, Told]]:
    context = get_context("spawn")
    with (
        ScratchFolder("sound") as folder,
        ProcessPoolExecutor(workers, mp_context=context, initializer=die_with_parent) as pool,
    ):
        tasks = {
            pool.submit(play_and_judge, one, [None], folder / str(one.seed)): one for one in plays
        }
        for future in as_completed(tasks):
            (told,) = future.result()
            yield tasks[future], told
