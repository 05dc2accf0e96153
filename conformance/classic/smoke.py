"""A few plain requests that any Kafka cluster answers, one after the other.

A system that does not answer them is no cluster that could be judged. The topic is gone afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from harness.clients.admin import Refused, brokers_known, create_topic, delete_topic, leadership
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment
from harness.errors import LabBroken
from harness.workloads.partition_log import PartitionClients

BY = "lab-smoke"
BOUND_S = 30.0  # for a new topic to have a leader that takes and gives back a record
PAUSE_S = 0.25
REQUESTS = 5
_LOST = (OSError, TimeoutError)


async def smoke(on: Deployment, name: str, topic: str) -> int:
    """Metadata, a new topic, an append, the same record back, no topic; how many requests."""
    clients = PartitionClients(on=on, topic=topic)
    wire, brokers = clients.tp.topic, on.brokers

    async def create(client: RawClient) -> None:
        await create_topic(client, wire, assignments=[list(brokers)])

    async def delete(client: RawClient) -> None:
        await delete_topic(client, wire)

    try:
        await _carried_out(on, topic, "describe_cluster", "name its brokers", brokers_known)
        await _carried_out(on, topic, "create_topics", "create a topic", create)
        try:
            await _append_and_read(on, clients)
        except _Unanswered:
            with suppress(*_LOST, Refused):
                await delete(_client(on, brokers[0]))
            raise
        if "delete_topics" not in on.lacks:
            await _carried_out(on, topic, "delete_topics", "delete a topic", delete)
    except _Unanswered as what:
        raise LabBroken(f"{name} does not {what}; no rule can be judged") from None
    return REQUESTS


class _Unanswered(Exception):
    """What a cluster does not do."""


async def _carried_out(
    on: Deployment, topic: str, f: str, what: str, ask: Callable[[RawClient], Awaitable[object]]
) -> None:
    """Ask the first broker, and record it."""
    broker = on.brokers[0]
    about = {"topic": topic, "partition": 0, "node": broker}
    operation = on.recorder.invoke(BY, f, about)
    try:
        await ask(_client(on, broker))
    except Refused as reason:
        on.recorder.finish(operation, "fail", {"error": str(reason)})
        raise _Unanswered(f"{what}: {reason}") from None
    except _LOST as lost:
        on.recorder.finish(operation, "info", {"error": None})
        raise _Unanswered(f"{what}: {lost}") from None
    on.recorder.finish(operation, "ok", {"error": 0})


async def _append_and_read(on: Deployment, clients: PartitionClients) -> None:
    end = None
    for _ in range(int(BOUND_S / PAUSE_S)):
        leader = await _leader(on, clients)
        if leader is not None and end is None:
            end = await clients.send(BY, leader, acks=-1)
        if leader is not None and end is not None and await clients.read(BY, leader, end) > end:
            return
        await asyncio.sleep(PAUSE_S)
    what = "append a record" if end is None else "give back the record that it took"
    raise _Unanswered(f"{what} within {BOUND_S:g} s")


async def _leader(on: Deployment, clients: PartitionClients) -> int | None:
    with suppress(*_LOST):
        seen = await leadership(_client(on, on.brokers[0]), clients.tp, timeout_s=2.0)
        return seen.leader if seen.leader in on.brokers else None
    return None


def _client(on: Deployment, broker: int) -> RawClient:
    return RawClient(on.network, on.address(broker))
