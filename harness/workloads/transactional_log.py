"""One partition that transactions write to: a client that reads its batches and markers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.clients import transactions
from harness.clients.raw import RawClient
from harness.history.outcome import Outcome
from harness.history.transaction_tables import ACTIVE_PRODUCERS
from harness.workloads.edge_log import BY, EdgeLog

SMALL_BYTES = 160  # one or two batches


@dataclass(slots=True, kw_only=True)
class TransactionalLog(EdgeLog):
    """A partition whose fetches tell of markers and of aborted transactions."""

    stable: int = 0  # the last stable offset, as its leader named it last

    @property
    def name(self) -> str:
        """As steps call it."""
        return f"{self.topic}-{self.partition}"

    async def _fetched(self, client: RawClient, **how: Any) -> Outcome:
        how.pop("rack", None)
        outcome = await transactions.fetch(client, self.tp, **how)
        if outcome.type == "ok":
            self.stable = int(outcome.fields["last_stable_offset"])
        return outcome

    async def read_whole(self, at: int = -1) -> None:
        """All of it, as a reader of each kind; a tiered log is given segment by segment."""
        for committed in (False, True):
            offset, upto = self.log_start, -1
            while offset != upto:
                outcome = await self.fetch(offset, max_bytes=1 << 22, at=at, committed=committed)
                if outcome is None or outcome.type != "ok" or not outcome.fields["batches"]:
                    break
                after = int(outcome.fields["batches"][-1][1]) + 1
                if after <= offset:
                    break  # an answer that leads nowhere is judged by what it is
                offset = after
                upto = outcome.fields["last_stable_offset" if committed else "high_watermark"]

    async def walk(self, at: int = -1, most: int = 60) -> None:
        """Committed records in small pieces, from wherever the last piece ended."""
        offset = self.log_start
        for _ in range(most):
            outcome = await self.fetch(offset, max_bytes=SMALL_BYTES, at=at, committed=True)
            if outcome is None or outcome.type != "ok" or not outcome.fields["batches"]:
                return
            offset = int(outcome.fields["batches"][-1][1]) + 1

    async def producers(self) -> Outcome | None:
        """Whom the leader remembers, and who has a transaction open."""
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        outcome = await self._asked(
            BY,
            self.leader.leader,
            ACTIVE_PRODUCERS,
            lambda client: transactions.describe_producers(client, self.tp),
        )
        return self._heard(outcome)
