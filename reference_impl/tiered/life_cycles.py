"""Life cycles of remote segments and of partition deletion, and what becomes of each event.

    segment      none ─► COPY_SEGMENT_STARTED ─► COPY_SEGMENT_FINISHED
                                 │                        │
                                 └──────────┬─────────────┘
                                            ▼
                                 DELETE_SEGMENT_STARTED ─► DELETE_SEGMENT_FINISHED

    deletion     none ─► DELETE_PARTITION_MARKED ─► …_STARTED ─► …_FINISHED

Every state to itself changes nothing and succeeds (G-06); anything else that is not drawn is
dropped when its turn comes (G-07). Three questions are asked of a segment's event, in this order:

1. Is it a copy of a partition that is marked for deletion? Dropped (C-30).
2. Where does it lead in the life cycle? Nowhere: dropped. To where the segment is: nothing to do.
3. Does it come from a leader that was replaced? Dropped (G-20).

So an event that repeats what is known succeeds also after its leader was replaced: the segment is
in that state, and to call the event dropped would be wrong. Of two decisions of the document's
readers that meet here, C-30 goes before G-06.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from reference_impl.decisions import decision
from reference_impl.tiered.metadata import EventDropped
from reference_impl.tiered.segments import (
    MetadataEvent,
    PartitionDeleteState,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    SegmentState,
)
from reference_impl.tiered.storage import RemoteResourceNotFoundException

_S = SegmentState
_P = PartitionDeleteState

SEGMENT_TRANSITIONS: Final[Mapping[SegmentState | None, tuple[SegmentState, ...]]] = (
    MappingProxyType(
        {
            None: (_S.COPY_SEGMENT_STARTED,),
            _S.COPY_SEGMENT_STARTED: (_S.COPY_SEGMENT_FINISHED, _S.DELETE_SEGMENT_STARTED),
            _S.COPY_SEGMENT_FINISHED: (_S.DELETE_SEGMENT_STARTED,),
            _S.DELETE_SEGMENT_STARTED: (_S.DELETE_SEGMENT_FINISHED,),
            _S.DELETE_SEGMENT_FINISHED: (),
        }
    )
)

PARTITION_DELETE_TRANSITIONS: Final[
    Mapping[PartitionDeleteState | None, tuple[PartitionDeleteState, ...]]
] = MappingProxyType(
    {
        None: (_P.DELETE_PARTITION_MARKED,),
        _P.DELETE_PARTITION_MARKED: (_P.DELETE_PARTITION_STARTED,),
        _P.DELETE_PARTITION_STARTED: (_P.DELETE_PARTITION_FINISHED,),
        _P.DELETE_PARTITION_FINISHED: (),
    }
)


class Outcome(Enum):
    """What became of an event when its turn came."""

    APPLIED = "applied"
    NO_OP = "already so"
    ILLEGAL = "dropped: no such transition"
    FENCED = "dropped: of a leader that was replaced"
    MARKED = "dropped: the partition is marked for deletion"
    UNKNOWN_SEGMENT = "dropped: no such segment"

    @property
    def succeeded(self) -> bool:
        """Whether the publisher is told so."""
        return self in (Outcome.APPLIED, Outcome.NO_OP)


class KnownSegment(NamedTuple):
    """What is known of a segment when an event of it comes.

    ``set_in`` is the leader epoch of the last event, ``started_in`` that of the first.
    """

    state: SegmentState
    set_in: int
    started_in: int


@decision("tiered-segment-transition", rules=("TS-084",))
def segment_transition(before: SegmentState | None, after: SegmentState) -> Outcome:
    """The cell of the table of segment states; an id that is not known can only be started."""
    if before is after:
        return Outcome.NO_OP
    if after in SEGMENT_TRANSITIONS[before]:
        return Outcome.APPLIED
    return Outcome.UNKNOWN_SEGMENT if before is None else Outcome.ILLEGAL


@decision("tiered-partition-delete-transition", rules=("TS-086",))
def partition_delete_transition(
    before: PartitionDeleteState | None, after: PartitionDeleteState
) -> Outcome:
    """The cell of the table of deletion states."""
    if before is after:
        return Outcome.NO_OP
    return Outcome.APPLIED if after in PARTITION_DELETE_TRANSITIONS[before] else Outcome.ILLEGAL


@decision("tiered-marked-blocks-copies", rules=("TS-087",))
def marked_blocks(deletion: PartitionDeleteState | None, after: SegmentState) -> bool:
    """Once a partition is marked, no copy of it begins or finishes."""
    return deletion is not None and after in (_S.COPY_SEGMENT_STARTED, _S.COPY_SEGMENT_FINISHED)


@decision("tiered-fenced", rules=("TS-084",))
def fenced(highest_epoch: int, epoch: int, after: SegmentState, known: KnownSegment | None) -> bool:
    """Whether an event comes too late: a leader with a higher epoch has been heard of.

    A copy that was under way may be finished, and its own leader may take it back: while it is not
    finished, or where that leader itself began to delete it.
    """
    if epoch >= highest_epoch or after is _S.COPY_SEGMENT_FINISHED:
        return False
    if after is _S.COPY_SEGMENT_STARTED or known is None:
        return True
    own = known.started_in == epoch
    taking_back = known.state is _S.COPY_SEGMENT_STARTED or (
        known.state is _S.DELETE_SEGMENT_STARTED and known.set_in == epoch
    )
    return not (own and taking_back)


def judge_segment_event(
    deletion: PartitionDeleteState | None,
    highest_epoch: int,
    known: KnownSegment | None,
    after: SegmentState,
    epoch: int,
) -> Outcome:
    """What becomes of an event of a segment; the three questions of the module."""
    if marked_blocks(deletion, after):
        return Outcome.MARKED
    outcome = segment_transition(known.state if known else None, after)
    if outcome is Outcome.APPLIED and fenced(highest_epoch, epoch, after, known):
        return Outcome.FENCED
    return outcome


def check_added(metadata: RemoteLogSegmentMetadata) -> None:
    """A copy is announced in its first state, or not at all (G-07)."""
    if metadata.state is not _S.COPY_SEGMENT_STARTED:
        raise ValueError(f"a segment is added as COPY_SEGMENT_STARTED, not {metadata.state.name}")


def check_updated(update: RemoteLogSegmentMetadataUpdate) -> None:
    """An update has a later state (G-07)."""
    if update.state is _S.COPY_SEGMENT_STARTED:
        raise ValueError("a segment is not updated to COPY_SEGMENT_STARTED: it is added so")


def tell_publisher(event: MetadataEvent, outcome: Outcome) -> None:
    """Return if the event succeeded, else raise what its publisher has to know."""
    if outcome.succeeded:
        return
    if outcome is Outcome.UNKNOWN_SEGMENT:
        raise RemoteResourceNotFoundException(f"{outcome.value}: {described(event)}")
    raise EventDropped(f"{outcome.value}: {described(event)}")


def described(event: MetadataEvent) -> str:
    """An event in a message: what, of which partition or segment."""
    if isinstance(event, RemoteLogSegmentMetadata | RemoteLogSegmentMetadataUpdate):
        return (
            f"{event.state.name} of segment {event.segment_id.id} of {event.segment_id.partition} "
            f"in leader epoch {event.leader_epoch}"
        )
    return f"{event.state.name} of {event.partition} in epoch {event.epoch}"
