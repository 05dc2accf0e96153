"""The life of brokers: registration, heartbeats, fencing, leaving.

A broker registers under an incarnation of its own and is fenced until it has read the record of
that. Its epoch is an offset of the metadata log: later lives have higher ones. Fencing takes
it out of every ISR and away from every leadership in one atomic change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from reference_impl.controller.changes import Circumstances, partition_change
from reference_impl.controller.cluster import NOT_SHUTTING_DOWN, Cluster, Outcome, Session
from reference_impl.controller.decisions import (
    BrokerState,
    Heartbeat,
    admit_registration,
    fence_broker,
    next_broker_state,
)
from reference_impl.controller.topic_deletion import stopped_topics
from reference_impl.kafka.apis import BROKER_HEARTBEAT, BROKER_REGISTRATION, UNREGISTER_BROKER
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.image import PartitionState
from reference_impl.metadata.records import (
    NO_LEADER,
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    MetadataRecord,
    PartitionChanged,
)

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        BrokerHeartbeatRequest,
        BrokerHeartbeatResponse,
        BrokerRegistrationRequest,
        BrokerRegistrationResponse,
        UnregisterBrokerRequest,
        UnregisterBrokerResponse,
    )

SESSION_TIMEOUT = "broker.session.timeout.ms"


def register(
    cluster: Cluster, request: BrokerRegistrationRequest
) -> Outcome[BrokerRegistrationResponse]:
    """BrokerRegistration: a new life of a broker, or the same one once more."""
    if request.cluster_id != cluster.cluster_id:
        raise KafkaError(
            ErrorCode.inconsistent_cluster_id,
            f"Expected cluster ID {cluster.cluster_id}, but got cluster ID {request.cluster_id}",
        )
    broker_id = request.broker_id
    existing = cluster.image.brokers.get(broker_id)
    same = existing is not None and existing.incarnation_id == request.incarnation_id
    if not admit_registration(existing, same, in_session(cluster, broker_id)):
        raise KafkaError(
            ErrorCode.duplicate_broker_registration,
            "Another broker is registered with that broker id. If the broker was recently "
            "restarted this should self-resolve once the heartbeat manager expires the broker's "
            "session.",
        )
    records: list[MetadataRecord] = []
    epoch = cluster.next_offset
    fenced = True
    if existing is not None and same:
        epoch, fenced = existing.broker_epoch, existing.fenced
    elif existing is not None and existing.broker_epoch == request.previous_broker_epoch:
        records += without_broker(cluster, broker_id)
    else:
        records += after_unclean_shutdown(cluster, broker_id)
    records.append(_registration(request, epoch, fenced))
    if existing is not None and same and existing.in_controlled_shutdown:
        records.append(
            BrokerChanged(broker_id=broker_id, broker_epoch=epoch, in_controlled_shutdown=True)
        )

    def written() -> None:
        if not same:
            cluster.sessions[broker_id] = Session()

    answer = BROKER_REGISTRATION.response(broker_epoch=epoch)
    return Outcome(answer=answer, records=records, written=written)


def _registration(request: BrokerRegistrationRequest, epoch: int, fenced: bool) -> BrokerRegistered:
    if not request.listeners:
        raise KafkaError(ErrorCode.invalid_registration, "No listeners specified in request")
    listener = request.listeners[0]
    return BrokerRegistered(
        broker_id=request.broker_id,
        broker_epoch=epoch,
        incarnation_id=request.incarnation_id,
        host=listener.host,
        port=listener.port,
        rack=request.rack,
        fenced=fenced,
    )


def in_session(cluster: Cluster, broker_id: int) -> bool:
    """The broker has spoken within its session."""
    silent = cluster.silent_ms(broker_id)
    if silent is None:
        return False
    return not fence_broker(silent, cluster.layers().number(SESSION_TIMEOUT))


def heartbeat(
    cluster: Cluster, request: BrokerHeartbeatRequest
) -> Outcome[BrokerHeartbeatResponse]:
    """BrokerHeartbeat: the broker is alive; it may serve, or go, if the answer says so."""
    broker_id = request.broker_id
    cluster.check_broker_epoch(broker_id, request.broker_epoch)
    session = cluster.session(broker_id)
    session.contact_ns = cluster.clock.monotonic_ns()
    current = _state(cluster, broker_id, session)
    caught_up = request.current_metadata_offset >= cluster.registered_at[broker_id]
    said = Heartbeat(
        want_fence=request.want_fence,
        want_shut_down=request.want_shut_down,
        caught_up=caught_up,
        leads=_leads(cluster, broker_id),
        others_caught_up=_others_caught_up(cluster, broker_id, session),
    )
    after = next_broker_state(current, said)
    records: list[MetadataRecord] = []
    if after is not current:
        records = _transition(cluster, broker_id, after)
    records += stopped_topics(cluster, broker_id, request.current_metadata_offset)
    last = cluster.image.offset + len(records)

    def written() -> None:
        session.metadata_offset = request.current_metadata_offset
        if after is not BrokerState.CONTROLLED_SHUTDOWN:
            session.shutdown_offset = NOT_SHUTTING_DOWN
        elif session.shutdown_offset == NOT_SHUTTING_DOWN:
            session.shutdown_offset = last

    answer = BROKER_HEARTBEAT.response(
        is_caught_up=caught_up,
        is_fenced=after in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW),
        should_shut_down=after is BrokerState.SHUTDOWN_NOW,
    )
    return Outcome(answer=answer, records=records, written=written)


def _state(cluster: Cluster, broker_id: int, session: Session) -> BrokerState:
    if session.shutdown_offset != NOT_SHUTTING_DOWN:
        return BrokerState.CONTROLLED_SHUTDOWN
    fenced = cluster.image.brokers[broker_id].fenced
    return BrokerState.FENCED if fenced else BrokerState.UNFENCED


def _leads(cluster: Cluster, broker_id: int) -> bool:
    return any(state.leader == broker_id for _, _, state in cluster.image.partitions())


def _others_caught_up(cluster: Cluster, broker_id: int, session: Session) -> bool:
    """Every active broker has read the records that took this one's leaderships away."""
    others = (cluster.session(other) for other in cluster.active() if other != broker_id)
    return all(session.shutdown_offset <= other.metadata_offset for other in others)


