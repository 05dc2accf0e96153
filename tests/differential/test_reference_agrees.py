"""The reference cluster, one broker as real processes, held to what Apache Kafka said.

Needs no Kafka: the answers are recorded. A failing test is a disagreement in its shortest form; the
command at its end shows it in full, against a cluster started by `./tidemark serve --brokers 1`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.clusters import ClusterPlan
from harness.clusters.processes import ProcessCluster
from harness.differential.agreement import compare_answers, told
from harness.differential.allowed import read_allowed
from harness.differential.answers import read_recordings
from harness.differential.player import play

pytestmark = pytest.mark.process

ANSWERS = Path(__file__).with_name("answers")
RECORDINGS = {one.sequence.name: one for one in read_recordings(ANSWERS)}
ALLOWED = read_allowed()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    plan = ClusterPlan(brokers=1, racks=("a",))
    with ProcessCluster(tmp_path_factory.mktemp("reference"), plan) as cluster:
        host, _, port = cluster.bootstrap.rpartition(":")
        yield host, int(port)


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_reference_answers_as_kafka_did(name: str, reference: tuple[str, int]) -> None:
    recording = RECORDINGS[name]

    agreement = compare_answers(recording, play(recording.sequence, reference), ALLOWED)

    repeat = (
        "python -m harness.differential run --bootstrap HOST:PORT"
        f" --against tests/differential/answers --only {name} --all"
    )
    lines = [*told(agreement, strict=False, all_of_it=False), f"repeat: {repeat}"]
    assert len(lines) == 1, "\n".join(lines)
