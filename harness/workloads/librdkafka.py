"""confluent-kafka producers and consumers at work, recorded as Jepsen's Kafka workload records.

What they hide stays hidden: retries, batches, connections, who leads. A send ends with its delivery
report, and one that failed, or never came, is unknown: an earlier attempt may have worked. A poll
is what a consumer was given. Each producer keeps several sends open (`WINDOW`), each a logical
process of its own, over persistent connections; settings are librdkafka's own, compression among
them. Transactional producers send a few values in each transaction, work for a while, and commit.

They run in threads of their own, so there is none of this in a simulation.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from harness.deployments.deployment import Deployment
from harness.errors import UsageError
from harness.history.recorder import Operation

WINDOW = 8
DELIVERED_S = 60.0  # librdkafka's message.timeout.ms, unless it is set
LAST_POLLS_S = 60.0
QUIET_POLLS = 3
IN_TRANSACTION = 3
TRANSACTIONAL_ID, MESSAGE_TIMEOUT = "transactional.id", "message.timeout.ms"
TRANSACTION_TIMEOUT = "transaction.timeout.ms"  # a minute, unless it is set
COMMIT, DELIVERY = "commit", "delivery"
CONSUMED = MappingProxyType(
    {"group.id": "tidemark", "auto.offset.reset": "earliest", "enable.auto.commit": False}
)
QUIET = MappingProxyType({"log_level": 0, "reconnect.backoff.max.ms": 500})


@dataclass(frozen=True, slots=True, kw_only=True)
class RealLoad:
    """How many of them, on which partitions, how fast, with which settings.

    A transaction stays open for `works_s` between its last send and its commit.
    """

    topics: Mapping[str, int]
    producers: int = 2
    consumers: int = 1
    per_second: float = 20.0
    settings: Mapping[str, str] = field(default_factory=dict)
    works_s: float = 0.0
    done: str = COMMIT  # when its producers take what they sent in a transaction for done

    @property
    def delivered_ms(self) -> int:
        """Within which a send is delivered or fails; never longer than its transaction lasts."""
        most = int(self.settings.get(TRANSACTION_TIMEOUT, 1000 * DELIVERED_S))
        usual = min(int(1000 * DELIVERED_S), most) if self.transactional else 1000 * DELIVERED_S
        return int(self.settings.get(MESSAGE_TIMEOUT, usual))

    @property
    def transactional(self) -> bool:
        """Whether its producers send within transactions."""
        return TRANSACTIONAL_ID in self.settings

    @property
    def keys(self) -> tuple[tuple[str, int], ...]:
        """Every partition."""
        return tuple((topic, n) for topic, size in self.topics.items() for n in range(size))


class RealClients:
    """The clients of one load; begun once, finished once."""

    def __init__(self, on: Deployment, load: RealLoad, *, seed: int) -> None:
        self._on = on
        self._load = load
        self._seed = seed
        self._values = count(1)
        self._going = threading.Event()
        self._reading = threading.Event()
        self._abandoned = threading.Event()
        self._sending: list[asyncio.Task[None]] = []
        self._polling: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Let all of them begin; settings that librdkafka refuses are told now."""
        try:
            Producer(self._settings())
        except KafkaException as refused:
            raise UsageError(f"librdkafka refuses its settings: {refused.args[0].str()}") from None
        self._going.set()
        self._reading.set()
        send = self._transact if self._load.transactional else self._send
        for number in range(self._load.producers):
            name = f"librdkafka-producer-{number}"
            self._sending.append(asyncio.ensure_future(self._work(send, name)))
        for number in range(self._load.consumers):
            name = f"librdkafka-consumer-{number}"
            self._polling.append(asyncio.ensure_future(self._work(self._poll, name)))

    async def finish(self) -> None:
        """Let producers hear of all that they sent, then consumers read to the end."""
        self._going.clear()
        await asyncio.gather(*self._sending)
        self._reading.clear()
        await asyncio.gather(*self._polling)

    async def _work(self, work: Callable[[str], None], name: str) -> None:
        """One client in its thread; a run that breaks off takes all of them along."""
        try:
            await asyncio.to_thread(work, name)
        except asyncio.CancelledError:  # a thread is not cancelled, and the loop waits for it
            self._abandoned.set()
            self._going.clear()
            self._reading.clear()
            raise

    # ── in threads ───────────────────────────────────────────────────────────────────────────────

    def _send(self, name: str) -> None:
        chance = random.Random(f"{self._seed}/{name}")
        producer = Producer(self._settings())
        seats = [f"{name}/{number}" for number in range(WINDOW)]
        open_: dict[str, Operation] = {}
        while self._going.is_set():
            seat = next((one for one in seats if one not in open_), None)
            if seat is None:
                producer.poll(0.05)
                continue
            topic, partition = chance.choice(self._load.keys)
            value = next(self._values)
            open_[seat] = self._invoke(
                name, seat, "send", [["send", self._key(topic, partition), value]]
            )
            report = self._delivered(open_, seat, value)
            try:
                self._produce(producer, topic, partition, value, report)
            except KafkaException as fatal:  # it noticed a loss, say: an application begins anew
                said = {"error": None, "detail": str(fatal)}
                self._on.recorder.finish(open_.pop(seat), "fail", said)
                producer.purge()
                producer.flush(1.0)
                producer = Producer(self._settings())
            due = time.monotonic() + self._rest_s(chance)
            while (left := due - time.monotonic()) > 0:
                producer.poll(left)
        if self._abandoned.is_set():
            producer.purge()
            return
        producer.flush(self._patience_s)
        for one in open_.values():
            self._on.recorder.finish(one, "info", {"error": None})

    def _delivered(self, open_: dict[str, Operation], seat: str, value: int) -> Any:
        def report(error: object, message: Message) -> None:
            operation = open_.pop(seat)
            key = operation.arguments["value"][0][1]
            if error is not None:
                self._on.recorder.finish(operation, "info", {"error": None, "detail": str(error)})
                return
            offset = message.offset()
            told = value if offset is None or offset < 0 else [offset, value]
            self._on.recorder.finish(operation, "ok", {"error": 0, "value": [["send", key, told]]})

        return report

    def _transact(self, name: str) -> None:
        chance = random.Random(f"{self._seed}/{name}")
        producer = self._begun(name)
        while self._going.is_set():
            if producer is None:
                self._abandoned.wait(0.2)
                producer = self._begun(name)
                continue
            asked = [
                (chance.choice(self._load.keys), next(self._values)) for _ in range(IN_TRANSACTION)
            ]
            sends = [["send", self._key(*key), value] for key, value in asked]
            operation = self._invoke(name, name, "txn", sends)
            if not self._committed(producer, operation, asked, {"error": 0, "value": sends}):
                producer = None
                continue
            self._abandoned.wait(self._rest_s(chance))

    def _committed(
        self,
        producer: Producer,
        operation: Operation,
        asked: list[tuple[tuple[str, int], int]],
        done: dict[str, Any],
    ) -> bool:
        """Whether a transaction was committed; the operation ends when its values are done."""
        delivered: list[bool] = []

        def report(error: object, message: Message) -> None:
            delivered.append(error is None)

        try:
            producer.begin_transaction()
            for (topic, partition), value in asked:
                self._produce(producer, topic, partition, value, report)
            producer.flush(self._patience_s)
            trusts = self._load.done == DELIVERY and delivered == [True] * len(asked)
            if trusts:
                self._on.recorder.finish(operation, "ok", done)
            self._abandoned.wait(self._load.works_s)
            producer.commit_transaction(DELIVERED_S)
        except KafkaException as error:
            if operation.open:
                self._on.recorder.finish(operation, "info", {"error": None, "detail": str(error)})
            return False
        if operation.open:
            self._on.recorder.finish(operation, "ok", done)
        return True

    def _begun(self, name: str) -> Producer | None:
        """A producer that has fenced its predecessor, if any."""
        transactional_id = self._on.recorder.topic(
            f"{self._load.settings[TRANSACTIONAL_ID]}-{name}"
        )
        try:
            producer = Producer({**self._settings(), TRANSACTIONAL_ID: transactional_id})
            producer.init_transactions(DELIVERED_S)
        except KafkaException:
            return None
        return producer

    def _produce(
        self, producer: Producer, topic: str, partition: int, value: int, report: Any
    ) -> None:
        wire = self._on.recorder.topic(topic)
        producer.produce(wire, str(value).encode(), partition=partition, on_delivery=report)

    def _poll(self, name: str) -> None:
        consumer = Consumer({**CONSUMED, **QUIET, "bootstrap.servers": self._bootstrap})
        places = [TopicPartition(self._on.recorder.topic(t), n, 0) for t, n in self._load.keys]
        names = {(one.topic, one.partition): f"{one.topic}-{one.partition}" for one in places}
        keys = {"value": list(names.values())}
        self._on.recorder.finish(self._invoke(name, name, "assign", keys["value"]), "ok", keys)
        consumer.assign(places)
        quiet, deadline = 0, 0.0
        while quiet < QUIET_POLLS and not self._abandoned.is_set():
            operation = self._invoke(name, name, "poll", [["poll"]])
            found: dict[str, list[list[int]]] = {}
            for message in consumer.consume(100, 0.5):
                if message.error() is None:
                    key = names[str(message.topic()), int(message.partition() or 0)]
                    found.setdefault(key, []).append(
                        [int(message.offset() or 0), int(message.value() or b"0")]
                    )
            self._on.recorder.finish(operation, "ok", {"error": 0, "value": [["poll", found]]})
            if self._reading.is_set():
                continue
            deadline = deadline or time.monotonic() + LAST_POLLS_S
            ended = not found and (
                time.monotonic() > deadline or self._at_the_end(consumer, places)
            )
            quiet = quiet + 1 if ended else 0
        consumer.close()

    def _at_the_end(self, consumer: Consumer, places: list[TopicPartition]) -> bool:
        """Whether it has been given everything that it could be."""
        try:
            reached = {(one.topic, one.partition): one.offset for one in consumer.position(places)}
            ends: list[tuple[int, int] | None] = [
                consumer.get_watermark_offsets(one, timeout=2.0) for one in places
            ]
        except KafkaException:
            return False
        return all(
            end is not None and max(reached[one.topic, one.partition], 0) >= end[1]
            for one, end in zip(places, ends, strict=True)
        )

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def _bootstrap(self) -> str:
        return ",".join(str(self._on.address(one)) for one in self._on.brokers)

    @property
    def _patience_s(self) -> float:
        return self._load.delivered_ms / 1000

    def _rest_s(self, chance: random.Random) -> float:
        """Between two sends of one producer; half of it to one and a half times."""
        return (0.5 + chance.random()) * self._load.producers / self._load.per_second

    def _settings(self) -> dict[str, Any]:
        given = {MESSAGE_TIMEOUT: self._load.delivered_ms, "linger.ms": 5}
        return {**given, **QUIET, **self._load.settings, "bootstrap.servers": self._bootstrap}

    def _key(self, topic: str, partition: int) -> str:
        return f"{self._on.recorder.topic(topic)}-{partition}"

    def _invoke(self, client: str, seat: str, f: str, value: object) -> Operation:
        return self._on.recorder.invoke(client, f, {"value": value}, seat=seat)
