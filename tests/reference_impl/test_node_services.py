"""Store and control plane of a node that is a process of its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reference_impl
from reference_impl.control_plane.lines import request_of
from reference_impl.live.services import open_control_plane, open_store
from reference_impl.ports.control_plane import BoundaryError
from reference_impl.ports.effects import OpenGate
from reference_impl.ports.object_store import StoreUnavailable

NODE = ("--node-id", "1", "--cluster-id", "c", "--listen", "127.0.0.1:0", "--data", "/nowhere")
LOG = {"topic": "t", "partition": 0}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--store", "memory:"), "use a folder or s3://… instead"),
        (("--control-plane", "memory:"), "use a PostgreSQL database (postgresql://…) instead"),
        (("--trace-ports", "disk,tape"), "no port 'tape'"),
    ],
)
def test_a_node_refuses_what_it_cannot_share_with_others(
    options: tuple[str, ...], sentence: str
) -> None:
    root = str(Path(reference_impl.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "reference_impl", "controller", *NODE, *options],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": root},
        timeout=60,
    )
    assert done.returncode == 64
    assert sentence in done.stderr.decode()


def test_a_node_without_a_control_plane_is_told_so_by_every_partition() -> None:
    plane = open_control_plane(None, OpenGate())
    request = request_of({"f": "create_log", "partitions": [LOG, {**LOG, "partition": 1}]})
    answer = asyncio.run(plane.call(request))
    assert [one.error for one in answer.partitions] == [BoundaryError.KAFKA_STORAGE_ERROR] * 2
    assert "--control-plane" in answer.partitions[0].message


def test_a_node_without_a_store_is_told_so() -> None:
    with pytest.raises(StoreUnavailable, match="--store"):
        asyncio.run(open_store(None).get("wal/1"))


def test_nodes_with_the_same_folder_share_its_objects(tmp_path: Path) -> None:
    async def story() -> bytes:
        await open_store(str(tmp_path / "objects")).put("wal/1", b"bytes")
        return await open_store(str(tmp_path / "objects")).get("wal/1")

    assert asyncio.run(story()) == b"bytes"


def test_a_database_is_asked_only_when_it_is_needed() -> None:
    plane = open_control_plane("postgresql://nobody@127.0.0.1:1/none", OpenGate())
    (answer,) = asyncio.run(plane.call(request_of({"f": "create_log", **LOG}))).partitions
    assert answer.error is BoundaryError.REQUEST_TIMED_OUT
