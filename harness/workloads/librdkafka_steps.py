"""confluent-kafka clients as steps of the actor `librdkafka`.

librdkafka  create  topic=books partitions=3 configs=min.insync.replicas=1
librdkafka  begin   seed=1 topics=books producers=2 consumers=1 settings="acks=1,linger.ms=0"
librdkafka  finish
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from harness.clients.admin import create_topic
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment
from harness.errors import UsageError
from harness.steps.step import Step
from harness.steps.vocabulary import Vocabulary, verb

if TYPE_CHECKING:
    from harness.workloads.librdkafka import RealClients

ACTOR = "librdkafka"


class LibrdkafkaSteps(Vocabulary):
    """The clients of one deployment."""

    actors: ClassVar[tuple[str, ...]] = (ACTOR,)

    def __init__(self, on: Deployment) -> None:
        self._on = on
        self._topics: dict[str, int] = {}
        self._working: list[RealClients] = []

    @verb(drawn=False)
    async def create(self, step: Step, topic: str, partitions: int, configs: str = "") -> None:
        """Create a topic with a replica of each partition on every broker, led by another one."""
        on, brokers = self._on, self._on.brokers
        turned = [
            [*brokers[number % len(brokers) :], *brokers[: number % len(brokers)]]
            for number in range(partitions)
        ]
        client = RawClient(on.network, on.address(brokers[0]))
        await create_topic(
            client, on.recorder.topic(topic), assignments=turned, configs=dict(_pairs(configs))
        )
        self._topics[topic] = partitions

    @verb(drawn=False)
    async def begin(
        self,
        step: Step,
        seed: int,
        producers: int = 2,
        consumers: int = 1,
        rate: float = 20.0,
        works: float = 0.0,
        settings: str = "",
        done: str = "commit",
    ) -> None:
        """Let producers send to all topics, and consumers read them."""
        if done not in ("commit", "delivery"):
            raise UsageError(f"a transaction is done at its commit or its delivery, not at {done}")
        if self._on.world == "sim":
            raise UsageError("librdkafka needs real sockets: there is none in a simulation")
        from harness.workloads.librdkafka import RealClients, RealLoad

        load = RealLoad(
            topics=dict(self._topics),
            producers=producers,
            consumers=consumers,
            per_second=rate,
            works_s=works,
            settings=dict(_pairs(settings)),
            done=done,
        )
        clients = RealClients(self._on, load, seed=seed)
        clients.begin()
        self._working.append(clients)

    @verb(drawn=False)
    async def finish(self, step: Step) -> None:
        """Let all of them hear of what they sent, and read to the end."""
        working, self._working = self._working, []
        for one in working:
            await one.finish()


def _pairs(text: str) -> list[tuple[str, str]]:
    found = []
    for one in filter(None, text.split(",")):
        name, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"{one!r} is not NAME=VALUE")
        found.append((name.strip(), value.strip()))
    return found
