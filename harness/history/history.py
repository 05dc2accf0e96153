"""A history in the hand: a header, a stream of events, and how far it can be trusted.

Histories are larger than memory, so `events` is read from its source each time it is iterated, and
nothing is kept but the problems. `problems`, `footer` and `complete` are only known after a whole
pass; the first full iteration settles them, and asking for one of them before that makes a pass of
its own. So `for event in history.events: ...` followed by `history.complete` reads the file once.

A history is *complete* when its source ended as it should and no line of it was lost. A history
that is not complete may refute a promise but never prove that one was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from .lines import Event
from .problems import Problem, ProblemLog

INDEX_ORDERED_WORLDS: Final = frozenset({"sim", "import"})
"""Worlds whose total order is the index: one observer wrote every line down in turn."""


@dataclass(slots=True, kw_only=True)
class Pass:
    """What one full pass over the source found out beside the events."""

    log: ProblemLog
    footer: Event | None = None
    ended: bool = False
    ignored: int = 0
    notes: list[str] = field(default_factory=list)


Source: TypeAlias = Callable[[Pass], Iterator[Event]]
"""Opens the source anew and yields its usable events, filling in the `Pass`."""


class _Events(Iterable[Event]):
    """Re-iterable view of a history's events."""

    __slots__ = ("_history",)

    def __init__(self, history: History) -> None:
        self._history = history

    def __iter__(self) -> Iterator[Event]:
        return self._history._iterate()


class History:
    """A recorded or imported history; see the module's text for what is lazy."""

    def __init__(
        self,
        *,
        name: str,
        header: Mapping[str, Any],
        source: Source,
        first_line: int | None = None,
        path: Path | None = None,
    ) -> None:
        """`first_line` is the line of event 0 in its file, where index and line go together;
        `path` is the file, where it is a sealed history."""
        self.path = path
        self.name = name
        self.header = header
        self.first_line = first_line
        self._source = source
        self._passed: Pass | None = None

    @property
    def events(self) -> Iterable[Event]:
        """The events in order; each iteration reads the source from its beginning."""
        return _Events(self)

    @property
    def problems(self) -> list[Problem]:
        """Everything that could not be used, with file, line and reason."""
        return self._settled().log.listed()

    @property
    def footer(self) -> Event | None:
        """The footer, if the source has one and it is sound."""
        return self._settled().footer

    @property
    def complete(self) -> bool:
        """Whether nothing was lost: the source ended as it should and every line was usable."""
        settled = self._settled()
        return settled.ended and not settled.log.total

    @property
    def reasons(self) -> list[str]:
        """Why the history is not complete; empty if it is."""
        settled = self._settled()
        return [*settled.notes, *map(str, settled.log.listed())]

    @property
    def notes(self) -> list[str]:
        """Why the history is not complete, where it is not for a problem of some line."""
        return list(self._settled().notes)

    @property
    def ignored(self) -> int:
        """Lines that are no events and are not meant to be (console chatter)."""
        return self._settled().ignored

    @property
    def index_ordered(self) -> bool:
        """Whether `index` rather than `time` is the order of this history."""
        return self.header.get("world") in INDEX_ORDERED_WORLDS

    def line_of(self, index: int) -> int:
        """The line of an event in its file, or 0 where the form of the file does not tell."""
        return index + self.first_line if self.first_line is not None else 0

    def settle(self, passed: Pass) -> None:
        """Take over what a full pass found out that was made elsewhere."""
        self._passed = passed

    def _settled(self) -> Pass:
        if self._passed is None:
            for _ in self._iterate():
                pass
        assert self._passed is not None
        return self._passed

    def _iterate(self) -> Iterator[Event]:
        passed = Pass(log=ProblemLog(file=self.name))
        yield from self._source(passed)
        self._passed = passed


def history_of(events: Iterable[Event], *, header: Mapping[str, Any] | None = None) -> History:
    """A complete history held in memory; events without an index get their position."""
    numbered = [
        event if "index" in event else {**event, "index": at} for at, event in enumerate(events)
    ]

    def source(passed: Pass) -> Iterator[Event]:
        yield from numbered
        passed.ended = True

    default = {"kind": "header", "format": 1, "run": "memory", "sut": "memory", "world": "sim"}
    return History(name="memory", header=default if header is None else header, source=source)
