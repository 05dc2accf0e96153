"""Fetches, with the bytes that consumers are sent counted by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.broker.fetch import Fetches
from reference_impl.kafka.server import Context
from reference_impl.metadata.image import Image
from reference_impl.metrics.registry import Counter

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse

_FIRST_WITH_STATE = 15


class MeteredFetches:
    """Answers as ``Fetches`` does. What followers copy is not counted."""

    def __init__(self, fetches: Fetches, image: Image, bytes_out: Counter) -> None:
        self._fetches = fetches
        self._image = image
        self._bytes_out = bytes_out

    async def __call__(self, context: Context, request: FetchRequest) -> FetchResponse:
        """Answer a Fetch request."""
        answer = await self._fetches(context, request)
        replica = request.replica_id
        if context.version >= _FIRST_WITH_STATE:
            replica = request.replica_state.replica_id
        if replica < 0:
            for topic in answer.responses:
                size = sum(len(one.records) for one in topic.partitions if one.records)
                name = topic.topic or self._image.topic_ids.get(topic.topic_id)
                if size and name is not None:
                    self._bytes_out.add((name,), size)
        return answer
