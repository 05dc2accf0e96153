"""What a client reads of tiered partitions, by steps of the actor `tiers`.

Every special timestamp in every version, fetches in the role of a follower, every bound of the
tiers at every broker, several partitions in one fetch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.clients.raw import RawClient
from harness.clients.tier_requests import fetch_together
from harness.deployments.at_rest import who_leads
from harness.history.outcome import Outcome
from harness.steps.step import Step
from harness.steps.vocabulary import verb
from harness.workloads.edge_log import BY
from harness.workloads.edge_steps import LOST, EdgeSteps
from harness.workloads.tier_log import FOLLOWER_VERSIONS, LIST_VERSIONS, STAMPS, TierLog

ASK_S = 5.0
WAITING = f"{BY}+waiting"  # the process that waits while others ask


class TierReads(EdgeSteps):
    """What is only read of tiered logs."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._requests = 0

    @verb(drawn=False)
    async def locate(self, step: Step, log: str) -> None:
        """Find out anew who leads, by the latest epoch that any broker knows."""
        for one in self._tiers(log):
            one.lost = False
            if (seen := await one.locate()) is None:
                continue
            told = [await who_leads(self._on, broker, one.tp) for broker in self._on.brokers]
            known = [each for each in told if each is not None and each.leader in self._on.brokers]
            one.leader = max([seen, *known], key=lambda each: each.epoch)

    @verb(drawn=False)
    async def versions(self, step: Step, log: str) -> None:
        """List special timestamps by every version of the request that matters."""
        for one in self._tiers(log):
            for version in LIST_VERSIONS:
                for stamp in STAMPS:
                    await one.list_in(version, stamp)

    @verb(drawn=False)
    async def follow(self, step: Step, log: str) -> None:
        """Fetch in the role of a follower: below, at and beyond each bound."""
        for one in self._tiers(log):
            if not await one.bounds() or one.local_start is None:
                continue
            places = {one.log_start - 1, one.log_start, one.local_start - 1, one.local_start}
            for version in FOLLOWER_VERSIONS:
                for offset in sorted(place for place in places if place >= 0):
                    await one.follow(version, offset)

    @verb(drawn=False)
    async def positions(self, step: Step, log: str, most: int = 6) -> None:
        """Fetch from both sides of the end of each epoch, naming the epoch of the position."""
        for one in self._tiers(log):
            if not await one.bounds() or one.leader is None:
                continue
            latest = one.leader.epoch
            for epoch in range(max(0, latest - most), latest + 1):
                told = await one.epoch_end(epoch)
                if told is None or told.type != "ok":
                    continue
                end = int(told.fields["offset"])
                for offset in sorted({one.log_start, end - 1, end, end + 1, one.end}):
                    if one.log_start <= offset <= one.end:
                        await one.position(offset, epoch)

    @verb(drawn=False)
    async def walk(self, step: Step, log: str, most: int = 60) -> None:
        """Read at each bound of the tiers, from each batch on and from inside it, everywhere."""
        for one in self._tiers(log):
            if not await one.bounds() or one.local_start is None:
                continue
            edge, end = one.local_start, one.end
            for offset in sorted({one.log_start, edge - 1, edge, edge + 1, end - 1, end}):
                if offset >= 0:
                    await one.fetch(offset)
                    await one.fetch(offset, max_bytes=1)
                    await one.fetch(offset, committed=True)
            kept = [each for each in one.batches if each.end > one.log_start]
            for batch in kept[:: max(1, len(kept) * len(self._on.brokers) // most)]:
                for broker in self._on.brokers:
                    await one.fetch(max(batch.offset, one.log_start), max_bytes=1, at=broker)
                await one.fetch(batch.end - 1, max_bytes=1)

    @verb(drawn=False)
    async def below(self, step: Step, log: str) -> None:
        """Read just below the log start, at every broker: no replica has that any more."""
        for one in self._tiers(log):
            for broker in self._on.brokers if one.log_start > 0 else ():
                await one.fetch(one.log_start - 1, max_bytes=1, at=broker)

    @verb(drawn=False)
    async def through(self, step: Step, log: str, bound: int) -> None:
        """Read at the leader from the log start to the end; it has so long to serve all of it."""
        for one in self._tiers(log):
            if await one.bounds() and one.leader is not None:
                await self._read_through(one, one.leader.leader, bound)

    async def _read_through(self, log: TierLog, leader: int, bound: int) -> None:
        at, end = log.log_start, log.end
        about = {"topic": log.topic, "partition": log.partition, "node": leader}
        said = {**about, "value": [at, end]}
        operation = self._on.recorder.invoke(BY, "read_through", said, seat=WAITING)

        async def read_on() -> bool:
            nonlocal at
            while at < end:
                outcome = await log.fetch(at)
                records = outcome.fields.get("records") if outcome is not None else None
                if not records:
                    return False
                at = int(records[-1][0]) + 1
            return True

        done = await self._until(read_on, bound)
        self._on.recorder.finish(operation, "ok" if done else "fail", {"value": at})

    @verb(drawn=False)
    async def scan(self, step: Step, log: str) -> None:
        """Read at the leader from every batch on that is in the remote tier alone."""
        for one in self._tiers(log):
            if not await one.bounds() or one.local_start is None:
                continue
            for batch in one.batches:
                if one.log_start < batch.end and batch.offset < one.local_start:
                    await one.fetch(max(batch.offset, one.log_start), max_bytes=1)
            await one.bounds()

    @verb(drawn=False)
    async def touch(self, step: Step, log: str, most: int = 3) -> None:
        """Read at the leader: some batches of each tier, and the bounds between; search both."""
        for one in self._tiers(log):
            if not await one.bounds() or one.local_start is None:
                continue
            remote = [each for each in one.batches if each.offset < one.local_start]
            local = [each for each in one.batches if each.offset >= one.local_start]
            for batch in (*remote[-most:], *local[:most]):
                await one.fetch(max(batch.offset, one.log_start))
            await one.bounds()

    @verb(drawn=False)
    async def together(self, step: Step, topic: str, most: int = 40) -> None:
        """Read the partitions that a broker leads in one fetch, in turning order, to their ends."""
        for broker in self._on.brokers:
            logs = [
                one
                for one in self._tiers(f"{topic}*")
                if await one.bounds() and one.leader is not None and one.leader.leader == broker
            ]
            at = {_name(one): one.log_start for one in logs}
            for turn in range(most):
                left = [one for one in logs if at[_name(one)] < one.end]
                if not left:
                    break
                turned = [*left[turn % len(left) :], *left[: turn % len(left)]]
                for one, after in await self._fetched(broker, turned, at):
                    at[_name(one)] = after

    async def _fetched(
        self, broker: int, logs: Sequence[TierLog], at: dict[str, int]
    ) -> list[tuple[TierLog, int]]:
        on = self._on
        self._requests += 1
        request = f"{self._campaign}-together-{self._requests}"
        operations = [
            on.recorder.invoke(
                BY,
                "fetch",
                {
                    "topic": one.topic,
                    "partition": one.partition,
                    "node": broker,
                    "offset": at[_name(one)],
                    "isolation": "read_uncommitted",
                    "request": request,
                },
                seat=f"{BY}+{number}",
            )
            for number, one in enumerate(logs)
        ]
        client = RawClient(on.network, on.address(broker))
        asked = [(one.tp, at[_name(one)]) for one in logs]
        try:
            outcomes = await fetch_together(
                client, asked, max_bytes=1 << 20, max_wait_ms=500, timeout_s=ASK_S
            )
        except LOST:
            outcomes = [Outcome("fail", {"error": None})] * len(logs)
        finally:
            client.abort()
        found = []
        for operation, one, outcome in zip(operations, logs, outcomes, strict=True):
            on.recorder.finish(operation, outcome.type, outcome.fields)
            records = outcome.fields.get("records") or []
            found.append((one, records[-1][0] + 1 if records else at[_name(one)]))
        return found

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def _tiers(self, name: str) -> list[TierLog]:
        """The logs of that name that are there."""
        return [one for one in self._named(name) if isinstance(one, TierLog)]


def _name(log: TierLog) -> str:
    return f"{log.topic}-{log.partition}"
