"""What can go wrong with an append, planted: its order, its place, its payload, its one copy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random

from spark_checkers.synthetic.drafts import Draft, Operation, Plant, Planted
from spark_checkers.synthetic.log_cells import (
    EPOCH,
    KEY,
    OFFSET,
    TIMESTAMP,
    VALUE,
    Send,
    exchange,
    extend,
    fetches,
    kept_sends,
    last_fetch,
    picked,
    place_of,
    readers,
    records,
    seen_by,
)

TIMESTAMPS = ("KFK-060", "KFK-061", "KFK-062", "KFK-063")
"""Rules about searches by timestamp: they see it when records move."""

ENDS = ("KFK-050", "KFK-054")
"""Rules that hold the ends that answers name against acknowledged offsets."""


def _all_read(draft: Draft, send: Send) -> bool:
    return all(seen_by(draft, send.place, offset) for offset in send.offsets)


def _plain_and_read(draft: Draft) -> list[Send]:
    """The sends that were tried once, outside transactions, and read."""
    return [
        send
        for send in kept_sends(draft)
        if len(send.attempts) == 1 and send.transaction is None and _all_read(draft, send)
    ]


def _pairs(draft: Draft) -> Iterator[tuple[Send, Send]]:
    """Two sends of equal size outside transactions, in order of the log, all of them read."""
    found = [send for send in kept_sends(draft) if send.transaction is None and send.once]
    for one, other in combinations(sorted(found, key=lambda send: send.base), 2):
        if one.place == other.place and one.size == other.size:
            yield one, other


def _swap(draft: Draft, one: Send, other: Send) -> None:
    """Each stands where the other stood, for whoever sent or read them."""
    there = dict(zip(one.offsets, other.offsets, strict=True))
    back = dict(zip(other.offsets, one.offsets, strict=True))
    exchange(draft, one.place, there | back)
    first, second = one.base, other.base
    one.told(second)
    other.told(first)


def out_of_order(draft: Draft, random: Random) -> Planted | None:
    """A send that began after another was acknowledged stands before it."""
    pair = picked(
        random,
        (
            (one, other)
            for one, other in _pairs(draft)
            if one.acknowledged.precedes(other.first)
            and (one.producer or [0])[0] != (other.producer or [1])[0]
            and _all_read(draft, one)
            and _all_read(draft, other)
        ),
    )
    if pair is None:
        return None
    _swap(draft, *pair)
    return draft.planted(pair[1].first)


def _same_producer(one: Send, other: Send) -> bool:
    if one.producer is None or other.producer is None:
        return False
    return one.producer[:2] == other.producer[:2]


def out_of_sequence(draft: Draft, random: Random) -> Planted | None:
    """Two sends of an idempotent producer stand in the wrong order."""
    pair = picked(
        random,
        (
            (one, other)
            for one, other in _pairs(draft)
            if _same_producer(one, other) and _all_read(draft, one) and _all_read(draft, other)
        ),
    )
    if pair is None:
        return None
    _swap(draft, *pair)
    between = [
        send.first
        for send in kept_sends(draft)
        if send.producer is not None and send.producer[:2] == (pair[0].producer or [])[:2]
    ]
    return draft.planted(*between)


def read_before_sent(draft: Draft, random: Random) -> Planted | None:
    """A send that was read turns out to have been made later."""
    send = picked(random, _plain_and_read(draft))
    if send is None:
        return None
    process, end = draft.free_process, draft.end
    for number, event in enumerate((send.first.invoke, send.first.completion)):
        event.update(process=process, time=end + number)
    del send.first.completion["log_start_offset"]
    return draft.planted(send.first)


def lost(draft: Draft, random: Random) -> Planted | None:
    """Nobody finds an acknowledged record, though records before and behind it are found."""
    choices = []
    for send in kept_sends(draft):
        for offset in send.offsets if send.transaction is None else ():
            around = [
                one
                for one in seen_by(draft, send.place, offset)
                if records(one)[0][OFFSET] < offset < records(one)[-1][OFFSET]
            ]
            if around:
                choices.append((send, offset))
    chosen = picked(random, choices)
    if chosen is None:
        return None
    send, offset = chosen
    for operation in seen_by(draft, send.place, offset):
        records(operation)[:] = [one for one in records(operation) if one[OFFSET] != offset]
    return draft.planted(send.first)


def failed_and_read(draft: Draft, random: Random) -> Planted | None:
    """A send that was read turns out to have failed for certain."""
    send = picked(random, _plain_and_read(draft))
    if send is None:
        return None
    answer = send.first.completion
    answer.update(type="fail", error="MESSAGE_TOO_LARGE")
    del answer["offset"], answer["log_start_offset"]
    return draft.planted(send.first)


def readers_disagree(draft: Draft, random: Random) -> Planted | None:
    """One of several readers finds another value at an offset of which nobody knows the sender."""
    sent = {
        record[0]
        for operation in draft.operations
        if operation.f == "produce"
        for record in operation.invoke["records"]
    }
    choices = [
        (operation, record)
        for operation in fetches(draft)
        for record in records(operation)
        if record[VALUE] not in sent
        and len(seen_by(draft, place_of(operation), record[OFFSET])) > 1
    ]
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, record = chosen
    record[VALUE] = "something else"
    return draft.planted(*seen_by(draft, place_of(operation), record[OFFSET]))


def overwritten(draft: Draft, random: Random) -> Planted | None:
    """All readers find the same strange record where another was acknowledged."""
    choices = (
        (send, offset)
        for send in kept_sends(draft)
        for offset in send.offsets
        if seen_by(draft, send.place, offset) and send.transaction is None
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    send, offset = chosen
    for _, record in readers(draft, send.place, offset):
        record[VALUE] = "nobody sent this"
    return draft.planted(send.first, *seen_by(draft, send.place, offset))


def other_payload(draft: Draft, random: Random) -> Planted | None:
    """A record is read with another key or timestamp than it was sent with."""
    choices = (
        (send, offset)
        for send in kept_sends(draft)
        for offset in send.offsets
        if seen_by(draft, send.place, offset)
        and send.first.invoke["records"][offset - send.base][0] is not None
        and send.first.invoke["records"][offset - send.base][1] is not None
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    send, offset = chosen
    by_key = random.random() < 0.5
    for _, record in readers(draft, send.place, offset):
        if by_key:
            record[KEY:] = ["a key of another record"]
        else:
            record[TIMESTAMP] += 1
    return draft.planted(*seen_by(draft, send.place, offset))


def copied(draft: Draft, random: Random) -> Planted | None:
    """A record that was acknowledged once stands once more at the end of the log."""
    return _copy(draft, random, told=True)


def copied_untold(draft: Draft, random: Random) -> Planted | None:
    """The same, of a send that was acknowledged without an offset."""
    return _copy(draft, random, told=False)


def _copy(draft: Draft, random: Random, *, told: bool) -> Planted | None:
    operation = last_fetch(draft, random)
    if operation is None:
        return None
    place = place_of(operation)
    choices = (
        (send, record)
        for send in kept_sends(draft)
        if send.place == place and send.once and send.transaction is None
        for _, record in readers(draft, place, send.base)
        if record[VALUE] is not None
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    send, record = chosen
    end, epoch = operation.completion["high_watermark"], records(operation)[-1][EPOCH]
    extend(operation, [end, *record[VALUE:EPOCH], epoch, *record[KEY:]])
    if told:
        return draft.planted(operation, send.first)
    del send.acknowledged.completion["offset"]
    return draft.planted(send.first)


def offset_given_twice(draft: Draft, random: Random) -> Planted | None:
    """Two sends are told the same offset."""
    pair = picked(random, _pairs(draft))
    if pair is None:
        return None
    one, other = pair
    other.told(one.base)
    return draft.planted(one.first, other.first)


def offset_given_twice_and_read(draft: Draft, random: Random) -> Planted | None:
    """Two sends at once are told the same offset, and each is read there by some readers."""
    found = (one for one in _plain_and_read(draft) if len(seen_by(draft, one.place, one.base)) > 1)
    send = picked(random, found)
    if send is None:
        return None
    own = {"process": draft.free_process, "time": send.first.invoke["time"]}
    invoke = {**send.first.invoke, **own, "send": "another", "records": [["another", 1_000]]}
    invoke.pop("producer", None)
    completion = {**send.first.completion, **own, "send": "another"}
    completion["time"] = send.first.completion["time"]
    other = draft.add(Operation(invoke, completion))
    _, record = list(readers(draft, send.place, send.base))[-1]
    record[VALUE:] = ["another", 1_000, record[EPOCH]]
    return draft.planted(other, send.first, *seen_by(draft, send.place, send.base))


def sequence_given_twice(draft: Draft, random: Random) -> Planted | None:
    """Two sends of an idempotent producer, both acknowledged, have the same sequence number."""
    pair = picked(random, (pair for pair in _pairs(draft) if _same_producer(*pair)))
    if pair is None:
        return None
    one, other = pair
    for attempt in other.attempts:
        attempt.invoke["producer"] = list(one.producer or [])
    return draft.planted(one.first, other.first)


def garbage(draft: Draft, random: Random) -> Planted | None:
    """Behind its end a log holds what nobody sent."""
    operation = last_fetch(draft, random)
    if operation is None:
        return None
    last = records(operation)[-1]
    end = operation.completion["high_watermark"]
    extend(operation, [end, "nobody sent this", last[TIMESTAMP], last[EPOCH]])
    return draft.planted(operation)


def torn_batch(draft: Draft, random: Random) -> Planted | None:
    """The records of a send, of which only the readers know the place, are in the wrong order."""
    choices = (
        send
        for send in kept_sends(draft)
        if send.size > 1
        and send.once
        and _all_read(draft, send)
        and all(value is not None for value, *_ in send.first.invoke["records"])
    )
    send = picked(random, choices)
    if send is None:
        return None
    first, second, *_ = send.offsets
    exchange(draft, send.place, {first: second, second: first})
    del send.acknowledged.completion["offset"]
    return draft.planted(send.first)


APPEND_PLANTS = (
    Plant(
        name="append out of order",
        found_by=("KFK-030",),
        seen_by=("KFK-032", "KFK-041", "KFK-162", *ENDS, *TIMESTAMPS),
        change=out_of_order,
    ),
    Plant(
        name="sequence out of order",
        found_by=("KFK-041",),
        seen_by=("KFK-030", "KFK-032", *ENDS, *TIMESTAMPS),
        change=out_of_sequence,
    ),
    Plant(
        name="read before it was sent",
        found_by=("KFK-032",),
        seen_by=("KFK-030", "KFK-041"),
        change=read_before_sent,
    ),
    Plant(name="lost", found_by=("KFK-031",), seen_by=("KFK-046", "KFK-048"), change=lost),
    Plant(name="failed and read", found_by=("KFK-033",), change=failed_and_read),
    Plant(name="readers disagree", found_by=("KFK-034",), change=readers_disagree),
    Plant(
        name="overwritten",
        found_by=("KFK-031", "KFK-035"),
        seen_by=("KFK-042",),
        change=overwritten,
    ),
    Plant(
        name="other payload",
        found_by=("KFK-036",),
        seen_by=TIMESTAMPS,
        change=other_payload,
    ),
    Plant(
        name="copy",
        found_by=("KFK-037", "KFK-038"),
        seen_by=("KFK-041", *TIMESTAMPS),
        change=copied,
    ),
    Plant(
        name="copy, untold",
        found_by=("KFK-038",),
        seen_by=("KFK-041", *TIMESTAMPS),
        change=copied_untold,
    ),
    Plant(
        name="offset given twice",
        found_by=("KFK-039",),
        seen_by=("KFK-030", "KFK-031", "KFK-032", "KFK-035", "KFK-037", "KFK-041", *TIMESTAMPS),
        change=offset_given_twice,
    ),
    Plant(
        name="offset given twice and read",
        found_by=("KFK-034", "KFK-035", "KFK-039"),
        seen_by=("KFK-031", *TIMESTAMPS),
        change=offset_given_twice_and_read,
    ),
    Plant(name="sequence given twice", found_by=("KFK-041",), change=sequence_given_twice),
    Plant(name="garbage", found_by=("KFK-042",), change=garbage),
    Plant(
        name="torn batch",
        found_by=("KFK-040",),
        seen_by=("KFK-041", *TIMESTAMPS),
        change=torn_batch,
    ),
)
