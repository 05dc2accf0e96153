"""What can go wrong with epochs, transactions and groups, planted."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from spark_checkers.synthetic.drafts import Draft, Operation, Plant, Planted
from spark_checkers.synthetic.log_cells import (
    EPOCH,
    OFFSET,
    Record,
    Send,
    committed,
    fetches,
    greatest_start,
    kept_sends,
    picked,
    place_of,
    readers,
    records,
    seen_by,
)

LATEST = -1


def epoch_out_of_order(draft: Draft, random: Random) -> Planted | None:
    """A reader finds a record of a later epoch before records of an earlier one."""
    choices = (
        (operation, one)
        for operation in fetches(draft)
        for one, other in pairwise(records(operation))
        if one[EPOCH] == other[EPOCH]
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, record = chosen
    record[EPOCH] += 1
    return draft.planted(*_about(draft, operation))


def _about(draft: Draft, operation: Operation) -> list[Operation]:
    """All operations that tell about the epochs of a log."""
    place = place_of(operation)
    listed = [one for one in draft.of("list_offsets") if place_of(one) == place]
    return [*fetches(draft, place), *listed]


def two_leaders(draft: Draft, random: Random) -> Planted | None:
    """Another node answers as leader of an epoch too."""
    listed = [
        one
        for one in draft.of("list_offsets")
        if one.invoke["timestamp"] == LATEST and one.completion["leader_epoch"] >= 0
    ]
    choices = (
        one
        for one in listed
        for other in listed
        if one is not other
        and place_of(one) == place_of(other)
        and one.completion["leader_epoch"] == other.completion["leader_epoch"]
    )
    operation = picked(random, choices)
    if operation is None:
        return None
    node = operation.invoke["node"] + 1
    operation.invoke["node"] = operation.completion["node"] = node
    return draft.planted(*_about(draft, operation))


def wrong_epoch_end(draft: Draft, random: Random) -> Planted | None:
    """An epoch is said to end before its last record, which is there to the end."""
    choices = (
        (operation, record)
        for operation in draft.of("offset_for_leader_epoch")
        if operation.completion["leader_epoch"] >= 0
        and operation.invoke.get("leader_epoch", -1) > operation.completion["leader_epoch"]
        for other in fetches(draft, place_of(operation))
        for record in records(other)
        if record[EPOCH] == operation.completion["leader_epoch"]
        and record[OFFSET] >= greatest_start(draft, place_of(operation))
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, record = chosen
    operation.completion["offset"] = record[OFFSET]
    return draft.planted(operation)


def epoch_too_low(draft: Draft, random: Random) -> Planted | None:
    """An earlier epoch showed more to be committed than the next one begins with."""
    choices = []
    for operation in fetches(draft):
        epoch = operation.invoke.get("leader_epoch")
        firsts: dict[int, Record] = {}
        for other in fetches(draft, place_of(operation)):
            for record in records(other):
                known = firsts.get(record[EPOCH], record)
                firsts[record[EPOCH]] = min(known, record, key=lambda one: int(one[OFFSET]))
        later = [record for one, record in firsts.items() if epoch is not None and one > epoch]
        if later and not committed(operation):
            choices.append((operation, min(record[OFFSET] for record in later)))
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, first = chosen
    operation.completion["high_watermark"] = first + 1
    return draft.planted(*_about(draft, operation))


def group_offset_back(draft: Draft, random: Random) -> Planted | None:
    """A group is told an offset that was overwritten, or that nobody committed."""
    choices = (
        told
        for told in draft.of("offset_fetch")
        for commit in draft.of("offset_commit")
        if place_of(commit) == place_of(told)
        and commit.invoke["group"] == told.invoke["group"]
        and commit.precedes(told)
    )
    operation = picked(random, choices)
    if operation is None:
        return None
    operation.completion["offset"] = 1_000_000
    return draft.planted(operation)


def _transactions(draft: Draft) -> dict[str, list[Send]]:
    found: dict[str, list[Send]] = {}
    for send in kept_sends(draft):
        if send.transaction is not None:
            found.setdefault(send.transaction, []).append(send)
    return found


def _writers(draft: Draft, name: str | None) -> list[Operation]:
    """Whatever was sent in a transaction, acknowledged or not."""
    return [one for one in draft.operations if one.invoke.get("transaction") == name]


def _end(draft: Draft, name: str) -> Operation | None:
    ends = [one for one in draft.of("end_txn") if one.invoke["transaction"] == name]
    return ends[0] if ends else None


def torn_transaction(draft: Draft, random: Random) -> Planted | None:
    """Committed readers find a transaction in one partition, and pass over it in another."""
    choices = []
    for sends in _transactions(draft).values():
        read = [send for send in sends if _committed_readers(draft, send)]
        if len(read) > 1:
            choices += [(sends, send) for send in read if _passed(draft, send)]
    chosen = picked(random, choices)
    if chosen is None:
        return None
    sends, missing = chosen
    for operation in _committed_readers(draft, missing):
        held = records(operation)
        held[:] = [record for record in held if record[OFFSET] not in missing.offsets]
    return draft.planted(*_writers(draft, sends[0].transaction))


def _committed_readers(draft: Draft, send: Send) -> list[Operation]:
    found = [one for offset in send.offsets for one in seen_by(draft, send.place, offset)]
    return [one for one in dict.fromkeys(found) if committed(one)]


def _passed(draft: Draft, send: Send) -> bool:
    """Whether a committed reader of it goes on to a later record in the same answer."""
    return any(
        records(one)[-1][OFFSET] > send.offsets[-1] for one in _committed_readers(draft, send)
    )


def aborted_read(draft: Draft, random: Random) -> Planted | None:
    """A committed reader finds a record of a transaction that was aborted."""
    choices = []
    for name, sends in _transactions(draft).items():
        end = _end(draft, name)
        if end is not None and not end.invoke["committed"]:
            for send in sends:
                known = [record for _, record in readers(draft, send.place, send.base)]
                choices += [
                    (send, fetch, known[0])
                    for fetch in fetches(draft, send.place)
                    if known and committed(fetch) and _within(fetch, send.base)
                ]
    chosen = picked(random, choices)
    if chosen is None:
        return None
    send, operation, record = chosen
    records(operation).append(list(record))
    records(operation).sort(key=lambda one: int(one[OFFSET]))
    return draft.planted(*_writers(draft, send.transaction))


def _within(operation: Operation, offset: int) -> bool:
    """Whether an answer goes from before an offset to beyond it."""
    held = records(operation)
    return bool(held and operation.invoke["offset"] <= offset < held[-1][OFFSET])


def read_before_commit(draft: Draft, random: Random) -> Planted | None:
    """A transaction that committed readers had found is only then asked to be committed."""
    choices = [
        (sends, end)
        for name, sends in _transactions(draft).items()
        if (end := _end(draft, name)) is not None
        and end.invoke["committed"]
        and any(_committed_readers(draft, send) for send in sends)
    ]
    chosen = picked(random, choices)
    if chosen is None:
        return None
    sends, end = chosen
    process, last = draft.free_process, draft.end
    for number, event in enumerate((end.invoke, end.completion)):
        event.update(process=process, time=last + number)
    return draft.planted(*_writers(draft, sends[0].transaction))


LINEAGE_PLANTS = (
    Plant(
        name="epoch out of order",
        found_by=("KFK-070",),
        seen_by=("KFK-072", "KFK-073"),
        change=epoch_out_of_order,
    ),
    Plant(
        name="two leaders",
        found_by=("KFK-071",),
        seen_by=("KFK-050",),
        change=two_leaders,
    ),
    Plant(name="wrong epoch end", found_by=("KFK-072",), change=wrong_epoch_end),
    Plant(
        name="epoch too low",
        found_by=("KFK-073",),
        seen_by=("KFK-032", "KFK-050", "KFK-054"),
        change=epoch_too_low,
    ),
    Plant(name="group offset back", found_by=("KFK-075",), change=group_offset_back),
    Plant(
        name="torn transaction",
        found_by=("KFK-080",),
        seen_by=("KFK-031", "KFK-046"),
        change=torn_transaction,
    ),
    Plant(
        name="aborted read",
        found_by=("KFK-081",),
        seen_by=("KFK-046", "KFK-048", "KFK-080"),
        change=aborted_read,
    ),
    Plant(name="read before commit", found_by=("KFK-082",), change=read_before_commit),
)
