"""What readers find: KFK-031, 034 to 036, 042, 045, 046, 048, 049."""

from __future__ import annotations

from collections.abc import Iterator

from tests.naive.cases import Case
from tests.naive.logs import Append, Log, Op, Read, before, isolation, told_start


def starts_at_most(fetch: Op, offset: int) -> bool:
    """Whether an answer does not say that the log starts beyond an offset."""
    start = fetch.answer.get("log_start_offset")
    return start is None or start <= offset


def visible(log: Log, fetch: Op, append: Append | None, evidence: Read | None) -> bool:
    """Whether a record is surely shown to the reader of a fetch."""
    if isolation(fetch) != "read_committed":
        return True
    if append is None:
        return evidence is not None and evidence.committed
    if append.transaction is None or (evidence is not None and evidence.committed):
        return True
    return any(
        end.asked.get("transaction") == append.transaction and end.asked.get("committed") and end.ok
        for end in log.transactions
    )


def kfk_031(log: Log) -> Iterator[Case]:
    """A reader that passes the offset of an acknowledged append finds it there."""
    found = {(id(read.op), read.offset, read.value) for read in log.reads}
    last: dict[int, int] = {}
    for read in log.reads:
        last[id(read.op)] = max(last.get(id(read.op), -1), read.offset)
    fetches = log.of("fetch")
    for offset, append, position in log.durable_records():
        for fetch in fetches:
            passed = fetch.asked["offset"] <= offset <= last.get(id(fetch), -1)
            if not passed or not starts_at_most(fetch, offset):
                continue
            if visible(log, fetch, append, None):
                value = append.records[position][0]
                holds = (id(fetch), offset, value) in found
                yield Case(append.index, holds, (append, fetch))


def same_record(one: Read, other: Read) -> bool:
    """Whether two reads are of the same record, as far as both tell."""
    if one.value != other.value:
        return False
    if not (one.described and other.described):
        return True
    if one.key != other.key:
        return False
    return None in (one.timestamp, other.timestamp) or one.timestamp == other.timestamp


def kfk_034(log: Log) -> Iterator[Case]:
    """All who read an offset read the same record."""
    for reads in log.by_offset().values():
        yield Case(reads[0].op.index, True, (reads[0].op,))
        kinds = {(read.value, read.key, read.timestamp) for read in reads}
        for one in reads if len(kinds) > 1 else ():
            for other in reads:
                if not same_record(one, other):
                    yield Case(one.op.index, False, (one.op, other.op))


def kfk_035(log: Log) -> Iterator[Case]:
    """At the offset of an acknowledged append no other record is read."""
    reads = log.by_offset()
    for offset, append, position in log.durable_records():
        for read in reads.get(offset, ()):
            holds = read.value == append.records[position][0]
            yield Case(read.op.index, holds, (append, read.op))


def kfk_036(log: Log) -> Iterator[Case]:
    """A record is read with the key and the timestamp it was sent with."""
    writers = log.by_value()
    for read in log.reads:
        append, position = writers.get(read.value, (None, 0))
        if append is not None and read.described:
            _, timestamp, key = append.records[position]
            told = None in (timestamp, read.timestamp) or timestamp == read.timestamp
            yield Case(read.op.index, key == read.key and told, (append, read.op))


def kfk_042(log: Log) -> Iterator[Case]:
    """A record read among the appends of the history was sent by one of them."""
    sent = {value for append in log.appends for value, _, _ in append.records} | log.adrift
    first = min((offset for offset, _, _, _ in log.places()), default=None)
    for read in log.reads:
        if first is not None and read.offset >= first:
            yield Case(read.op.index, read.value in sent, (read.op,))


def kfk_045(log: Log) -> Iterator[Case]:
    """Offsets in an answer rise from the offset that was asked for."""
    for fetch in log.of("fetch"):
        above = fetch.asked["offset"] - 1
        for one in fetch.answer.get("records") or ():
            yield Case(fetch.index, one[0] > above, (fetch,))
            above = one[0]


