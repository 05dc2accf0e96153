"""A change of one partition: what is to be, put through the choices, as one record.

The order is Kafka's: a reassignment that is done is completed, those who stay eligible are noted, a
leader is elected, and the epoch rises if it has to. Whatever the reason of the change was, the
record comes out of ``partition_change``; None if nothing would be different.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from reference_impl.controller.decisions import (
    Elected,
    Election,
    bump_leader_epoch,
    complete_reassignment,
    elect_leader,
    eligible_leader_replicas,
)
from reference_impl.metadata.image import PartitionState
from reference_impl.metadata.records import NO_LEADER, PartitionChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What an election depends on besides the partition itself."""

    acceptable: Collection[int]  # brokers that may lead
    min_isr: int
    election: Election = Election.ONLINE
    lost: tuple[int, ...] = ()  # brokers that may have lost the end of their logs


def partition_change(
    topic_id: UUID,
    partition: int,
    state: PartitionState,
    wanted: PartitionState,
    around: Circumstances,
) -> PartitionChanged | None:
    """The record that takes a partition from ``state`` to what is ``wanted``, as far as it can be.

    Of ``wanted``, replicas, ISR and who is added and removed count; the rest is decided here.
    """
    completed = complete_reassignment(wanted, wanted.isr)
    if completed is not None:
        replicas, isr = completed
        wanted = replace(wanted, replicas=replicas, isr=isr, adding=(), removing=())
    elr = eligible_leader_replicas(state, wanted.isr, around.min_isr, around.lost)
    wanted = replace(wanted, elr=elr, leader=state.leader, last_known_elr=state.last_known_elr)
    elected = elect_leader(wanted, around.acceptable, around.election)
    target = _led(state, wanted, elected)
    if bump_leader_epoch(state, target.leader, target.replicas):
        target = _with_last_leader(state, target)
        target = replace(target, leader_epoch=state.leader_epoch + 1)
    return _difference(topic_id, partition, state, target)


def _led(state: PartitionState, wanted: PartitionState, elected: Elected) -> PartitionState:
    """The partition under whoever was elected; from outside the ISR, the leader is all of it."""
    leader = elected.leader
    if leader == state.leader:
        return wanted
    if elected.unclean:
        return replace(wanted, leader=leader, isr=(leader,), elr=())
    if leader in wanted.elr:
        rest = tuple(replica for replica in wanted.elr if replica != leader)
        return replace(wanted, leader=leader, isr=(leader,), elr=rest)
    return replace(wanted, leader=leader)


def _with_last_leader(state: PartitionState, target: PartitionState) -> PartitionState:
    """Who led last is remembered while nobody does: it has seen every write there was."""
    if target.leader == NO_LEADER and not state.last_known_elr:
        return replace(target, last_known_elr=(state.leader,))
    if target.leader != NO_LEADER:
        return replace(target, last_known_elr=())
    return target


_FIELDS = ("isr", "leader", "leader_epoch", "replicas", "adding", "removing", "elr")


def _difference(
    topic_id: UUID, partition: int, state: PartitionState, target: PartitionState
) -> PartitionChanged | None:
    news: dict[str, Any] = {
        name: getattr(target, name)
        for name in (*_FIELDS, "last_known_elr")
        if getattr(target, name) != getattr(state, name)
    }
    if not news:
        return None
    return PartitionChanged(topic_id=topic_id, partition=partition, **news)
