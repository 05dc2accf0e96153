"""One tiered partition: a client at its edges that also knows where its local part begins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from harness.clients import tier_requests
from harness.clients.raw import RawClient
from harness.history.outcome import Outcome
from harness.history.tier_tables import FOLLOWER_FETCH, LISTED_IN_VERSION
from harness.workloads.edge_log import BY, EdgeLog

EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = -4, -5, -6
NEWEST_LIST = 11
POSITION_FETCH = "fetch_from_position"
NOT_DUE = -1  # how many records are sent is not at issue
FOLLOWER_VERSIONS = (12, 13, 14, 15, 17)
LIST_VERSIONS = (1, 6, 7, 8, 9, 10, 11)
TRIES, PAUSE_S, STORAGE_ERROR = 20, 0.25, 56
STAMPS = (EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING, -7)


@dataclass(slots=True, kw_only=True)
class TierLog(EdgeLog):
    """A partition of a topic of which the lab knows the id, and whether it is tiered."""

    topic_id: str = ""
    tiered: bool = True
    deleted: bool = False
    local_start: int | None = None  # as last heard
    last_tiered: int | None = None
    last_stable: int | None = None

    async def bounds(self) -> bool:
        """Ask where the log starts, where its local part does, what is tiered, where it ends.

        In this order: each of them only rises. Whether all were answered.
        """
        start = await self.search(EARLIEST)
        local = await self.listed(EARLIEST_LOCAL)
        tiered = await self._tiered()
        end = await self.search(LATEST)
        told = (start, local, tiered, end)
        if any(one is None or one.type != "ok" for one in told):
            return False
        self.local_start, self.last_tiered = _offset(local), _offset(tiered)
        self.end = max(self.end, _offset(end))
        return True

    async def stable(self) -> None:
        """Ask how far transactions are decided, by a read at the end."""
        told = await self.fetch(self.end, committed=True)
        known = told is not None and told.type == "ok"
        self.last_stable = int(told.fields["last_stable_offset"]) if told and known else None

    async def _tiered(self) -> Outcome | None:
        """What is tiered; a leader that still reads the metadata topic is asked again."""
        for _ in range(TRIES):
            outcome = await self.listed(LATEST_TIERED)
            if outcome is None or outcome.fields.get("error") != STORAGE_ERROR:
                break
            await asyncio.sleep(PAUSE_S * self.on.pace)
        return outcome

    async def listed(self, timestamp: int) -> Outcome | None:
        """Ask the leader for the offset of a special timestamp, in the newest version."""
        return await self._at_leader_named(
            "list_offsets",
            lambda client, epoch: tier_requests.list_offsets_in(
                client,
                self.tp,
                version=NEWEST_LIST,
                timestamp=timestamp,
                leader_epoch=epoch,
                timeout_s=self.timeout_s,
            ),
            timestamp=timestamp,
            isolation="read_uncommitted",
            version=NEWEST_LIST,
        )

    async def list_in(self, version: int, timestamp: int) -> Outcome | None:
        """Ask for the offset of a timestamp by a version of the request."""
        return await self._at_leader_named(
            LISTED_IN_VERSION,
            lambda client, epoch: tier_requests.list_offsets_in(
                client,
                self.tp,
                version=version,
                timestamp=timestamp,
                leader_epoch=epoch,
                timeout_s=self.timeout_s,
            ),
            timestamp=timestamp,
            version=version,
            tiered=self.tiered,
        )

    async def follow(self, version: int, offset: int) -> Outcome | None:
        """Ask the leader for an offset in the role of one of its followers."""
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        leader = self.leader.leader
        replica = next(one for one in self.leader.replicas if one != leader)
        return await self._at_leader_named(
            FOLLOWER_FETCH,
            lambda client, epoch: tier_requests.fetch_as_follower(
                client,
                self.tp,
                topic_id=self.topic_id,
                version=version,
                replica=replica,
                offset=offset,
                leader_epoch=epoch,
                timeout_s=self.timeout_s,
            ),
            offset=offset,
            version=version,
            replica=replica,
            tiered=self.tiered,
            log_start=self.log_start,
            local_start=self.local_start,
        )

    async def position(self, offset: int, epoch: int) -> None:
        """Fetch from a position and its epoch, as a consumer that has records up to there.

        The leader is asked first where that epoch ends: it has to say the same of both, and to send
        no records if the position is not of its lineage (G-01).
        """
        told = await self.epoch_end(epoch)
        if told is None or told.type != "ok" or int(told.fields["leader_epoch"]) < 0:
            return
        named, end = int(told.fields["leader_epoch"]), int(told.fields["offset"])
        parts = named < epoch or end < offset

        async def fetched(client: RawClient, leader_epoch: int) -> Outcome:
            outcome = await tier_requests.fetch_as_follower(
                client,
                self.tp,
                topic_id=self.topic_id,
                version=tier_requests.BY_EPOCH,
                replica=-1,
                offset=offset,
                leader_epoch=leader_epoch,
                last_fetched_epoch=epoch,
                timeout_s=self.timeout_s,
            )
            if outcome.type != "ok":
                return outcome
            diverging, count = outcome.fields["diverging"], outcome.fields["count"]
            return Outcome("ok", {"error": 0, "value": [*diverging, count if parts else NOT_DUE]})

        due = [named, end, 0] if parts else [-1, -1, NOT_DUE]
        await self._at_leader_named(POSITION_FETCH, fetched, key=f"{offset}@{epoch}", value=due)

    async def _at_leader_named(
        self, f: str, work: Callable[[RawClient, int], Awaitable[Outcome]], **said: Any
    ) -> Outcome | None:
        """Ask the leader, naming its epoch."""
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        named = self.leader.epoch
        outcome = await self._asked(
            BY,
            self.leader.leader,
            f,
            lambda client: work(client, named),
            leader_epoch=named,
            **said,
        )
        return self._heard(outcome)


def _offset(outcome: Outcome | None) -> int:
    return -1 if outcome is None else int(outcome.fields["offset"])
