"""Telling a client that asked the wrong broker who leads (KIP-951)."""

from __future__ import annotations

from typing import Any

from reference_impl.kafka.message import Message
from reference_impl.metadata.image import Image, Topic


class Leaders:
    """Leaders named in one response, and where they are reached."""

    def __init__(self, image: Image, response: Any) -> None:
        self._image = image
        self._response = response
        self._named: dict[int, Message] = {}

    @property
    def endpoints(self) -> list[Message]:
        """A NodeEndpoint for each leader named, once each."""
        return list(self._named.values())

    def name(self, answer: Message, topic: Topic | None, index: int) -> None:
        """Put the leader of a partition into ``answer.current_leader``."""
        state = None if topic is None else topic.partitions.get(index)
        if state is None:
            return
        answer.current_leader = self._response.LeaderIdAndEpoch(
            leader_id=state.leader, leader_epoch=state.leader_epoch
        )
        broker = self._image.brokers.get(state.leader)
        if broker is not None and not broker.fenced:
            self._named[state.leader] = self._response.NodeEndpoint(
                node_id=state.leader, host=broker.host, port=broker.port, rack=broker.rack
            )
