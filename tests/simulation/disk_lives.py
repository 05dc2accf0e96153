"""Arbitrary lives of a simulated disk, held to the specification of what may survive."""

from __future__ import annotations

import copy
import errno
from collections.abc import Iterator
from random import Random

import pytest
from at_once import now
from disk_specification import Outcome, Past, Specification, Write
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from harness.simulation.disk import SimDisk, SimFile

PATHS = ("a", "b", "d/a", "d/x/a", "e", "e/a")  # e is a file or a directory
DIRECTORIES = ("", "d", "d/x", "e")
MOST_UNCERTAIN = 8  # the specification tries every set of them
SEEDS_TRIED = 8  # at the end of each life

paths = st.sampled_from(PATHS)
picks = st.integers(0, 11)


def everything(disk: SimDisk) -> Outcome:
    """All files and directories, as the port shows them."""
    contents = disk.contents()

    def below(directory: str) -> Iterator[tuple[str, bytes | None]]:
        for name in now(disk.names(directory)):
            path = f"{directory}/{name}" if directory else name
            yield path, contents.get(path)
            if path not in contents:
                yield from below(path)

    return dict(below("")) | contents


class Lives(RuleBasedStateMachine):
    """A disk and its specification, treated alike."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = Random(0)
        self.disk = SimDisk(self.rng)
        self.spec = Specification()
        self.open: list[tuple[SimFile, Past]] = []

    @initialize(first=st.sampled_from(["a", "d/a"]), data=st.binary(max_size=3))
    def begin_with_something_safe(self, first: str, data: bytes) -> None:
        self.open_file(first)
        self.append(0, data)
        self.sync(0)
        self.sync_directory(first.rpartition("/")[0])

    @precondition(lambda self: self.spec.uncertain() < MOST_UNCERTAIN)
    @rule(path=paths)
    def open_file(self, path: str) -> None:
        if self.blocked(path):
            with pytest.raises((IsADirectoryError, NotADirectoryError)):
                now(self.disk.open(path))
            return
        past = self.spec.names().get(path) or self.spec.create(path)
        self.open.append((now(self.disk.open(path)), past))

    @precondition(lambda self: self.open)
    @rule(pick=picks, data=st.binary(min_size=1, max_size=4))
    def append(self, pick: int, data: bytes) -> None:
        file, past = self.picked(pick)
        past.writes.append(Write("append", len(past.read()), data))
        now(file.append(data))

    @precondition(lambda self: self.open)
    @rule(pick=picks, size=st.integers(0, 6))
    def truncate(self, pick: int, size: int) -> None:
        file, past = self.picked(pick)
        if size > len(past.read()):
            with pytest.raises(ValueError, match="cannot cut"):
                now(file.truncate(size))
            return
        past.writes.append(Write("cut", size))
        now(file.truncate(size))

    @precondition(lambda self: self.open)
    @rule(pick=picks)
    def sync(self, pick: int) -> None:
        file, past = self.picked(pick)
        past.certain = len(past.writes)
        now(file.sync())

    @precondition(lambda self: self.open)
    @rule(pick=picks)
    def fail_to_sync(self, pick: int) -> None:
        file, past = self.picked(pick)
        for write in past.writes[past.certain :]:
            write.lost = write.kind == "append"
        self.disk.break_sync(times=1)
        with pytest.raises(OSError, match="Input/output error") as failed:
            now(file.sync())
        assert failed.value.errno == errno.EIO

    @precondition(lambda self: self.files() and self.spec.uncertain() < MOST_UNCERTAIN)
    @rule(pick=picks, to=paths)
    def rename(self, pick: int, to: str) -> None:
        path = self.files()[pick % len(self.files())]
        if self.blocked(to):
            with pytest.raises(OSError, match=r"[Dd]irectory"):
                now(self.disk.rename(path, to))
            return
        self.spec.rename(path, to)
        now(self.disk.rename(path, to))

    @precondition(lambda self: self.files() and self.spec.uncertain() < MOST_UNCERTAIN)
    @rule(pick=picks)
    def remove(self, pick: int) -> None:
        path = self.files()[pick % len(self.files())]
        self.spec.remove(path)
        now(self.disk.remove(path))

    @rule(directory=st.sampled_from(DIRECTORIES))
    def sync_directory(self, directory: str) -> None:
        if directory and self.spec.names().get(directory, "none") is not None:
            with pytest.raises(OSError, match=r"No such file|Not a directory"):
                now(self.disk.sync_directory(directory))
            return
        self.spec.sync_directory(directory)
        now(self.disk.sync_directory(directory))

    @rule(how=st.sampled_from(["kill", "some", "all"]))
    def die(self, how: str) -> None:
        self.open.clear()
        if how == "kill":
            self.disk.kill()
        elif how == "all":
            self.disk.lose_power(lose="all")
            assert everything(self.disk) == self.spec.worst()
        else:
            self.disk.lose_power()
            self.judge(everything(self.disk))
        if how != "kill":
            self.spec = Specification(everything(self.disk))

    @invariant()
    def reads_as_written(self) -> None:
        assert everything(self.disk) == self.spec.now()

    @invariant()
    def knows_what_is_durable(self) -> None:
        worst = {path: data for path, data in self.spec.worst().items() if data is not None}
        assert self.disk.durable() == worst

    def teardown(self) -> None:
        """However a life ends, a loss of power there leaves what it may, with any seed."""
        for seed in range(SEEDS_TRIED):
            disk, rng = copy.deepcopy((self.disk, self.rng))
            rng.seed(seed)
            disk.lose_power()
            self.judge(everything(disk))

    def judge(self, left: Outcome) -> None:
        assert self.spec.allows(left), f"not allowed after a loss of power: {left}"

    def picked(self, pick: int) -> tuple[SimFile, Past]:
        return self.open[pick % len(self.open)]

    def files(self) -> list[str]:
        return sorted(path for path, past in self.spec.names().items() if past is not None)

    def blocked(self, path: str) -> bool:
        """Whether a directory has that name, or a file that of a directory above it."""
        names = self.spec.names()
        above = [path[:at] for at, char in enumerate(path) if char == "/"]
        is_directory = path in names and names[path] is None
        return is_directory or any(names.get(each) is not None for each in above)
