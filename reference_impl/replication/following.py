"""Following: what a follower does with its log, as a table of states.

A follower fetches. What a fetch is answered with, or what becomes of the work that follows from it,
is an event; the table says which state comes of it, and what it does not name means nothing there:
an answer that comes too late changes nothing. Only a partition that is FETCHING is fetched. States
belong to a leader epoch: events of another one are not heard.

    TRUNCATING                the logs part: cut what the leader does not have
    FINDING_RANGE             the leader's log does not reach ours: ask where it begins and ends
    FINDING_LOCAL_START       the leader has older offsets elsewhere: ask where its disk begins
    BUILDING_REMOTE_LOG_AUX   learn the epochs and producers of those; the log is empty until then
    STOPPED_AT_BOUNDARY       all that is below the boundary is here, and nothing else is to come
    FROM_WAL                  what is above the boundary is followed otherwise, from the WAL
    NOT_FOLLOWING             this broker leads, or nobody does
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from types import MappingProxyType

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode


class FollowState(StrEnum):
    """What a follower is doing, by the names that KIP-405 gives such states."""

    FETCHING = "Fetching"
    TRUNCATING = "Truncating"
    FINDING_RANGE = "FindingRange"
    FINDING_LOCAL_START = "FindingLocalStart"
    BUILDING_REMOTE_LOG_AUX = "BuildingRemoteLogAux"
    STOPPED_AT_BOUNDARY = "StoppedAtBoundary"
    FROM_WAL = "FromWal"
    NOT_FOLLOWING = "NotFollowing"


class FollowEvent(StrEnum):
    """What can happen to a follower."""

    RECORDS = "records"
    DIVERGING_EPOCH = "diverging epoch"
    OUT_OF_RANGE = "offset out of range"
    MOVED_TO_TIERED_STORAGE = "offset moved to tiered storage"
    LOCAL_START_KNOWN = "local start known"
    BOUNDARY_REACHED = "boundary reached"
    WAL_READY = "wal ready"
    WORK_DONE = "work done"
    WORK_FAILED = "work failed"
    NEW_LEADER_EPOCH = "new leader epoch"
    STOPPED_FOLLOWING = "stopped following"


_S, _E = FollowState, FollowEvent
_FOLLOWING = tuple(state for state in _S if state is not _S.NOT_FOLLOWING)

TRANSITIONS = MappingProxyType(
    {
        (_S.FETCHING, _E.RECORDS): _S.FETCHING,
        (_S.FETCHING, _E.DIVERGING_EPOCH): _S.TRUNCATING,
        (_S.FETCHING, _E.OUT_OF_RANGE): _S.FINDING_RANGE,
        (_S.FETCHING, _E.MOVED_TO_TIERED_STORAGE): _S.FINDING_LOCAL_START,
        (_S.FETCHING, _E.BOUNDARY_REACHED): _S.STOPPED_AT_BOUNDARY,
        (_S.FETCHING, _E.WORK_FAILED): _S.FETCHING,
        (_S.TRUNCATING, _E.WORK_DONE): _S.FETCHING,
        (_S.TRUNCATING, _E.WORK_FAILED): _S.FETCHING,
        (_S.FINDING_RANGE, _E.WORK_DONE): _S.FETCHING,
        (_S.FINDING_RANGE, _E.WORK_FAILED): _S.FETCHING,
        (_S.FINDING_LOCAL_START, _E.LOCAL_START_KNOWN): _S.BUILDING_REMOTE_LOG_AUX,
        (_S.FINDING_LOCAL_START, _E.WORK_FAILED): _S.FETCHING,
        (_S.BUILDING_REMOTE_LOG_AUX, _E.WORK_DONE): _S.FETCHING,
        (_S.BUILDING_REMOTE_LOG_AUX, _E.WORK_FAILED): _S.FETCHING,
        (_S.STOPPED_AT_BOUNDARY, _E.WAL_READY): _S.FROM_WAL,
        (_S.FROM_WAL, _E.WORK_FAILED): _S.STOPPED_AT_BOUNDARY,
        (_S.NOT_FOLLOWING, _E.NEW_LEADER_EPOCH): _S.FETCHING,
        **{(state, _E.NEW_LEADER_EPOCH): _S.FETCHING for state in _FOLLOWING},
        **{(state, _E.STOPPED_FOLLOWING): _S.NOT_FOLLOWING for state in _FOLLOWING},
    }
)


@decision("next-follow-state")
def next_follow_state(state: FollowState, event: FollowEvent) -> FollowState | None:
    """The state that comes of an event; None if it means nothing in this one."""
    return TRANSITIONS.get((state, event))


@decision("fetch-answer-means")
def fetch_answer_means(error: ErrorCode, diverges: bool, builds_aux: bool) -> FollowEvent:
    """What an answer to a follower's fetch is to it.

    One that cannot build the auxiliary state of offsets that are elsewhere asks again and again,
    out of the ISR: begun where the leader's disk begins, its log would lack epochs and producers.
    """
    if error is ErrorCode.offset_moved_to_tiered_storage and builds_aux:
        return FollowEvent.MOVED_TO_TIERED_STORAGE
    if error is ErrorCode.offset_out_of_range:
        return FollowEvent.OUT_OF_RANGE
    if error is not ErrorCode.none:
        return FollowEvent.WORK_FAILED
    return FollowEvent.DIVERGING_EPOCH if diverges else FollowEvent.RECORDS


@decision("boundary-reached")
def boundary_reached(asked_offset: int, high_watermark: int, boundary: int | None) -> bool:
    """A follower stops once it has asked for what comes behind the boundary, and all is committed.

    Asking is how its leader learns that it has everything.
    """
    return boundary is not None and asked_offset >= boundary and high_watermark >= boundary


class Following:
    """The state of one partition, and the leader epoch it belongs to."""

    def __init__(self) -> None:
        self.state = FollowState.NOT_FOLLOWING
        self.leader_epoch = -1
        self.on_change: Callable[[FollowState, FollowState], None] = lambda before, after: None

    @property
    def fetches(self) -> bool:
        """Whether its leader is to be asked for more."""
        return self.state is FollowState.FETCHING

    def happened(self, event: FollowEvent, leader_epoch: int) -> bool:
        """Go on to the state that comes of it; False if it means nothing here, or in this epoch."""
        if event is FollowEvent.NEW_LEADER_EPOCH:
            self.leader_epoch = leader_epoch
        after = next_follow_state(self.state, event)
        if after is None or leader_epoch != self.leader_epoch:
            return False
        before, self.state = self.state, after
        if before is not after:
            self.on_change(before, after)
        return True
