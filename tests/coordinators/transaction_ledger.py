"""What readers of committed data may see, by what producers asked for: the model, in a few lines.

A transaction is visible as a whole once its commit was acknowledged, never if no commit was asked
for, and as a whole or not at all if that is not known. Those of one transactional id are visible in
the order in which they were begun, and what a reader saw at an offset stays there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

Row = tuple[int, str]
"""An offset and the value there."""


class Fate(StrEnum):
    """What the producer knows of its transaction."""

    OPEN = "open"
    ASKED = "commit asked for"
    COMMITTED = "committed"
    ABORTED = "aborted"


MAY_SHOW = (Fate.ASKED, Fate.COMMITTED)


@dataclass(slots=True, kw_only=True, eq=False)
class Transacted:
    """One transaction: of which id, its values by partition, the offset it commits."""

    transactional_id: str
    number: int
    values: list[tuple[int, str]] = field(default_factory=list)
    offset: int | None = None
    fate: Fate = Fate.OPEN

    def __str__(self) -> str:
        return f"{self.transactional_id}/{self.number} ({self.fate})"

    def in_partition(self, index: int) -> list[str]:
        """Its values there, in order."""
        return [value for at, value in self.values if at == index]


class Ledger:
    """All transactions of a run, and everything that readers saw of them."""

    def __init__(self) -> None:
        self.transactions: list[Transacted] = []
        self.findings: list[str] = []
        self._of_value: dict[str, Transacted] = {}
        self._seen: dict[tuple[int, int], str] = {}

    def begin(self, transactional_id: str) -> Transacted:
        """A producer begins another one."""
        begun = Transacted(transactional_id=transactional_id, number=len(self.transactions))
        self.transactions.append(begun)
        return begun

    def writes(self, one: Transacted, index: int) -> str:
        """The next value of a transaction, unlike any other."""
        value = f"{one.transactional_id}/{one.number}/{len(one.values)}"
        one.values.append((index, value))
        self._of_value[value] = one
        return value

    def saw(self, index: int, rows: Iterable[Row], *, where: str) -> None:
        """A reader of committed data was handed these."""
        for offset, value in rows:
            one = self._of_value.get(value)
            if one is None:
                self._found(f"stray: {value!r} at {index}/{offset} of {where} was never written")
            elif one.fate not in MAY_SHOW:
                self._found(f"exposed: {value!r} of {one} is read at {where}")
            before = self._seen.setdefault((index, offset), value)
            if before != value:
                self._found(f"changed: {index}/{offset} was {before!r}, is {value!r} at {where}")

    def settled(self, logs: Mapping[int, Sequence[Row]], where: str) -> None:
        """Everything there is, by partition, once nothing is open any more."""
        for index, rows in logs.items():
            self.saw(index, rows, where=where)
            self._in_order(index, [value for _, value in rows], where)
            there = dict(rows)
            for (at, offset), value in self._seen.items():
                if at == index and there.get(offset) != value:
                    self._found(f"lost: {value!r} at {index}/{offset} is gone from {where}")
        shown = self.shown(logs)
        for one in self.transactions:
            missing = [value for value in _values(one) if value not in shown]
            if one.fate is Fate.COMMITTED and missing:
                self._found(f"lost: {missing} of {one} at {where}")
            elif missing and len(missing) < len(one.values):
                self._found(f"torn: {missing} of {one} are missing at {where}")

    def offset_is(
        self, transactional_id: str, told: int, logs: Mapping[int, Sequence[Row]]
    ) -> None:
        """The group of an id is told this offset: that of its last transaction with one."""
        shown = self.shown(logs)
        wanted = -1
        for one in self.transactions:
            counts = one.transactional_id == transactional_id and one.fate in MAY_SHOW
            if counts and one.offset is not None and all(value in shown for value in _values(one)):
                wanted = one.offset
        if told != wanted:
            self._found(f"offset: {transactional_id} is at {told}, its records say {wanted}")

    @staticmethod
    def shown(logs: Mapping[int, Sequence[Row]]) -> dict[str, int]:
        """Every value that is there, and how often."""
        count: dict[str, int] = {}
        for rows in logs.values():
            for _, value in rows:
                count[value] = count.get(value, 0) + 1
        return count

    def _in_order(self, index: int, values: Sequence[str], where: str) -> None:
        for value, times in self.shown({index: list(enumerate(values))}).items():
            if times > 1:
                self._found(f"twice: {value!r} is in {index} {times} times at {where}")
        for transactional_id in dict.fromkeys(one.transactional_id for one in self.transactions):
            written = [
                value
                for one in self.transactions
                if one.transactional_id == transactional_id
                for value in one.in_partition(index)
            ]
            there = [value for value in values if value in written]
            if there != [value for value in written if value in there]:
                self._found(f"order: {there} of {transactional_id} in {index} at {where}")

    def _found(self, finding: str) -> None:
        if finding not in self.findings:
            self.findings.append(finding)


def _values(one: Transacted) -> list[str]:
    return [value for _, value in one.values]
