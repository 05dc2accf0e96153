"""What is asked of topics by steps, and waiting until the cluster is settled.

    admin  create-topic    name=m on="1,2,3;2,1,3" min_isr=2      replicas as they are to be
    admin  create-topic    name=x partitions=12 factor=2          wherever the controller likes
    admin  reassign        topic=m partition=0 replicas=2,3       `none` calls it off
    admin  elect           topic=m partition=0 how=preferred
    admin  append-to       topic=m partition=0 acks=-1
    admin  watch           topic=m partition=0 times=20 ms=50     append and look in turns
    lab    settle                                                 until all is as it has to be
    lab    settle-and-measure                                     the same, and read all metrics
    lab    look-at-topics                                         once, at this moment

A step about a topic that could not be created does nothing. A cluster that does not settle is asked
nothing more and hurt no more (`unsound`): what it shows at the end of the bound is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.steps.step import ADMIN, LAB, Step
from harness.steps.vocabulary import Vocabulary, verb
from harness.workloads.measured import METRICS
from harness.workloads.partition_phases import SKIPPED, UNSOUND
from harness.workloads.settled import KnownTopic
from harness.workloads.topics import Topics

BY = "lab-writer"
SETTLE, LOOK, WATCH, AT_REST = "settle", "look", "watch", "reads-at-rest"  # phases


class _Spared(Vocabulary):
    """Steps that are skipped once the cluster did not settle."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics

    async def resolve(self, step: Step) -> Mapping[str, Any]:
        """A cluster that did not settle is not asked again."""
        return {SKIPPED: UNSOUND} if self._topics.unsound else {}

    async def carry_out(self, step: Step, meant: Mapping[str, Any]) -> None:
        """Unless it is skipped."""
        if SKIPPED not in meant:
            await super().carry_out(step, meant)


class AdminSteps(_Spared):
    """Requests about topics, and plain clients of their partitions."""

    actors: ClassVar[Sequence[str]] = (ADMIN,)

    @verb(drawn=False)
    async def create_topic(
        self,
        step: Step,
        name: str,
        on: str = "",
        partitions: int = -1,
        factor: int = -1,
        min_isr: int = 1,
        unclean: bool = False,
    ) -> None:
        """Create a topic, with replicas as told or wherever the controller likes."""
        await self._topics.create(
            name,
            assignments=[_ids(one) for one in str(on).split(";")] if on else (),
            partitions=partitions,
            factor=factor,
            min_isr=min_isr,
            unclean=unclean,
        )

    @verb(drawn=False)
    async def delete_topic(self, step: Step, topic: str) -> None:
        """Delete a topic."""
        if (known := self._there(topic)) is not None:
            await self._topics.delete(known)

    @verb(drawn=False)
    async def add_partitions(self, step: Step, topic: str, count: int) -> None:
        """Let a topic have more partitions."""
        if (known := self._there(topic)) is not None:
            await self._topics.add_partitions(known, count)

    @verb(drawn=False)
    async def configure(self, step: Step, topic: str, min_isr: int, unclean: bool = False) -> None:
        """Alter what elections and acknowledgements of a topic depend on."""
        if (known := self._there(topic)) is not None:
            await self._topics.configure(known, min_isr=min_isr, unclean=unclean)

    @verb(drawn=False)
    async def reassign(self, step: Step, topic: str, partition: int, replicas: str | None) -> None:
        """Give a partition other replicas, or call that off; ask who comes and goes."""
        if (known := self._there(topic)) is not None:
            wanted = None if replicas is None else _ids(replicas)
            await self._topics.reassign(known, partition, wanted)
            await self._topics.list_reassignment(known, partition)

    @verb(drawn=False)
    async def elect(self, step: Step, topic: str, partition: int, how: str = "preferred") -> None:
        """Ask for the preferred leader, or for any that is up."""
        if (known := self._there(topic)) is not None:
            await self._topics.elect(known, partition, how)

    @verb(drawn=False)
    async def append_to(
        self, step: Step, topic: str, partition: int, acks: int = -1, times: int = 1
    ) -> None:
        """Append records, one after the other, each in a batch of its own."""
        if (known := self._there(topic)) is not None and self._topics.up:
            clients = self._topics.clients(known, partition)
            for _ in range(times):
                await clients.send(BY, self._topics.up[0], acks=acks)

    @verb(drawn=False)
    async def watch(self, step: Step, topic: str, partition: int, times: int, ms: int) -> None:
        """Append and look in turns while followers are late, and no later than they may be."""
        known, topics = self._there(topic), self._topics
        if known is None or not topics.up:
            return
        clients = topics.clients(known, partition)
        end = topics.on.recorder.phase(known.called, WATCH)
        for _ in range(times):
            await clients.send(BY, topics.up[0], acks=1)
            await asyncio.sleep(ms / 1000 * topics.on.pace)
            await topics.look()
        end()

    @verb(drawn=False)
    async def read_all_of(self, step: Step) -> None:
        """Read every partition that was written to, from its start to its end, at all brokers.

        The cluster has settled, or this step would be skipped.
        """
        for clients in self._topics.written():
            end = self._topics.on.recorder.phase(clients.topic, AT_REST)
            reads = [clients.read_all(f"{BY}-{one}", one) for one in self._topics.up]
            await asyncio.gather(*reads)
            end()

    def _there(self, name: str) -> KnownTopic | None:
        found = self._topics.topic(name)
        return None if found is None or found.gone else found


class SettleSteps(_Spared):
    """Looks at all topics. `campaign` is how their phases are called in the history."""

    actors: ClassVar[Sequence[str]] = (LAB,)

    def __init__(self, topics: Topics, *, campaign: str, bound_s: float) -> None:
        super().__init__(topics)
        self._campaign = campaign
        self._bound_s = bound_s

    @verb(drawn=False)
    async def settle(self, step: Step) -> None:
        """Wait until all is as it has to be with the brokers that are up, or the bound is over."""
        recorder = self._topics.on.recorder
        end = recorder.phase(self._campaign, SETTLE, bound_s=self._bound_s)
        settled, looks = await self._topics.settle(self._bound_s)
        self._topics.unsound = not settled
        end(settled=settled, looks=looks)

    @verb(drawn=False)
    async def settle_and_measure(self, step: Step) -> None:
        """The same for all topics that there are, and read the metrics of all nodes, if any."""
        on = self._topics.on
        if METRICS in on.probes:
            await self._topics.adopt()
        end = on.recorder.phase(self._campaign, SETTLE, bound_s=self._bound_s)
        settled, looks = await self._topics.settle(self._bound_s)
        self._topics.unsound = not settled
        if settled and METRICS in on.probes:
            looks += await self._topics.measure(self._bound_s)
        end(settled=settled, looks=looks)

    @verb(drawn=False)
    async def look_at_topics(self, step: Step) -> None:
        """Ask every broker that is up what it knows at this moment."""
        end = self._topics.on.recorder.phase(self._campaign, LOOK)
        await self._topics.look()
        end()


def _ids(text: object) -> tuple[int, ...]:
    return tuple(int(one) for one in str(text).split(","))
