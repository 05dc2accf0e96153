"""The stage `divergence`: unclean elections leave segments of several lineages in the store.

The document's scenarios 4 and 5 with two replicas: a leader ships what its follower lacks, falls;
the follower leads, appends other records at the same offsets and ships them; the first one leads
again without knowing of them; the follower loses its disk and builds its state from the store.
Records may be lost. What is served is of one lineage all the same.
"""

from __future__ import annotations

from conformance.tiered.tiers import recovers
from conformance.tiered.topics import ROLLS_AT_FOUR, step, tier
from harness.steps.step import LAB, NEMESIS, Step

STAGE = "divergence"
LOG = "split"
CONFIGS = (
    f"remote.storage.enable=true,{ROLLS_AT_FOUR},local.retention.bytes=1,min.insync.replicas=1,"
    "unclean.leader.election.enable=true,retention.ms=-1"
)
_A, _B = "broker-1", "broker-2"
THROUGH_MS = 5000  # in which a log of a dozen records is read


def divergence_steps(*, form: str, bound_ms: int, lasts_ms: int) -> list[Step]:
    """The stage as steps."""
    log = f"{LOG}-0"
    lasting = step(LAB, "wait", ms=lasts_ms)

    def writes(batches: str) -> Step:
        return tier("write", log=log, batches=batches, acks=1)

    def shipped(keep: int = 1) -> Step:
        return tier("await", log=log, what="shipped", keep=keep, bound=bound_ms)

    return [
        step(LAB, "create"),
        *recovers(),
        tier("create", topic=LOG, partitions=1, configs=CONFIGS, replicas="1,2"),
        tier("settle"),
        tier("write", log=log, batches="0 1"),
        step(NEMESIS, "cut", target=f"{_B} <-> {_A}"),
        lasting,
        writes("2 3 4"),
        shipped(),
        step(NEMESIS, "kill", target=_A),
        step(NEMESIS, "end", fault="cut"),
        lasting,
        tier("locate", log=log),
        writes("12 13 14 15 16"),
        shipped(),
        tier("epochs", log=log),
        tier("through", log=log, bound=THROUGH_MS),
        tier("read", log=log),
        step(NEMESIS, "reimage", target=_B),
        step(NEMESIS, "end", fault="kill"),
        lasting,
        tier("locate", log=log),
        writes("25 26 27 28 29 30"),
        shipped(),
        tier("epochs", log=log),
        tier("through", log=log, bound=THROUGH_MS),
        tier("read", log=log),
        step(NEMESIS, "end", fault="reimage"),
        *recovers(),
        tier("settle"),
        tier("walk", log=log),
        tier("read-all"),
        tier("epochs", log=log),
        step(NEMESIS, "kill", target=_A),
        lasting,
        tier("locate", log=log),
        writes("40"),
        tier("epochs", log=log),
        tier("through", log=log, bound=THROUGH_MS),
        tier("read", log=log),
        tier("read-all"),
        step(NEMESIS, "end", fault="kill"),
        *recovers(),
        tier("look-at-tiers", form=form, bound=bound_ms),
    ]
