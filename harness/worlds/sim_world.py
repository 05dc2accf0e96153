"""Putting a simulated world together: control plane, mutants, virtual time, shard."""

from __future__ import annotations

from harness.deployments.mutants import split_mutants
from harness.deployments.simulated_database import simulate
from harness.errors import UsageError
from harness.history import Run
from harness.history.recorder import Recorder
from harness.history.run_slot import take_slot
from harness.steps.order import ALL_VERBS
from harness.sut.model import Sut
from harness.worlds.sim import SimTransport
from harness.worlds.world import PlayedWorld
from reference_impl.decisions import mutated


def open_sim(
    *,
    run: Run,
    sut: Sut,
    seed: int,
    schema_upto: int | None = None,
    part: int = 0,
    shard: str | None = None,
) -> PlayedWorld:
    """A simulated world around the reference, in memory unless the system says otherwise."""
    if sut.reference is None:
        raise UsageError(f"{sut.name} cannot be simulated: only the reference can")
    python_mutants, sql_mutants = split_mutants(sut.reference.mutants)
    kind = sut.reference.control_plane or "memory"
    if kind == "memory" and sql_mutants:
        name = sql_mutants[0][0]
        raise UsageError(f"mutant {name!r} is SQL; use the control plane postgres")
    if kind == "memory" and schema_upto is not None:
        raise UsageError("an old schema needs the control plane postgres; memory has none")
    clock = "sim" if part == 0 and shard is None else f"sim-{shard or part}"
    slot = take_slot(run, world="sim", clock=clock, part=part, shard=shard)
    recorder = Recorder(slot, now=lambda: sim.now_ns)
    postgres = kind == "postgres"
    sim, database = simulate(
        seed,
        observer=recorder,
        postgres=postgres,
        schema_upto=schema_upto,
        mutants=[one for _, one in sql_mutants],
    )
    verbs = ALL_VERBS if postgres else ALL_VERBS - {"upgrade"}
    return PlayedWorld(
        name="sim",
        slot=slot,
        recorder=recorder,
        transport=SimTransport(recorder, sim, database, verbs),
        around=lambda: mutated(*(mutant for _, mutant in python_mutants)),
    )
