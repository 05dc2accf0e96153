"""What can go wrong with one answer, planted: order, gaps, ends that it names, searches by time."""

from __future__ import annotations

from random import Random

from spark_checkers.synthetic.drafts import Draft, Operation, Plant, Planted
from spark_checkers.synthetic.log_cells import (
    OFFSET,
    TIMESTAMP,
    committed,
    fetches,
    kept_sends,
    known_before,
    picked,
    place_of,
    records,
    replica_of,
    seen_by,
    stamps_gone,
)

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3


def backwards(draft: Draft, random: Random) -> Planted | None:
    """Two records of an answer are in the wrong order."""
    operation = picked(random, (one for one in fetches(draft) if len(records(one)) > 2))
    if operation is None:
        return None
    held = records(operation)
    held[0], held[1] = held[1], held[0]
    return draft.planted(operation)


def gap(draft: Draft, random: Random) -> Planted | None:
    """An answer leaves out a record that others find."""
    choices = (
        (operation, at)
        for operation in fetches(draft)
        for at, record in enumerate(records(operation)[1:-1], start=1)
        if len(seen_by(draft, place_of(operation), record[OFFSET])) > 1 and not committed(operation)
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, at = chosen
    del records(operation)[at]
    return draft.planted(operation)


def beyond_the_end(draft: Draft, random: Random) -> Planted | None:
    """An answer serves a record at the high watermark that it names."""
    choices = (one for one in fetches(draft) if records(one) and not committed(one))
    operation = picked(random, choices)
    if operation is None:
        return None
    operation.completion["high_watermark"] = records(operation)[-1][OFFSET]
    return draft.planted(operation)


def empty(draft: Draft, random: Random) -> Planted | None:
    """A fetch comes back empty, though its offset holds a record that others find."""
    choices = (
        one
        for one in fetches(draft)
        if records(one)
        and "request" not in one.invoke
        and records(one)[0][OFFSET] == one.invoke["offset"]
        and len(seen_by(draft, place_of(one), one.invoke["offset"])) > 1
        and not committed(one)
    )
    operation = picked(random, choices)
    if operation is None:
        return None
    operation.completion["records"] = []
    return draft.planted(operation)


def refused(draft: Draft, random: Random) -> Planted | None:
    """A fetch is refused as out of range, though its replica showed more before and after it."""
    choices = (
        one
        for one in fetches(draft)
        if replica_of(one) is not None
        and any(_shows(other, one) and other.precedes(one) for other in fetches(draft))
        and any(_shows(other, one) and one.precedes(other) for other in fetches(draft))
    )
    operation = picked(random, choices)
    if operation is None:
        return None
    kept = {"kind", "process", "f", "topic", "partition", "node", "time", "clock", "offset"}
    answer = operation.completion
    for name in [name for name in answer if name not in kept]:
        del answer[name]
    answer.update(type="fail", error="OFFSET_OUT_OF_RANGE")
    return draft.planted(operation)


def _shows(other: Operation, one: Operation) -> bool:
    """Whether an answer of the same replica shows the offset of a fetch to be in range."""
    answer, offset = other.completion, one.invoke["offset"]
    same = other is not one and replica_of(other) == replica_of(one)
    return same and answer["log_start_offset"] <= offset <= answer["high_watermark"]


def _back(draft: Draft, random: Random, name: str, floor: str) -> Planted | None:
    """A bound is one less than the same replica had told in the same epoch before."""
    choices = []
    for operation in fetches(draft):
        if committed(operation) or name != "last_stable_offset":
            before = [
                int(other.completion[name])
                for other in fetches(draft)
                if replica_of(other) == replica_of(operation) is not None
                and other.precedes(operation)
                and (committed(other) or name != "last_stable_offset")
            ]
            told = max(before, default=0) - 1
            if told >= _least(operation, floor):
                choices.append((operation, told))
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, told = chosen
    operation.completion[name] = told
    return draft.planted(operation)


def _least(operation: Operation, floor: str) -> int:
    """How low a bound of an answer can be without contradicting what else the answer says."""
    held = records(operation)
    if floor == "nothing":
        return 0
    served = held[-1][OFFSET] + 1 if held else 0
    return max(served, int(operation.completion[floor]))


def high_watermark_back(draft: Draft, random: Random) -> Planted | None:
    """The high watermark falls."""
    return _back(draft, random, "high_watermark", "last_stable_offset")


def last_stable_back(draft: Draft, random: Random) -> Planted | None:
    """The last stable offset falls."""
    return _back(draft, random, "last_stable_offset", "log_start_offset")


def log_start_back(draft: Draft, random: Random) -> Planted | None:
    """The log start falls."""
    return _back(draft, random, "log_start_offset", "nothing")


def stale(draft: Draft, random: Random) -> Planted | None:
    """A fetch does not see what its leader had acknowledged in the same epoch before."""
    choices = []
    for operation in fetches(draft):
        for send in kept_sends(draft):
            same = replica_of(send.acknowledged) == replica_of(operation) is not None
            if (
                same
                and send.acknowledged.precedes(operation)
                and send.base >= operation.invoke["offset"]
                and not committed(operation)
            ):
                choices.append((operation, send.base))
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, end = chosen
    operation.completion["high_watermark"] = end
    held = records(operation)
    held[:] = [record for record in held if record[OFFSET] < end]
    return draft.planted(operation)


def crossed(draft: Draft, random: Random) -> Planted | None:
    """The last stable offset lies beyond the high watermark."""
    operation = picked(random, (one for one in fetches(draft) if committed(one)))
    if operation is None:
        return None
    operation.completion["last_stable_offset"] = operation.completion["high_watermark"] + 1
    return draft.planted(operation)


def _listed(draft: Draft, *timestamps: int) -> list[Operation]:
    return [
        one
        for one in draft.of("list_offsets")
        if one.completion["offset"] >= 0
        and (
            one.invoke["timestamp"] in timestamps
            or (not timestamps and one.invoke["timestamp"] >= 0)
        )
    ]


def latest_below(draft: Draft, random: Random) -> Planted | None:
    """The latest offset is below an end that was shown before."""
    choices = (
        (one, other.completion["high_watermark"] - 1)
        for one in _listed(draft, LATEST)
        if one.invoke["isolation"] == "read_uncommitted"
        for other in fetches(draft, place_of(one))
        if other.precedes(one) and other.completion["high_watermark"] > 0
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, told = chosen
    operation.completion["offset"] = told
    return draft.planted(operation)


def found_too_early(draft: Draft, random: Random) -> Planted | None:
    """A search by timestamp finds a record that is older than asked for."""
    operation = picked(random, _listed(draft))
    if operation is None:
        return None
    operation.completion["found_timestamp"] = operation.invoke["timestamp"] - 1
    return draft.planted(operation)


def found_too_late(draft: Draft, random: Random) -> Planted | None:
    """A search by timestamp finds a later record than the first that matches."""
    choices = [
        (one, record)
        for one in _listed(draft)
        for record in known_before(draft, one)
        if record[OFFSET] == one.completion["offset"]
    ]
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, record = chosen
    operation.completion["offset"] = record[OFFSET] + 1
    return draft.planted(operation)


def not_found(draft: Draft, random: Random) -> Planted | None:
    """A search by timestamp finds nothing, though a record that matches had been read.

    None that matches was deleted: Kafka may stop at the segment that such a record was in.
    """
    choices = (
        one
        for one in _listed(draft)
        if any(record[TIMESTAMP] >= one.invoke["timestamp"] for record in known_before(draft, one))
        and not any(stamp >= one.invoke["timestamp"] for stamp in stamps_gone(draft, one))
    )
    operation = picked(random, choices)
    if operation is None:
        return None
    operation.completion.update(offset=-1, found_timestamp=-1, leader_epoch=-1)
    return draft.planted(operation)


def not_the_greatest(draft: Draft, random: Random) -> Planted | None:
    """The maximum timestamp is below one that had been read."""
    choices = (
        (one, max(record[TIMESTAMP] for record in known_before(draft, one)))
        for one in _listed(draft, MAX_TIMESTAMP)
        if known_before(draft, one)
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, greatest = chosen
    operation.completion["found_timestamp"] = greatest - 1
    return draft.planted(operation)


def _deletions(draft: Draft) -> list[tuple[Operation, Operation]]:
    """A deletion, and a fetch that began when it was done."""
    return [
        (deletion, fetch)
        for deletion in draft.of("delete_records")
        for fetch in fetches(draft, place_of(deletion))
        if deletion.precedes(fetch) and deletion.completion["log_start_offset"] > 0
    ]


def served_again(draft: Draft, random: Random) -> Planted | None:
    """A fetch is served a record that had been deleted."""
    choices = (
        (fetch, record)
        for deletion, fetch in _deletions(draft)
        for other in fetches(draft, place_of(fetch))
        for record in records(other)
        if record[OFFSET] == deletion.completion["log_start_offset"] - 1
        and fetch.invoke["offset"] == record[OFFSET] + 1
        and not committed(fetch)
    )
    chosen = picked(random, choices)
    if chosen is None:
        return None
    operation, record = chosen
    operation.invoke["offset"] = operation.completion["offset"] = record[OFFSET]
    records(operation).insert(0, list(record))
    return draft.planted(operation)


def told_again(draft: Draft, random: Random) -> Planted | None:
    """A log start is named that lies below a deletion."""
    chosen = picked(random, _deletions(draft))
    if chosen is None:
        return None
    deletion, operation = chosen
    operation.completion["log_start_offset"] = deletion.completion["log_start_offset"] - 1
    return draft.planted(operation)


def deleted_too_little(draft: Draft, random: Random) -> Planted | None:
    """A deletion is answered with a log start below the offset it was asked for."""
    choices = (one for one in draft.of("delete_records") if one.invoke["offset"] > 0)
    operation = picked(random, choices)
    if operation is None:
        return None
    operation.completion["log_start_offset"] = operation.invoke["offset"] - 1
    return draft.planted(operation)


ENDS = ("KFK-050", "KFK-051", "KFK-054", "KFK-073")

FETCH_PLANTS = (
    Plant(
        name="backwards",
        found_by=("KFK-045",),
        seen_by=("KFK-031", "KFK-046"),
        change=backwards,
    ),
    Plant(name="gap", found_by=("KFK-046",), seen_by=("KFK-031",), change=gap),
    Plant(name="beyond the end", found_by=("KFK-047",), seen_by=ENDS, change=beyond_the_end),
    Plant(name="empty", found_by=("KFK-048",), change=empty),
    Plant(name="refused", found_by=("KFK-049",), change=refused),
    Plant(
        name="high watermark back",
        found_by=("KFK-050",),
        seen_by=("KFK-053",),
        change=high_watermark_back,
    ),
    Plant(name="stale", found_by=("KFK-050",), seen_by=("KFK-053",), change=stale),
    Plant(
        name="last stable offset back",
        found_by=("KFK-051",),
        change=last_stable_back,
    ),
    Plant(
        name="log start back",
        found_by=("KFK-052",),
        seen_by=("KFK-049", "KFK-066", "KFK-072"),
        change=log_start_back,
    ),
    Plant(
        name="crossed",
        found_by=("KFK-053",),
        seen_by=(*ENDS, "KFK-032", "KFK-048"),
        change=crossed,
    ),
    Plant(name="latest below", found_by=("KFK-054",), seen_by=ENDS, change=latest_below),
    Plant(
        name="found too early",
        found_by=("KFK-060",),
        seen_by=("KFK-162",),
        change=found_too_early,
    ),
    Plant(
        name="found too late",
        found_by=("KFK-061",),
        seen_by=("KFK-162",),
        change=found_too_late,
    ),
    Plant(name="not found", found_by=("KFK-062",), change=not_found),
    Plant(
        name="not the greatest",
        found_by=("KFK-063",),
        seen_by=("KFK-162",),
        change=not_the_greatest,
    ),
    Plant(
        name="served again",
        found_by=("KFK-065",),
        seen_by=("KFK-052", "KFK-161"),
        change=served_again,
    ),
    Plant(
        name="told again",
        found_by=("KFK-066",),
        seen_by=("KFK-049", "KFK-052", "KFK-072"),
        change=told_again,
    ),
    Plant(name="deleted too little", found_by=("KFK-067",), change=deleted_too_little),
)
