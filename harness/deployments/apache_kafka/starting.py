"""What every cluster of real nodes has to do before it can be asked anything."""

from __future__ import annotations

import asyncio
import base64
import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.clients.connection import ask_once
from harness.deployments.apache_kafka.node import Node
from harness.deployments.apache_kafka.properties import HOST
from harness.errors import LabBroken
from harness.processes.reaper import REAPER
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

START_S = 90.0
FORMAT_S = 60.0
PAUSE_S = 0.05
_ASKED_S = 5.0
QUORUM_TOPIC = "__cluster_metadata"


def new_cluster_id() -> str:
    """Sixteen random bytes as Kafka writes them; it does not like a leading dash."""
    while True:
        text = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def free_ports(count: int) -> list[int]:
    """So many of them, held until all are chosen so that none is chosen twice."""
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def format_nodes(nodes: Iterable[Node], cluster_id: str) -> None:
    """Let Kafka write into each empty folder whose it is, all at once."""
    formats = {one: one.begin_format(cluster_id) for one in nodes}
    for node, process in formats.items():
        try:
            code = process.wait(FORMAT_S)
        finally:
            process.kill()
            process.wait()
            REAPER.ended(process.pid)
        if code:
            raise LabBroken(f"Kafka could not format its folder:\n{node.last_words()}")


def brokers_known(port: int) -> set[int]:
    """The brokers that a node knows; none while it does not answer."""
    try:
        answer = _ask(port, "metadata", 12, {"topics": []})
    except OSError:
        return set()
    return {one["node_id"] for one in answer.get("brokers", [])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """What a controller knows of its quorum: who leads it, and how far each has read its log."""

    leader: int
    high_watermark: int
    ends: Mapping[int, int]


def quorum_known(port: int) -> Quorum | None:
    """The quorum in the eyes of a controller; None while it does not know or answer."""
    topic = {"topic_name": QUORUM_TOPIC, "partitions": [{"partition_index": 0}]}
    try:
        answer = _ask(port, "describe_quorum", 1, {"topics": [topic]})
    except OSError:
        return None
    for found in answer.get("topics", []):
        for one in found["partitions"]:
            if one["error_code"] == "NONE":
                readers = [*one["current_voters"], *one["observers"]]
                return Quorum(
                    leader=one["leader_id"],
                    high_watermark=one["high_watermark"],
                    ends={r["replica_id"]: r["log_end_offset"] for r in readers},
                )
    return None


def _ask(port: int, api: str, version: int, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    asked = ask_once(StreamNetwork(), Address(HOST, port), api, version, fields, timeout_s=_ASKED_S)
    return asyncio.run(asked)
