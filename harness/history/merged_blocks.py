"""What sealing makes of shards whose lines are plain, block by block.

`seal` merges lines one by one, and looks at each. Where every line is known to be sound its place
in time is read from its beginning, and what is merged is numbers: so a large history is held
against its shards. Memory: a block of each shard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .compiled.merging import INDEX, INDEX_DIGITS, places, sealed
from .lines import MAX_LINE_BYTES
from .shard_reader import ShardReader

Array = np.ndarray[Any, Any]

BLOCKS_BYTES: Final = 32 * 1024 * 1024
LEAST_BLOCK_BYTES: Final = 256 * 1024
LARGEST_BLOCK_BYTES: Final = 8 * 1024 * 1024


class NotPlain(Exception):
    """A line has to be looked at by itself."""


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of a shard: where they begin, their sizes, their openings, which tell the kind,
    and where they stand in time."""

    data: Array
    starts: Array
    sizes: Array
    openings: Array
    keys: Array

    def part(self, first: int, end: int) -> _Lines:
        """Some of them, with no more data than is theirs."""
        if first == end:
            return _Lines(*(each[:0] for each in self._all()))
        start, stop = self.starts[first], self.starts[end - 1] + self.sizes[end - 1]
        _, starts, *others = self._all()
        cut = [each[first:end] for each in others]
        return _Lines(self.data[start:stop], starts[first:end] - start, *cut)

    def _all(self) -> tuple[Array, ...]:
        return self.data, self.starts, self.sizes, self.openings, self.keys


class _Shard:
    """The lines of a shard that are not merged yet."""

    def __init__(self, reader: ShardReader, size: int) -> None:
        self._reader = reader
        self._size = size
        self._carry = b""
        self._place = np.zeros(2, np.int64)
        self._held: _Lines | None = None
        self._first = 0
        self.over = False

    def fill(self) -> None:
        """Hold lines, unless none is left."""
        while not self.over and self._held is None:
            read = self._reader.read(self._size)
            whole, newline, self._carry = (self._carry + read).rpartition(b"\n")
            if newline:
                self._look_at(np.frombuffer(whole + newline, np.uint8))
            elif self._carry and (not read or len(self._carry) > MAX_LINE_BYTES):
                raise NotPlain
            elif not read:
                self.over = True
                self._reader.finish()

    def _look_at(self, data: Array) -> None:
        ends = np.flatnonzero(data == ord("\n")) + 1
        starts = np.concatenate([[0], ends])
        sizes = np.diff(starts)
        if sizes.max() > MAX_LINE_BYTES:
            raise NotPlain
        keys, openings = np.empty(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
        line = 0
        while line < len(sizes):
            clock = np.frombuffer((self._reader.clock or "").encode(), np.uint8)
            seen = places(data, starts, line, clock, self._place, keys, openings)
            if seen > line and not self._reader.take_events(seen - line):
                raise NotPlain
            if seen < len(sizes):
                openings[seen] = 0
                if not self._reader.take_frame(data[starts[seen] : ends[seen] - 1].tobytes()):
                    raise NotPlain
            line = seen + 1
        kept = np.flatnonzero(openings)
        if len(kept):
            self._held = _Lines(data, starts[kept], sizes[kept], openings[kept], keys[kept])
            self._first = 0

    @property
    def last_key(self) -> int | None:
        """Where the last line stands that is held, if more may come."""
        return None if self._held is None or self.over else int(self._held.keys[-1])

    def take(self, key: int | None, *, with_it: bool) -> _Lines | None:
        """The lines before a place in time, or up to and with it; all without one."""
        held, first = self._held, self._first
        if held is None:
            return None
        count = len(held.keys)
        side = "right" if with_it else "left"
        end = count if key is None else int(np.searchsorted(held.keys, key, side))  # type: ignore[call-overload]
        self._first = end
        if end == count:
            self._held = None
        return held.part(first, end)


def sealed_blocks(readers: Sequence[ShardReader]) -> Iterator[tuple[int, bytes]]:
    """The events of all shards with their index, in the order of merging, and how many there are
    in a block; `NotPlain` where they cannot be told like this."""
    size = BLOCKS_BYTES // max(1, len(readers))
    size = min(max(size, LEAST_BLOCK_BYTES), LARGEST_BLOCK_BYTES)
    shards = [_Shard(reader, size) for reader in readers]
    index = 0
    while True:
        for shard in shards:
            shard.fill()
        # Behind the last line that is held of a shard more may stand at the same place in time.
        bounds = [(key, at) for at, s in enumerate(shards) if (key := s.last_key) is not None]
        key, last = min(bounds, default=(None, -1))
        taken = [shard.take(key, with_it=at <= last) for at, shard in enumerate(shards)]
        parts = [lines for lines in taken if lines is not None and len(lines.starts)]
        if parts:
            merged = _merged(parts)
            yield len(merged[1].starts), _sealed(*merged, index)
            index += len(merged[1].starts)
        elif all(shard.over for shard in shards):
            return


def _merged(parts: list[_Lines]) -> tuple[Array, _Lines]:
    """The lines of some shards, and in which order they are merged: by place, then by shard."""
    if len(parts) == 1:
        return np.arange(len(parts[0].starts)), parts[0]
    moved = np.cumsum([0, *(len(part.data) for part in parts)])
    lines = _Lines(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.starts + by for part, by in zip(parts, moved, strict=False)]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.openings for part in parts]),
        np.concatenate([part.keys for part in parts]),
    )
    return np.argsort(lines.keys, kind="stable"), lines


def _sealed(order: Array, lines: _Lines, index: int) -> bytes:
    out = np.empty(len(lines.data) + len(order) * (len(INDEX) + INDEX_DIGITS + 1), np.uint8)
    columns = lines.data, lines.starts, lines.sizes, lines.openings
    return out[: sealed(*columns, order, index, out)].tobytes()
