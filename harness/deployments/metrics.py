"""The metrics of a cluster's nodes: the page of each, read by the network of the lab."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from harness.deployments.deployment import Row
from harness.deployments.hooks import METRICS_BYTES, body_of, read_metrics
from reference_impl.ports import Address, EndOfStream, Network

LOOK_S = 10.0
_CHUNK = 1 << 16
_ASK = b"GET /metrics HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n"


async def look_at_pages(network: Network, pages: Mapping[str, Address]) -> list[Row]:
    """Node, name, labels and value of each sample; a node that does not answer has none."""
    rows: list[Row] = []
    for node, address in pages.items():
        try:
            async with asyncio.timeout(LOOK_S):
                answer = await _answer(network, address)
        except (OSError, TimeoutError):
            continue
        called = f"the metrics of {node}"
        samples = read_metrics(body_of(answer, called=called), called=called)
        rows += [{"node": node, **sample} for sample in samples]
    return rows


async def _answer(network: Network, address: Address) -> bytes:
    connection = await network.connect(address)
    answer = bytearray()
    try:
        await connection.send(_ASK)
        while len(answer) <= METRICS_BYTES:
            answer += await connection.read_some(_CHUNK)
    except EndOfStream:
        pass
    finally:
        connection.abort()
    return bytes(answer)
