"""Recording a campaign of the profile `classic` into a run."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.classic.arena import SHARD, ProcessArena, SimArena
from conformance.classic.campaign import FAULTS, Campaign
from harness.history import Run
from harness.simulation.observer import FaultsOnly
from harness.simulation.simulation import Simulation
from harness.sut.errors import UsageError
from harness.worlds.place import take_place
from harness.worlds.recorder import Recorder
from reference_impl.decisions import Mutant, load_mutant, mutated

Progress = Callable[[str], None]
SIMULATED_PACE = 2.5  # every request costs as much here as in earnest, and time costs nothing


def record_classic(
    run: Run,
    *,
    world: str,
    seed: int,
    mutants: Sequence[str] = (),
    faults: tuple[str, ...] = FAULTS,
    progress: Progress = lambda text: None,
) -> None:
    """Play a campaign on the reference cluster in that world, and record it."""
    if world == "sim":
        _in_simulation(run, seed, tuple(mutants), faults, progress)
    elif world == "process":
        _in_processes(run, seed, tuple(mutants), faults, progress)
    else:
        raise UsageError(f"the profile classic cannot be played in {world} yet")


def _in_simulation(
    run: Run, seed: int, mutants: tuple[str, ...], faults: tuple[str, ...], progress: Progress
) -> None:
    place = take_place(run, world="sim", clock="sim-classic", part=0, shard=SHARD)
    found = [load_mutant(one) for one in mutants]
    python = [one for one in found if isinstance(one, Mutant)]
    sims: list[Simulation] = []
    recorder = Recorder(place, now=lambda: sims[0].now_ns)
    with mutated(*python), Simulation(seed, observer=FaultsOnly(recorder)) as sim:
        sims.append(sim)
        arena = SimArena(sim, recorder)
        campaign = Campaign(
            arena=arena, seed=seed, faults=faults, pace=SIMULATED_PACE, progress=progress
        )
        sim.run(campaign.run())
    place.writer.close()


def _in_processes(
    run: Run, seed: int, mutants: tuple[str, ...], faults: tuple[str, ...], progress: Progress
) -> None:
    with tempfile.TemporaryDirectory(prefix="tidemark-classic-") as folder:
        progress("starting a cluster")
        with ProcessArena(run, Path(folder), mutants) as arena:
            campaign = Campaign(arena=arena, seed=seed, faults=faults, progress=progress)
            asyncio.run(campaign.run())
            arena.writer.close()