def _transition(cluster: Cluster, broker_id: int, after: BrokerState) -> list[MetadataRecord]:
    broker = cluster.image.brokers[broker_id]
    epoch = broker.broker_epoch
    match after:
        case BrokerState.FENCED | BrokerState.SHUTDOWN_NOW:
            return [] if broker.fenced else fenced(cluster, broker_id)
        case BrokerState.UNFENCED:
            return [
                BrokerChanged(broker_id=broker_id, broker_epoch=epoch, fenced=False),
                *with_broker(cluster, broker_id),
            ]
        case BrokerState.CONTROLLED_SHUTDOWN:
            leaving = BrokerChanged(
                broker_id=broker_id, broker_epoch=epoch, in_controlled_shutdown=True
            )
            first = [] if broker.in_controlled_shutdown else [leaving]
            return [*first, *without_broker(cluster, broker_id)]


def fenced(cluster: Cluster, broker_id: int) -> list[MetadataRecord]:
    """The records that fence a broker: out of every ISR, then out of service."""
    epoch = cluster.image.brokers[broker_id].broker_epoch
    change = BrokerChanged(broker_id=broker_id, broker_epoch=epoch, fenced=True)
    return [*without_broker(cluster, broker_id), change]


def stale_broker(cluster: Cluster) -> int | None:
    """A broker whose session is over and that is not fenced yet, the longest silent first."""
    timeout = cluster.layers().number(SESSION_TIMEOUT)
    silent = {
        broker.broker_id: cluster.silent_ms(broker.broker_id) or 0
        for broker in cluster.image.brokers.values()
        if not broker.fenced
    }
    stale = [broker for broker, ms in silent.items() if fence_broker(ms, timeout)]
    return max(stale, key=lambda broker: silent[broker], default=None)


def unregister(
    cluster: Cluster, request: UnregisterBrokerRequest
) -> Outcome[UnregisterBrokerResponse]:
    """UnregisterBroker: out of every ISR and ELR, and out of the cluster."""
    broker_id = request.broker_id
    broker = cluster.image.brokers.get(broker_id)
    if broker is None:
        raise KafkaError(
            ErrorCode.broker_id_not_registered,
            f"Broker ID {broker_id} is not currently registered",
        )
    gone = BrokerUnregistered(broker_id=broker_id, broker_epoch=broker.broker_epoch)
    records: list[MetadataRecord] = [*without_broker(cluster, broker_id), gone]

    def written() -> None:
        cluster.sessions.pop(broker_id, None)

    return Outcome(
        answer=UNREGISTER_BROKER.response(error_message=None), records=records, written=written
    )


def begin_sessions(cluster: Cluster) -> None:
    """A controller that starts gives every broker that serves a whole session to speak."""
    now = cluster.clock.monotonic_ns()
    for broker in cluster.image.brokers.values():
        if not broker.fenced:
            cluster.session(broker.broker_id).contact_ns = now


def without_broker(cluster: Cluster, broker_id: int) -> Iterator[PartitionChanged]:
    """What changes where the broker is in the ISR, if it goes now."""

    def concerned(state: PartitionState) -> bool:
        return broker_id in state.isr

    return _changes(
        cluster, concerned, broker_id, lambda topic: cluster.around(topic, without=broker_id)
    )


def after_unclean_shutdown(cluster: Cluster, broker_id: int) -> Iterator[PartitionChanged]:
    """What changes where the broker may have lost the end of its log: no ISR, no ELR has it."""

    def concerned(state: PartitionState) -> bool:
        return broker_id in state.isr or broker_id in state.elr

    return _changes(
        cluster, concerned, broker_id, lambda topic: cluster.around(topic, lost=(broker_id,))
    )


def with_broker(cluster: Cluster, broker_id: int) -> Iterator[PartitionChanged]:
    """What changes where nobody leads, if the broker comes now."""

    def concerned(state: PartitionState) -> bool:
        return state.leader == NO_LEADER

    return _changes(cluster, concerned, None, lambda topic: cluster.around(topic, also=broker_id))


def _changes(
    cluster: Cluster,
    concerned: Callable[[PartitionState], bool],
    gone: int | None,
    around: Callable[[str], Circumstances],
) -> Iterator[PartitionChanged]:
    """The changes of all partitions concerned, where ``gone`` is in no ISR any more."""
    for topic in cluster.image.topics.values():
        touched = [(i, state) for i, state in topic.partitions.items() if concerned(state)]
        if not touched:
            continue
        circumstances = around(topic.name)
        for index, state in touched:
            wanted = replace(state, isr=tuple(r for r in state.isr if r != gone))
            change = partition_change(topic.topic_id, index, state, wanted, circumstances)
            if change is not None:
                yield change
