"""What the remote tier carries, against its store alone: obstore with the same objects.

One broker, one partition, on a folder and on SeaweedFS. A log of finished segments becomes tiered:
how fast they are copied, until the disk may forget them. Then one client reads all of it from the
remote tier. The baseline puts and gets the same objects one after the other, without a broker; it
does not look into them, and has no client to send them to.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from harness.cli.benches.measured import Measured, timed
from harness.cli.benches.traffic import MIB, PATIENCE_S, Load, Reading, Sending
from harness.deployments.plan import TIERED, DeploymentPlan, broker_name
from harness.deployments.process_cluster import ProcessCluster
from harness.processes.s3_server import SeaweedServer
from reference_impl.live.object_store import open_object_store

LOAD = Load(messages=96_000)
SEGMENT_BYTES = 8 * MIB
TOPIC, BUCKET, SEGMENT = "archive", "bench", "/segment.log"
LOOKS_S = 0.01
SETTINGS = {
    TIERED: "true",
    "remote.log.manager.task.interval.ms": "100",
    "log.retention.check.interval.ms": "100",
    "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
    "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
}
Objects = dict[str, int]


def measure(folder: Path, load: Load = LOAD) -> Iterator[Measured]:
    """MiB a second, there and back."""
    yield from _measured(folder / "on-a-folder", "a folder", str(folder / "objects"), load)
    with SeaweedServer() as server:
        yield from _measured(folder / "on-s3", "SeaweedFS", server.url(BUCKET), load)


def _measured(folder: Path, store: str, url: str, load: Load) -> Iterator[Measured]:
    plan = DeploymentPlan(brokers=1, properties=SETTINGS)
    with ProcessCluster(folder, plan, services=lambda name: ("--store", url)) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 2})
        _filled(admin, cluster.bootstrap, load)
        disk = cluster.data_folder(broker_name(1))
        finished = len(_local(disk)) - 1

        def copied() -> None:
            _configure(admin, "remote.storage.enable", "true")
            _until(lambda: len(_segments(url)) >= finished)

        copying_s = timed(copied)
        objects = _segments(url)
        _configure(admin, "local.retention.bytes", "1")
        _until(lambda: len(_local(disk)) == 1)
        reading = Reading(cluster.bootstrap, TOPIC, messages=load.messages)
        reading_s = timed(reading.run)
        reading.end()
    put_s, get_s = asyncio.run(_bare(url, objects))
    mib = sum(objects.values()) / MIB
    for what, ours, moved, bare in (
        ("copy to", copying_s, mib, put_s),
        ("read from", reading_s, load.mib, get_s),
    ):
        yield Measured(
            row=f"{what} {store}",
            unit="MiB/s",
            rate=moved / ours,
            baseline="obstore",
            baseline_rate=mib / bare,
        )


def _filled(admin: AdminClient, bootstrap: str, load: Load) -> None:
    """A log of so many messages, on the disk alone."""
    configs = {"segment.bytes": str(SEGMENT_BYTES), "retention.ms": "-1"}
    for made in admin.create_topics([NewTopic(TOPIC, 1, 1, config=configs)]).values():
        made.result(PATIENCE_S)
    Sending(bootstrap, TOPIC, messages=load.messages, batch_bytes=1_000_000, acks="1").run()


def _configure(admin: AdminClient, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    wanted = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])
    for changed in admin.incremental_alter_configs([wanted]).values():
        changed.result(PATIENCE_S)


def _until(reached: Callable[[], bool]) -> None:
    """Look until it is so; a sentence if it takes too long."""
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        if time.monotonic() > deadline:
            raise RuntimeError(f"segments did not move within {PATIENCE_S:.0f} s")
        time.sleep(LOOKS_S)


def _local(disk: Path) -> list[Path]:
    return list(disk.glob(f"**/{TOPIC}-0/*.log"))


def _segments(url: str) -> Objects:
    """The segments in the store, with their sizes."""

    async def listed() -> Objects:
        store = open_object_store(url)
        try:
            return {one.key: one.size for one in await store.list() if one.key.endswith(SEGMENT)}
        finally:
            await store.close()

    return asyncio.run(listed())


async def _bare(url: str, objects: Objects) -> tuple[float, float]:
    """How long it takes to put these objects again elsewhere, and to get them."""
    store = open_object_store(url)
    try:
        data = {key: await store.get(key) for key in objects}
        began = time.perf_counter()
        for key, one in data.items():
            await store.put(f"bare/{key}", one)
        put = time.perf_counter()
        for key in data:
            await store.get(f"bare/{key}")
        return put - began, time.perf_counter() - put
    finally:
        await store.close()
