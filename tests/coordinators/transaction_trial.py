"""Transactions under a nemesis: three producers, readers, coordinators and leaders that fall.

Steps begin a transaction of a producer, replace a producer by a successor, read at some broker, and
do things to brokers, to the controller and to links; what a broker had not synced may be lost. In
the end everything is healed. Then nothing may be open any more within a bound, every id can be used
again, and what each replica hands out is what the ledger says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from conformance.programs import PROPERTIES
from harness.clients.admin import create_topic
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.deployments.at_rest import is_at_rest, who_leads
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment
from harness.steps.step import Step
from harness.steps.trial import Trial
from harness.steps.vocabulary import Speaks, Vocabulary, verb
from nemesis.nemesis import Nemesis
from nemesis.steps import A_WHILE, NemesisSteps, a_broker
from reference_impl.coordinators.placement import CONSUMER_OFFSETS, TRANSACTION_STATE
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode
from reference_impl.ports import Network
from tests.coordinators.transaction_bench import TOPIC
from tests.coordinators.transaction_ledger import Ledger, Row
from tests.coordinators.transactor import Brokers, Stopped, Transactor, read_committed

PROTOCOLS = {"p1": 2, "p2": 1, "p3": 2}
WRITES = ("a", "b", "ab", "abba")  # to which partitions, one after the other
ENDS = ("commit", "commit", "abort", "leave")
TIMEOUT_MS = 2000
REST_S = 12.0  # in which nothing may be open any more
FOLLOWERS_S = 1.5  # in which followers hear what is committed
MOST_FAULTS = 2  # at a time
INTERNAL_PARTITIONS = 2
SETTINGS = {
    **PROPERTIES,
    "min.insync.replicas": "2",
    "transaction.state.log.num.partitions": str(INTERNAL_PARTITIONS),
    "offsets.topic.num.partitions": str(INTERNAL_PARTITIONS),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
}
PARTITIONS = [
    *(TopicPartition(TOPIC, index) for index in (0, 1)),
    *(
        TopicPartition(topic, index)
        for topic in (TRANSACTION_STATE, CONSUMER_OFFSETS)
        for index in range(INTERNAL_PARTITIONS)
    ),
]
CRASHES = ("lose-power", "reimage")


class TransactionSteps(Vocabulary):
    """What producers and readers do, each one thing at a time."""

    def __init__(self, system: SimDeployment, nemesis: Nemesis, ledger: Ledger) -> None:
        self._system = system
        self._nemesis = nemesis
        self.ledger = ledger
        self.producers = {name: self.made(name) for name in PROTOCOLS}
        self.retired: list[Transactor] = []
        self.stopped: list[str] = []
        self._at_work: dict[Transactor | str, asyncio.Task[None]] = {}

    def made(self, name: str) -> Transactor:
        """A new producer of an id."""
        return Transactor(
            name,
            self.ledger,
            self._system.now_ms,
            protocol=PROTOCOLS[name],
            timeout_ms=TIMEOUT_MS,
        )

    @verb(writes=WRITES, offset=(False, True), end=ENDS, ms=A_WHILE)
    async def transact(self, step: Step, writes: str, offset: bool, end: str, ms: int) -> None:
        """Begin a transaction; it goes on by itself."""
        producer = self.producers[step.actor]
        indexes = ["ab".index(one) for one in writes]

        async def work(brokers: Brokers) -> None:
            await producer.transact(brokers, indexes, offset=offset, end=end)

        self._begin(producer, step.actor, work)
        await asyncio.sleep(ms / 1000)

    @verb(ms=A_WHILE)
    async def replace(self, step: Step, ms: int) -> None:
        """A successor begins; the producer that was there does not know it, and goes on."""
        self.retired.append(self.producers[step.actor])
        producer = self.producers[step.actor] = self.made(step.actor)
        self._begin(producer, step.actor, producer.init)
        await asyncio.sleep(ms / 1000)

    @verb(at=(1, 2, 3), index=(0, 1), ms=A_WHILE)
    async def read(self, step: Step, at: int, index: int, ms: int) -> None:
        """Read everything that is stable at a broker."""

        async def work(brokers: Brokers) -> None:
            rows = await read_committed(brokers, at, index)
            self.ledger.saw(index, rows, where=f"broker-{at}")

        self._begin(f"reader of {step.actor}", step.actor, work)
        await asyncio.sleep(ms / 1000)

    @verb(target=a_broker, how=CRASHES, ms=A_WHILE)
    async def crash(self, step: Step, target: str, how: str, ms: int) -> None:
        """A broker is gone and comes back without what it had not synced, or without anything.

        Only where all replicas are in sync, and they are again before the step is over: what two
        of them lose may be lost.
        """
        if not await at_rest(self._system):
            return
        fault = await self._nemesis.begin(how, target)
        await asyncio.sleep(ms / 1000)
        await self._nemesis.end(fault)
        await until(lambda: at_rest(self._system), REST_S)

    async def all_done(self) -> None:
        """Everything that was begun has ended."""
        if self._at_work:
            await asyncio.gather(*self._at_work.values())

    def _begin(
        self, who: Transactor | str, name: str, work: Callable[[Brokers], Awaitable[None]]
    ) -> None:
        before = self._at_work.get(who)
        if before is None or before.done():
            self._at_work[who] = asyncio.ensure_future(self._work(name, work))

    async def _work(self, name: str, work: Callable[[Brokers], Awaitable[None]]) -> None:
        client = await self._system.client(name)

        async def within(network: Network) -> None:
            brokers = brokers_of(self._system, network)
            try:
                await work(brokers)
            finally:
                brokers.close()

        try:
            await client.kafka(within)
        except (Stopped, OSError) as stopped:
            self.stopped.append(f"{name}: {stopped}")


def brokers_of(system: SimDeployment, network: Network) -> Brokers:
    """Those of a deployment, over some network."""
    return Brokers(network, {one: system.address(one) for one in system.brokers})


async def at_rest(system: SimDeployment) -> bool:
    """Whether all replicas of all partitions are in sync, and every broker says so."""
    for tp in PARTITIONS:
        told = await asyncio.gather(*(who_leads(system, one, tp) for one in system.brokers))
        if not is_at_rest(dict(zip(system.brokers, told, strict=True))):
            return False
    return True


async def until(reached: Callable[[], Awaitable[bool]], bound_s: float) -> bool:
    """Whether it came to be so in time."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + bound_s
    while not await reached():
        if loop.time() > ends:
            return False
        await asyncio.sleep(0.2)
    return True


