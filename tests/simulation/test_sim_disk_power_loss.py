"""The simulated disk against a specification that tries everything.

Two claims: whatever the life of a disk, no loss of power leaves anything that the specification
does not allow; and over many seeds it leaves everything that it allows. Disks that are wrong on
purpose show that either claim can fail.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from random import Random

import pytest
from at_once import now
from disk_lives import Lives, everything
from disk_specification import Outcome, Past, Specification, Write
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.simulation import disk_bytes, disk_names
from harness.simulation.disk import SimDisk, SimFile

TestLives = Lives.TestCase
TestLives.settings = settings(stateful_step_count=30)


# --- every allowed outcome comes about --------------------------------------------------------


class Both:
    """A disk and its specification, told the same in a few words."""

    def __init__(self, seed: int) -> None:
        self.disk = SimDisk(Random(seed))
        self.spec = Specification()
        self.open: dict[str, tuple[SimFile, Past]] = {}

    def create(self, path: str) -> None:
        self.open[path] = (now(self.disk.open(path)), self.spec.create(path))

    def append(self, path: str, data: bytes) -> None:
        file, past = self.open[path]
        past.writes.append(Write("append", len(past.read()), data))
        now(file.append(data))

    def cut(self, path: str, size: int) -> None:
        file, past = self.open[path]
        past.writes.append(Write("cut", size))
        now(file.truncate(size))

    def sync(self, path: str) -> None:
        file, past = self.open[path]
        past.certain = len(past.writes)
        now(file.sync())

    def rename(self, path: str, to: str) -> None:
        self.spec.rename(path, to)
        now(self.disk.rename(path, to))

    def remove(self, path: str) -> None:
        self.spec.remove(path)
        now(self.disk.remove(path))

    def sync_directory(self, directory: str = "") -> None:
        self.spec.sync_directory(directory)
        now(self.disk.sync_directory(directory))

    def saved(self, path: str, data: bytes) -> None:
        self.create(path)
        self.append(path, data)
        self.sync(path)
        self.sync_directory(path.rpartition("/")[0])


def two_appends(both: Both) -> None:
    both.saved("log", b"AB")
    both.append("log", b"cd")
    both.append("log", b"efg")


def a_cut_between_appends(both: Both) -> None:
    both.saved("log", b"ABCD")
    both.append("log", b"ef")
    both.cut("log", 2)
    both.append("log", b"gh")


def a_file_never_synced(both: Both) -> None:
    both.create("log")
    both.append("log", b"abc")


def bytes_without_a_name(both: Both) -> None:
    both.create("log")
    both.append("log", b"abc")
    both.sync("log")


def a_rename_in_place(both: Both) -> None:
    both.saved("checkpoint", b"old")
    both.saved("checkpoint.tmp", b"new")
    both.rename("checkpoint.tmp", "checkpoint")


def a_rename_between_directories(both: Both) -> None:
    both.saved("d/log", b"abc")
    both.saved("e/other", b"")
    both.create("d/first")
    both.rename("d/log", "e/log")
    both.remove("e/other")


def a_name_removed_and_made_anew(both: Both) -> None:
    both.saved("log", b"old")
    both.remove("log")
    both.create("log")
    both.append("log", b"new")


def directories_apart(both: Both) -> None:
    for path in ("d/a", "e/a"):
        both.saved(path, b"")
        both.remove(path)


def a_new_directory(both: Both) -> None:
    both.create("d/x/a")


Scenario = Callable[[Both], None]
# Each with how many outcomes there are, counted by hand.
SCENARIOS: list[tuple[Scenario, int]] = [
    (two_appends, 6),  # AB, +c, +cd, +cde, +cdef, +cdefg
    (a_cut_between_appends, 6),  # ABCD, +e, +ef, AB, ABg, ABgh
    (a_file_never_synced, 5),  # no name; or nothing, a, ab, abc
    (bytes_without_a_name, 2),
    (a_rename_in_place, 2),
    (a_rename_between_directories, 4),  # none; first; rename; and the removal after it
    (a_name_removed_and_made_anew, 6),  # old; none; nothing, n, ne, new
    (directories_apart, 4),  # either removal without the other
    (a_new_directory, 4),  # nothing, d, d/x, d/x/a
]


def outcomes_over_seeds(scenario: Scenario) -> list[Outcome]:
    found: list[Outcome] = []
    for seed in range(300):
        both = Both(seed)
        scenario(both)
        both.disk.lose_power()
        outcome = everything(both.disk)
        if outcome not in found:
            found.append(outcome)
    return found


def as_text(outcomes: list[Outcome]) -> list[str]:
    return sorted(str(sorted(outcome.items())) for outcome in outcomes)


@pytest.mark.parametrize(
    ("scenario", "count"), SCENARIOS, ids=[scenario.__name__ for scenario, _ in SCENARIOS]
)
def test_a_loss_of_power_leaves_everything_it_may(scenario: Scenario, count: int) -> None:
    both = Both(0)
    scenario(both)
    allowed = both.spec.outcomes()

    assert len(allowed) == count
    assert as_text(outcomes_over_seeds(scenario)) == as_text(allowed)


# --- wrong disks are told from right ones -----------------------------------------------------

Break = Callable[[pytest.MonkeyPatch], None]


def saves_all_but_the_last_write(patch: pytest.MonkeyPatch) -> None:
    def sync(self: disk_bytes.Inode) -> None:
        for write in self._unsynced[:-1]:
            write.apply(self._platter)
        self._unsynced.clear()

    patch.setattr(disk_bytes.Inode, "sync", sync)


def keeps_the_last_writes_without_the_first(patch: pytest.MonkeyPatch) -> None:
    right = disk_bytes.Inode.lose_power

    def lose_power(self: disk_bytes.Inode, rng: Random | None) -> disk_bytes.WritesLost:
        if rng is not None:
            self._unsynced = self._unsynced[rng.randrange(len(self._unsynced) + 1) :]
        return right(self, rng)

    patch.setattr(disk_bytes.Inode, "lose_power", lose_power)


def tears_into_rubbish(patch: pytest.MonkeyPatch) -> None:
    right = disk_bytes.Inode.lose_power

    def lose_power(self: disk_bytes.Inode, rng: Random | None) -> disk_bytes.WritesLost:
        lost = right(self, rng)
        if lost.torn:
            self.data[-1] ^= 1
        return lost

    patch.setattr(disk_bytes.Inode, "lose_power", lose_power)


def saves_at_the_second_try_what_the_first_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(disk_bytes.Inode, "fail_sync", lambda self: 0)


def renames_in_two_steps(patch: pytest.MonkeyPatch) -> None:
    def rename(self: disk_names.Directories, path: str, to: str) -> None:
        inode = self.find(path)
        self._check_above(to)
        if to in self._now and self._now[to] is None:
            raise IsADirectoryError(errno.EISDIR, "Is a directory")
        if path != to:
            self.create(to, inode)
            self.remove(path)

    patch.setattr(disk_names.Directories, "rename", rename)


def keeps_changes_in_any_order(patch: pytest.MonkeyPatch) -> None:
    right = disk_names.Directories.lose_power

    def lose_power(self: disk_names.Directories, rng: Random | None) -> int:
        for change in self._unsynced:
            possible = change.removed is None or change.removed in self._safe
            if rng is not None and possible and rng.random() < 0.5:
                change.apply(self._safe)
        self._unsynced.clear()
        return right(self, rng)

    patch.setattr(disk_names.Directories, "lose_power", lose_power)


def makes_a_name_anew_with_the_old_bytes(patch: pytest.MonkeyPatch) -> None:
    right = disk_names.Directories.create

    def create(self: disk_names.Directories, path: str, inode: disk_bytes.Inode) -> None:
        old = self._safe.get(path)
        if old is not None:
            inode._platter.extend(old._platter)
        right(self, path, inode)

    patch.setattr(disk_names.Directories, "create", create)


def leaves_the_directories_above_unsaved(patch: pytest.MonkeyPatch) -> None:
    def sync(self: disk_names.Directories, directory: str) -> None:
        for change in list(self._unsynced):
            if change.directories == (directory,):
                change.apply(self._safe)
                self._unsynced.remove(change)

    patch.setattr(disk_names.Directories, "sync", sync)


@pytest.mark.parametrize(
    "wrong",
    [
        saves_all_but_the_last_write,
        keeps_the_last_writes_without_the_first,
        tears_into_rubbish,
        renames_in_two_steps,
        keeps_changes_in_any_order,
        leaves_the_directories_above_unsaved,
    ],
)
def test_the_specification_finds_a_disk_that(wrong: Break, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)

    with pytest.raises(AssertionError, match="not allowed after a loss of power"):
        run_state_machine_as_test(
            Lives,
            settings=settings(
                max_examples=2000,
                stateful_step_count=20,
                derandomize=True,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                print_blob=False,
            ),
        )


def a_sync_fails_and_the_next_does_not(life: Lives) -> None:
    life.append(0, b"y")
    life.fail_to_sync(0)
    life.sync(0)


def a_file_is_removed_and_made_anew(life: Lives) -> None:
    life.remove(0)
    life.open_file("a")
    life.sync_directory("")


@pytest.mark.parametrize(
    ("wrong", "course"),
    [
        (saves_at_the_second_try_what_the_first_lost, a_sync_fails_and_the_next_does_not),
        (makes_a_name_anew_with_the_old_bytes, a_file_is_removed_and_made_anew),
    ],
)
def test_a_life_in_which_it_shows_finds_a_disk_that(
    wrong: Break, course: Callable[[Lives], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chance would need a thousand lives."""

    def live() -> None:
        life = Lives()
        life.begin_with_something_safe("a", b"x")
        course(life)
        life.teardown()

    live()
    wrong(monkeypatch)
    with pytest.raises(AssertionError, match="not allowed after a loss of power"):
        live()


