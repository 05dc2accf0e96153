"""The document's third test case: a broker whose disk is lost, with tiered storage and without.

Two brokers have a log, most of which is in the remote tier alone, or all of it on their disks. The
follower is killed, its disk is emptied, and it comes back: how much of the log it has fetched when
it is in sync, and how long that took.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._metadata import PartitionMetadata
from confluent_kafka.cimpl import KafkaException, NewTopic

from harness.cli.benches.measured import Measured, timed
from harness.cli.benches.tiered import (
    LOAD,
    SEGMENT_BYTES,
    SETTINGS,
    TOPIC,
    local_segments,
    sending,
    until,
)
from harness.cli.benches.traffic import MIB, PATIENCE_S, Load
from harness.deployments.plan import DeploymentPlan, broker_name
from harness.deployments.process_cluster import ProcessCluster

LEADER, FOLLOWER = 1, 2
ASK_S = 5.0
BOTH = {"rlmm.config.remote.log.metadata.topic.replication.factor": "2"}
"""What is known of the segments must not be lost with the disk."""


def measure(folder: Path, load: Load = LOAD) -> Iterator[Measured]:
    """MiB fetched and seconds; less is better."""
    fetched, lasted = {}, {}
    for tiered in (False, True):
        fetched[tiered], lasted[tiered] = _rebuilt(folder / f"tiered-{tiered}", load, tiered)
    for row, unit, found in (
        ("fetched by an emptied follower", "MiB", fetched),
        ("until it is in sync", "ms", lasted),
    ):
        yield Measured(
            row=row,
            unit=unit,
            rate=found[True],
            baseline="without",
            baseline_rate=found[False],
        )


def _rebuilt(folder: Path, load: Load, tiered: bool) -> tuple[float, float]:
    """How many MiB of the log a follower has when it is in sync again, and after how long."""
    plan = DeploymentPlan(brokers=2, properties={**SETTINGS, **BOTH})
    store = ("--store", str(folder / "objects"))
    with ProcessCluster(folder, plan, services=lambda name: store) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 2})
        _create(admin, tiered)
        sending(cluster.bootstrap, TOPIC, load).run()
        disks = [cluster.data_folder(broker_name(one)) for one in (LEADER, FOLLOWER)]
        if tiered:
            until(lambda: all(len(local_segments(disk)) == 1 for disk in disks))
        until(lambda: _in_sync(admin) == 2)
        name = broker_name(FOLLOWER)
        cluster.kill(name)
        cluster.wipe(name)
        until(lambda: _in_sync(admin) == 1)

        def built() -> None:
            cluster.start(name)
            cluster.wait(name)
            until(lambda: _in_sync(admin) == 2)

        lasted_s = timed(built)
        size = sum(path.stat().st_size for path in local_segments(disks[1]))
    return size / MIB, 1000 * lasted_s


def _create(admin: AdminClient, tiered: bool) -> None:
    configs = {"segment.bytes": str(SEGMENT_BYTES), "retention.ms": "-1"}
    configs |= {"file.delete.delay.ms": "0"}
    if tiered:
        configs |= {"remote.storage.enable": "true", "local.retention.bytes": "1"}
    topic = NewTopic(TOPIC, 1, replica_assignment=[[LEADER, FOLLOWER]], config=configs)
    for made in admin.create_topics([topic]).values():
        made.result(PATIENCE_S)


def _in_sync(admin: AdminClient) -> int:
    """How many replicas are; 0 while that cannot be learnt."""
    try:
        told = admin.list_topics(TOPIC, ASK_S)
    except KafkaException:
        return 0
    found: PartitionMetadata = told.topics[TOPIC].partitions[0]
    return len(found.isrs)
