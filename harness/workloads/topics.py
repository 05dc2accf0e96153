"""The topics of a cluster: what is asked of them, and what every broker says of them, recorded.

A topic that is deleted and created again is another topic: histories call it NAME, then NAME#2.

While a cluster settles (`settled`) nothing is recorded but a last look, at which rules judge it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from harness.clients import topic_admin
from harness.clients.answers import UNREADABLE_ANSWER, UnreadableAnswer
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.clients.topic_admin import ToldTopic
from harness.deployments.deployment import Deployment
from harness.history import classify
from harness.history.outcome import Outcome
from harness.workloads.measured import METRICS, is_measured
from harness.workloads.partition_log import UNSUPPORTED_VERSION, PartitionClients
from harness.workloads.settled import UNKNOWN_TOPIC, Fenced, KnownTopic, Look, Told, is_settled

PAUSE_S = 0.2  # between two looks
LOOK_S = 2.0  # in which a broker has to answer
CLEAN_ELECTION = "clean-election"
UNCLEAN = "unclean"
SENDS = 1000  # of one partition at most: sends of a run have names of their own
_LOST = (OSError, TimeoutError)

Key = tuple[str, int]  # a topic as histories call it, and a partition


class Topics:
    """The topics that the steps of a run create. ``down`` are the brokers that cannot answer."""

    def __init__(self, on: Deployment, down: Callable[[], Collection[int]]) -> None:
        self.on = on
        self.looks = 0
        self.unsound = False
        self._down = down
        self._known: list[KnownTopic] = []
        self._clients: dict[Key, PartitionClients] = {}
        self._lossy: list[Key] = []

    @property
    def up(self) -> tuple[int, ...]:
        """The brokers that can answer."""
        down = self._down()
        return tuple(one for one in self.on.brokers if one not in down)

    def topic(self, name: str) -> KnownTopic | None:
        """The topic that has that name in a script now, or had it last."""
        wire = self.on.recorder.topic(name)
        return next((one for one in reversed(self._known) if one.name == wire), None)

    # ── what is asked for ────────────────────────────────────────────────────────────────────────

    async def create(
        self,
        name: str,
        *,
        assignments: Sequence[Sequence[int]],
        partitions: int,
        factor: int,
        min_isr: int,
        unclean: bool,
    ) -> None:
        """Create a topic; one that was there before has another name in histories."""
        wire = self.on.recorder.topic(name)
        lives = sum(one.name == wire for one in self._known)
        topic = KnownTopic(
            called=name if not lives else f"{name}#{lives + 1}",
            name=wire,
            partitions=len(assignments) or partitions,
            min_isr=min_isr,
            unclean=unclean,
        )
        configs = _configs(min_isr, unclean)

        def create(client: RawClient) -> Awaitable[Outcome]:
            return topic_admin.create_topic(
                client,
                wire,
                assignments=assignments,
                partitions=partitions,
                replication_factor=factor,
                configs=configs,
            )

        outcome = await self._asked(
            "create_topics",
            create,
            topic=topic.called,
            partitions=topic.partitions,
            replication_factor=len(assignments[0]) if assignments else factor,
            min_insync_replicas=min_isr,
            unclean=unclean,
            **({"assignments": [list(one) for one in assignments]} if assignments else {}),
        )
        if outcome.type == "ok":
            self._known.append(topic)

    async def delete(self, topic: KnownTopic) -> None:
        """Delete a topic."""
        outcome = await self._asked(
            "delete_topics",
            lambda client: topic_admin.delete_topic(client, topic.name),
            topic=topic.called,
        )
        topic.gone = topic.gone or outcome.type == "ok"

    async def add_partitions(self, topic: KnownTopic, count: int) -> None:
        """Let a topic have so many partitions."""
        outcome = await self._asked(
            "create_partitions",
            lambda client: topic_admin.add_partitions(client, topic.name, count),
            topic=topic.called,
            partitions=count,
        )
        topic.partitions = count if outcome.type == "ok" else topic.partitions

    async def configure(self, topic: KnownTopic, *, min_isr: int, unclean: bool) -> None:
        """Alter the configurations that leaders and their elections depend on."""
        configs = _configs(min_isr, unclean)
        outcome = await self._asked(
            "incremental_alter_configs",
            lambda client: topic_admin.alter_configs(client, topic.name, configs),
            topic=topic.called,
            min_insync_replicas=min_isr,
            unclean=unclean,
        )
        if outcome.type == "ok":
            topic.min_isr, topic.unclean = min_isr, unclean

    async def reassign(
        self, topic: KnownTopic, partition: int, replicas: Sequence[int] | None
    ) -> None:
        """Give a partition other replicas; None calls a reassignment off."""
        tp = TopicPartition(topic.name, partition)
        outcome = await self._asked(
            "alter_partition_reassignments",
            lambda client: topic_admin.reassign(client, tp, replicas),
            topic=topic.called,
            partition=partition,
            replicas=None if replicas is None else list(replicas),
        )
        if outcome.type == "ok":
            topic.targets.pop(partition, None)
            if replicas is not None:
                topic.targets[partition] = tuple(replicas)

    async def list_reassignment(self, topic: KnownTopic, partition: int) -> None:
        """Ask who comes and who goes."""
        tp = TopicPartition(topic.name, partition)
        await self._asked(
            "list_partition_reassignments",
            lambda client: topic_admin.list_reassignment(client, tp),
            topic=topic.called,
            partition=partition,
        )

    async def elect(self, topic: KnownTopic, partition: int, election: str) -> None:
        """Ask for the preferred leader, or for any that is up."""
        if election == UNCLEAN:
            self._may_lose(topic.called, partition)
        tp = TopicPartition(topic.name, partition)
        outcome = await self._asked(
            "elect_leaders",
            lambda client: topic_admin.elect_leader(client, tp, election),
            topic=topic.called,
            partition=partition,
            election=election,
        )
        if outcome.type == "ok" and election != UNCLEAN:
            topic.elected.append(partition)

    def clients(self, topic: KnownTopic, partition: int) -> PartitionClients:
        """The clients that write and read a partition."""
        key = (topic.called, partition)
        if key not in self._clients:
            first = SENDS * len(self._clients)
            made = PartitionClients(on=self.on, topic=topic.called, sends=first)
            made.tp = TopicPartition(topic.name, partition)
            self._clients[key] = made
            if topic.unclean:
                self._may_lose(*key)
        return self._clients[key]

    def written(self) -> list[PartitionClients]:
        """The clients of every partition of topics that are there."""
        there = [one.called for one in self._known if not one.gone]
        return [made for (called, _), made in self._clients.items() if called in there]

    def _may_lose(self, called: str, partition: int) -> None:
        """What was acknowledged may be lost by an unclean election, if anything was."""
        key = (called, partition)
        if key in self._clients and key not in self._lossy:
            self._lossy.append(key)
            self.on.recorder.suspend_assumption(CLEAN_ELECTION, f"{called}-{partition}")

    # ── what is told ─────────────────────────────────────────────────────────────────────────────

    async def settle(self, bound_s: float) -> tuple[bool, int]:
        """Look until the cluster is settled or the bound is over; whether, and how many looks.

        The last look is recorded.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + bound_s
        looks = 0
        while True:
            looks += 1
            last = loop.time() >= deadline
            if last or is_settled(await self._look(), self._known, self._down()):
                looks += 1
                if is_settled(await self.look(), self._known, self._down()) or last:
                    for topic in self._known:
                        topic.elected.clear()
                    return not last, looks
            await asyncio.sleep(PAUSE_S * self.on.pace)

    async def adopt(self) -> None:
        """Look at all topics of the cluster from now on, whoever created them."""
        for broker in self.up[:1]:
            with suppress(*_LOST):
                told = await self._over(broker, self._describe_all)
                self._known += [
                    KnownTopic(
                        called=name, name=name, partitions=len(topic.partitions), adopted=True
                    )
                    for name, topic in told.items()
                    if name not in self._names()
                ]

    async def measure(self, bound_s: float) -> int:
        """Record the metrics of all nodes once they fit what is told, or the bound is over."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + bound_s
        looks = 0
        while True:
            looks += 1
            rows = await self.on.probe(METRICS)
            if loop.time() >= deadline or is_measured(rows, await self._look(), self._known):
                self.on.recorder.probe(METRICS, rows)
                return looks
            await asyncio.sleep(PAUSE_S * self.on.pace)

    async def look(self) -> Look:
        """Ask every broker that is up, and record what it says."""
        self.looks += 1
        up = self.up
        await asyncio.gather(*(self._cluster_recorded(one) for one in up))
        told = await asyncio.gather(*(self._topics_recorded(one) for one in up))
        fenced = await asyncio.gather(*(self._fenced(one) for one in up))
        return Look(
            topics=dict(zip(up, told, strict=True)), fenced=dict(zip(up, fenced, strict=True))
        )

    async def _look(self) -> Look:
        up = self.up
        told = await asyncio.gather(*(self._topics(one) for one in up))
        fenced = await asyncio.gather(*(self._fenced(one) for one in up))
        return Look(
            topics=dict(zip(up, told, strict=True)), fenced=dict(zip(up, fenced, strict=True))
        )

    def _names(self) -> list[str]:
        return list(dict.fromkeys(one.name for one in self._known))

    async def _topics(self, broker: int) -> Told | None:
        try:
            told: Told = await self._over(broker, self._describe)
        except _LOST:
            return None
        return told

    async def _fenced(self, broker: int) -> Fenced | None:
        try:
            outcome = await self._over(broker, self._describe_cluster)
        except _LOST:
            return None
        listed = outcome.fields.get("brokers")
        return None if listed is None else {one: fenced for one, _, fenced in listed}

    def _describe(self, client: RawClient) -> Awaitable[Told]:
        return topic_admin.describe_topics(client, self._names(), timeout_s=LOOK_S * self.on.pace)

    def _describe_all(self, client: RawClient) -> Awaitable[Told]:
        return topic_admin.describe_topics(client, [], timeout_s=LOOK_S * self.on.pace)

    def _describe_cluster(self, client: RawClient) -> Awaitable[Outcome]:
        return topic_admin.describe_cluster(client, timeout_s=LOOK_S * self.on.pace)

    async def _cluster_recorded(self, broker: int) -> None:
        await self._recorded(
            f"lab-cluster-{broker}", broker, "describe_cluster", self._describe_cluster
        )

    async def _topics_recorded(self, broker: int) -> Told | None:
        """One operation for each partition, all of one request."""
        recorder, f = self.on.recorder, "describe_topic_partitions"
        shared = {"node": broker, "look": self.looks, "request": f"look-{self.looks}-{broker}"}
        asked = [
            (topic, partition)
            for topic in self._asked_about()
            for partition in range(topic.partitions)
        ]
        operations = [
            recorder.invoke(
                f"lab-{broker}-{topic.called}-{partition}",
                f,
                {"topic": topic.called, "partition": partition, **shared},
            )
            for topic, partition in asked
        ]
        told, ending = None, Outcome("fail", {"error": None})
        try:
            told = await self._over(broker, self._describe)
        except UnreadableAnswer as nonsense:
            ending = Outcome("fail", {"error": UNREADABLE_ANSWER, "detail": str(nonsense)})
        except _LOST:
            pass
        for operation, (topic, partition) in zip(operations, asked, strict=True):
            outcome = ending if told is None else _outcome(told.get(topic.name), partition)
            recorder.finish(operation, outcome.type, outcome.fields)
        return told

    def _asked_about(self) -> list[KnownTopic]:
        """Of several topics that had one name, the last."""
        return list({one.name: one for one in self._known}.values())

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    async def _asked(
        self, f: str, work: Callable[[RawClient], Awaitable[Outcome]], **about: Any
    ) -> Outcome:
        """Ask one of the brokers that are up, another one each time."""
        self.looks += 1
        up = self.up or self.on.brokers
        broker = up[self.looks % len(up)]
        return await self._recorded(f"lab-admin-{f}", broker, f, work, **about)

    async def _recorded(
        self,
        by: str,
        broker: int,
        f: str,
        work: Callable[[RawClient], Awaitable[Outcome]],
        **about: Any,
    ) -> Outcome:
        if f in self.on.lacks:
            return Outcome("fail", {"error": UNSUPPORTED_VERSION})
        operation = self.on.recorder.invoke(by, f, {**about, "node": broker, "look": self.looks})
        try:
            outcome: Outcome = await self._over(broker, work)
        except UnreadableAnswer as nonsense:
            fields = {"error": UNREADABLE_ANSWER, "detail": str(nonsense)}
            outcome = Outcome(classify(f, UNREADABLE_ANSWER), fields)
        except _LOST:
            outcome = Outcome(classify(f, None), {"error": None})
        self.on.recorder.finish(operation, outcome.type, outcome.fields)
        return outcome

    async def _over(self, broker: int, work: Callable[[RawClient], Awaitable[Any]]) -> Any:
        client = RawClient(self.on.network, self.on.address(broker))
        try:
            return await work(client)
        finally:
            client.abort()


def _configs(min_isr: int, unclean: bool) -> dict[str, str]:
    return {
        "min.insync.replicas": str(min_isr),
        "unclean.leader.election.enable": "true" if unclean else "false",
    }


def _outcome(topic: ToldTopic | None, partition: int) -> Outcome:
    if topic is None or topic.error:
        error = UNKNOWN_TOPIC if topic is None else topic.error
        return Outcome("fail", {"error": error})
    told = topic.partitions.get(partition)
    if told is None:
        return Outcome("fail", {"error": UNKNOWN_TOPIC})
    return Outcome("ok", {**told.fields(), "topic_id": topic.topic_id})
