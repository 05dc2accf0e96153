"""Putting a simulated world together: control plane, mutants, virtual clock, shard."""

from __future__ import annotations

import contextlib

from harness.history import Run
from harness.sut.errors import UsageError
from harness.sut.model import Sut
from harness.worlds.memory_store import MemoryStore
from harness.worlds.mutants import split_mutants
from harness.worlds.place import take_place
from harness.worlds.recorder import Recorder
from harness.worlds.sim import SimTransport, Store
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
    python_mutants, sql_mutants = split_mutants(sut)
    kind = sut.reference.control_plane or "memory"
    if kind == "memory" and sql_mutants:
        name = sql_mutants[0][0]
        raise UsageError(f"mutant {name!r} is SQL; use the control plane postgres")
    if kind == "memory" and schema_upto is not None:
        raise UsageError("an old schema needs the control plane postgres; memory has none")
    clock = "sim" if part == 0 and shard is None else f"sim-{shard or part}"
    place = take_place(run, world="sim", clock=clock, part=part, shard=shard)
    ticks = _Ticks()
    recorder = Recorder(place, now=ticks.now, lock=contextlib.nullcontext())
    store: Store = MemoryStore(recorder)
    if kind == "postgres":
        # Here and not above: a simulation in memory starts without a database driver.
        from harness.worlds.postgres_store import open_store

        mutants = [one for _, one in sql_mutants]
        store = open_store(recorder, schema_upto=schema_upto, mutants=mutants)
    ticks.transport = transport = SimTransport(recorder, store, seed=seed)
    python = [mutant for _, mutant in python_mutants]
    return PlayedWorld(
        name="sim",
        place=place,
        recorder=recorder,
        transport=transport,
        around=lambda: mutated(*python),
    )


class _Ticks:
    """The simulated clock: how many steps have been played."""

    transport: SimTransport | None = None

    def now(self) -> int:
        """Steps so far."""
        return 0 if self.transport is None else self.transport.steps
