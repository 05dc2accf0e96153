"""What read_committed readers see of transactions: KFK-080 to 082."""

from __future__ import annotations

from collections.abc import Iterator

from tests.naive.cases import Case
from tests.naive.fetches import starts_at_most
from tests.naive.logs import Append, Log, Op, Read, before, isolation


def seen_by_committed(log: Log) -> Iterator[tuple[Append, Read]]:
    """Records of transactions that read_committed readers saw."""
    writers = log.by_value()
    for read in log.reads:
        append, _ = writers.get(read.value, (None, 0))
        if append is not None and append.transaction is not None and read.committed:
            yield append, read


def commits(log: Log, transaction: str) -> list[Op]:
    """Requests to commit it that may have worked."""
    return [
        end
        for end in log.transactions
        if end.asked.get("transaction") == transaction
        and end.asked.get("committed")
        and end.type != "fail"
    ]


def kfk_080(log: Log) -> Iterator[Case]:
    """A transaction of which read_committed readers see a record is seen whole."""
    seen: dict[str, Read] = {}
    for other in log.everywhere:
        for append, read in seen_by_committed(other):
            seen.setdefault(str(append.transaction), read)
    for offset, append, position, over in log.places():
        if append.transaction not in seen:
            continue
        for fetch in log.of("fetch"):
            records = fetch.answer.get("records") or ()
            last = max((one[0] for one in records), default=-1)
            passed = fetch.asked["offset"] <= offset < last and starts_at_most(fetch, offset)
            if isolation(fetch) == "read_committed" and passed:
                values = [one[1] for one in records if one[0] == offset]
                holds = append.records[position][0] in values
                yield Case(append.index, holds, (*over, fetch, seen[append.transaction].op))


def kfk_081(log: Log) -> Iterator[Case]:
    """A transaction that was not committed is not seen by read_committed readers."""
    for append, read in seen_by_committed(log):
        holds = bool(commits(log, str(append.transaction)))
        yield Case(read.op.index, holds, (append, read.op))


def kfk_082(log: Log) -> Iterator[Case]:
    """No record of a transaction is seen by read_committed readers before its commit."""
    for append, read in seen_by_committed(log):
        asked = commits(log, str(append.transaction))
        if asked:
            holds = not all(before(read.op, end) for end in asked)
            yield Case(read.op.index, holds, (read.op, *asked))


CHECKS = {"KFK-080": kfk_080, "KFK-081": kfk_081, "KFK-082": kfk_082}
