"""The choices of the controller, each a pure function.

They are those of Kafka's KRaft controller with eligible leader replicas (KIP-966): only who was in
the ISR, or left it while it was too small to take writes, has every committed record and may be
elected without loss.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from uuid import UUID

from reference_impl.controller.placement import UsableBroker, striped
from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode
from reference_impl.metadata.image import Broker, PartitionState
from reference_impl.metadata.records import LOST_DIRECTORY, NO_LEADER
from reference_impl.ports.clock import Rng


class Election(Enum):
    """How a leader is looked for."""

    ONLINE = "online"  # keep the leader if it can stay, else the first that may
    PREFERRED = "preferred"  # the first replica if it may
    UNCLEAN = "unclean"  # rather somebody who lost records than nobody


class BrokerState(StrEnum):
    """What a broker is to the controller."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shutdown now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elected:
    """Who leads from now on, and whether records may be lost by it."""

    leader: int
    unclean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedIsr:
    """What a leader asks for: its broker, the epochs it knows, and members with their epochs."""

    broker_id: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """What a broker says of itself, and what the controller knows about it at that moment."""

    want_fence: bool
    want_shut_down: bool
    caught_up: bool  # it has read its own registration in the metadata log
    leads: bool  # it leads some partition
    others_caught_up: bool  # all active brokers have read who leads in its place


@decision("place-replicas")
def place_replicas(
    brokers: Sequence[UsableBroker], partitions: int, replication_factor: int, rng: Rng
) -> tuple[tuple[int, ...], ...]:
    """Replicas are spread over racks, then over brokers, and led by brokers that are up."""
    return striped(brokers, partitions, replication_factor, rng)


@decision("elect-leader")
def elect_leader(state: PartitionState, acceptable: Collection[int], election: Election) -> Elected:
    """A leader comes from the ISR, or from the ELR if the ISR is empty, in the order of replicas.

    ``state`` is the partition as it is to become, but for its leader, which is the present one.
    """
    replicas = state.replicas
    if election is Election.PREFERRED:
        candidates = (replicas[0], state.leader, *replicas[1:])
    else:
        candidates = (state.leader, *replicas)
    safe = state.isr or state.elr
    for replica in candidates:
        if replica in safe and replica in acceptable:
            return Elected(leader=replica)
    if not safe and len(state.last_known_elr) == 1 and state.last_known_elr[0] in acceptable:
        return Elected(leader=state.last_known_elr[0], unclean=True)
    if election is Election.UNCLEAN:
        for replica in replicas:
            if replica in acceptable:
                return Elected(leader=replica, unclean=True)
    return Elected(leader=NO_LEADER)


@decision("eligible-leader-replicas")
def eligible_leader_replicas(
    state: PartitionState, isr: Sequence[int], min_isr: int, lost: Collection[int]
) -> tuple[int, ...]:
    """Who leaves an ISR below its minimum stays eligible, unless its shutdown was unclean."""
    if len(isr) >= min_isr:
        return ()
    before = dict.fromkeys((*state.elr, *state.isr))
    return tuple(sorted(r for r in before if r not in isr and r not in lost))


@decision("bump-leader-epoch")
def bump_leader_epoch(state: PartitionState, leader: int, replicas: Sequence[int]) -> bool:
    """The leader epoch rises with every new leader, and when a replica is taken away.

    An ISR that shrinks needs none: the leader itself asked for it and knows its members.
    """
    return leader != state.leader or not set(state.replicas) <= set(replicas)


@decision("accept-alter-partition")
def accept_alter_partition(
    state: PartitionState, proposed: ProposedIsr, brokers: dict[int, Broker]
) -> ErrorCode:
    """Only the present leader, with its present epochs, changes the ISR, to brokers that are up."""
    if (
        proposed.leader_epoch > state.leader_epoch
        or proposed.partition_epoch > state.partition_epoch
    ):
        return ErrorCode.not_controller
    if proposed.leader_epoch < state.leader_epoch:
        return ErrorCode.fenced_leader_epoch
    if proposed.broker_id != state.leader:
        return ErrorCode.invalid_request
    if proposed.partition_epoch < state.partition_epoch:
        return ErrorCode.invalid_update_version
    members = [broker_id for broker_id, _ in proposed.isr]
    if (
        len(dict.fromkeys(members)) != len(members)
        or any(member not in state.replicas for member in members)
        or state.leader not in members
    ):
        return ErrorCode.invalid_request
    if not all(eligible_for_isr(brokers.get(broker), epoch) for broker, epoch in proposed.isr):
        return ErrorCode.ineligible_replica
    return ErrorCode.none


