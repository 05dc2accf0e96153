"""The anomalies of Jepsen's Kafka checker, planted in histories of sends and polls.

Each changes what one operation was told, or what all who saw a value were told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from spark_checkers.synthetic.drafts import Draft, Operation, Plant, Planted

STRANGE = 1_000_000
"""A value that no simulated client sends."""

STEPS = ("KFK-007", "KFK-008", "KFK-009", "KFK-010", "KFK-011", "KFK-012")
"""Rules that compare places in a log: they see it when a value moves."""


@dataclass(frozen=True, slots=True)
class _Polled:
    """What one poll micro-operation returned of a key."""

    operation: Operation
    key: str
    pairs: list[list[Any]]

    @property
    def values(self) -> list[Any]:
        return [value for _, value in self.pairs]


@dataclass(frozen=True, slots=True)
class _Sent:
    """A value that an ok operation sent, and the micro-operation that tells where it went."""

    operation: Operation
    micro: list[Any]

    @property
    def key(self) -> str:
        return str(self.micro[1])

    @property
    def offset(self) -> int:
        return int(self.micro[2][0])

    @property
    def value(self) -> Any:
        return self.micro[2][1]


def _polls(draft: Draft, *, ok: bool = True) -> Iterator[_Polled]:
    for operation in draft.operations:
        if operation.f in ("poll", "txn") and (operation.ok or not ok):
            for micro in operation.completion["value"]:
                if micro[0] == "poll" and len(micro) > 1:
                    yield from (_Polled(operation, key, pairs) for key, pairs in micro[1].items())


def _sends(draft: Draft) -> list[_Sent]:
    return [
        _Sent(operation, micro)
        for operation in draft.operations
        if operation.f in ("send", "txn") and operation.ok
        for micro in operation.completion["value"]
        if micro[0] == "send"
    ]


def _final(draft: Draft, key: str) -> _Polled | None:
    """The last poll of a key."""
    found = [polled for polled in _polls(draft) if polled.key == key and polled.pairs]
    return max(found, key=lambda polled: polled.operation.completion["time"], default=None)


def _pick(random: Random, found: list[Any]) -> Any:
    return random.choice(found) if found else None


def inconsistent_offsets(draft: Draft, random: Random) -> Planted | None:
    """One reader sees another value at an offset than all the others."""
    shown = Counter((polled.key, pair[0]) for polled in _polls(draft) for pair in polled.pairs)
    choices = [
        (polled, pair)
        for polled in _polls(draft)
        for pair in polled.pairs
        if shown[polled.key, pair[0]] > 1
    ]
    if not choices:
        return None
    polled, pair = random.choice(choices)
    unsure = {"process": draft.free_process, "f": "send"}
    value = [["send", polled.key, STRANGE]]
    draft.add(
        Operation(
            {**unsure, "time": draft.start, "value": value},
            {**unsure, "time": draft.start + 1, "type": "info", "value": value},
        )
    )
    others = [one for one in _polls(draft, ok=False) if one.key == polled.key]
    claims = [one.operation for one in others if pair[0] in [offset for offset, _ in one.pairs]]
    sends = [sent.operation for sent in _sends(draft) if sent.key == polled.key]
    pair[1] = STRANGE
    return draft.planted(*claims, *sends)


def duplicate(draft: Draft, random: Random) -> Planted | None:
    """The last value of a log stands there once more."""
    polled = _final(draft, random.choice(["k0", "k1"]))
    if polled is None:
        return None
    last, value = polled.pairs[-1]
    polled.pairs.append([last + 1, value])
    return draft.planted(polled.operation)


def aborted_read(draft: Draft, random: Random) -> Planted | None:
    """A send whose values were read turns out to have failed."""
    read = {(polled.key, value) for polled in _polls(draft) for value in polled.values}
    choices = [
        sent
        for sent in _sends(draft)
        if (sent.key, sent.value) in read and sent.operation.f == "send"
    ]
    sent = _pick(random, choices)
    if sent is None:
        return None
    sent.operation.completion["type"] = "fail"
    readers = [
        polled.operation
        for polled in _polls(draft)
        if polled.key == sent.key and sent.value in polled.values
    ]
    return draft.planted(*readers)


def precommitted_read(draft: Draft, random: Random) -> Planted | None:
    """A transaction polls what it has just sent itself."""
    choices = []
    for operation in draft.of("txn"):
        micros = operation.completion["value"]
        for at, micro in enumerate(micros):
            later = [one for one in micros[at + 1 :] if one[0] == "poll"]
            if micro[0] == "send" and later:
                choices.append((operation, micro, later[0]))
    if not choices:
        return None
    operation, micro, poll = random.choice(choices)
    poll[1].setdefault(micro[1], []).append(list(micro[2]))
    return draft.planted(operation)


def _forget(draft: Draft, sent: _Sent) -> None:
    for polled in _polls(draft, ok=False):
        if polled.key == sent.key:
            polled.pairs[:] = [pair for pair in polled.pairs if pair[1] != sent.value]


def lost_write(draft: Draft, random: Random) -> Planted | None:
    """Nobody ever polls a value that was acknowledged, though later ones are polled."""
    ends = {polled.key: polled.pairs[-1][0] for polled in _polls(draft) if polled.pairs}
    choices = [sent for sent in _sends(draft) if sent.offset < ends.get(sent.key, 0)]
    sent = _pick(random, choices)
    if sent is None:
        return None
    _forget(draft, sent)
    return draft.planted(sent.operation)


def unseen(draft: Draft, random: Random) -> Planted | None:
    """The last acknowledged value of a log is never polled."""
    ends = {
        polled.key: max(pair[0] for pair in polled.pairs)
        for polled in _polls(draft)
        if polled.pairs
    }
    sent = _pick(random, [one for one in _sends(draft) if one.offset == ends.get(one.key)])
    if sent is None:
        return None
    _forget(draft, sent)
    return draft.planted(sent.operation)


def _turns(draft: Draft) -> Iterator[tuple[_Polled, _Polled]]:
    """Two polls of a key by one process, the key being kept and nothing polled in between."""
    last: dict[tuple[int, str], _Polled] = {}
    polled_by: dict[int, list[_Polled]] = {}
    for polled in _polls(draft, ok=False):
        polled_by.setdefault(id(polled.operation), []).append(polled)
    for operation in draft.operations:
        process = operation.invoke["process"]
        if operation.f not in ("send", "poll", "txn"):
            last = {known: one for known, one in last.items() if known[0] != process}
        firsts: dict[str, _Polled] = {}
        for polled in polled_by.get(id(operation), []):
            if polled.pairs:
                firsts.setdefault(polled.key, polled)
                if operation.ok and firsts[polled.key] is polled and (process, polled.key) in last:
                    yield last[process, polled.key], polled
                if operation.ok:
                    last[process, polled.key] = polled


def poll_skip(draft: Draft, random: Random) -> Planted | None:
    """A process goes on one value too far."""
    times = Counter((one.key, value) for one in _polls(draft) for value in one.values)
    choices = [
        later
        for _, later in _turns(draft)
        if len(later.pairs) > 1 and times[later.key, later.values[0]] > 1
    ]
    polled = _pick(random, choices)
    if polled is None:
        return None
    del polled.pairs[0]
    return draft.planted(polled.operation)


def nonmonotonic_poll(draft: Draft, random: Random) -> Planted | None:
    """A process polls again what it had polled last."""
    turn = _pick(random, list(_turns(draft)))
    if turn is None:
        return None
    earlier, later = turn
    later.pairs.insert(0, list(earlier.pairs[-1]))
    return draft.planted(later.operation)


def skip_inside(draft: Draft, random: Random) -> Planted | None:
    """An answer leaves a value out."""
    polled = _pick(random, [one for one in _polls(draft) if len(one.pairs) > 2])
    if polled is None:
        return None
    del polled.pairs[1]
    return draft.planted(polled.operation)


def nonmonotonic_inside(draft: Draft, random: Random) -> Planted | None:
    """An answer says a value twice."""
    polled = _pick(random, [one for one in _polls(draft) if one.pairs])
    if polled is None:
        return None
    at = random.randrange(len(polled.pairs))
    polled.pairs.insert(at, list(polled.pairs[at]))
    return draft.planted(polled.operation)


def _swap(draft: Draft, one: _Sent, other: _Sent) -> None:
    """Each value stands where the other stood, for whoever sent or saw them."""
    values = {one.value: other.value, other.value: one.value}
    for polled in _polls(draft, ok=False):
        if polled.key == one.key:
            for pair in polled.pairs:
                pair[1] = values.get(pair[1], pair[1])
    first, second = one.offset, other.offset
    one.micro[2][0], other.micro[2][0] = second, first


def _seen_before(draft: Draft, sent: _Sent, operation: Operation) -> bool:
    """Whether somebody had seen a value before an operation began."""
    return any(
        polled.operation.precedes(operation)
        for polled in _polls(draft, ok=False)
        if polled.key == sent.key and sent.value in polled.values
    )


def nonmonotonic_send(draft: Draft, random: Random) -> Planted | None:
    """What a process sent later stands before what it sent first."""
    by_log: dict[tuple[int, str], list[_Sent]] = {}
    for sent in _sends(draft):
        by_log.setdefault((sent.operation.invoke["process"], sent.key), []).append(sent)
    choices = [
        (sent, other)
        for sends in by_log.values()
        for sent, other in pairwise(sends)
        if sent.operation is not other.operation and not _seen_before(draft, sent, other.operation)
    ]
    if not choices:
        return None
    sent, other = random.choice(choices)
    _swap(draft, sent, other)
    return draft.planted(other.operation)


def nonmonotonic_send_inside(draft: Draft, random: Random) -> Planted | None:
    """What one operation sent stands in the wrong order."""
    sends = _sends(draft)
    choices = [
        (sent, other)
        for sent, other in pairwise(sends)
        if sent.operation is other.operation and sent.key == other.key
    ]
    if not choices:
        return None
    sent, other = random.choice(choices)
    _swap(draft, sent, other)
    return draft.planted(sent.operation)


def garbage(draft: Draft, random: Random) -> Planted | None:
    """Behind its end a log holds what nobody sent."""
    polled = _final(draft, random.choice(["k0", "k1"]))
    if polled is None:
        return None
    polled.pairs.append([polled.pairs[-1][0] + 1, STRANGE])
    return draft.planted(polled.operation)


READ_PLANTS = (
    Plant(
        name="inconsistent-offsets",
        found_by=("KFK-001",),
        seen_by=("KFK-034",),
        change=inconsistent_offsets,
    ),
    Plant(
        name="duplicate",
        found_by=("KFK-002", "KFK-027"),
        seen_by=STEPS,
        change=duplicate,
    ),
    Plant(name="G1a", found_by=("KFK-003",), change=aborted_read),
    Plant(
        name="precommitted-read",
        found_by=("KFK-004",),
        seen_by=STEPS,
        change=precommitted_read,
    ),
    Plant(
        name="lost-write",
        found_by=("KFK-005", "KFK-006"),
        seen_by=STEPS,
        change=lost_write,
    ),
    Plant(name="unseen", found_by=("KFK-006",), change=unseen),
    Plant(name="poll-skip", found_by=("KFK-007",), change=poll_skip),
    Plant(name="nonmonotonic-poll", found_by=("KFK-008",), change=nonmonotonic_poll),
    Plant(name="int-poll-skip", found_by=("KFK-009",), change=skip_inside),
    Plant(name="int-nonmonotonic-poll", found_by=("KFK-010",), change=nonmonotonic_inside),
    Plant(
        name="nonmonotonic-send",
        found_by=("KFK-011",),
        seen_by=(*STEPS, "KFK-019", "KFK-020"),
        change=nonmonotonic_send,
    ),
    Plant(
        name="int-nonmonotonic-send",
        found_by=("KFK-012",),
        seen_by=STEPS,
        change=nonmonotonic_send_inside,
    ),
    Plant(name="garbage-read", found_by=("KFK-014",), seen_by=("KFK-042",), change=garbage),
)
