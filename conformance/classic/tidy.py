"""On a cluster that stays, the topics of a stage do not."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from harness.clients.admin import Refused, delete_topic
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment
from harness.sut import Sut


def tidy_up(on: Deployment, sut: Sut, topics: Iterable[str]) -> None:
    """Delete topics where the lab has not started the cluster, as far as it lets them go."""
    if not sut.adapter.started:
        on.run(_delete(on, [on.recorder.topic(topic) for topic in topics]))


async def _delete(on: Deployment, topics: Iterable[str]) -> None:
    client = RawClient(on.network, on.address(on.brokers[0]))
    for topic in topics:
        with suppress(Refused, OSError, TimeoutError):
            await delete_topic(client, topic)
