"""Consume, transform, produce, with real clients that do not know each other: what is common.

A pipeline moves values from one topic to another, a few in each transaction, and goes on where its
committed offset says; some of its transactions it aborts. Every attempt marks its outputs with its
own number, so that a reader of committed data can be held to what was asked for: nothing of an
attempt whose commit was not asked for, and in the end every input once, in its order.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from harness.deployments.plan import broker_name
from harness.deployments.process_cluster import ProcessCluster
from reference_impl.coordinators.placement import (
    CONSUMER_OFFSETS,
    TRANSACTION_STATE,
    coordinated_by,
)

PATIENCE_S = 60.0
BATCH = 5
PARTITION = 0


@dataclass(slots=True, kw_only=True)
class Pipeline:
    """Where a pipeline reads and writes, who it is, and what it has asked for so far."""

    bootstrap: str
    name: str
    inputs: int
    asked: set[int] = field(default_factory=set)  # attempts whose commit was asked for
    attempts: int = 0
    aborted: int = 0

    @property
    def source(self) -> str:
        return f"{self.name}-source"

    @property
    def sink(self) -> str:
        return f"{self.name}-sink"

    def begin(self) -> int:
        """Another attempt; its number."""
        self.attempts += 1
        return self.attempts

    def wants_to_abort(self, attempt: int) -> bool:
        """Every fourth does."""
        if attempt % 4 == 3:
            self.aborted += 1
            return True
        return False

    def asks(self, attempt: int) -> None:
        """It is about to ask for the commit."""
        self.asked.add(attempt)

    def value(self, text: bytes, attempt: int) -> bytes:
        """What becomes of an input."""
        return text + b" by " + str(attempt).encode()

    def made(self) -> None:
        """Both topics, and all inputs."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        strict = {"min.insync.replicas": "2"}
        topics = [NewTopic(one, 1, 3, config=strict) for one in (self.source, self.sink)]
        for future in admin.create_topics(topics).values():
            future.result(PATIENCE_S)
        plain = Producer({"bootstrap.servers": self.bootstrap, "acks": "all", "log_level": 0})
        for number in range(self.inputs):
            plain.produce(self.source, f"v{number}".encode(), partition=PARTITION)
        assert plain.flush(PATIENCE_S) == 0


class Watching:
    """A reader of committed data that follows a sink until every input is there."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.seen: list[tuple[str, int]] = []  # input and attempt
        self.early: list[str] = []
        self._pipeline = pipeline
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._stop = threading.Event()

    def __enter__(self) -> Watching:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def wait(self) -> None:
        """Return when as many are there as there are inputs."""
        deadline = time.monotonic() + PATIENCE_S
        while len(self.seen) < self._pipeline.inputs:
            assert time.monotonic() < deadline, f"{len(self.seen)} came"
            time.sleep(0.05)

    def _follow(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._pipeline.bootstrap,
                "group.id": f"{self._pipeline.name}-watch",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        consumer.assign([TopicPartition(self._pipeline.sink, PARTITION, 0)])
        while not self._stop.is_set():
            message = consumer.poll(0.1)
            if message is None or message.error() is not None:
                continue
            text, _, attempt = message.value().decode().partition(" by ")
            if int(attempt) not in self._pipeline.asked:
                self.early.append(message.value().decode())
            self.seen.append((text, int(attempt)))
        consumer.close()


class Killing:
    """Kills brokers one after the other while a pipeline works: its coordinators and its leader."""

    def __init__(self, cluster: ProcessCluster, pipeline: Pipeline, *, rounds: int) -> None:
        self.killed: list[str] = []
        self._cluster = cluster
        self._pipeline = pipeline
        self._rounds = rounds
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._kill, daemon=True)

    def __enter__(self) -> Killing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _kill(self) -> None:
        pipeline = self._pipeline
        victims: list[Callable[[], tuple[str, int]]] = [
            lambda: (TRANSACTION_STATE, self._coordinated(TRANSACTION_STATE)),
            lambda: (pipeline.sink, PARTITION),
            lambda: (CONSUMER_OFFSETS, self._coordinated(CONSUMER_OFFSETS)),
        ]
        try:
            for number in range(self._rounds):
                wait_for(lambda begun=2 * number + 1: pipeline.attempts > begun)
                self._one(*victims[number % len(victims)]())
        except BaseException as error:
            self._error = error

    def _coordinated(self, topic: str) -> int:
        return coordinated_by(self._pipeline.name, len(self._partitions(topic)))

    def _one(self, topic: str, index: int) -> None:
        leader = self._partitions(topic)[index].leader
        name = broker_name(leader)
        self._cluster.kill(name)
        self.killed.append(name)
        wait_for(lambda: self._partitions(topic)[index].leader not in (-1, leader))
        self._cluster.start(name)
        self._cluster.wait(name)
        wait_for(lambda: len(self._partitions(topic)[index].isrs) == 3)

    def _partitions(self, topic: str) -> dict[int, object]:
        admin = AdminClient({"bootstrap.servers": self._pipeline.bootstrap, "log_level": 0})
        return admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions


def wait_for(reached: Callable[[], bool]) -> None:
    """Return when it is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)
