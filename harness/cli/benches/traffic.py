"""What one client sends to a broker and reads from it again, and what that costs.

The client is confluent-kafka with messages of 1 KiB and one partition; whoever answers is not its
business. Both halves are connected, and have moved a message, before anything is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.cli.benches.measured import timed

BATCHES = {"1 MB": 1_000_000, "16 KiB": 16_384}
"""The client's batch.size."""
MESSAGE = bytes(range(256)) * 4
PATIENCE_S = 60.0
MIB = 1 << 20
_LEAST_S = 1e-6
_CPU_OF_PROCESS = 2  # the kernel's number for the clock that counts all its threads, in ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much a measurement moves: messages a round, rounds, and rounds before it counts."""

    messages: int = 60_000
    rounds: int = 6
    warm_up: int = 0

    @property
    def mib(self) -> float:
        """What one round moves."""
        return self.messages * len(MESSAGE) / MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """How long it took, and how much CPU the processes that were asked about used meanwhile."""

    seconds: float
    cpu_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Somebody who serves the protocol: where, and what has been spent on it so far."""

    bootstrap: str
    cpu_s: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class There:
    """What one round cost on the way there and on the way back."""

    produce: Cost
    consume: Cost


def there_and_back(
    served: Served, topic: str, *, messages: int, batch_bytes: int, acks: str
) -> There:
    """Send everything, then read it."""
    sending = Sending(
        served.bootstrap, topic, messages=messages, batch_bytes=batch_bytes, acks=acks
    )
    produce = _cost(sending.run, served)
    reading = Reading(served.bootstrap, topic, messages=messages)
    consume = _cost(reading.run, served)
    reading.end()
    return There(produce=produce, consume=consume)


def _cost(work: Callable[[], None], served: Served) -> Cost:
    before = served.cpu_s()
    seconds = timed(work)
    # Of a few messages everything may have been fetched ahead; a rate divides by what was spent.
    return Cost(seconds=seconds, cpu_s=max(served.cpu_s() - before, _LEAST_S))


def processes_cpu_s(processes: Sequence[int]) -> float:
    """What these processes have used, all their threads together."""
    return sum(time.clock_gettime(~process << 3 | _CPU_OF_PROCESS) for process in processes)


def create_topic(bootstrap: str, topic: str, replicas: int) -> None:
    """A topic of one partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
    for made in admin.create_topics([NewTopic(topic, 1, replicas)]).values():
        made.result(PATIENCE_S)


class Sending:
    """A producer that is connected already, and all that it has to send."""

    def __init__(
        self, bootstrap: str, topic: str, *, messages: int, batch_bytes: int, acks: str
    ) -> None:
        self._topic = topic
        self._messages = messages
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": acks,
                "batch.size": batch_bytes,
                "linger.ms": 5,
                "queue.buffering.max.messages": messages + 1,
                "queue.buffering.max.kbytes": 2 * messages + 1024,
                "log_level": 2,
            }
        )
        self._send(1)

    def run(self) -> None:
        """Return when everything is acknowledged."""
        self._send(self._messages)

    def _send(self, count: int) -> None:
        refused: list[object] = []

        def delivered(error: object, _: object) -> None:
            if error is not None:
                refused.append(error)

        for _ in range(count - 1):
            self._producer.produce(self._topic, MESSAGE, partition=0)
        self._producer.produce(self._topic, MESSAGE, partition=0, on_delivery=delivered)
        if self._producer.flush(PATIENCE_S) or refused:
            raise RuntimeError(
                f"not everything was acknowledged within {PATIENCE_S:.0f} s {refused or ''}"
            )


class Reading:
    """A consumer that has got its first message, and all that is to come."""

    def __init__(self, bootstrap: str, topic: str, *, messages: int) -> None:
        self._messages = messages
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "bench",
                "enable.auto.commit": False,
                "log_level": 2,
            }
        )
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        self._receive(1)

    def run(self) -> None:
        """Return when everything is there."""
        self._receive(self._messages)

    def end(self) -> None:
        """Fetch nothing more."""
        self._consumer.close()

    def _receive(self, count: int) -> None:
        while count > 0:
            came = self._consumer.consume(min(count, 10_000), timeout=PATIENCE_S)
            wrong = [one for one in came if one.error() is not None]
            if not came or wrong:
                raise RuntimeError(f"{count} messages did not come: {wrong}")
            count -= len(came)
