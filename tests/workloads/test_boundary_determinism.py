"""Same script, same seed, same bytes: in any process, whatever the hash seed, on either store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.register import open_register
from harness.history import Run
from harness.sut import reference_sut
from harness.workloads import generate

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from harness.history import Run
from harness.sut import reference_sut
from conformance.register import open_register
from harness.workloads import generate

folder, seed = sys.argv[1], int(sys.argv[2])
run = Run.create(folder, run="1", sut="reference", world="sim", seed=seed)
with open_register("sim", run=run, sut=reference_sut(), seed=seed) as register:
    register.play(generate(seed, clients=5, partitions=3, operations=300, verbs=register.supports))
"""


def shard(folder: Path) -> bytes:
    return (folder / "shards" / "sim-0.jsonl").read_bytes()


def recorded(folder: Path, *, hash_seed: str, seed: int) -> bytes:
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(seed)],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )
    return shard(folder)


def test_two_processes_with_other_hash_seeds_record_the_same_bytes(tmp_path: Path) -> None:
    first = recorded(tmp_path / "first", hash_seed="1", seed=7)
    second = recorded(tmp_path / "second", hash_seed="31337", seed=7)
    assert first == second
    assert first.count(b"\n") > 1000


def played(folder: Path, *, seed: int, control_plane: str, workload: int = 7) -> bytes:
    run = Run.create(folder, run="1", sut="reference", world="sim", seed=seed)
    sut = reference_sut(control_plane=control_plane)
    with open_register("sim", run=run, sut=sut, seed=seed) as register:
        verbs = register.supports - {"upgrade"}
        register.play(generate(workload, clients=4, partitions=2, operations=200, verbs=verbs))
    return shard(folder)


def test_another_seed_interleaves_the_same_workload_differently(tmp_path: Path) -> None:
    one = played(tmp_path / "1", seed=1, control_plane="memory")
    two = played(tmp_path / "2", seed=2, control_plane="memory")
    assert one != two


@pytest.mark.process
@pytest.mark.parametrize("workload", range(3))
def test_memory_and_postgres_record_the_same_bytes(tmp_path: Path, workload: int) -> None:
    memory = played(tmp_path / "m", seed=3, control_plane="memory", workload=workload)
    postgres = played(tmp_path / "p", seed=3, control_plane="postgres", workload=workload)
    assert memory == postgres
