"""The lines of a large history that are laid out one by one, in a file until it is their turn."""

from __future__ import annotations

import heapq
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .lines import Event, decode
from .ranges import TooMuch

OTHERS_HELD: Final = 200_000
"""So many lines that ranges laid out, and must not have, are held in memory. Where more are to be
laid out one by one, and most of a history is, it is read by lines."""


class OtherLines:
    """Lines in the order of their index. What turns out later to be one of them is held."""

    def __init__(self, path: Path) -> None:
        """In a file that is made for it."""
        self._path = path
        self._file = path.open("xb")
        self._late: list[Event] = []
        self._count = 0

    def add(self, raw: bytes) -> None:
        """One more line, without its newline."""
        self._file.write(raw + b"\n")
        self._count += 1

    def add_file(self, path: Path, count: int) -> None:
        """So many more, each with its newline."""
        with path.open("rb") as lines:
            shutil.copyfileobj(lines, self._file)
        self._count += count

    def add_late(self, event: Event) -> None:
        """An event before some that are there."""
        self._late.append(event)
        if len(self._late) > OTHERS_HELD:
            raise TooMuch

    def look_at(self, lines: int) -> None:
        """`TooMuch` if it is most of so many lines that were read, and not few."""
        if self._count > OTHERS_HELD and 2 * self._count > lines:
            raise TooMuch

    def close(self) -> None:
        """No more come."""
        self._file.close()

    def events(self) -> Iterator[Event]:
        """All of them, in order; no more come."""
        self.close()
        late = sorted(self._late, key=_index)
        with self._path.open("rb") as lines:
            yield from heapq.merge((decode(raw[:-1]) for raw in lines), late, key=_index)


def _index(event: Event) -> int:
    return int(event["index"])
