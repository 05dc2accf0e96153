"""What is acknowledged, and where it stands: KFK-030, 032, 033, 037 to 041."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.naive.cases import Case
from tests.naive.logs import Append, Log, Op, Timed, before, told_start

SEQUENCES = 2**31  # after the last one a producer begins again


def kfk_030(log: Log) -> Iterator[Case]:
    """An append that begins after another was acknowledged gets a higher offset."""
    acknowledged = [
        (one, one.durable + len(one.records) - 1) for one in log.appends if one.durable is not None
    ]
    for offset, append, _, over in log.places():
        known = [one for one in acknowledged if before(one[0], append)]
        for earlier, _ in known[-1:]:
            yield Case(append.index, True, (earlier, *over))
        for earlier, last in known:
            if offset <= last and not append.repeats(earlier):
                yield Case(append.index, False, (earlier, *over))


def kfk_032(log: Log) -> Iterator[Case]:
    """An append gets an offset that no answer had shown as written before it began."""
    shown = [(end, op) for op in log.ops if (end := shown_end(op)) > 0]
    for offset, append, _, over in log.places():
        known = [one for one in shown if before(one[1], append)]
        for _, op in known[-1:]:
            yield Case(append.index, True, (op, *over))
        for end, op in known:
            if offset < end:
                yield Case(append.index, False, (op, *over))


def shown_end(op: Op) -> float:
    """Below this offset everything is written and committed, by what an answer shows."""
    if not op.ok:
        return 0
    ends = [told_start(op, 0)]
    if op.f == "fetch":
        ends += [op.answer.get("high_watermark") or 0]
        ends += [one[0] + 1 for one in op.answer.get("records") or ()]
    if op.f == "list_offsets":
        offset = op.answer.get("offset")
        if offset is not None and offset >= 0:
            ends.append(offset if op.asked.get("timestamp") in (-1, -2) else offset + 1)
    return max(ends)


def kfk_033(log: Log) -> Iterator[Case]:
    """A record whose send definitely failed is never read."""
    writers = log.by_value()
    read = {one.value: one for one in log.reads}
    for append in log.appends:
        if append.failed:
            values = [value for value, _, _ in append.records if value in writers]
            over = tuple(read[value].op for value in values if value in read)
            yield Case(append.index, not over, (append, *over))


def kfk_037(log: Log) -> Iterator[Case]:
    """A record acknowledged once is read at its acknowledged offset and nowhere else.

    Unless the copy at the lower offset may have been deleted before it was repeated.
    """
    writers = log.by_value()
    for read in log.reads:
        append, position = writers.get(read.value, (None, 0))
        if append is None or append.offset is None or not append.once:
            continue
        if len(append.acknowledged) == 1:
            stands = append.offset + position
            holds = read.offset == stands
            if append.repeated and not holds:
                holds = deleted_before(log, read.offset, stands)
            yield Case(read.op.index, holds, (append, read.op))


def kfk_038(log: Log) -> Iterator[Case]:
    """A send that is idempotent or was tried once is in the log at most once.

    Unless a copy may have been deleted, and its producer forgotten, before it was repeated.
    """
    writers = log.by_value()
    copies: dict[tuple[int, int], list[tuple[int, Op]]] = defaultdict(list)
    sends: dict[int, Append] = {}
    for read in log.reads:
        append, position = writers.get(read.value, (None, 0))
        if append is not None and append.once:
            sends[append.index] = append
            copies[append.index, position].append((read.offset, read.op))
    for (index, _), reads in copies.items():
        offsets = {offset for offset, _ in reads}
        if len(offsets) == 1:
            yield Case(index, True, (sends[index], reads[0][1]))
        for offset, op in reads:
            for other, later in reads:
                if offset < other and not (
                    sends[index].repeated and log.possible_start(later) > offset
                ):
                    yield Case(index, False, (sends[index], op, later))


def kfk_039(log: Log) -> Iterator[Case]:
    """No offset is acknowledged to two appends.

    What only the leader acknowledged may be lost and its offset given out again; unless it was
    read where it was acknowledged.
    """
    seen = {(read.offset, read.value) for read in log.reads}
    taken: list[tuple[int, int, Append, Op]] = []
    for append in log.appends:
        for op in append.acknowledged:
            base = op.answer.get("offset")
            if base is None or base < 0:
                continue
            first = (base, append.records[0][0])
            if append.acks == -1 or first in seen:
                taken.append((base, base + len(append.records), append, op))
    for at, (base, end, append, op) in enumerate(taken):
        yield Case(append.index, True, (op,))
        for other, beyond, second, later in taken[:at]:
            if append.repeats(second):
                continue
            if base < beyond and other < end:
                yield Case(append.index, False, (op, later))


def kfk_040(log: Log) -> Iterator[Case]:
    """The records of one send follow each other in the log, in their order."""
    writers = log.by_value()
    starts: dict[int, dict[int, dict[int, Op]]] = defaultdict(lambda: defaultdict(dict))
    sends: dict[int, Append] = {}
    at = {(id(read.op), read.offset): read for read in log.reads}
    for read in log.reads:
        append, position = writers.get(read.value, (None, 0))
        if append is None or len(append.records) < 2:
            continue
        sends[append.index] = append
        starts[append.index][position][read.offset - position] = read.op
        for step in (-1, 1):
            beside = at.get((id(read.op), read.offset + step))
            if beside is None or not 0 <= position + step < len(append.records):
                continue
            if beside.value in writers:  # another record, and not a damaged one of this send
                holds = beside.value == append.records[position + step][0]
                yield Case(append.index, holds, (append, read.op))
    for index, bases in starts.items():
        for position, here in bases.items():
            for other, there in bases.items():
                if position < other and sends[index].once:
                    over: tuple[Timed, ...] = (*here.values(), *there.values())
                    yield Case(index, bool(set(here) & set(there)), over)


def kfk_041(log: Log) -> Iterator[Case]:
    """A producer's sequence numbers are in the log once each, in their order.

    Unless what is at the lower offset may have been deleted before, and its producer forgotten.
    """
    stands: dict[tuple[int, int], dict[tuple[int, int], tuple[Append, tuple[Timed, ...]]]]
    stands = defaultdict(dict)
    writers = log.by_value()
    for read in log.reads:
        append, position = writers.get(read.value, (None, 0))
        if append is not None and append.idempotent and append.producer:
            number, epoch, first = append.producer
            place = (first + position, read.offset)
            stands[number, epoch].setdefault(place, (append, (append, read.op)))
    read_values = {read.value for read in log.reads}
    for offset, append, position in log.durable_records():
        if append.records[position][0] in read_values:
            continue
        if append.idempotent and append.producer:
            number, epoch, first = append.producer
            stands[number, epoch].setdefault((first + position, offset), (append, (append,)))
    for places in stands.values():
        for (sequence, offset), (append, over) in places.items():
            yield Case(append.index, True, over)
            for (other, beyond), (_, also) in places.items():
                apart = (sequence - other) % SEQUENCES
                wrong = beyond < offset if apart == 0 else beyond >= offset
                if apart < SEQUENCES // 2 and wrong and not deleted_before(log, offset, beyond):
                    yield Case(append.index, False, (*over, *also))


def deleted_before(log: Log, one: int, other: int) -> bool:
    """Whether the lower of two offsets may have been deleted before the higher was shown."""
    lower, higher = sorted((one, other))
    shown = [read.op for read in log.reads if read.offset == higher]
    shown += [
        append.acknowledged[0] for offset, append, _ in log.durable_records() if offset == higher
    ]
    return lower < higher and all(log.possible_start(op) > lower for op in shown)


CHECKS = {
    "KFK-030": kfk_030,
    "KFK-032": kfk_032,
    "KFK-033": kfk_033,
    "KFK-037": kfk_037,
    "KFK-038": kfk_038,
    "KFK-039": kfk_039,
    "KFK-040": kfk_040,
    "KFK-041": kfk_041,
}
