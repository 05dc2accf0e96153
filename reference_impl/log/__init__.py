"""One replica's log on a disk: segments, indexes, epochs, producers, recovery, retention."""

from reference_impl.log.config import LogConfig
from reference_impl.log.log import Appended, Log, TimestampOffset

__all__ = ["Appended", "Log", "LogConfig", "TimestampOffset"]
