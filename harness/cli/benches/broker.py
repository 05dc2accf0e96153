"""What one broker carries, against a bare one in memory (``broker_bare``).

The same client (confluent-kafka, messages of 1 KiB, one partition) sends and reads the same to both
in turn; the fastest of the rounds counts for each, so that other work on the machine and what a
broker does only once weigh little. Everything is in the page cache and on loopback: this measures
the code of the broker, not a disk. Client and broker share the machine's cores with whatever else
runs there; what the broker's thread costs a MiB (rows "CPU") says more on a busy machine.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.cli.benches.measured import Measured, timed
from harness.clusters.plan import ClusterPlan
from harness.clusters.processes import ProcessCluster
from harness.worlds.program import Program

BATCHES = {"1 MB": 1_000_000, "16 KiB": 16_384}
"""The client's batch.size."""
MESSAGE = bytes(range(256)) * 4
MESSAGES = 60_000
ROUNDS = 6
PATIENCE_S = 60.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cost:
    """How long it took, and how much of that the broker's own thread was at work."""

    seconds: float
    cpu_s: float


_Both = tuple[_Cost, _Cost]
"""Of the bare broker, and of ours."""


def measure(folder: Path) -> Iterator[Measured]:
    """MiB a second, acks=1."""
    yield from measure_cluster(folder, brokers=1, acks="1")


def measure_cluster(folder: Path, *, brokers: int, acks: str) -> Iterator[Measured]:
    """The same for a cluster whose brokers all have the partition."""
    called = "" if brokers == 1 else f", {brokers} brokers"
    for size, batch_bytes in BATCHES.items():
        with ProcessCluster(folder / size, ClusterPlan(brokers=brokers)) as cluster:
            ours = [cluster.pid(name) for name in cluster.plan.names]
            with _bare_broker() as (address, bare):
                rounds = [
                    _round(number, cluster.bootstrap, ours, address, bare, batch_bytes, acks)
                    for number in range(ROUNDS)
                ]
        for what in ("produce", "consume"):
            yield from _measured(f"{what} {size}{called}", [each[what] for each in rounds])


def _round(
    number: int,
    bootstrap: str,
    ours: list[int],
    address: str,
    bare: int,
    batch_bytes: int,
    acks: str,
) -> dict[str, _Both]:
    """Everything once, at both."""
    topic = f"round-{number}"
    _create(bootstrap, topic, len(ours))
    sent, read = [], []
    for where, processes in ((address, [bare]), (bootstrap, ours)):
        sent.append(_cost(_Sending(where, topic, batch_bytes, acks), processes))
        read.append(_cost(_Reading(where, topic), processes))
    return {"produce": (sent[0], sent[1]), "consume": (read[0], read[1])}


def _cost(work: _Sending | _Reading, processes: list[int]) -> _Cost:
    before = _cpu_s(processes)
    seconds = timed(work.run)
    cpu_s = _cpu_s(processes) - before
    work.end()
    return _Cost(seconds=seconds, cpu_s=cpu_s)


def _cpu_s(processes: list[int]) -> float:
    """What the main threads of these processes have used; the kernel counts nanoseconds."""
    spent = (Path(f"/proc/{one}/schedstat").read_text(encoding="ascii") for one in processes)
    return sum(int(text.split()[0]) for text in spent) / 1e9


def _measured(name: str, rounds: list[_Both]) -> Iterator[Measured]:
    baseline = "bare kio broker in memory"
    mib = MESSAGES * len(MESSAGE) / MIB
    yield Measured(
        row=name,
        unit="MiB/s",
        rate=mib / min(ours.seconds for _, ours in rounds),
        baseline=baseline,
        baseline_rate=mib / min(bare.seconds for bare, _ in rounds),
    )
    yield Measured(
        row=f"{name}, CPU",
        unit="MiB/CPU-s",
        rate=mib / min(ours.cpu_s for _, ours in rounds),
        baseline=baseline,
        baseline_rate=mib / min(bare.cpu_s for bare, _ in rounds),
    )


@contextlib.contextmanager
def _bare_broker() -> Iterator[tuple[str, int]]:
    """Its address and its process."""
    bell = threading.Condition()
    said: list[bytes] = []

    def on_line(line: bytes) -> None:
        with bell:
            said.append(line)
            bell.notify_all()

    command = [sys.executable, "-m", "harness.cli.benches.broker_bare"]
    program = Program(command, called="the bare broker", on_line=on_line, bell=bell)
    try:
        with bell:
            if not bell.wait_for(lambda: said or program.silent, PATIENCE_S) or not said:
                raise RuntimeError(f"the bare broker did not start{program.last_words}")
        yield f"127.0.0.1:{int(said[0])}", program.pid
    finally:
        program.kill()


def _create(bootstrap: str, topic: str, replicas: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 4})
    for made in admin.create_topics([NewTopic(topic, 1, replicas)]).values():
        made.result(PATIENCE_S)


class _Sending:
    """A producer that is connected already, and all that it has to send."""

    def __init__(self, bootstrap: str, topic: str, batch_bytes: int, acks: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": acks,
                "batch.size": batch_bytes,
                "linger.ms": 5,
                "queue.buffering.max.messages": MESSAGES + 1,
                "queue.buffering.max.kbytes": 2 * MESSAGES,
            }
        )
        self._send(1)

    def run(self) -> None:
        """Return when everything is acknowledged."""
        self._send(MESSAGES)

    def end(self) -> None:
        """Nothing is left to do."""

    def _send(self, count: int) -> None:
        for _ in range(count):
            self._producer.produce(self._topic, MESSAGE, partition=0)
        if self._producer.flush(PATIENCE_S):
            raise RuntimeError(f"not everything was acknowledged within {PATIENCE_S:.0f} s")


class _Reading:
    """A consumer that has got its first message, and all that is to come."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "bench",
                "enable.auto.commit": False,
            }
        )
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        self._receive(1)

    def run(self) -> None:
        """Return when everything is there."""
        self._receive(MESSAGES)

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