def loses_nothing(patch: pytest.MonkeyPatch) -> None:
    for module in (disk_bytes, disk_names):
        patch.setattr(module, "some_of", lambda rng, count: count)


def keeps_no_write_whole(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(disk_bytes, "some_of", lambda rng, count: 0)


def tears_no_write(patch: pytest.MonkeyPatch) -> None:
    right = disk_bytes.Inode.lose_power

    def lose_power(self: disk_bytes.Inode, rng: Random | None) -> disk_bytes.WritesLost:
        if rng is not None:
            self._unsynced = self._unsynced[: disk_bytes.some_of(rng, len(self._unsynced))]
            self.sync()
        return right(self, None)

    patch.setattr(disk_bytes.Inode, "lose_power", lose_power)


def saves_the_name_with_the_bytes(patch: pytest.MonkeyPatch) -> None:
    right = SimFile.sync

    async def sync(self: SimFile) -> None:
        await right(self)
        await self._disk.sync_directory(disk_names.parent(self._inode.path))

    patch.setattr(SimFile, "sync", sync)


def keeps_all_directories_in_one_order(patch: pytest.MonkeyPatch) -> None:
    right = disk_names.Directories.lose_power

    def lose_power(self: disk_names.Directories, rng: Random | None) -> int:
        if rng is not None:
            for change in self._unsynced[: disk_names.some_of(rng, len(self._unsynced))]:
                change.apply(self._safe)
            self._unsynced.clear()
        return right(self, None)

    patch.setattr(disk_names.Directories, "lose_power", lose_power)


@pytest.mark.parametrize(
    ("kind", "scenario"),
    [
        (loses_nothing, two_appends),
        (loses_nothing, a_rename_in_place),
        (keeps_no_write_whole, two_appends),
        (tears_no_write, two_appends),
        (saves_the_name_with_the_bytes, bytes_without_a_name),
        (keeps_all_directories_in_one_order, directories_apart),
    ],
    ids=lambda each: each.__name__,
)
def test_the_specification_misses_something_of_a_disk_that(
    kind: Break, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind(monkeypatch)
    both = Both(0)
    scenario(both)
    allowed, found = as_text(both.spec.outcomes()), as_text(outcomes_over_seeds(scenario))

    assert [each for each in found if each not in allowed] == []
    assert [each for each in allowed if each not in found] != []
