"""What a client does at the edges of partitions, by steps of the actor `edges`.

    edges create   topic=turns partitions=2 configs=min.insync.replicas=2
    edges write    log=stamps-0 batches="0,0,0 5,3,9" codec=gzip    timestamps from now, by batch
    edges produce  log=turns-0 producer=9001 epoch=0 sequence=0 count=2
    edges next     log=turns-0 producer=9001 skip=1                 after its last, one left out
    edges again    log=turns-0 producer=9001 back=4                 the fifth of its last batches
    edges read     log=stamps-0                                     below, at and beyond each bound
    edges search   log=stamps-0                                     beside each timestamp
    edges delete   log=stamps-0 at=middle                           middle, end, beyond, -1…
    edges epochs   log=turns-0                                      known, between, before and after
    edges near     log=turns-0                                      readers that name their rack
    edges elect    log=turns-*                                      the preferred leaders
    edges settle                                                    until all of them are at rest
    edges read-all                                                  every log at every broker

One client does all of it, one thing after the other. Every request is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from harness.clients.admin import Refused, broker_configs, create_topic, elect_preferred
from harness.clients.answers import UnreadableAnswer
from harness.clients.batches import COMPRESSIONS
from harness.clients.operations import Defect
from harness.clients.raw import RawClient
from harness.deployments.at_rest import Elections, Watcher, is_at_rest, who_leads
from harness.deployments.deployment import Deployment
from harness.errors import UsageError
from harness.history.outcome import Outcome
from harness.steps.step import Step
from harness.steps.vocabulary import verb
from harness.workloads.asked_again import AskingAgain
from harness.workloads.edge_log import BY, SEQUENCES, EdgeLog
from harness.workloads.edge_reads import EARLIEST, LATEST, EdgeReads

AGAIN_S = 0.25  # between two attempts
ELECT_S = 2.0  # in which an election is answered
LOST = (OSError, TimeoutError, UnreadableAnswer)
SKIPPED = "skipped"  # in what a step meant: why it was not carried out

SETTINGS = ("producer.id.expiration.ms", "replica.selector.class")


class EdgeSteps(EdgeReads):
    """The logs of one deployment at their edges."""

    actors: ClassVar[Sequence[str]] = (BY,)

    def __init__(
        self,
        on: Deployment,
        watcher: Watcher,
        elections: Elections,
        *,
        campaign: str,
        bound_s: float,
        spared: Callable[[], str],
        in_peace: Callable[[], bool] = lambda: False,
    ) -> None:
        """While `spared` gives a reason, nothing is done; in peace everything is answered."""
        super().__init__(on)
        self.unsound = False
        self._spared = spared
        self._watcher = watcher
        self._elections = elections
        self._campaign = campaign
        self._rest_ms = int(1000 * bound_s)
        self._asking = AskingAgain(on=on, campaign=campaign, bound_s=bound_s, in_peace=in_peace)

    async def resolve(self, step: Step) -> Mapping[str, Any]:
        """A cluster that did not recover is asked for no more than its logs."""
        reason = "" if step.verb == "read-all" else self._spared()
        return {SKIPPED: reason} if reason else {}

    async def carry_out(self, step: Step, meant: Mapping[str, Any]) -> None:
        """Unless it is skipped."""
        if SKIPPED not in meant:
            await super().carry_out(step, meant)

    @verb(drawn=False)
    async def settings(self, step: Step) -> None:
        """Record the time of day, and what the brokers say of their settings."""
        on = self._on
        on.recorder.probe("clock", [{"now_ms": on.now_ms()}])
        for broker in on.brokers if "describe_configs" not in on.lacks else ():
            operation = on.recorder.invoke(BY, "describe_configs", {"node": broker})
            try:
                client = RawClient(on.network, on.address(broker))
                told = await broker_configs(client, broker, SETTINGS)
                on.recorder.finish(operation, "ok", {"error": 0, "value": told})
            except (OSError, TimeoutError, Refused):
                on.recorder.finish(operation, "fail", {"error": None})

    @verb(drawn=False)
    async def create(
        self, step: Step, topic: str, partitions: int, configs: str = "", factor: int = 0
    ) -> None:
        """Create a topic with a replica on every broker or on so many; each leads in its turn."""
        on, brokers = self._on, self._on.brokers
        count = factor or len(brokers)
        said = dict(one.split("=", 1) for one in configs.split(",") if one)
        turned = [
            [*brokers[number % len(brokers) :], *brokers[: number % len(brokers)]][:count]
            for number in range(partitions)
        ]
        at = brokers[0]
        about = {
            "topic": topic,
            "node": at,
            "partitions": partitions,
            "replication_factor": count,
            "assignments": turned,
            "min_insync_replicas": int(said.get("min.insync.replicas", 1)),
            "unclean": False,
            "value": said,
        }
        operation = on.recorder.invoke(BY, "create_topics", about)
        try:
            name = on.recorder.topic(topic)
            client = RawClient(on.network, on.address(at))
            await create_topic(client, name, assignments=turned, configs=said)
        except UnreadableAnswer as nonsense:
            fields = {"error": "UNREADABLE_ANSWER", "detail": str(nonsense)}
            on.recorder.finish(operation, "info", fields)
            return
        except (OSError, TimeoutError, Refused):
            on.recorder.finish(operation, "info", {"error": None})
            return
        on.recorder.finish(operation, "ok", {"error": 0})
        for number in range(partitions):
            log = self._log(topic, number)
            self._logs[f"{topic}-{number}"] = log
            self._watcher.also.append(log.tp)

    @verb(drawn=False)
    async def write(
        self,
        step: Step,
        log: str,
        batches: str,
        acks: int = -1,
        ago: int = 0,
        codec: str = "none",
        size: int = 0,
        timeout: int = 1000,
        defect: str = "none",
    ) -> None:
        """Append batches with these timestamps, counted from now or from as many ms ago."""
        for one in self._named(log):
            now = self._on.now_ms() - ago
            for stamps in str(batches).split():  # one number is read as such
                await one.append(
                    [now + int(each) for each in stamps.split(",")],
                    acks=acks,
                    codec=COMPRESSIONS.index(codec),
                    size=size,
                    timeout_ms=timeout,
                    defect=Defect(defect),
                )

    @verb(drawn=False)
    async def produce(
        self,
        step: Step,
        log: str,
        producer: int,
        epoch: int,
        sequence: int,
        count: int = 1,
        ago: int = 0,
    ) -> None:
        """Append a batch of an idempotent producer."""
        for one in self._named(log):
            stamps = [self._on.now_ms() - ago] * count
            await one.append(stamps, producer=(producer, epoch, sequence % SEQUENCES))

    @verb(drawn=False)
    async def next(
        self, step: Step, log: str, producer: int, count: int = 1, skip: int = 0
    ) -> None:
        """Append the batch that follows a producer's last, or one that leaves some out."""
        for one in self._named(log):
            last = next((b for b in reversed(one.batches) if b.producer[0] == producer), None)
            epoch = 0 if last is None else last.producer[1]
            follows = 0 if last is None else last.producer[2] + len(last.records)
            stamps = [self._on.now_ms()] * count
            await one.append(stamps, producer=(producer, epoch, (follows + skip) % SEQUENCES))

    @verb(drawn=False)
    async def again(self, step: Step, log: str, producer: int, back: int = 0) -> None:
        """Send a batch of a producer again, the last one or an earlier one."""
        for one in self._named(log):
            known = [each for each in one.batches if each.producer[0] == producer]
            if back < len(known):
                await one.again(known[-1 - back])

    @verb(drawn=False)
    async def forget(self, step: Step, log: str, producer: int, sequence: int, bound: int) -> None:
        """Let a producer whose last batch is old begin elsewhere, until it may or time is up."""
        end = self._on.recorder.phase(self._campaign, "forget-producer", bound_s=bound / 1000)
        for one in self._named(log):
            epoch = next((b.producer[1] for b in one.batches if b.producer[0] == producer), 0)

            async def forgotten(one: EdgeLog = one, epoch: int = epoch) -> bool:
                begins = (producer, epoch, sequence)
                outcome = await one.append([self._on.now_ms()], producer=begins)
                return outcome is not None and outcome.type == "ok"

            await self._until(forgotten, bound)
        end()

    @verb(drawn=False)
    async def delete(self, step: Step, log: str, at: str) -> None:
        """Delete up to the middle of a batch, a bound, below one, or beyond the end."""
        for one in self._named(log):
            kept = [each for each in one.batches if each.end > one.log_start]
            long = [each for each in kept if len(each.records) > 1] or kept
            places: dict[str, int] = {
                "middle": long[len(long) // 2].end - 1 if long else 0,
                "start": one.log_start,
                "below": one.log_start - 1,
                "end": one.end,
                "beyond": one.end + 1,
                "-1": -1,
            }
            if at not in places:
                raise UsageError(f"nothing is deleted at {at!r}; there are {', '.join(places)}")
            if at != "below" or one.log_start > 0:
                await one.delete_before(places[at])

    @verb(drawn=False)
    async def epochs(self, step: Step, log: str) -> None:
        """Ask where epochs end, and name older and newer epochs than the leader's, and none."""
        for one in self._named(log):
            if (seen := await one.locate()) is None:
                continue
            await one.epoch_end(-1)
            for epoch in sorted({0, 1, *range(max(0, seen.epoch - 6), seen.epoch + 3)}):
                await one.epoch_end(epoch)
            for named in (seen.epoch - 1, seen.epoch, seen.epoch + 1, -1):
                if named >= -1:
                    await one.search(LATEST, epoch=named)
                    await one.fetch(one.log_start, epoch=named)
                    await one.epoch_end(seen.epoch, current=named)
            await self._look_at(one)

    @verb(drawn=False)
    async def look(self, step: Step, log: str) -> None:
        """Ask the leader who is in sync, and record what it says."""
        for one in self._named(log):
            await self._look_at(one)

    @verb(drawn=False)
    async def retain(self, step: Step, log: str, least: int, bound: int) -> None:
        """Look at the log start until it is at least there, or time is up."""
        for one in self._named(log):
            end = self._on.recorder.phase(self._campaign, "retention", bound_s=bound / 1000)

            async def moved(one: EdgeLog = one) -> bool:
                return _offset(await one.search(EARLIEST)) >= least

            await self._until(moved, bound)
            end()

    @verb(drawn=False)
    async def elect(self, step: Step, log: str) -> None:
        """Ask for the preferred leaders: a broker that came back leads again."""
        on = self._on
        for one in self._named(log):
            self._elections.begin(one.topic)
            client = RawClient(on.network, on.address(on.brokers[0]))
            with suppress(*LOST):
                await elect_preferred(client, one.tp, timeout_s=ELECT_S * on.pace)
            client.abort()

    @verb(drawn=False)
    async def settle(self, step: Step) -> None:
        """Wait until all logs are at rest; nothing is recorded, and nothing promised."""

        async def resting() -> bool:
            for one in self._logs.values():
                if not await self._rests(one):
                    return False
            return True

        self.unsound = not await self._until(resting, self._rest_ms)
        await self._watcher.look()
        for one in self._logs.values():
            one.leader = None

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def _log(self, topic: str, number: int) -> EdgeLog:
        """What is known of a partition that was created."""
        return EdgeLog(on=self._on, topic=topic, partition=number, asking=self._asking)

    async def _rests(self, log: EdgeLog) -> bool:
        on = self._on
        told = await asyncio.gather(*(who_leads(on, one, log.tp) for one in on.brokers))
        return is_at_rest(dict(zip(on.brokers, told, strict=True)))

    async def _until(self, reached: Callable[[], Awaitable[bool]], bound_ms: int) -> bool:
        """Try until it is so; the last attempt begins when the bound is over."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + bound_ms / 1000
        while True:
            last = loop.time() >= deadline
            if await reached():
                return True
            if last:
                return False
            await asyncio.sleep(AGAIN_S)


def _offset(outcome: Outcome | None) -> int:
    known = outcome is not None and outcome.type == "ok"
    return int(outcome.fields["offset"]) if outcome is not None and known else -1
