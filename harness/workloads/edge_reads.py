"""What a client reads at the edges of partitions, by steps of the actor `edges`.

Every bound of a log from below, at it and beyond; timestamps and those beside them; all of a log at
every broker; and where a leader sends a reader that says in which rack it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from harness.clients import topic_admin
from harness.clients.answers import UnreadableAnswer
from harness.clients.raw import RawClient
from harness.deployments.at_rest import LOOK_S, PAUSE_S
from harness.deployments.deployment import Deployment
from harness.history.outcome import Outcome
from harness.steps.step import Step
from harness.steps.vocabulary import Vocabulary, verb
from harness.workloads.edge_log import BY, EdgeLog, KnownBatch

EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3
BEYOND = 1000
NO_RACK = "elsewhere"  # the name of a rack in which no broker is
MOST_SEARCHED = 12  # timestamps of one log in one step


class EdgeReads(Vocabulary):
    """What is only read of the logs of one deployment."""

    def __init__(self, on: Deployment) -> None:
        self._on = on
        self._logs: dict[str, EdgeLog] = {}
        self._looks = 0

    @verb(drawn=False)
    async def read(self, step: Step, log: str, most: int = 4) -> None:
        """Read below, at and beyond each bound, inside batches, and by limits of bytes."""
        for one in self._named(log):
            await one.search(LATEST)
            await one.fetch(max(0, one.log_start))
            kept = [each for each in one.batches if each.end > one.log_start][:most]
            for batch in kept:
                await self._read_batch(one, batch)
            await one.fetch(one.end + BEYOND)
            for offset in (one.log_start, max(one.log_start, one.end - 1), one.end):
                await one.fetch(offset, committed=True)
            ends = sorted({one.log_start, one.end})
            for offset in [each + by for each in ends for by in (-1, 0, 1)]:
                if offset >= 0:
                    await one.fetch(offset)

    async def _read_batch(self, log: EdgeLog, batch: KnownBatch) -> None:
        start = max(batch.offset, log.log_start)
        after = next((each for each in log.batches if each.offset == batch.end), None)
        two = batch.size + (0 if after is None else after.size)
        for limit in sorted({1, batch.size - 1, batch.size, batch.size + 1, two - 1, two}):
            await log.fetch(start, max_bytes=limit)
        for offset in range(start + 1, batch.end):
            await log.fetch(offset, max_bytes=batch.size)

    @verb(drawn=False)
    async def search(self, step: Step, log: str) -> None:
        """Look for each timestamp and for those beside it, for the greatest, and for the ends."""
        for one in self._named(log):
            stamps = sorted({at for each in one.batches for _, at in each.records})
            some = stamps[:: max(1, len(stamps) // MOST_SEARCHED)]
            for stamp in sorted({at + by for at in [*some, *stamps[-1:]] for by in (-1, 0, 1)}):
                await one.search(stamp)
            for special in (0, EARLIEST, LATEST, MAX_TIMESTAMP):
                await one.search(special)

    @verb(drawn=False)
    async def read_all(
        self, step: Step, log: str = "*", limit: int = 1 << 20, newest: int = 0
    ) -> None:
        """Read logs from their start to their end, or the newest batches, at every replica."""
        for one in self._named(log):
            await one.search(EARLIEST)
            await one.search(LATEST)
            known = one.batches[-newest:] if newest else ()
            start = max(known[0].offset, one.log_start) if known else one.log_start
            for broker in self._on.brokers:
                if one.leader is None or broker in one.leader.replicas:
                    await self._read_at(one, broker, start, limit)

    async def _read_at(self, log: EdgeLog, broker: int, offset: int, limit: int) -> None:
        tries = 0
        while offset < log.end and tries < 20:
            outcome = await log.fetch(offset, max_bytes=limit, at=broker)
            if outcome is None or outcome.fields.get("error") is None:
                return  # it is not there
            if outcome.type == "ok" and outcome.fields["records"]:
                offset = int(outcome.fields["records"][-1][0]) + 1
            else:  # a follower hears late how far the log is committed, and where it begins
                tries += 1
                offset = max(offset, log.log_start)
                await asyncio.sleep(PAUSE_S * self._on.pace)

    @verb(drawn=False)
    async def near(self, step: Step, log: str, times: int = 3) -> None:
        """Name each rack, and one that is not there; read where the leader says."""
        racks = await self._racks()
        for one in self._named(log):
            await one.search(LATEST)
            for rack in racks * times:
                await self._look_at(one)
                told = await one.fetch(one.end, rack=rack)
                elsewhere = -1 if told is None else told.fields.get("preferred_read_replica", -1)
                if elsewhere in self._on.brokers:
                    await one.fetch(one.log_start, at=elsewhere, rack=rack)
            await self._look_at(one)

    async def _racks(self) -> list[str]:
        """All racks, as a broker tells them, and another one."""
        on = self._on
        if "describe_cluster" in on.lacks:
            return [NO_RACK]
        about = {"node": on.brokers[0], "look": self._looks}
        operation = on.recorder.invoke(BY, "describe_cluster", about)
        client = RawClient(on.network, on.address(on.brokers[0]))
        try:
            outcome = await topic_admin.describe_cluster(client, timeout_s=LOOK_S * on.pace)
        except (OSError, TimeoutError, UnreadableAnswer):
            outcome = Outcome("fail", {"error": None})
        finally:
            client.abort()
        on.recorder.finish(operation, outcome.type, outcome.fields)
        told = outcome.fields.get("brokers", ())
        return [*sorted({rack for _, rack, _ in told if rack}), NO_RACK]

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def _named(self, name: str) -> Sequence[EdgeLog]:
        """One log, all of a topic (`stamps-*`), or all; none if the topic could not be created."""
        if name.endswith("*"):
            return [one for key, one in self._logs.items() if key.startswith(name[:-1])]
        return [self._logs[name]] if name in self._logs else []

    async def _look_at(self, log: EdgeLog) -> None:
        if log.leader is not None or await log.locate() is not None:
            assert log.leader is not None
            self._looks += 1
            await log.ask_leader(BY, log.leader.leader, look=self._looks)
