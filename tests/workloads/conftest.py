"""Playing a script in a fresh run."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from recording import Play, Recording, read_shard

from conformance.register import open_register
from harness.history import Run
from harness.sut import Sut, reference_sut
from harness.workloads import BoundarySteps, parse


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play a script in a fresh run and give back what was recorded."""
    numbers = itertools.count()

    def play_script(
        world: str,
        script: str,
        *,
        control_plane: str | None = None,
        mutants: tuple[str, ...] = (),
        seed: int = 1,
        schema_upto: int | None = None,
        sut: Sut | None = None,
    ) -> Recording:
        run = Run.create(
            tmp_path / f"run-{next(numbers)}", run="test", sut="test", world=world, seed=seed
        )
        system = sut or reference_sut(control_plane=control_plane, mutants=mutants)
        with open_register(
            world, run=run, sut=system, seed=seed, schema_upto=schema_upto, shard="main"
        ) as register:
            register.play(parse(script, BoundarySteps))
        sealed = run.seal()
        assert not sealed.problems, sealed.problems
        shard = run.folder / "shards" / "main.jsonl"
        return Recording(shard=shard, lines=read_shard(shard))

    return play_script
