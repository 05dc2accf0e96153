"""Metrics: their names, and the page they are read on."""

from __future__ import annotations

import pytest

from reference_impl.metrics import names
from reference_impl.metrics.registry import COUNTER, GAUGE, Metric, Registry, exposed_name


@pytest.mark.parametrize(
    ("name", "exposed"),
    [
        (
            "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
            "kafka_server_replicamanager_underreplicatedpartitions",
        ),
        (
            "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*",
            "kafka_server_brokertopicmetrics_bytesin_total",
        ),
        (
            "kafka.controller.diskless.rf1_topics_total",
            "kafka_controller_diskless_rf1_topics_total",
        ),
    ],
)
def test_a_name_is_exposed_as_prometheus_wants_it(name: str, exposed: str) -> None:
    assert exposed_name(name) == exposed


def test_the_page_has_each_metric_with_its_name_as_kafka_or_a_design_writes_it() -> None:
    registry = Registry()
    registry.gauge(
        Metric(name="kafka.controller.diskless.rf1_topics_total", kind=GAUGE, about="with RF=1"),
        lambda: 3,
    )
    registry.counter(names.ISR_SHRINKS)
    bytes_in = registry.counter(names.BYTES_IN)
    bytes_in.add(("b",), 10)
    bytes_in.add(("a",), 5)
    bytes_in.add(("b",), 1)

    assert registry.page().splitlines() == [
        (
            "# HELP kafka_controller_diskless_rf1_topics_total"
            " kafka.controller.diskless.rf1_topics_total: with RF=1"
        ),
        "# TYPE kafka_controller_diskless_rf1_topics_total gauge",
        "kafka_controller_diskless_rf1_topics_total 3",
        (
            "# HELP kafka_server_replicamanager_isrshrinks_total"
            " kafka.server:type=ReplicaManager,name=IsrShrinksPerSec:"
            " in-sync replicas dropped by a leader here"
        ),
        "# TYPE kafka_server_replicamanager_isrshrinks_total counter",
        "kafka_server_replicamanager_isrshrinks_total 0",
        (
            "# HELP kafka_server_brokertopicmetrics_bytesin_total"
            " kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*:"
            " bytes of batches appended by producers"
        ),
        "# TYPE kafka_server_brokertopicmetrics_bytesin_total counter",
        'kafka_server_brokertopicmetrics_bytesin_total{topic="a"} 5',
        'kafka_server_brokertopicmetrics_bytesin_total{topic="b"} 11',
    ]


def test_what_would_end_a_label_is_escaped() -> None:
    registry = Registry()
    registry.counter(names.BYTES_OUT).add(('a"b\\c\nd',), 1)

    assert registry.page().splitlines()[-1].endswith(r'{topic="a\"b\\c\nd"} 1')


def test_a_metric_is_added_once_and_as_what_it_is() -> None:
    registry = Registry()
    registry.counter(names.BYTES_IN)
    with pytest.raises(ValueError, match="only one"):
        registry.counter(names.BYTES_IN)
    with pytest.raises(ValueError, match="is a counter"):
        registry.gauge(Metric(name="x", kind=COUNTER, about=""), lambda: 1)
