"""What one broker carries, against a bare one in memory (``broker_bare``).

The same client sends and reads the same to both in turn; the fastest of the rounds counts for each,
so that other work on the machine and what a broker does only once weigh little. Everything is in
the page cache and on loopback: this measures the code of the broker, not a disk. Client and broker
share the machine's cores with whatever else runs there; what the broker's thread costs a MiB (rows
"CPU") says more on a busy machine.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.measured import Measured
from harness.cli.benches.traffic import (
    BATCHES,
    PATIENCE_S,
    Cost,
    Load,
    Served,
    create_topic,
    there_and_back,
)
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from harness.processes.program import Program

_Both = tuple[Cost, Cost]
"""Of the bare broker, and of ours."""


def measure(folder: Path, load: Load | None = None) -> Iterator[Measured]:
    """MiB a second, acks=1."""
    yield from measure_cluster(folder, brokers=1, acks="1", load=load or Load())


def measure_cluster(folder: Path, *, brokers: int, acks: str, load: Load) -> Iterator[Measured]:
    """The same for a cluster whose brokers all have the partition."""
    called = "" if brokers == 1 else f", {brokers} brokers"
    for size, batch_bytes in BATCHES.items():
        produced: list[_Both] = []
        consumed: list[_Both] = []
        with (
            ProcessCluster(folder / size, DeploymentPlan(brokers=brokers)) as cluster,
            _bare_broker() as bare,
        ):
            ours = _main_threads(
                cluster.bootstrap, [cluster.pid(name) for name in cluster.plan.names]
            )
            for number in range(load.rounds):
                topic = f"round-{number}"
                create_topic(cluster.bootstrap, topic, brokers)
                baseline, own = (
                    there_and_back(
                        one, topic, messages=load.messages, batch_bytes=batch_bytes, acks=acks
                    )
                    for one in (bare, ours)
                )
                produced.append((baseline.produce, own.produce))
                consumed.append((baseline.consume, own.consume))
        yield from _measured(f"produce {size}{called}", produced, load.mib)
        yield from _measured(f"consume {size}{called}", consumed, load.mib)


def _measured(name: str, rounds: list[_Both], mib: float) -> Iterator[Measured]:
    baseline = "bare kio broker in memory"
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


def _main_threads(bootstrap: str, processes: list[int]) -> Served:
    """Only the threads that serve: what compiles in another is done once in a broker's life."""

    def cpu_s() -> float:
        spent = (Path(f"/proc/{one}/schedstat").read_text(encoding="ascii") for one in processes)
        return sum(int(text.split()[0]) for text in spent) / 1e9

    return Served(bootstrap=bootstrap, cpu_s=cpu_s)


@contextlib.contextmanager
def _bare_broker() -> Iterator[Served]:
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
        yield _main_threads(f"127.0.0.1:{int(said[0])}", [program.pid])
    finally:
        program.kill()