class TransactionTrial(Trial):
    """A cluster of three brokers and its transactional clients."""

    plan = DeploymentPlan(brokers=3, properties=SETTINGS)
    partition = f"{TOPIC}-0"
    records_effects = False
    drawn = (
        *TransactionSteps.drawn(*PROTOCOLS),
        *NemesisSteps.drawn(without=("depose",)),
    )

    async def build(self) -> None:
        """A topic whose partitions two brokers lead, and coordinators that have been found."""
        self.ledger = Ledger()
        client = RawClient(self.system.network, self.system.address(1))
        await create_topic(client, TOPIC, assignments=[[1, 2, 3], [2, 3, 1]])
        brokers = brokers_of(self.system, self.system.network)
        for kind in ("transactions", "group"):

            async def is_found(kind: str = kind) -> bool:
                return await brokers.find(kind, "p1") is not None

            await until(is_found, REST_S)
        brokers.close()
        await until(lambda: at_rest(self.system), REST_S)
        nemesis = Nemesis(self.system)
        self.clients = TransactionSteps(self.system, nemesis, self.ledger)
        self.faults = NemesisSteps(self.system, nemesis, partition=self.partition, most=MOST_FAULTS)
        self.nemesis = nemesis

    def vocabularies(self) -> Sequence[Speaks]:
        return (self.clients, self.faults)

    async def finish(self) -> None:
        """Heal; nothing stays open, every id works, all replicas say what the ledger says."""
        found = self.ledger.findings
        await self.nemesis.heal_all()
        await self.clients.all_done()
        for producer in (*self.clients.producers.values(), *self.clients.retired):
            found += [
                f"refused: {producer.id} was told {error}"
                for error in producer.errors
                if not self._may_be_told(error)
            ]
        brokers = brokers_of(self.system, self.system.network)
        if not await until(lambda: at_rest(self.system), REST_S):
            found.append("rest: a replica is not in sync again")
        if not await until(lambda: self._nothing_open(brokers), REST_S):
            found.append("hangs: a transaction stays open")
        for name in PROTOCOLS:
            last = self.clients.made(name)
            try:
                await last.transact(brokers, [0, 1], offset=False, end="commit")
            except Stopped as stopped:
                found.append(f"stuck: {name} cannot go on: {stopped}")
        await until(lambda: self._nothing_open(brokers), REST_S)
        await asyncio.sleep(FOLLOWERS_S)
        await self._compare(brokers)
        brokers.close()

    def _may_be_told(self, error: str) -> bool:
        """A coordinator that was paused knows nothing of its successor for a moment, and may say,
        as Kafka's does, that a partition is in no transaction that it knows of."""
        paused = any(step.verb == "pause" for step in self.program)
        return paused and error == ErrorCode.invalid_txn_state.name

    async def _nothing_open(self, brokers: Brokers) -> bool:
        return all([await stable_end(brokers, index) for index in (0, 1)])

    async def _compare(self, brokers: Brokers) -> None:
        logs: dict[int, list[Row]] = {}
        for broker in self.system.brokers:
            try:
                logs = {index: await read_committed(brokers, broker, index) for index in (0, 1)}
            except ConnectionError as error:
                self.ledger.findings.append(f"unread: broker-{broker}: {error}")
                continue
            self.ledger.settled(logs, f"broker-{broker}")
        for name in PROTOCOLS:
            told = await committed_offset(brokers, name)
            if told is None:
                self.ledger.findings.append(f"stuck: no broker tells the offset of {name}")
            else:
                self.ledger.offset_is(name, told, logs)

    def judge(self, folder: Path) -> Sequence[str]:
        """What was found on the way and in the end."""
        return self.ledger.findings


