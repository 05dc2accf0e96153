"""What the remote tier carries, against its store alone: obstore with the same objects.

One broker, one partition, on a folder and on SeaweedFS. A log of finished segments becomes tiered:
how fast they are copied, until the disk may forget them. Then one client reads all of it from the
remote tier. The baseline puts and gets the same objects one after the other, without a broker; it
does not look into them, and has no client to send them to.

Then what others notice: produce, and read locally, while copies go on, against the same topic
without tiering; read from the remote tier while as much is produced, against reading alone. A round
that does not count comes before.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A broker with a remote store: where it is, its disk, and the segments in its store."""

    bootstrap: str
    disk: Path
    segments: Callable[[], Objects]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What came of a log that went there and back; bytes of the metadata topic by segment."""

    copying_s: float
    reading_s: float
    objects: Objects
    metadata_bytes: float


def measure(folder: Path, load: Load = LOAD) -> Iterator[Measured]:
    """MiB a second, there and back."""
    yield from _measured(folder / "on-a-folder", "a folder", str(folder / "objects"), load)
    with SeaweedServer() as server:
        yield from _measured(folder / "on-s3", "SeaweedFS", server.url(BUCKET), load)
    yield from _while_tiering(folder / "while", load)


def _measured(folder: Path, store: str, url: str, load: Load) -> Iterator[Measured]:
    plan = DeploymentPlan(brokers=1, properties=SETTINGS)
    with ProcessCluster(folder, plan, services=lambda name: ("--store", url)) as cluster:
        disk = cluster.data_folder(broker_name(1))
        moved = moved_there_and_back(side_of(cluster.bootstrap, disk, url), load)
    put_s, get_s = asyncio.run(_bare(url, moved.objects))
    mib = sum(moved.objects.values()) / MIB
    for what, ours, carried, bare in (
        ("copy to", moved.copying_s, mib, put_s),
        ("read from", moved.reading_s, load.mib, get_s),
    ):
        yield Measured(
            row=f"{what} {store}",
            unit="MiB/s",
            rate=carried / ours,
            baseline="obstore",
            baseline_rate=mib / bare,
        )


def _while_tiering(folder: Path, load: Load) -> Iterator[Measured]:
    """What producers and readers get while the remote tier is at work, and while it is not."""
    plan = DeploymentPlan(brokers=1, properties=SETTINGS)
    url = str(folder / "objects")
    with ProcessCluster(folder, plan, services=lambda name: ("--store", url)) as cluster:
        at, admin = cluster.bootstrap, AdminClient({"bootstrap.servers": cluster.bootstrap})
        rates: dict[tuple[str, bool], float] = {}
        for number, tiered in enumerate((True, False, True)):  # the first does not count
            topic = f"{TOPIC}-{number}"
            _create(admin, topic, tiered=tiered)
            sent_s = timed(sending(at, topic, load).run)
            rates["produce with tiering", tiered] = load.mib / sent_s
            rates["read locally with tiering", tiered] = load.mib / _read_s(at, topic, load)
        tiered_topic = topic
        _configure(admin, "local.retention.bytes", "1", tiered_topic)
        disk = cluster.data_folder(broker_name(1))
        until(lambda: len(local_segments(disk, tiered_topic)) == 1)
        _read_s(at, tiered_topic, load)
        busy = "read remotely while producing"
        rates[busy, False] = load.mib / _read_s(at, tiered_topic, load)
        _create(admin, "beside", tiered=True)
        producing = threading.Thread(target=sending(at, "beside", load).run)
        producing.start()
        rates[busy, True] = load.mib / _read_s(at, tiered_topic, load)
        producing.join()
    for (row, on), rate in rates.items():
        if on:
            yield Measured(
                row=row,
                unit="MiB/s",
                rate=rate,
                baseline="without",
                baseline_rate=rates[row, False],
            )


def side_of(bootstrap: str, disk: Path, url: str) -> Side:
    """A broker of ours, with its store."""
    return Side(bootstrap=bootstrap, disk=disk, segments=lambda: _segments(url))


def moved_there_and_back(side: Side, load: Load) -> Moved:
    """Fill a log, have it copied, empty the disk, read all of it."""
    admin = AdminClient({"bootstrap.servers": side.bootstrap, "log_level": 2})
    _create(admin, TOPIC, tiered=False)
    sending(side.bootstrap, TOPIC, load).run()
    finished = len(local_segments(side.disk)) - 1

    def copied() -> None:
        _configure(admin, "remote.storage.enable", "true")
        until(lambda: len(side.segments()) >= finished)

    copying_s = timed(copied)
    objects = side.segments()
    _configure(admin, "local.retention.bytes", "1")
    until(lambda: len(local_segments(side.disk)) == 1)
    metadata = side.disk.glob("**/__remote_log_metadata-0/*.log")
    return Moved(
        copying_s=copying_s,
        reading_s=_read_s(side.bootstrap, TOPIC, load),
        objects=objects,
        metadata_bytes=sum(path.stat().st_size for path in metadata) / max(1, len(objects)),
    )


def _read_s(bootstrap: str, topic: str, load: Load) -> float:
    reading = Reading(bootstrap, topic, messages=load.messages)
    try:
        return timed(reading.run)
    finally:
        reading.end()


def sending(bootstrap: str, topic: str, load: Load) -> Sending:
    """All messages of a load, in large batches."""
    return Sending(bootstrap, topic, messages=load.messages, batch_bytes=1_000_000, acks="1")


def _create(admin: AdminClient, topic: str, *, tiered: bool) -> None:
    configs = {"segment.bytes": str(SEGMENT_BYTES), "retention.ms": "-1"}
    configs |= {"remote.storage.enable": str(tiered).lower(), "file.delete.delay.ms": "0"}
    for made in admin.create_topics([NewTopic(topic, 1, 1, config=configs)]).values():
        made.result(PATIENCE_S)


def _configure(admin: AdminClient, name: str, value: str, topic: str = TOPIC) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    wanted = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for changed in admin.incremental_alter_configs([wanted]).values():
        changed.result(PATIENCE_S)


def until(reached: Callable[[], bool]) -> None:
    """Look until it is so; a sentence if it takes too long."""
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        if time.monotonic() > deadline:
            raise RuntimeError(f"segments did not move within {PATIENCE_S:.0f} s")
        time.sleep(LOOKS_S)


def local_segments(disk: Path, topic: str = TOPIC) -> list[Path]:
    """The segments of a log on the disk of a broker."""
    return list(disk.glob(f"**/{topic}-0/*.log"))


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
