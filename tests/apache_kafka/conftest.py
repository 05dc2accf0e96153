"""One real Kafka for all tests that only ask it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.deployments.apache_kafka import ApacheKafka, KafkaUnavailable


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    settings = {"log.retention.check.interval.ms": "300000"}
    cluster = ApacheKafka(folder=tmp_path_factory.mktemp("kafka"), settings=settings)
    try:
        cluster.__enter__()
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    yield cluster
    cluster.close()
