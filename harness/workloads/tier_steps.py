"""What a client does to tiered partitions, by steps of the actor `tiers`: all verbs of `edges`, and

tiers create     topic=small partitions=2 configs=remote.storage.enable=true,…
tiers await      log=small-* what=copied keep=3 bound=20000    copied, local, resumed
tiers versions   log=small-0                  ListOffsets in all versions, each special timestamp
tiers follow     log=small-0                  fetches in the role of a follower, at every bound
tiers positions  log=small-0                  fetches that name the epoch of their position
tiers walk       log=small-0                  from each batch on, at every broker, by limits
tiers below      log=small-0                  just below the log start, at every broker
tiers together   topic=small                  several partitions in one fetch, in turning order
tiers look       form=kafka4 bound=20000      metadata topic, store and bounds, once at rest
tiers configure  case=disable topic=small change=remote.storage.enable=false
tiers delete-topic topic=small                and `recreate`, `removed`
tiers rebuilt    log=small-0                  what a replica has after its disk was lost
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

from harness.clients import topic_admin
from harness.clients.admin import Refused
from harness.clients.raw import RawClient
from harness.clients.tier_requests import change_configs, topic_configs
from harness.clients.topic_admin import describe_topics
from harness.errors import UsageError
from harness.history.outcome import Outcome
from harness.history.tier_tables import ENDS
from harness.steps.step import Step
from harness.steps.vocabulary import verb
from harness.workloads.edge_log import BY, EdgeLog
from harness.workloads.edge_steps import LOST
from harness.workloads.tier_log import EARLIEST_LOCAL, LATEST_TIERED, TierLog
from harness.workloads.tier_looks import (
    METADATA_TOPIC,
    Found,
    bounds_row,
    look_at_tiers,
    rows_of,
)
from harness.workloads.tier_reads import ASK_S, WAITING
from harness.workloads.tier_transactions import TierTransactions

TIERS = "tiers"
QUIET_S = 2.5  # in which nothing changes at rest: longer than the interval of any task
LOOKS_S = 0.5
AFTER_FAILURE_MS = 500  # what failed once has failed: it is not waited for as long again
SHOWN = ("cleanup.policy", "local.retention.bytes", "local.retention.ms", "remote.storage.enable")
SHIPPED = "shipped"  # of which nothing is promised
_TIMES = {
    "copied": LATEST_TIERED,
    "resumed": LATEST_TIERED,
    SHIPPED: LATEST_TIERED,
    "local": EARLIEST_LOCAL,
}


class TierSteps(TierTransactions):
    """The tiered logs of one deployment."""

    actors: ClassVar[Sequence[str]] = (TIERS,)

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._late: dict[str, None] = {}  # what did not come in time once
        self._gone: list[EdgeLog] = []  # of topics that were deleted
        self._emptied: dict[str, int] = {}  # the earliest local offset when a disk was emptied

    # ── topics ───────────────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def create(
        self, step: Step, topic: str, partitions: int, configs: str = "", replicas: str = ""
    ) -> None:
        """Create a topic with replicas on every broker, or on these, led by one after the other."""
        on = self._on
        brokers = tuple(int(one) for one in replicas.split(",") if one) or on.brokers
        said = dict(one.split("=", 1) for one in configs.split(",") if one)
        turned = [
            [*brokers[number % len(brokers) :], *brokers[: number % len(brokers)]]
            for number in range(partitions)
        ]
        about = {
            "topic": topic,
            "node": on.brokers[0],
            "partitions": partitions,
            "replication_factor": len(brokers),
            "assignments": turned,
            "min_insync_replicas": int(said.get("min.insync.replicas", 1)),
            "unclean": said.get("unclean.leader.election.enable") == "true",
            "value": said,
        }
        wire = on.recorder.topic(topic.partition("#")[0])
        outcome = await self._admin(
            "create_topics",
            about,
            lambda client: topic_admin.create_topic(client, wire, assignments=turned, configs=said),
        )
        if outcome.type != "ok":
            return
        if about["unclean"]:
            on.recorder.suspend_assumption("clean-election", f"{topic} may lose records")
        for number in range(partitions):
            log = TierLog(
                on=on,
                topic=topic,
                partition=number,
                topic_id=str(outcome.fields["topic_id"]),
                tiered=said.get("remote.storage.enable") == "true",
            )
            log.tp = type(log.tp)(wire, number)
            self._logs[f"{topic}-{number}"] = log
            self._watcher.also.append(log.tp)

    @verb(drawn=False)
    async def delete_topic(self, step: Step, topic: str) -> None:
        """Delete a topic."""
        logs = self._tiers(f"{topic}-*")
        name = self._on.recorder.topic(topic.partition("#")[0])
        about = {"topic": topic, "node": self._on.brokers[0]}
        await self._admin(
            "delete_topics", about, lambda client: topic_admin.delete_topic(client, name)
        )
        for log in logs:
            log.deleted = True
            self._gone.append(self._logs.pop(f"{log.topic}-{log.partition}"))
            self._watcher.also.remove(log.tp)

    @verb(drawn=False)
    async def empty(self, step: Step, topic: str) -> None:
        """Ask where a topic that was created again begins and ends."""
        for log in self._tiers(f"{topic}-*"):
            about = {"topic": topic, "partition": log.partition, "node": self._on.brokers[0]}
            operation = self._on.recorder.invoke(BY, "created_again", about, seat=WAITING)
            told = await log.bounds()
            value = [log.log_start, log.end] if told else None
            self._on.recorder.finish(operation, "ok" if told else "fail", {"value": value})

    @verb(drawn=False)
    async def removed(self, step: Step, topic: str, form: str, bound: int) -> None:
        """Wait until the store has nothing left of a topic that was deleted."""
        logs = [one for one in self._gone if isinstance(one, TierLog) and one.topic == topic]
        if not logs or "objects" not in self._on.probes:
            return
        left: list[str] = []

        async def gone() -> bool:
            found = await self._found(form)
            if found is None:
                return False
            rows = rows_of(found, logs, look=0, resting=False)["remote_objects"]
            left[:] = [str(row["object_key"]) for row in rows if row["topic"] == topic]
            return not left

        await self._awaited("removed", logs[0], {"topic": topic}, gone, bound, lambda: left[:3])

    @verb(drawn=False)
    async def settle(self, step: Step) -> None:
        """Wait until all replicas of all logs are in sync, each of them within the bound."""
        self.unsound = False
        for log in self._tiers("*"):

            async def resting(log: TierLog = log) -> bool:
                return await self._rests(log)

            self.unsound |= not await self._awaited(
                "in-sync", log, {}, resting, self._rest_ms, lambda: None
            )
            log.leader = None
        await self._watcher.look()

    # ── waiting ──────────────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def await_(self, step: Step, log: str, what: str, bound: int, keep: int = 3) -> None:
        """Wait until all but the last batches are copied, or no longer local."""
        if what not in _TIMES:
            raise UsageError(f"{what} cannot be waited for; there are {', '.join(_TIMES)}")
        for one in self._tiers(log):
            kept = one.batches[:-keep] if keep else one.batches
            if not kept:
                continue
            least = kept[-1].end if what == "local" else kept[-1].end - 1
            await self._offset_awaited(what, one, least, bound)

    async def _offset_awaited(self, what: str, log: TierLog, least: int, bound: int) -> None:
        told = -1

        async def reached() -> bool:
            nonlocal told
            outcome = await log.listed(_TIMES[what])
            if outcome is not None and outcome.type == "ok":
                told = int(outcome.fields["offset"])
            return told >= least

        await self._awaited(what, log, {"least": least}, reached, bound, lambda: told)

    async def _awaited(
        self,
        what: str,
        log: TierLog,
        wanted: dict[str, Any],
        reached: Callable[[], Awaitable[bool]],
        bound: int,
        came: Callable[[], Any],
    ) -> bool:
        about = {"topic": log.topic, "partition": log.partition, "node": self._on.brokers[0]}
        said = {"key": what, "value": {**wanted, "bound_ms": bound}}
        operation = self._on.recorder.invoke(BY, "await_tier", {**about, **said}, seat=WAITING)
        done = await self._until(reached, AFTER_FAILURE_MS if what in self._late else bound)
        if not done and what != SHIPPED:
            self._late[what] = None
        self._on.recorder.finish(operation, "ok" if done else "fail", {"value": came()})
        return done

    # ── looking ──────────────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def look_at_tiers(self, step: Step, form: str, bound: int) -> None:
        """Record metadata topic, store and bounds once nothing changes any more."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + bound / 1000
        found = await self._found(form)
        since = loop.time()
        while loop.time() < deadline:
            if found is not None and not found.busy and loop.time() - since >= QUIET_S:
                break
            await asyncio.sleep(LOOKS_S)
            again = await self._found(form)
            if again != found:
                found, since = again, loop.time()
        if found is None:
            return
        resting = loop.time() - since >= QUIET_S
        self._looks += 1
        every = [*self._logs.values(), *self._gone]
        known = [one for one in every if isinstance(one, TierLog)]
        rows = dict(rows_of(found, known, look=self._looks, resting=resting))
        live = [one for one in known if not one.deleted]
        rows[ENDS] = []
        for one in live:
            if await one.bounds():
                await one.stable()
                rows[ENDS].append(bounds_row(one, look=self._looks, resting=resting))
        for what, found_rows in rows.items():
            self._on.recorder.probe(what, found_rows)

    async def _found(self, form: str) -> Found | None:
        try:
            return await look_at_tiers(self._on, form)
        except (*LOST, KeyError):
            return None

    # ── configurations ───────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def configure(
        self, step: Step, case: str, topic: str, change: str = "", remove: str = ""
    ) -> None:
        """Change configurations of a topic, which is refused or not."""
        said = dict(one.split("=", 1) for one in change.split(",") if one)
        gone = [one for one in remove.split(",") if one]
        name = self._on.recorder.topic(topic)
        outcome = await self._admin(
            "configure_tier",
            {"topic": topic, "key": case, "value": {"set": said, "remove": gone}},
            lambda client: change_configs(client, name, said, gone, timeout_s=ASK_S),
        )
        if outcome.type == "ok" and said.get("remote.storage.enable") == "true":
            for log in self._tiers(f"{topic}-*"):
                log.tiered = True

    @verb(drawn=False)
    async def try_to_create(self, step: Step, case: str, configs: str) -> None:
        """Ask for a topic that is refused or not, and delete it if it is not."""
        said = dict(one.split("=", 1) for one in configs.split(",") if one)
        name = self._on.recorder.topic(f"tried-{case}")
        outcome = await self._admin(
            "configure_tier",
            {"key": case, "value": {"create": said}},
            lambda client: topic_admin.create_topic(
                client, name, partitions=1, replication_factor=1, configs=said
            ),
        )
        if outcome.type == "ok":
            client = RawClient(self._on.network, self._on.address(self._on.brokers[0]))
            await topic_admin.delete_topic(client, name)
            client.abort()

    @verb(drawn=False)
    async def describe(self, step: Step, case: str, topic: str) -> None:
        """Ask for the configurations of a topic, and how many partitions and replicas it has."""
        on = self._on
        name = topic if topic == METADATA_TOPIC else on.recorder.topic(topic)

        async def ask(client: RawClient) -> Outcome:
            told = await topic_configs(client, name, timeout_s=ASK_S)
            described = (await describe_topics(client, [name], timeout_s=ASK_S))[name]
            partitions = described.partitions
            value: dict[str, Any] = {key: told[key] for key in SHOWN if key in told}
            value |= {"retention.ms": told.get("retention.ms"), "partitions": len(partitions)}
            value["replicas"] = min((len(one.replicas) for one in partitions.values()), default=0)
            return Outcome("ok", {"error": 0, "value": value})

        await self._admin("describe_tier", {"key": case}, ask)

    async def _admin(
        self, f: str, about: dict[str, Any], ask: Callable[[RawClient], Awaitable[Outcome]]
    ) -> Outcome:
        """Ask the first broker that answers, and record it."""
        on = self._on
        at = int(about.get("node", on.brokers[0]))
        operation = on.recorder.invoke(BY, f, {"node": at, **about})
        client = RawClient(on.network, on.address(at))
        try:
            outcome = await ask(client)
        except (*LOST, Refused):
            outcome = Outcome("info", {"error": None})
        finally:
            client.abort()
        on.recorder.finish(operation, outcome.type, outcome.fields)
        return outcome

    # ── replicas that lost their disks ───────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def note(self, step: Step, log: str) -> None:
        """Remember where the local part begins: a disk is about to be lost."""
        for one in self._tiers(log):
            if await one.bounds() and one.local_start is not None:
                self._emptied[f"{one.topic}-{one.partition}"] = one.local_start

    @verb(drawn=False)
    async def rebuilt(self, step: Step, log: str) -> None:
        """Ask the leader, whose disk was lost since, where its local part begins."""
        for one in self._tiers(log):
            noted = self._emptied.get(f"{one.topic}-{one.partition}")
            if noted is None or not await one.bounds():
                continue
            about = {"topic": one.topic, "partition": one.partition, "value": noted}
            node = one.leader.leader if one.leader is not None else -1
            operation = self._on.recorder.invoke(BY, "rebuilt_replica", {**about, "node": node})
            self._on.recorder.finish(operation, "ok", {"value": one.local_start})
