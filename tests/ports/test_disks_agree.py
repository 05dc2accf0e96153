"""The simulated disk and real files, step by step: the same calls, the same answers.

Arbitrary lives of a disk, with mistakes in them. After each call both must have answered alike (a
value, or an exception of the same class and number) and show the same files and directories.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from harness.simulation.disk import SimDisk
from reference_impl.live.disk import FileDisk
from reference_impl.ports.disk import Disk, File

# Files, directories, and files where others have directories; then what is no path at all.
PATHS = ("a", "d", "d/a", "d/e", "d/e/a", "a/b", "ä/€")
NO_PATHS = ("", "/a", "a/", "a//b", ".", "d/..", "a\0b", "\ud800", "x" * 256, "ä" * 128)

paths = st.sampled_from(PATHS * 6 + NO_PATHS)
numbers = st.integers(-1, 7)
picks = st.integers(0, 11)

Answer = tuple[object, ...]


class Disks(RuleBasedStateMachine):
    """A simulated disk and a real one, with the same files open on both."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.sim = SimDisk(Random(0))
        self.real = FileDisk(Path(self.folder.name) / "disk")
        self.open: list[tuple[File, File]] = []

    def teardown(self) -> None:
        self.close_all()
        self.runner.close()
        self.folder.cleanup()

    @initialize(files=st.lists(st.sampled_from(("a", "d/a", "d/e/a")), unique=True))
    def begin_with(self, files: list[str]) -> None:
        for number, path in enumerate(files):
            self.open_file(path, True)
            self.append(number, path.encode())

    @rule(path=paths, create=st.booleans())
    def open_file(self, path: str, create: bool) -> None:
        opened: list[File] = []

        async def on(disk: Disk) -> None:
            opened.append(await disk.open(path, create=create))

        self.both(on)
        if opened:
            self.open.append((opened[0], opened[1]))

    @rule(directory=paths)
    def names(self, directory: str) -> None:
        self.both(lambda disk: disk.names(directory))

    @rule(path=paths, to=paths)
    def rename(self, path: str, to: str) -> None:
        self.both(lambda disk: disk.rename(path, to))

    @rule(path=paths)
    def remove(self, path: str) -> None:
        self.both(lambda disk: disk.remove(path))

    @rule(directory=paths)
    def sync_directory(self, directory: str) -> None:
        self.both(lambda disk: disk.sync_directory(directory))

    @precondition(lambda self: self.open)
    @rule(pick=picks, data=st.binary(min_size=1, max_size=5))
    def append(self, pick: int, data: bytes) -> None:
        self.both_files(pick, lambda file: file.append(data))

    @precondition(lambda self: self.open)
    @rule(pick=picks, offset=numbers, count=numbers)
    def read(self, pick: int, offset: int, count: int) -> None:
        self.both_files(pick, lambda file: file.read(offset, count))

    @precondition(lambda self: self.open)
    @rule(pick=picks, size=numbers)
    def truncate(self, pick: int, size: int) -> None:
        self.both_files(pick, lambda file: file.truncate(size))

    @precondition(lambda self: self.open)
    @rule(pick=picks)
    def size(self, pick: int) -> None:
        self.both_files(pick, lambda file: file.size())

    @precondition(lambda self: self.open)
    @rule(pick=picks)
    def sync(self, pick: int) -> None:
        self.both_files(pick, lambda file: file.sync())

    @precondition(lambda self: self.open)
    @rule(pick=picks)
    def close(self, pick: int) -> None:
        """And use it afterwards, now and then."""
        self.both_files(pick, lambda file: file.close())

    @rule()
    def die_and_come_back(self) -> None:
        self.close_all()
        self.sim.kill()

    @invariant()
    def show_the_same(self) -> None:
        assert self.runner.run(shown(self.sim)) == self.runner.run(shown(self.real))

    def both(self, call: Callable[[Disk], Coroutine[Any, Any, object]]) -> None:
        sim, real = self.answer(call(self.sim)), self.answer(call(self.real))
        assert sim == real

    def both_files(self, pick: int, call: Callable[[File], Coroutine[Any, Any, object]]) -> None:
        sim, real = self.open[pick % len(self.open)]
        assert self.answer(call(sim)) == self.answer(call(real))

    def answer(self, call: Coroutine[Any, Any, object]) -> Answer:
        try:
            return ("ok", self.runner.run(call))
        except (OSError, ValueError) as error:
            return (type(error), getattr(error, "errno", None))

    def close_all(self) -> None:
        for _, real in self.open:
            self.runner.run(real.close())
        self.open.clear()


async def shown(disk: Disk, directory: str = "") -> dict[str, bytes | None]:
    """Every file with its bytes and every directory, through the port."""
    found: dict[str, bytes | None] = {}
    for name in await disk.names(directory):
        path = f"{directory}/{name}" if directory else name
        try:
            file = await disk.open(path, create=False)
        except IsADirectoryError:
            found[path] = None
            found.update(await shown(disk, path))
        else:
            found[path] = await file.read(0, await file.size())
            await file.close()
    return found


TestDisks = Disks.TestCase
TestDisks.settings = settings(stateful_step_count=30)
