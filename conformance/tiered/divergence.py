"""The stage `divergence`: unclean elections leave segments of several lineages in the store.

The document's scenarios 4 and 5 with two replicas: a leader ships what its follower lacks, falls;
the follower leads, appends other records at the same offsets and ships them; the first one leads
again without knowing of them; the follower loses its disk and builds its state from the store.
Records may be lost. What is served is of one lineage all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.tiered.tiers import THROUGH_MS, recovers
from conformance.tiered.topics import ROLLS_AT_FOUR, step, tier
from harness.steps.step import LAB, NEMESIS, Step

STAGE = "divergence"
TOPIC, LOG = "split", "split-0"
CONFIGS = (
    f"remote.storage.enable=true,{ROLLS_AT_FOUR},local.retention.bytes=1,min.insync.replicas=1,"
    "unclean.leader.election.enable=true,retention.ms=-1"
)
_A, _B = "broker-1", "broker-2"
SHORTER = 10  # nothing is promised of segments that are not full


def divergence_steps(*, form: str, bound_ms: int, lasts_ms: int) -> list[Step]:
    """The stage as steps."""
    lasting = step(LAB, "wait", ms=lasts_ms)
    return [
        step(LAB, "create"),
        *recovers(),
        tier("create", topic=TOPIC, partitions=1, configs=CONFIGS, replicas="1,2"),
        tier("settle"),
        tier("write", log=LOG, batches="0 1"),
        step(NEMESIS, "kill", target=_B),
        lasting,
        *_ships("2 3 4", bound_ms),
        step(NEMESIS, "kill", target=_A),
        step(NEMESIS, "end", fault="kill", target=_B),
        lasting,
        *_ships("12 13 14 15 16", bound_ms),
        *_reads(),
        step(NEMESIS, "reimage", target=_B),
        step(NEMESIS, "end", fault="kill", target=_A),
        lasting,
        *_ships("25 26 27 28 29 30", bound_ms),
        *_reads(),
        step(NEMESIS, "end", fault="reimage"),
        *recovers(),
        tier("settle"),
        tier("walk", log=LOG),
        *_reads(),
        step(NEMESIS, "kill", target=_A),
        lasting,
        *_ships("40", bound_ms),
        *_reads(),
        step(NEMESIS, "end", fault="kill"),
        *recovers(),
        tier("look-at-tiers", form=form, bound=bound_ms),
    ]


def _ships(batches: str, bound_ms: int) -> Iterator[Step]:
    """Who leads now appends, and all but the last batch is copied, if it is rolled by then."""
    yield tier("locate", log=LOG)
    yield tier("write", log=LOG, batches=batches, acks=1)
    yield tier("await", log=LOG, what="shipped", keep=1, bound=bound_ms // SHORTER)


def _reads() -> Iterator[Step]:
    yield tier("epochs", log=LOG)
    yield tier("positions", log=LOG)
    yield tier("through", log=LOG, bound=THROUGH_MS)
    yield tier("read", log=LOG)
    yield tier("read-all")
