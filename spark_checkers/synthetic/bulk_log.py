"""The log behind big histories: sends, their places, what is read of them; in arrays.

The log grows in stretches. Within a stretch sends overlap, fail, stay unknown, are retried; when it
ends nothing is under way. So a stretch needs nothing of the others but where each log ended.
A producer with an even number is idempotent; one send in a hundred is a transaction of its own,
whose marker follows it in the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

SENDS_A_STRETCH = 20_000
RECORDS_A_SEND = 3
RECORDS_A_FETCH = 50
PRODUCERS = 16
NODES = 3
STEP_NS = 1_000
WAIT_NS = 8_000
EPOCH_NS = 30_000_000


@dataclass(slots=True, kw_only=True)
class Sends:
    """The sends of a stretch, in the order in which the log took them."""

    number: Ints
    log: Ints
    at: Ints
    began: Ints
    ended: Ints
    producer: Ints
    records: Ints
    outcome: npt.NDArray[np.str_]
    landed: Bools
    attempts: Ints
    transaction: Bools
    aborted: Bools
    base: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    sequence: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def ok(self) -> Bools:
        """Whether it was acknowledged."""
        return np.asarray(self.outcome == "ok")

    @property
    def idempotent(self) -> Bools:
        """Whether its records are numbered."""
        return np.asarray(self.producer % 2 == 0)


class Logs:
    """How far each log, and each producer in it, has come."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.ends = np.zeros(count, np.int64)
        self._sequences = np.zeros(count * PRODUCERS, np.int64)

    def take(self, sends: Sends) -> None:
        """Give every send its place in its log and its producer's sequence."""
        taken = np.where(sends.landed, sends.records + sends.transaction, 0)
        sends.base = _running(sends.log, taken, self.ends)
        numbered = np.where(sends.idempotent, sends.records, 0)
        key = sends.log * PRODUCERS + sends.producer
        sends.sequence = _running(key, numbered, self._sequences)


def _running(key: Ints, amount: Ints, totals: Ints) -> Ints:
    """What each key has come to before each row; the totals go on."""
    order = np.argsort(key, kind="stable")
    sorted_key, sorted_amount = key[order], amount[order]
    before = np.cumsum(sorted_amount) - sorted_amount
    first = np.searchsorted(sorted_key, sorted_key, side="left")
    found = np.empty_like(amount)
    found[order] = before - before[first] + totals[sorted_key]
    np.add.at(totals, key, amount)
    return found


def draw(random: np.random.Generator, stretch: int, logs: int) -> Sends:
    """The sends of a stretch, by chance, without their places."""
    count = SENDS_A_STRETCH
    at = stretch * (count * STEP_NS + 10 * WAIT_NS) + np.arange(count) * STEP_NS
    producer = random.integers(0, PRODUCERS, count)
    fate = random.random(count)
    plain = producer % 2 == 1
    transaction = ~plain & (fate > 0.98)
    return Sends(
        number=stretch * count + np.arange(count),
        log=random.integers(0, logs, count),
        at=at,
        began=at - random.integers(0, WAIT_NS, count),
        ended=at + random.integers(3, WAIT_NS, count),
        producer=producer,
        records=random.integers(1, 2 * RECORDS_A_SEND, count),
        outcome=np.where(plain & (fate < 0.02), "fail", np.where(fate < 0.08, "info", "ok")),
        landed=~(plain & (fate < 0.05)),
        attempts=np.where(~plain & (fate > 0.9), 2, 1),
        transaction=transaction,
        aborted=transaction & (fate > 0.995),
    )


def epoch_at(at: Ints) -> Ints:
    """The leader epoch of all logs at these times."""
    return 3 + at // EPOCH_NS


def leader_at(log: Ints, at: Ints) -> Ints:
    """The leaders of logs at these times."""
    return 1 + (log + epoch_at(at)) % NODES


def positions(counts: Ints) -> Ints:
    """0, 1, 2, ... for each of the counts."""
    firsts = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) - np.repeat(firsts, counts))


class Entries:
    """What the logs hold of a stretch, records and markers, log by log in order of offsets."""

    def __init__(self, sends: Sends, first_ends: Ints) -> None:
        landed = np.nonzero(sends.landed)[0]
        order = landed[np.argsort(sends.log[landed], kind="stable")]
        taken = sends.records[order] + sends.transaction[order]
        self.send = np.repeat(order, taken)
        self.position = positions(taken)
        self.log = sends.log[self.send]
        self.offset = sends.base[self.send] + self.position
        self.marker = self.position == sends.records[self.send]
        self.aborted = sends.aborted[self.send]
        self._first_ends = first_ends
        self._at = sends.at[self.send]

    def fetches(self) -> tuple[Ints, Ints, Ints]:
        """First and last entry of each fetch, and the fetch of each entry."""
        part = (self.offset - self._first_ends[self.log]) // RECORDS_A_FETCH
        opens = np.r_[True, (np.diff(self.log) != 0) | (np.diff(part) != 0)]
        first = np.nonzero(opens)[0]
        return first, np.r_[first[1:], len(opens)] - 1, np.cumsum(opens) - 1

    def high_watermark(self, log: Ints, at: Ints) -> Ints:
        """Where the logs ended at these times."""
        begin = np.searchsorted(self.log, log, side="left")
        return np.asarray(self._first_ends[log] + self._place(log, at, "right") - begin)

    def first_since(self, log: Ints, since: Ints, until: Ints) -> Ints:
        """The first entry of this stretch in each log between these times, or -1.

        By timestamp: what was appended in the same step has the same one.
        """
        place = self._place(log, since // STEP_NS * STEP_NS, "left")
        found = np.minimum(place, len(self.log) - 1)
        there = (place < len(self.log)) & (self.log[found] == log) & (self._at[found] <= until)
        return np.where(there, found, -1)

    def appended_at(self, entry: Ints) -> Ints:
        """When an entry was appended."""
        return np.asarray(self._at[entry])

    def _place(self, log: Ints, at: Ints, side: Literal["left", "right"]) -> Ints:
        """How many entries come before these times in these logs and the logs before them."""
        span = 2 * SENDS_A_STRETCH * STEP_NS + 20 * WAIT_NS
        since = int(self._at.min())
        held = self.log * span + (self._at - since)
        asked = log * span + np.clip(at - since, -1, span - 2)
        return np.asarray(np.searchsorted(held, asked, side=side))
