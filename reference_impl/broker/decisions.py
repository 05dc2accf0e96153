"""The choices of a broker in what it tells clients, each a pure function."""

from __future__ import annotations

from reference_impl.decisions import decision

LARGEST_EPOCH = 2**31 - 1
# Versions of Metadata in which a client may ask what it is allowed to do with the cluster.
_FIRST_WITH_OPERATIONS, _LAST_WITH_OPERATIONS = 8, 10


@decision("next-session-epoch", rules=("KFK-113",))
def next_session_epoch(epoch: int) -> int:
    """The requests of a fetch session are numbered; after the largest number comes 1."""
    return 1 if epoch == LARGEST_EPOCH else epoch + 1


@decision("session-tells", rules=("KFK-113",))
def session_tells(records: bool, watermark_moved: bool, start_moved: bool, special: bool) -> bool:
    """A session leaves out a partition of which the client knows everything already.

    Special are errors, a preferred replica, and logs that diverge.
    """
    return records or watermark_moved or start_moved or special


@decision("tells-cluster-operations", rules=("KFK-117",))
def tells_cluster_operations(version: int, asked: bool) -> bool:
    """Metadata says what a client may do with the cluster in three versions, if it is asked."""
    return _FIRST_WITH_OPERATIONS <= version <= _LAST_WITH_OPERATIONS and asked
