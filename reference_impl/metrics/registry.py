"""The metrics of one node: counted where something happens, read when somebody asks.

Each node has a registry of its own. A counter only rises; a gauge is a function that is asked when
the page is read, so that it costs nothing in between. What Kafka measures as a rate (``…PerSec``)
is a counter here: whoever reads it twice has the rate.

Names are Kafka's, and are exposed as Prometheus wants them (``exposed_name``); the help text has
the name as Kafka, or a design, writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

Labels = tuple[str, ...]

COUNTER: Final = "counter"
GAUGE: Final = "gauge"
_RATE: Final = "PerSec"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric: its name as Kafka or a design writes it, and the names of its labels."""

    name: str
    kind: str
    about: str
    labels: Labels = ()


def exposed_name(name: str) -> str:
    """The Prometheus name of an MBean or of a name with dots.

    ``kafka.server:type=ReplicaManager,name=LeaderCount`` is ``kafka_server_replicamanager_leadercount``;
    a rate ends in ``_total``, as counters do.
    """  # noqa: E501
    if ":" not in name:
        return re.sub(r"\W", "_", name)
    domain, _, keys = name.partition(":")
    said = [key.partition("=")[2] for key in keys.split(",") if not key.endswith("=*")]
    if said[-1].endswith(_RATE):
        said[-1] = f"{said[-1].removesuffix(_RATE)}_total"
    return re.sub(r"\W", "_", ".".join([domain, *said])).lower()


class Counter:
    """How often, or how much, by the values of its labels."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[Labels, int] = {}

    def add(self, labels: Labels = (), by: int = 1) -> None:
        """Count."""
        self.values[labels] = self.values.get(labels, 0) + by


Reading = Callable[[], Mapping[Labels, float]]


class Registry:
    """The metrics of a node, in the order in which they were added."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Metric, Reading]] = {}

    def counter(self, metric: Metric) -> Counter:
        """A new counter; one without labels is there from the start."""
        counter = Counter()
        if not metric.labels:
            counter.add(by=0)
        self._add(metric, COUNTER, lambda: counter.values)
        return counter

    def gauge(self, metric: Metric, read: Callable[[], float]) -> None:
        """A value that is worked out when it is asked for."""
        self._add(metric, GAUGE, lambda: {(): read()})

    def _add(self, metric: Metric, kind: str, reading: Reading) -> None:
        exposed = exposed_name(metric.name)
        if metric.kind != kind or exposed in self._read:
            raise ValueError(f"{metric.name} is a {metric.kind}, and there may be only one")
        self._read[exposed] = metric, reading

    def page(self) -> str:
        """All of them in Prometheus' text format."""
        return "".join(line for name in self._read for line in self._lines(name))

    def _lines(self, exposed: str) -> Iterator[str]:
        metric, reading = self._read[exposed]
        yield f"# HELP {exposed} {metric.name}: {metric.about}\n"
        yield f"# TYPE {exposed} {metric.kind}\n"
        for labels, value in sorted(reading().items()):
            pairs = zip(metric.labels, labels, strict=True)
            said = ",".join(f'{label}="{_escaped(text)}"' for label, text in pairs)
            yield f"{exposed}{{{said}}} {value}\n" if said else f"{exposed} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
