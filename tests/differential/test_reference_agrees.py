"""The reference cluster, one broker or three as real processes, held to what Apache Kafka said.

Needs no Kafka: the answers are recorded. A failing test is a disagreement in its shortest form; the
command at its end shows it in full, against a cluster started by `./tidemark serve --brokers N`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from harness.differential.agreement import compare_answers, told
from harness.differential.allowed import read_allowed
from harness.differential.answers import read_recordings
from harness.differential.live import play_now

pytestmark = pytest.mark.process

RECORDINGS = {one.sequence.name: one for one in read_recordings()}
ALLOWED = read_allowed()
Bootstrap = tuple[str, int]


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Bootstrap]]:
    """A cluster of each size, from the first time that it is asked for."""
    with ExitStack() as running:

        @cache
        def started(brokers: int) -> Bootstrap:
            plan = DeploymentPlan(brokers=brokers, racks=("a", "b", "c")[:brokers])
            folder = tmp_path_factory.mktemp("reference")
            cluster = running.enter_context(ProcessCluster(folder, plan))
            host, _, port = cluster.bootstrap.split(",")[0].rpartition(":")
            return host, int(port)

        yield started


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_reference_answers_as_kafka_did(
    name: str, references: Callable[[int], Bootstrap]
) -> None:
    recording = RECORDINGS[name]
    reference = references(recording.sequence.brokers)

    agreement = compare_answers(recording, play_now(recording.sequence, reference), ALLOWED)

    repeat = f"python -m harness.differential run --bootstrap HOST:PORT --only {name} --all"
    lines = [*told(agreement, strict=False, all_of_it=False), f"repeat: {repeat}"]
    assert len(lines) == 1, "\n".join(lines)
