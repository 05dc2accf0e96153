"""What delimits a log: for whom it begins where, and how far records may be deleted."""

from __future__ import annotations

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode
from reference_impl.partitions.views import Bounds
from reference_impl.replication.decisions import Reader

NOWHERE = Bounds(-1, -1, -1, -1, -1)
TO_HIGH_WATERMARK = -1


@decision("deletion-target", rules=("KFK-065",))
def deletion_target(asked: int, high_watermark: int) -> int | ErrorCode:
    """Records are deleted below an offset that is committed, or below the high watermark."""
    wanted = high_watermark if asked == TO_HIGH_WATERMARK else asked
    return wanted if 0 <= wanted <= high_watermark else ErrorCode.offset_out_of_range


@decision("without-what-is-elsewhere")
def without_what_is_elsewhere(bounds: Bounds, reader: Reader) -> Bounds:
    """A broker without tiered storage serves what is on its disk (C-39).

    Followers hear where the log really begins: they must not delete what is elsewhere.
    """
    kept_from = bounds.log_start_offset if reader is Reader.FOLLOWER else None
    return bounds._replace(log_start_offset=bounds.local_log_start_offset, kept_from=kept_from)
