"""What may be on a disk after a loss of power, by trying everything.

It keeps all that was done since the last loss and is written to be believed, not to be fast: names
by trying every set of changes, bytes by replaying a file's writes position by position. It shares
no code with the simulated disk. What it says:

Names: a set of changes may survive if it has every change that was synced and, with a change, each
earlier one of the same directory. Creating, renaming and removing belong to the directories of the
names; making a directory belongs to the one it is in and to the one made.

Bytes: the synced writes of a file survive; then any number of those that follow; then any part of
the next if it is an append. Appends lost to a failed sync never survive: what follows is written
where it was, behind zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

Outcome = dict[str, bytes | None]  # None is a directory


@dataclass(slots=True)
class Write:
    """An append of ``data`` at ``offset``, or a cut there."""

    kind: str  # "append", "cut"
    offset: int
    data: bytes = b""
    lost: bool = False


@dataclass(slots=True)
class Past:
    """A file: what was done to its bytes, and how much of it is certain."""

    writes: list[Write] = field(default_factory=list)
    certain: int = 0

    def read(self) -> bytes:
        """What it reads now."""
        return _replay(self.writes)

    def safe(self) -> bytes:
        """What is left of it if nothing unsynced survives."""
        return _replay([write for write in self.writes[: self.certain] if not write.lost])

    def possible(self) -> set[bytes]:
        """Everything it may be after a loss of power."""
        found = set()
        for count in range(self.certain, len(self.writes) + 1):
            kept = [write for write in self.writes[:count] if not write.lost]
            found.add(_replay(kept))
            following = self.writes[count : count + 1]
            for write in following:
                if write.kind == "append" and not write.lost:
                    for size in range(len(write.data)):
                        part = Write("append", write.offset, write.data[:size])
                        found.add(_replay([*kept, part] if size else kept))
        return found


@dataclass(slots=True)
class Change:
    """Names taken away and given; a file, or None for a directory."""

    directories: set[str]
    takes: list[str]
    gives: dict[str, Past | None]
    certain: bool = False


class Specification:
    """A disk that remembers everything. Use it alongside the real thing, then ask."""

    def __init__(self, start: Outcome | None = None) -> None:
        self.start: dict[str, Past | None] = {
            path: None if data is None else Past([Write("append", 0, data)], certain=1)
            for path, data in (start or {}).items()
        }
        self.changes: list[Change] = []

    # What is done to it.

    def create(self, path: str) -> Past:
        """A new file, and the directories above it."""
        self._make_above(path)
        past = Past()
        self.changes.append(Change({_parent(path)}, [], {path: past}))
        return past

    def rename(self, path: str, to: str) -> None:
        """A file by another name."""
        if path != to:
            self._make_above(to)
            past = self.names()[path]
            self.changes.append(Change({_parent(path), _parent(to)}, [path], {to: past}))

    def remove(self, path: str) -> None:
        """A file without a name."""
        self.changes.append(Change({_parent(path)}, [path], {}))

    def sync_directory(self, directory: str) -> None:
        """Its changes are certain, and whatever is needed for that."""
        for change in self.changes:
            change.certain = change.certain or directory in change.directories
        wanting = True
        while wanting:
            wanting = False
            for later, change in enumerate(self.changes):
                for earlier in self.changes[:later]:
                    shared = earlier.directories & change.directories
                    if change.certain and shared and not earlier.certain:
                        earlier.certain = wanting = True

    # What it says.

    def names(self) -> dict[str, Past | None]:
        """What there is now."""
        return self._after(range(len(self.changes)))

    def now(self) -> Outcome:
        """What is read now."""
        return {path: None if past is None else past.read() for path, past in self.names().items()}

    def worst(self) -> Outcome:
        """What is left if nothing unsynced survives."""
        certain = [index for index, change in enumerate(self.changes) if change.certain]
        return {
            path: None if past is None else past.safe()
            for path, past in self._after(certain).items()
        }

    def uncertain(self) -> int:
        """How many changes of names are not certain."""
        return sum(not change.certain for change in self.changes)

    def allows(self, outcome: Outcome) -> bool:
        """Whether a loss of power may leave this."""
        return any(
            names.keys() == outcome.keys()
            and all(
                outcome[path] is None if past is None else outcome[path] in past.possible()
                for path, past in names.items()
            )
            for names in self._survivors()
        )

    def outcomes(self) -> list[Outcome]:
        """All that a loss of power may leave."""
        found: list[Outcome] = []
        for names in self._survivors():
            contents = [
                [None] if past is None else sorted(past.possible()) for past in names.values()
            ]
            for choice in product(*contents):
                outcome: Outcome = dict(zip(names, choice, strict=True))
                if outcome not in found:
                    found.append(outcome)
        return found

    def _survivors(self) -> Iterator[dict[str, Past | None]]:
        for choice in product(
            *((True,) if change.certain else (False, True) for change in self.changes)
        ):
            kept = [index for index, survives in enumerate(choice) if survives]
            if self._complete(kept):
                yield self._after(kept)

    def _complete(self, kept: list[int]) -> bool:
        return all(
            earlier in kept
            for later in kept
            for earlier in range(later)
            if self.changes[earlier].directories & self.changes[later].directories
        )

    def _after(self, kept: Iterator[int] | range | list[int]) -> dict[str, Past | None]:
        names = dict(self.start)
        for index in kept:
            for path in self.changes[index].takes:
                del names[path]
            names.update(self.changes[index].gives)
        return names

    def _make_above(self, path: str) -> None:
        parts = path.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            made = "/".join(parts[:count])
            if made not in self.names():
                self.changes.append(Change({_parent(made), made}, [], {made: None}))


def _parent(path: str) -> str:
    return "/".join(path.split("/")[:-1])


def _replay(writes: list[Write]) -> bytes:
    places: dict[int, int] = {}
    for write in writes:
        if write.kind == "cut":
            places = {place: byte for place, byte in places.items() if place < write.offset}
        else:
            places.update((place, 0) for place in range(len(places), write.offset))
            places.update(enumerate(write.data, start=write.offset))
    return bytes(places[place] for place in range(len(places)))