def kfk_046(log: Log) -> Iterator[Case]:
    """A fetch passes over no record that is in the log and visible to its reader."""
    writers = log.by_value()
    known = log.by_offset()
    acknowledged = {offset: append for offset, append, _ in log.durable_records()}
    for fetch in log.of("fetch"):
        offsets = {one[0] for one in fetch.answer.get("records") or ()}
        for offset in range(fetch.asked["offset"], max(offsets, default=-1)):
            if offset in offsets:
                yield Case(fetch.index, True, (fetch,))
                continue
            if not starts_at_most(fetch, offset):
                continue
            for read in known.get(offset, ()):
                append, _ = writers.get(read.value, (None, 0))
                if visible(log, fetch, append, read):
                    yield Case(fetch.index, False, (fetch, read.op))
            if offset in acknowledged and visible(log, fetch, acknowledged[offset], None):
                yield Case(fetch.index, False, (fetch, acknowledged[offset]))


def kfk_047(log: Log) -> Iterator[Case]:
    """An answer serves nothing at or above the end that it names to its reader."""
    for fetch in log.of("fetch"):
        end = end_named(fetch)
        for one in fetch.answer.get("records") or ():
            if end is not None:
                yield Case(fetch.index, one[0] < end, (fetch,))


def end_named(fetch: Op) -> int | None:
    """The last stable offset for who reads what is committed, else the high watermark."""
    committed = isolation(fetch) == "read_committed"
    end = fetch.answer.get("last_stable_offset" if committed else "high_watermark")
    return None if end is None or end < 0 else int(end)


def kfk_048(log: Log) -> Iterator[Case]:
    """A fetch that begins at a record below its reader's end is not answered empty."""
    writers = log.by_value()
    known = log.by_offset()
    acknowledged = {offset: append for offset, append, _ in log.durable_records()}
    for fetch in log.of("fetch"):
        asked, end = fetch.asked["offset"], end_named(fetch)
        elsewhere = fetch.answer.get("preferred_read_replica", -1) not in (None, -1)
        if elsewhere or fetch.asked.get("request") is not None:
            continue  # read from another replica, or others took all bytes of the request
        if end is None or end <= asked or not starts_at_most(fetch, asked):
            continue
        holds = bool(fetch.answer.get("records"))
        for read in known.get(asked, ()):
            append, _ = writers.get(read.value, (None, 0))
            if visible(log, fetch, append, read):
                yield Case(fetch.index, holds, (fetch, read.op))
        if asked in acknowledged and visible(log, fetch, acknowledged[asked], None):
            yield Case(fetch.index, holds, (fetch, acknowledged[asked]))


def kfk_049(log: Log) -> Iterator[Case]:
    """OFFSET_OUT_OF_RANGE is only answered to offsets that are out of range.

    An offset is in range for a node that had named an end as high, and names a log start that is
    not beyond it later.
    """
    for fetch in log.ops:
        if fetch.f != "fetch" or fetch.answer.get("error") not in (1, "OFFSET_OUT_OF_RANGE"):
            continue
        asked = fetch.asked["offset"]
        yield Case(fetch.index, True, (fetch,))
        proofs = [
            op
            for op in log.ops
            if op.node == fetch.node and before(fetch, op) and 0 <= told_start(op, -1) <= asked
        ]
        for earlier in log.ops if proofs else ():
            in_range = earlier.node == fetch.node and end_told(earlier) >= asked
            if in_range and before(earlier, fetch):
                yield Case(fetch.index, False, (earlier, fetch, proofs[0]))


def end_told(op: Op) -> int:
    """The end of what is committed, if an answer names it; else -1."""
    if op.ok and op.f == "fetch":
        return int(op.answer.get("high_watermark", -1))
    if op.ok and op.f == "list_offsets" and op.asked.get("timestamp") == -1:
        return int(op.answer.get("offset", -1))
    return -1


CHECKS = {
    "KFK-031": kfk_031,
    "KFK-034": kfk_034,
    "KFK-035": kfk_035,
    "KFK-036": kfk_036,
    "KFK-042": kfk_042,
    "KFK-045": kfk_045,
    "KFK-046": kfk_046,
    "KFK-047": kfk_047,
    "KFK-048": kfk_048,
    "KFK-049": kfk_049,
}
