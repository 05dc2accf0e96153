"""Leader epochs, searches by timestamp, committed offsets: KFK-060 to 063, 070 to 075."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.naive.cases import Case
from tests.naive.logs import Append, Log, Op, Read, Timed, before, epoch_of, isolation


def stamped(log: Log) -> Iterator[tuple[int, int, Timed, Read | Append]]:
    """Offset and timestamp of every record that was read or acknowledged, and by what."""
    for read in log.reads:
        if read.timestamp is not None:
            yield read.offset, read.timestamp, read.op, read
    for offset, append, position in log.durable_records():
        timestamp = append.records[position][1]
        if timestamp is not None:
            yield offset, timestamp, append, append


def searches(log: Log) -> Iterator[tuple[Op, int, int]]:
    """Searches by timestamp: the timestamp asked for and the offset found, -1 for none."""
    for op in log.of("list_offsets"):
        asked, offset = op.asked.get("timestamp"), op.answer.get("offset")
        if asked is not None and asked >= 0:
            yield op, asked, -1 if offset is None else offset


def shown_to(search: Op, known: Read | Append) -> bool:
    """Whether a record surely stands below the end that a search goes to."""
    if isolation(search) != "read_committed":
        return True
    return isinstance(known, Read) and known.committed


def kfk_060(log: Log) -> Iterator[Case]:
    """The timestamp found is not before the one that was asked for."""
    for op, asked, offset in searches(log):
        found = op.answer.get("found_timestamp")
        if offset >= 0 and found is not None:
            yield Case(op.index, found >= asked, (op,))


def kfk_061(log: Log) -> Iterator[Case]:
    """No record before the offset found has a timestamp as late as the one asked for."""
    records = list(stamped(log))
    for op, asked, found in searches(log):
        if found < 0:
            continue
        start = log.possible_start(op)
        yield Case(op.index, True, (op,))
        for offset, timestamp, source, _ in records:
            if start <= offset < found and timestamp >= asked:
                yield Case(op.index, False, (op, source))


def kfk_062(log: Log) -> Iterator[Case]:
    """A search by timestamp finds an offset if a record as late was known before."""
    records = list(stamped(log))
    for op, asked, found in searches(log):
        start = log.possible_start(op)
        if any(offset < start and timestamp >= asked for offset, timestamp, *_ in records):
            continue  # Kafka searches the first segment with such a record, and no other
        for offset, timestamp, source, known in records:
            late = offset >= start and timestamp >= asked and before(source, op)
            if late and shown_to(op, known):
                yield Case(op.index, found >= 0, (source, op))


def kfk_063(log: Log) -> Iterator[Case]:
    """No record that was known before is later than the maximum timestamp found."""
    records = list(stamped(log))
    for op in log.of("list_offsets"):
        latest = op.answer.get("found_timestamp")
        if op.asked.get("timestamp") != -3 or latest is None or op.answer.get("offset", -1) < 0:
            continue  # a broker finds nothing if the latest record is not committed yet
        start = log.possible_start(op)
        for offset, timestamp, source, known in records:
            if offset >= start and before(source, op) and shown_to(op, known):
                yield Case(op.index, timestamp <= latest, (source, op))


def kfk_070(log: Log) -> Iterator[Case]:
    """Records of a leader epoch stand beyond all records of earlier epochs."""
    stands: dict[tuple[int, int], list[Op]] = defaultdict(list)
    for read in log.reads:
        if read.epoch is not None and read.epoch >= 0:
            stands[read.epoch, read.offset].append(read.op)
    for (epoch, offset), ops in stands.items():
        for (earlier, beyond), others in stands.items():
            if earlier < epoch:
                yield Case(ops[0].index, True, (ops[0], others[0]))
            if earlier < epoch and beyond >= offset:
                for op in ops:
                    for other in others:
                        yield Case(op.index, False, (op, other))


def kfk_071(log: Log) -> Iterator[Case]:
    """A leader epoch has one leader: only a leader lists offsets and ends of epochs."""
    leaders = [
        op for op in log.of("list_offsets", "offset_for_leader_epoch") if epoch_of(op) is not None
    ]
    for op in leaders:
        yield Case(op.index, True, (op,))
        for other in leaders:
            if epoch_of(other) == epoch_of(op) and other.node != op.node:
                yield Case(op.index, False, (op, other))


def kfk_072(log: Log) -> Iterator[Case]:
    """The end of an epoch parts its records from those of later epochs.

    The epoch that is current has not ended: no later one is there to be parted from.
    """
    for op in log.of("offset_for_leader_epoch"):
        epoch, end = op.answer.get("leader_epoch"), op.answer.get("offset")
        if epoch is None or end is None or epoch < 0 or end < 0:
            continue
        asked, current = op.asked["epoch"], op.asked.get("leader_epoch")
        if current is None or current <= asked:
            continue
        start = log.possible_start(op)
        for read in log.reads:
            if read.epoch is None or read.offset < start:
                continue
            holds = read.offset < end if read.epoch <= asked else read.offset >= end
            yield Case(op.index, holds, (op, read.op))


def kfk_073(log: Log) -> Iterator[Case]:
    """A leader epoch begins beyond everything that earlier epochs showed as committed.

    It has begun at or below each of its records, and each end of the log that it tells.
    """
    shown: list[tuple[int, int, Op]] = []
    begun: list[tuple[int, int, Op]] = []
    for op in log.of("fetch", "list_offsets"):
        epoch, end = epoch_of(op), op.answer.get("high_watermark")
        latest = op.f == "list_offsets" and op.asked.get("timestamp") == -1
        if latest and isolation(op) != "read_committed":
            end = op.answer.get("offset")
        if epoch is not None and end is not None:
            if latest:
                begun.append((epoch, end, op))
            shown.append((epoch, end, op))
    first: dict[tuple[int, int], Op] = {}
    for read in log.reads:
        if read.epoch is not None:
            first.setdefault((read.epoch, read.offset), read.op)
    begun += [(epoch, offset, op) for (epoch, offset), op in first.items()]
    for epoch, offset, op in begun:
        for earlier, end, source in shown:
            if earlier < epoch:
                yield Case(op.index, offset >= end, (op, source))


def kfk_075(log: Log) -> Iterator[Case]:
    """The committed offset told is the last committed, or one then being committed."""
    for told in log.of("offset_fetch"):
        commits = [
            op
            for op in log.ops
            if op.f in ("offset_commit", "txn_offset_commit")
            and op.asked.get("group") == told.asked.get("group")
            and op.type != "fail"
        ]
        done = [op for op in commits if op.ok and before(op, told)]
        if not done or told.answer.get("offset") is None:
            continue
        last = [op for op in done if not any(before(op, later) for later in done)]
        open_ = [
            op
            for op in commits
            if op not in done and (told.answered is None or op.began < told.answered)
        ]
        allowed = {op.asked["offset"] for op in last + open_}
        yield Case(told.index, told.answer["offset"] in allowed, (*last, told))


CHECKS = {
    "KFK-060": kfk_060,
    "KFK-061": kfk_061,
    "KFK-062": kfk_062,
    "KFK-063": kfk_063,
    "KFK-070": kfk_070,
    "KFK-071": kfk_071,
    "KFK-072": kfk_072,
    "KFK-073": kfk_073,
    "KFK-075": kfk_075,
}
