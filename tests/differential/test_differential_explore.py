"""Generated sequences: what is drawn, what is found, and Kafka against the reference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given

from harness.clients.messages import build, request_schema
from harness.deployments.apache_kafka import ApacheKafka, KafkaUnavailable
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from harness.differential.allowed import read_allowed
from harness.differential.answers import Recording, read_recordings
from harness.differential.explore import explore
from harness.differential.generated import generated_sequences
from harness.differential.generated_transactions import IDS, generated_transactions
from harness.differential.sequence import RequestSequence
from harness.differential.symbols import Symbols

FOREIGN_EXAMPLES = 25


@given(generated_sequences())
def test_every_generated_request_is_one_that_its_schema_has(sequence: RequestSequence) -> None:
    symbols = Symbols(token="d0", now_ms=0, brokers=[1], cluster_id="abc")
    symbols.references.update({"p": 1, "q": 2, "r": 3, "session": 4})
    symbols.topic_ids.update({"a": "1" * 32, "b": "2" * 32})

    for step in sequence.steps:
        assert build(request_schema(step.api, step.version), symbols.resolve(step.fields))


@given(generated_transactions())
def test_every_generated_request_of_transactions_is_one_that_its_schema_has(
    sequence: RequestSequence,
) -> None:
    symbols = Symbols(token="d0", now_ms=0, brokers=[1], cluster_id="abc")
    symbols.references.update(dict.fromkeys(IDS.values(), 1))
    symbols.topic_ids.update({"a": "1" * 32})

    for step in sequence.steps:
        assert build(request_schema(step.api, step.version), symbols.resolve(step.fields))


@given(generated_sequences() | generated_transactions())
def test_a_generated_sequence_survives_a_file(sequence: RequestSequence) -> None:
    answers = [{} for _ in sequence.steps]
    text = Recording(oracle="left", sequence=sequence, answers=answers).as_text()

    again = RequestSequence.from_json(
        {key: value for key, value in json.loads(text).items() if key in ("name", "about", "steps")}
    )

    assert again.as_json() == json.loads(json.dumps(sequence.as_json()))


def _address(bootstrap: str) -> tuple[str, int]:
    host, _, port = bootstrap.rpartition(":")
    return host, int(port)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    plan = DeploymentPlan(brokers=1, racks=("a",))
    with ProcessCluster(tmp_path_factory.mktemp("reference"), plan) as cluster:
        yield _address(cluster.bootstrap)


@pytest.mark.process
@pytest.mark.slow
def test_a_broker_with_another_limit_is_found_out_in_few_requests(
    reference: tuple[str, int], tmp_path: Path
) -> None:
    plan = DeploymentPlan(brokers=1, racks=("a",), properties={"message.max.bytes": "150"})
    with ProcessCluster(tmp_path / "other", plan) as other:
        found = explore(reference, _address(other.bootstrap), examples=100, first_seed=1).found

    assert found is not None
    compared = [step for step in found.recording.sequence.steps if step.compared]
    assert len(compared) == 1
    found.recording.write(tmp_path / "kept")
    assert [one.sequence for one in read_recordings(tmp_path / "kept")] == [
        RequestSequence.from_json(json.loads(json.dumps(found.recording.sequence.as_json())))
    ]


@pytest.mark.process
def test_kafka_and_the_reference_agree_on_generated_sequences(
    reference: tuple[str, int], tmp_path: Path
) -> None:
    settings = {"log.retention.check.interval.ms": "300000"}
    try:
        with ApacheKafka(folder=tmp_path, settings=settings) as kafka:
            found = explore(
                kafka.address(),
                reference,
                examples=FOREIGN_EXAMPLES,
                first_seed=1,
                allowed=read_allowed(),
            )
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))

    assert found.found is None, found.found
    assert found.examples == FOREIGN_EXAMPLES
