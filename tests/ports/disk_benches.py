"""Disks to be held to the contract of their port, and what can be done to their machines.

    DISKS        benches with an empty disk
    MORTALS      benches whose node can be killed in the middle of a program
    SMALL_DISKS  benches with an empty disk of 1 MiB

To add an implementation, write a bench and add a line to these lists.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import pytest
from sim_node_benches import sim_node, small_sim_disk

from reference_impl.live.disk import FileDisk
from reference_impl.ports.disk import Disk, GatedDisk
from reference_impl.ports.effects import OpenGate

Result = TypeVar("Result")
Scenario = Callable[[], Awaitable[Result]]

MIB = 1 << 20
ROOT = Path(__file__).parents[2]


class DiskBench(Protocol):
    """A node with a disk."""

    @property
    def disk(self) -> Disk:
        """The disk as the node sees it, also after the node was killed and started again."""

    def run(self, scenario: Scenario[Result]) -> Result:
        """Run a test's coroutine on that node to its end."""


class MortalBench(DiskBench, Protocol):
    """A node that can be killed."""

    def kill_during(self, program: str, *, after: int) -> int:
        """Run one of `disk_programs` on the node and kill it, at some moment after that many
        steps; start the node again. How many steps were acknowledged."""


class LiveDiskBench:
    """Real files; a node that dies is a process of its own."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self.disk = disk
        self._root = root

    def run(self, scenario: Scenario[Result]) -> Result:
        async def within_reason() -> Result:
            async with asyncio.timeout(30):
                return await scenario()

        return asyncio.run(within_reason())

    def kill_during(self, program: str, *, after: int) -> int:
        script = str(Path(__file__).with_name("disk_programs.py"))
        with subprocess.Popen(
            [sys.executable, script, program, str(self._root)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            steps = 0
            for line in process.stdout:
                steps = int(line)
                if steps == after:
                    process.kill()  # while it goes on: what it has printed meanwhile is read too
        return steps


@contextmanager
def live_disk() -> Iterator[LiveDiskBench]:
    with tempfile.TemporaryDirectory(prefix="tidemark-disk-") as folder:
        yield LiveDiskBench(Path(folder), FileDisk(Path(folder)))


@contextmanager
def gated_disk() -> Iterator[DiskBench]:
    with tempfile.TemporaryDirectory(prefix="tidemark-disk-") as folder:
        yield LiveDiskBench(Path(folder), GatedDisk(FileDisk(Path(folder)), OpenGate()))


@contextmanager
def small_live_disk() -> Iterator[DiskBench]:
    with tempfile.TemporaryDirectory(prefix="tidemark-disk-") as folder, mounted(folder, MIB):
        yield LiveDiskBench(Path(folder), FileDisk(Path(folder)))


@contextmanager
def mounted(folder: str, size: int) -> Iterator[None]:
    """A file system in memory with so much room."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tidemark", folder]
    try:
        subprocess.run(mount, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("a small file system cannot be mounted here: there is no `mount`")
    except subprocess.CalledProcessError as refused:
        pytest.skip(f"a small file system cannot be mounted here: {refused.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)  # a failed test has files open


DISKS = [
    pytest.param(live_disk, id="live"),
    pytest.param(gated_disk, id="live-gated"),
    pytest.param(sim_node, id="sim"),
]
MORTALS = [
    pytest.param(live_disk, id="live", marks=pytest.mark.process),
    *(pytest.param(partial(sim_node, seed), id=f"sim-{seed}") for seed in range(10)),
]
SMALL_DISKS = [
    pytest.param(small_live_disk, id="live", marks=pytest.mark.process),
    pytest.param(partial(small_sim_disk, MIB), id="sim"),
]
