"""What a leader knows of its followers: it hears from them only by their fetches."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = -1
NEVER_MS = 1 << 62


@dataclass(slots=True)
class Follower:
    """One follower as its fetches show it; times are the leader's own, in milliseconds."""

    log_end_offset: int = UNKNOWN
    log_start_offset: int = UNKNOWN
    last_caught_up_ms: int | None = None
    last_fetch_ms: int | None = None
    leaders_end_at_last_fetch: int = UNKNOWN
    broker_epoch: int | None = None

    def reset(self, *, now_ms: int, leaders_end: int, was_leader: bool, in_sync: bool) -> None:
        """An epoch begins. Who is in sync has the full lag to show it, nobody else counts."""
        self.last_caught_up_ms = now_ms if in_sync else None
        if was_leader:
            self.leaders_end_at_last_fetch = leaders_end
            self.last_fetch_ms = now_ms if in_sync else None
        else:
            self.log_end_offset = UNKNOWN
            self.log_start_offset = UNKNOWN
            self.leaders_end_at_last_fetch = UNKNOWN
            self.last_fetch_ms = None
            self.broker_epoch = None

    def fetched(
        self, *, offset: int, log_start_offset: int, now_ms: int, leaders_end: int, epoch: int
    ) -> None:
        """It asked for what comes from ``offset`` on, and so has everything before.

        It was caught up when it asked, if it asked for the end of the log; or when it last asked,
        if it has by now what was the end of the log then.
        """
        if offset >= leaders_end:
            self.last_caught_up_ms = now_ms
        elif offset >= self.leaders_end_at_last_fetch and self.last_fetch_ms is not None:
            self.last_caught_up_ms = max(self.last_caught_up_ms or 0, self.last_fetch_ms)
        self.log_end_offset = offset
        self.log_start_offset = log_start_offset
        self.leaders_end_at_last_fetch = max(leaders_end, self.leaders_end_at_last_fetch)
        self.last_fetch_ms = now_ms
        self.broker_epoch = epoch

    def since_caught_up_ms(self, now_ms: int) -> int:
        """How long ago it last had everything."""
        return NEVER_MS if self.last_caught_up_ms is None else now_ms - self.last_caught_up_ms
