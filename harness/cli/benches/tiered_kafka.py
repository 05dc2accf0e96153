"""What the remote tier carries, against Apache Kafka with LocalTieredStorage, both on a folder.

The same log is filled, copied and read back from the remote tier by the same client, as in
`tiered`. What the metadata topic costs is the size of its log, by a thousand segments.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.measured import Measured
from harness.cli.benches.tiered import (
    LOAD,
    SETTINGS,
    Objects,
    Side,
    moved_there_and_back,
    side_of,
)
from harness.cli.benches.traffic import MIB, Load
from harness.deployments.apache_kafka import VERSION, ApacheKafka
from harness.deployments.plan import DeploymentPlan, broker_name
from harness.deployments.process_cluster import ProcessCluster


def measure(folder: Path, load: Load = LOAD) -> Iterator[Measured]:
    """MiB a second, there and back; KiB of metadata."""
    url = str(folder / "objects")
    plan = DeploymentPlan(brokers=1, properties=SETTINGS)
    with ProcessCluster(folder / "ours", plan, services=lambda name: ("--store", url)) as cluster:
        disk = cluster.data_folder(broker_name(1))
        ours = moved_there_and_back(side_of(cluster.bootstrap, disk, url), load)
    place = folder / "kafka"
    quick = {"remote.log.manager.task.interval.ms": "100", "log.retention.check.interval.ms": "100"}
    one = {"rlmm.config.remote.log.metadata.topic.num.partitions": "1"}
    with ApacheKafka(folder=place, nodes=1, settings={**quick, **one}) as kafka:

        def segments() -> Objects:
            found = (place / "remote").rglob("*.log")
            return {str(path): path.stat().st_size for path in found}

        side = Side(bootstrap=kafka.bootstrap, disk=place / "n1", segments=segments)
        theirs = moved_there_and_back(side, load)
    mib = sum(ours.objects.values()) / MIB
    rates = (
        ("copy to a folder", "MiB/s", mib / ours.copying_s, mib / theirs.copying_s),
        ("read from a folder", "MiB/s", load.mib / ours.reading_s, load.mib / theirs.reading_s),
        (
            "metadata of 1000 segments",
            "KiB",
            1000 * ours.metadata_bytes / 1024,
            1000 * theirs.metadata_bytes / 1024,
        ),
    )
    for row, unit, rate, baseline_rate in rates:
        yield Measured(
            row=row,
            unit=unit,
            rate=rate,
            baseline=f"Apache Kafka {VERSION}",
            baseline_rate=baseline_rate,
        )