@decision("eligible-for-isr")
def eligible_for_isr(broker: Broker | None, broker_epoch: int) -> bool:
    """A member of an ISR is registered, up, not on its way out, and in the life the leader knew."""
    if broker is None or not broker.active:
        return False
    return broker_epoch in (-1, broker.broker_epoch)


@decision("accept-directory")
def accept_directory(broker_id: int, replicas: Sequence[int] | None) -> ErrorCode:
    """A broker speaks of its own replicas only."""
    if replicas is None:
        return ErrorCode.unknown_topic_or_partition
    return ErrorCode.none if broker_id in replicas else ErrorCode.not_leader_or_follower


@decision("directory-is-lost")
def directory_is_lost(directory: UUID | None) -> bool:
    """Of Kafka's reserved directory ids, the one that no replica can be in (KIP-858).

    MIGRATING and UNASSIGNED are not known yet, all others are directories.
    """
    return directory == LOST_DIRECTORY


@decision("isr-without")
def isr_without(broker_id: int, isr: Sequence[int]) -> tuple[int, ...]:
    """Who cannot lead a partition is not in sync with it, be it that nobody is."""
    return tuple(replica for replica in isr if replica != broker_id)


@decision("complete-reassignment")
def complete_reassignment(
    state: PartitionState, isr: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The replicas and ISR that remain, once all that are added are in the ISR; None until then.

    Where more replicas go than come, all that stay have to be in sync first.
    """
    if not state.reassigning:
        return None
    staying = tuple(replica for replica in state.replicas if replica not in state.removing)
    left = tuple(replica for replica in isr if replica not in state.removing)
    if not staying or not left or any(replica not in left for replica in state.adding):
        return None
    if len(state.adding) < len(state.removing) and any(r not in left for r in staying):
        return None
    return staying, left


@decision("next-broker-state")
def next_broker_state(current: BrokerState, heartbeat: Heartbeat) -> BrokerState:
    """A broker serves once it knows its own registration, and leaves once it leads nothing."""
    match current:
        case BrokerState.FENCED:
            if heartbeat.want_shut_down:
                return BrokerState.SHUTDOWN_NOW
            if not heartbeat.want_fence and heartbeat.caught_up:
                return BrokerState.UNFENCED
            return BrokerState.FENCED
        case BrokerState.UNFENCED:
            if heartbeat.want_fence:
                gone = heartbeat.want_shut_down
                return BrokerState.SHUTDOWN_NOW if gone else BrokerState.FENCED
            if heartbeat.want_shut_down:
                leads = heartbeat.leads
                return BrokerState.CONTROLLED_SHUTDOWN if leads else BrokerState.SHUTDOWN_NOW
            return BrokerState.UNFENCED
        case BrokerState.CONTROLLED_SHUTDOWN:
            if heartbeat.leads or not heartbeat.others_caught_up:
                return BrokerState.CONTROLLED_SHUTDOWN
            return BrokerState.SHUTDOWN_NOW
        case BrokerState.SHUTDOWN_NOW:
            return BrokerState.SHUTDOWN_NOW


@decision("fence-broker")
def fence_broker(silent_ms: int, session_timeout_ms: int) -> bool:
    """A broker whose heartbeats stopped for a whole session may not lead any longer."""
    return silent_ms >= session_timeout_ms


@decision("admit-registration")
def admit_registration(existing: Broker | None, same_incarnation: bool, in_session: bool) -> bool:
    """A second broker cannot take the id of one that is alive."""
    return existing is None or same_incarnation or not in_session


@decision("brokers-have-stopped")
def brokers_have_stopped(deleted_at: int, read: Sequence[int]) -> bool:
    """Remote data of a deleted topic is complete once every broker that runs, of those that had a
    replica, has read of the deletion; ``read`` are the offsets they reported."""
    return all(offset >= deleted_at for offset in read)


@decision("list-config-after", rules=("KFK-116",))
def list_config_after(parts: Sequence[str], changed: Sequence[str], append: bool) -> Sequence[str]:
    """A part is appended unless it is there, and what is there is taken out once."""
    after = list(parts)
    for part in changed:
        if append and part not in after:
            after.append(part)
        elif not append and part in after:
            after.remove(part)
    return after
