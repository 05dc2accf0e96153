"""The rows about brokers, with next to nothing to carry: they run. No time is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import bench
from harness.cli.benches import broker, broker_3, kafka, tiered, tiered_rebuild
from harness.cli.benches.measured import Measured
from harness.cli.benches.traffic import Load
from harness.deployments.apache_kafka.jars import KafkaUnavailable

LITTLE = Load(messages=200, rounds=1)
HALVES = [
    f"{half} {size}{unit}"
    for size in ("1 MB", "16 KiB")
    for half in ("produce", "consume")
    for unit in ("", ", CPU")
]


@pytest.mark.process
def test_a_broker_is_measured_against_a_bare_one(tmp_path: Path) -> None:
    rows = list(broker.measure(tmp_path, LITTLE))

    assert [row.row for row in rows] == HALVES
    assert all(row.rate > 0 and row.baseline_rate > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.process
def test_three_brokers_are_measured_with_acks_all(tmp_path: Path) -> None:
    rows = list(broker_3.measure(tmp_path, LITTLE))

    assert len(rows) == len(HALVES)
    assert all("3 brokers" in row.row and row.ratio > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.process
def test_a_remote_tier_is_measured_against_its_store(tmp_path: Path) -> None:
    rows = list(tiered.measure(tmp_path, Load(messages=20_000)))

    assert [row.row for row in rows] == [
        f"{what} {store}"
        for store in ("a folder", "SeaweedFS")
        for what in ("copy to", "read from")
    ] + ["produce with tiering", "read locally with tiering", "read remotely while producing"]
    assert all(row.ratio > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.process
def test_an_emptied_follower_fetches_little_of_what_is_tiered(tmp_path: Path) -> None:
    fetched, lasted = tiered_rebuild.measure(tmp_path, Load(messages=20_000))

    assert 0 < fetched.ratio < 1
    assert lasted.ratio > 0


@pytest.mark.foreign
def test_a_broker_is_measured_against_apache_kafka(tmp_path: Path) -> None:
    rows = list(kafka.measure(tmp_path, LITTLE))

    assert len(rows) == 2 * len(HALVES)
    assert all("Apache Kafka" in row.baseline and row.ratio > 0 for row in rows)


def test_a_row_that_lacks_its_baseline_says_so_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = Measured(row="boundary", unit="a second", rate=2.0, baseline="x", baseline_rate=1.0)

    def measure(row: str, _: object) -> list[Measured]:
        if row == "kafka":
            raise KafkaUnavailable("Apache Kafka needs Java.")
        return [measured]

    monkeypatch.setattr(bench, "_measure", measure)

    assert bench.run(["kafka", "boundary"], as_json=True) == 0
    said = capsys.readouterr()
    assert "kafka: Apache Kafka needs Java." in said.err
    assert '"boundary"' in said.out
    with pytest.raises(KafkaUnavailable):
        bench.run(["kafka"], as_json=True)
