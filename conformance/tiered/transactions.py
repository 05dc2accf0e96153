"""The stage `tier-transactions`: transactions whose records, markers and indexes are remote.

What is committed is read at every replica: while a transaction is open, once all of it is remote,
after the leader fell, and when a replica that lost its disk leads with what it built from the
store. While a transaction is open nothing from it on may be copied.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.tiered.tiers import KEPT, recovers
from conformance.tiered.topics import ROLLS, ROLLS_AT_FOUR, TIERED, step, tier
from harness.steps.step import LAB, NEMESIS, Step

STAGE = "tier-transactions"
TOPIC = "paid"
LOGS = f"{TOPIC}-*"
PARTITIONS = 2
CONFIGS = f"{TIERED},retention.ms=-1"
SHARED = "shared"  # whose segments have room for several transactions
SHARED_CONFIGS = CONFIGS.replace(ROLLS, ROLLS_AT_FOUR)
TOPICS = (TOPIC, SHARED)
VERSIONS = {"same": 2, "two": 2, "late": 2}  # of producers that speak another version than 1
PROPERTIES = {
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "1",
}


def transaction_steps(*, form: str, bound_ms: int, lasts_ms: int) -> list[Step]:
    """The stage as steps."""
    lasting = step(LAB, "wait", ms=lasts_ms)
    look = tier("look-at-tiers", form=form, bound=bound_ms)
    return [
        step(LAB, "create"),
        *recovers(),
        tier("create", topic=TOPIC, partitions=PARTITIONS, configs=CONFIGS),
        tier("create", topic=SHARED, partitions=1, configs=SHARED_CONFIGS),
        tier("settle"),
        *_one_after_the_other(bound_ms),
        *_transactions(),
        _transact("late", batches=2, end="open"),
        _transact("open", batches=2, end="open"),
        _transact("three", batches=3, end="commit"),
        tier("write", log=LOGS, batches="0 1 2"),
        look,
        tier("committed", log=LOGS),
        tier("end-transaction", by="late", end="commit"),
        tier("end-transaction", by="open", end="abort"),
        *_transactions(),
        tier("write", log=LOGS, batches="0 1 2 3"),
        *(
            tier("await", log=LOGS, what=what, keep=KEPT, bound=bound_ms)
            for what in ("copied", "local")
        ),
        tier("committed", log=LOGS),
        step(NEMESIS, "kill", target="broker-1"),
        lasting,
        tier("committed", log=LOGS),
        *_transactions(),
        step(NEMESIS, "end", fault="kill"),
        *recovers(),
        tier("settle"),
        step(NEMESIS, "reimage", target="broker-2"),
        lasting,
        step(NEMESIS, "end", fault="reimage"),
        *recovers(),
        tier("settle"),
        step(NEMESIS, "kill", target="broker-1"),
        lasting,
        tier("committed", log=LOGS),
        *_transactions(),
        step(NEMESIS, "end", fault="kill"),
        *recovers(),
        tier("settle"),
        tier("committed", log=LOGS),
        look,
    ]


def _transact(by: str, *, batches: int, end: str, log: str = LOGS) -> Step:
    version = VERSIONS.get(by, 1)
    return tier("transact", log=log, by=by, batches=batches, end=end, version=version)


def _one_after_the_other(bound_ms: int) -> Iterator[Step]:
    """A producer aborts and then commits within one segment, and another appends in between."""
    log = f"{SHARED}-0"
    yield _transact("same", batches=1, end="abort", log=log)
    yield _transact("same", batches=1, end="open", log=log)
    yield tier("write", log=log, batches="0")
    yield tier("end-transaction", by="same", end="commit")
    yield tier("write", log=log, batches="0 1 2 3 4 5 6")
    for what in ("copied", "local"):
        yield tier("await", log=log, what=what, keep=5, bound=bound_ms)
    yield tier("committed", log=log)
    yield tier("committed-from", log=log)


def _transactions() -> Iterator[Step]:
    """Some are committed and some aborted, by two producers in turn.

    Together they fill whole segments. In one of the logs another batch comes behind them, so what
    follows there begins within a segment.
    """
    yield _transact("one", batches=2, end="abort")
    yield _transact("two", batches=2, end="commit")
    yield _transact("one", batches=1, end="commit")
    yield _transact("two", batches=1, end="abort")
    yield tier("write", log=f"{TOPIC}-0", batches="0")
