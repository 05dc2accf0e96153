"""Striped placement: replicas go round the racks, and round the brokers inside of each rack.

Each partition begins one rack further than the one before, and each rack offers its brokers from
one place further than the last time it was gone round. The first replica, which will lead, is on a
broker that is up; brokers that are fenced come in only where the others do not suffice. Once every
broker that is up has led, racks and brokers are shuffled: the same sets do not come again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.ports.clock import Rng

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableBroker:
    """A broker that may be given replicas."""

    broker_id: int
    rack: str | None
    fenced: bool


class _Ring:
    """Brokers of one rack that are alike, handed out one after the other, once a round."""

    def __init__(self, brokers: list[int], rng: Rng) -> None:
        self._brokers = sorted(brokers)
        self._from = rng.randrange(len(brokers)) if brokers else 0
        self._given = 0
        self._round = 0

    def next(self, round_: int) -> int | None:
        if not self._brokers:
            return None
        if self._round != round_:
            self._round = round_
            self._given = 0
            self._from = (self._from + 1) % len(self._brokers)
        if self._given >= len(self._brokers):
            return None
        self._given += 1
        return self._brokers[(self._from + self._given - 1) % len(self._brokers)]

    def shuffle(self, rng: Rng) -> None:
        shuffle(self._brokers, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rack:
    up: _Ring
    fenced: _Ring

    def next(self, round_: int) -> int | None:
        first = self.up.next(round_)
        return self.fenced.next(round_) if first is None else first


class _Racks:
    """All racks, and where the next partition begins."""

    def __init__(self, brokers: Sequence[UsableBroker], rng: Rng) -> None:
        self._rng = rng
        names = sorted(dict.fromkeys(broker.rack or "" for broker in brokers))
        self._racks = [_rack(brokers, name, rng) for name in names]
        self._count = sum(not broker.fenced for broker in brokers)
        self._round = 0
        self._from = rng.randrange(len(names)) if names else 0

    def place(self, replication_factor: int) -> tuple[int, ...]:
        if self._round == self._count and self._count > 1:
            shuffle(self._racks, self._rng)
            for rack in self._racks:
                rack.up.shuffle(self._rng)
                rack.fenced.shuffle(self._rng)
            self._round = 0
        start = self._from % len(self._racks)
        leader, leads = self._leader(start)
        chosen = [leader]
        at = start
        while len(chosen) < replication_factor:
            if at == leads:
                leads = -1  # passed over once: it has given the leader
            else:
                found = self._racks[at].next(self._round)
                chosen += [] if found is None else [found]
            at = (at + 1) % len(self._racks)
        self._round += 1
        self._from = start + 1
        return tuple(chosen)

    def _leader(self, start: int) -> tuple[int, int]:
        at = start
        while (found := self._racks[at].up.next(self._round)) is None:
            at = (at + 1) % len(self._racks)
        return found, at


def _rack(brokers: Sequence[UsableBroker], name: str, rng: Rng) -> _Rack:
    mine = [broker for broker in brokers if (broker.rack or "") == name]
    return _Rack(
        fenced=_Ring([broker.broker_id for broker in mine if broker.fenced], rng),
        up=_Ring([broker.broker_id for broker in mine if not broker.fenced], rng),
    )


def shuffle(items: list[Item], rng: Rng) -> None:
    """Bring a list into an order drawn from ``rng``."""
    for last in range(len(items) - 1, 0, -1):
        other = rng.randrange(last + 1)
        items[last], items[other] = items[other], items[last]


def striped(
    brokers: Sequence[UsableBroker], partitions: int, replication_factor: int, rng: Rng
) -> tuple[tuple[int, ...], ...]:
    """The replicas of each partition, or INVALID_REPLICATION_FACTOR with Kafka's reason."""
    if all(broker.fenced for broker in brokers):
        raise KafkaError(
            ErrorCode.invalid_replication_factor,
            "All brokers are currently fenced, or have all their log directories cordoned.",
        )
    if replication_factor > len(brokers):
        raise KafkaError(
            ErrorCode.invalid_replication_factor,
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(brokers)} broker(s) are registered or some brokers have all their log "
            "directories cordoned.",
        )
    racks = _Racks(brokers, rng)
    return tuple(racks.place(replication_factor) for _ in range(partitions))
