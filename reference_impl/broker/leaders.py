"""Telling a client that asked the wrong broker who leads (KIP-951)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

from reference_impl.metadata.image import Image, Topic
from reference_impl.metadata.visible import ANYWHERE, visible_partition

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchResponse, ProduceResponse

Leader = TypeVar("Leader")
Endpoint = TypeVar("Endpoint")


class _WithLeader(Protocol[Leader]):
    """An answer about one partition."""

    current_leader: Leader


class Leaders(Generic[Leader, Endpoint]):
    """Leaders named in one response, and where they are reached."""

    @overload
    def __init__(
        self: Leaders[FetchResponse.LeaderIdAndEpoch, FetchResponse.NodeEndpoint],
        image: Image,
        response: type[FetchResponse],
    ) -> None: ...

    @overload
    def __init__(
        self: Leaders[ProduceResponse.LeaderIdAndEpoch, ProduceResponse.NodeEndpoint],
        image: Image,
        response: type[ProduceResponse],
    ) -> None: ...

    def __init__(self, image: Image, response: Any) -> None:
        self._image = image
        self._response = response
        self._named: dict[int, Endpoint] = {}

    @property
    def endpoints(self) -> list[Endpoint]:
        """A NodeEndpoint for each leader named, once each."""
        return list(self._named.values())

    def name(self, answer: _WithLeader[Leader], topic: Topic | None, index: int) -> None:
        """Put the leader of a partition into ``answer.current_leader``."""
        state = None if topic is None else topic.partitions.get(index)
        if state is None:
            return
        seen = visible_partition(state, self._image.brokers, ANYWHERE)
        answer.current_leader = self._response.LeaderIdAndEpoch(
            leader_id=seen.leader, leader_epoch=seen.leader_epoch
        )
        if seen.has_leader and seen.leader not in seen.offline:
            broker = self._image.brokers[seen.leader]
            self._named[seen.leader] = self._response.NodeEndpoint(
                node_id=seen.leader, host=broker.host, port=broker.port, rack=broker.rack
            )
