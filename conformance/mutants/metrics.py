"""Nodes that count what is easier to count."""

from __future__ import annotations

from reference_impl.decisions import Mutant
from reference_impl.metadata.image import Broker, PartitionState
from reference_impl.metrics.brokers import MeasuredPartition


def _leads_what_it_has(one: MeasuredPartition) -> bool:
    return True


def _never_lacks_a_replica(one: MeasuredPartition) -> bool:
    return one.leads and not one.state.isr


def _at_the_minimum_too(one: MeasuredPartition) -> bool:
    return one.leads and len(one.state.isr) <= one.min_in_sync


def _registered_is_active(broker: Broker) -> bool:
    return False


def _offline_without_replicas(state: PartitionState) -> bool:
    return not state.replicas


def _only_shrinks_count(before: tuple[int, ...], after: tuple[int, ...]) -> int:
    return min(0, len(after) - len(before))


def _only_growth_counts(before: tuple[int, ...], after: tuple[int, ...]) -> int:
    return max(0, len(after) - len(before))


MUTANTS = (
    Mutant(
        name="leads-what-it-has",
        decision="counts-as-led",
        replace=_leads_what_it_has,
        rules=("KFK-210",),
        why="the gauge is over all replicas",
    ),
    Mutant(
        name="never-lacks-a-replica",
        decision="under-replicated",
        replace=_never_lacks_a_replica,
        rules=("KFK-211",),
        why="a partition lacks replicas once it has none in sync",
    ),
    Mutant(
        name="at-the-minimum-too",
        decision="under-min-isr",
        replace=_at_the_minimum_too,
        rules=("KFK-214",),
        why="a partition whose next failure stops its producers is counted early",
    ),
    Mutant(
        name="registered-is-active",
        decision="counts-as-fenced",
        replace=_registered_is_active,
        rules=("KFK-212",),
        why="who registered is counted, whoever answers",
    ),
    Mutant(
        name="offline-without-replicas",
        decision="counts-as-offline",
        replace=_offline_without_replicas,
        rules=("KFK-212",),
        why="a partition is offline once it is nowhere",
    ),
    Mutant(
        name="only-shrinks-count",
        decision="isr-change",
        replace=_only_shrinks_count,
        rules=("KFK-213",),
        why="what gets better need not be counted",
    ),
    Mutant(
        name="only-growth-counts",
        decision="isr-change",
        replace=_only_growth_counts,
        rules=("KFK-215",),
        why="who leaves is missed by another metric",
    ),
)
