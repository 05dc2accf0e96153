"""How one history is told from others in the same tables.

Each history has a number. Columns that name a line or a process are moved up into a range of
numbers of its own; columns that name a log, a clock, a transaction, a group, a send or a request
carry a mark of its own. So rows of two histories have nothing in common by which they could be
joined, grouped or ordered, as long as a view does so by one of these columns, which a test holds
views to. Within a history all comparisons and all orders are as they were.

What is told about a history is told in its own numbers and names again (`Place.restored`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

NUMBERED: Final = frozenset({"op", "completion", "index", "probe", "process"})
MARKED: Final = frozenset({"topic", "clock", "transaction", "group_id", "send", "request"})

WIDTH: Final = 40
"""How many bits the numbers of one history have."""
OURS: Final = 1 << 62
"""Where the numbers of histories that stand beside others begin; none of their own is there."""
MOST: Final = 1_000_000
"""How many histories one set of tables can hold."""

HISTORY_OF_ROW: Final = (
    f"coalesce((op >> {WIDTH}) - {OURS >> WIDTH}, CAST(substr(topic, 2, 7) AS BIGINT))"
)
"""SQL: the number of the history that a row of any table or view belongs to."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one history among others."""

    number: int

    @property
    def first(self) -> int:
        """What line 0 and process 0 of the history are called here."""
        return OURS + (self.number << WIDTH)

    @property
    def mark(self) -> str:
        """What the names of the history begin with here: characters that no standard assigns."""
        return f"\ue000{self.number:07}\ue001"

    def restored(self, value: Any) -> Any:
        """A value of this history as the history has it."""
        if isinstance(value, str):
            return value.replace(self.mark, "")
        if type(value) is int and value >> WIDTH == self.first >> WIDTH:
            return value - self.first
        return value

    def restored_row(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of this history as the history has it."""
        return {name: self.restored(value) for name, value in row.items()}


def place_of(marked: str) -> Place:
    """The place of the history that a marked name belongs to."""
    return Place(int(marked[1:8]))


@dataclass(frozen=True, slots=True)
class HistoryBatch:
    """The histories in the tables by their numbers; `one` is there as it is, with no place."""

    numbers: tuple[int, ...]
    one: bool = False

    def restored(self, number: int, row: dict[str, Any]) -> dict[str, Any]:
        """A row as its history has it."""
        return row if self.one else Place(number).restored_row(row)

    def number_of(self, row: dict[str, Any]) -> int:
        """Whose row it is, by its topic."""
        return self.numbers[0] if self.one else place_of(row["topic"]).number


ALONE: Final = HistoryBatch((0,), one=True)