async def stable_end(brokers: Brokers, index: int) -> bool:
    """Whether everything in a partition is decided, as its leader says."""
    ends = [await _listed(brokers, index, isolation) for isolation in (0, 1)]
    return ends[0] is not None and ends[0] == ends[1]


async def _listed(brokers: Brokers, index: int, isolation: int) -> int | None:
    leader = await brokers.find("leader", str(index))
    asked = apis.LIST_OFFSETS.request
    part = asked.ListOffsetsPartition(partition_index=index, current_leader_epoch=-1, timestamp=-1)
    topic = asked.ListOffsetsTopic(name=TOPIC, partitions=[part])
    request = asked(replica_id=-1, isolation_level=isolation, topics=[topic])
    try:
        answer = await brokers.ask(leader or 1, apis.LIST_OFFSETS, 7, request)
    except ConnectionError:
        brokers.forget("leader", str(index))
        return None
    told = answer.topics[0].partitions[0]
    if told.error_code:
        brokers.forget("leader", str(index))
        return None
    return int(told.offset)


async def committed_offset(brokers: Brokers, group: str) -> int | None:
    """What a group is told once nothing is open."""
    asked = apis.OFFSET_FETCH.request
    topic = asked.OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])
    one = asked.OffsetFetchRequestGroup(group_id=group, topics=[topic])
    request = asked(groups=[one], require_stable=True)
    told: list[int] = []

    async def is_told() -> bool:
        at = await brokers.find("group", group)
        if at is None:
            return False
        try:
            answer: Any = (await brokers.ask(at, apis.OFFSET_FETCH, 9, request)).groups[0]
        except ConnectionError:
            brokers.forget("group", group)
            return False
        if answer.error_code or answer.topics[0].partitions[0].error_code:
            brokers.forget("group", group)
            return False
        told.append(int(answer.topics[0].partitions[0].committed_offset))
        return True

    return told[0] if await until(is_told, REST_S) else None
