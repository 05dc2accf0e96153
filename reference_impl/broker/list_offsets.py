"""ListOffsets: which offset belongs to a time, or to one of the special times.

A partition is searched region by region (`partitions/searching.py`), each store once for all
partitions of the request, and again where segments left this disk during the search. A leader that
does not know yet whether what it found at its election is committed says OFFSET_NOT_AVAILABLE
instead of an offset that might go back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reference_impl.broker.node import Node
from reference_impl.decisions import decision
from reference_impl.kafka.apis import LIST_OFFSETS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.partitions.catalog import Partitions
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.refreshing import refresh_all
from reference_impl.partitions.routing import Refresh, Refuse
from reference_impl.partitions.searching import (
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    Search,
    SearchEnd,
    merge_latest,
    merge_search,
    route_listing,
    special_offset,
)
from reference_impl.partitions.views import Refreshed, RegionKind
from reference_impl.replication.decisions import Reader, readable_upto

if TYPE_CHECKING:
    from reference_impl.kafka.messages import ListOffsetsRequest, ListOffsetsResponse

# The first version in which a special timestamp may be asked for.
FIRST_VERSION = {
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
CONSUMER, DEBUGGING = -1, -2
NOT_FOUND = (-1, -1, -1)
_FIRST_NOT_AVAILABLE = 5
_FIRST_WITH_TIMEOUT = 10
_OF_THE_TIER = (LATEST_TIERED, EARLIEST_PENDING_UPLOAD)

Found = tuple[int, int, int]  # timestamp, offset, leader epoch


@decision("timestamp-known", rules=("TS-024", "TS-025"))
def timestamp_known(timestamp: int, version: int) -> bool:
    """Special timestamps are negative; each has a first version (C-26)."""
    first = FIRST_VERSION.get(timestamp, 0)
    return timestamp >= 0 or (timestamp >= EARLIEST_PENDING_UPLOAD and version >= first)


Key = tuple[str, int]


async def list_offsets(
    node: Node, context: Context, request: ListOffsetsRequest
) -> ListOffsetsResponse:
    """Answer a ListOffsets request."""
    asked: dict[tuple[str, int], int] = {}
    for topic in request.topics:
        for one in topic.partitions:
            key = (topic.name, one.partition_index)
            asked[key] = asked.get(key, 0) + 1
    timeout_s = _timeout_ms(node, context, request) / 1000
    reader = list_offsets_reader(request.replica_id, request.isolation_level == 1)
    searches = _Searches(node.partitions, reader, timeout_s)
    answers: dict[tuple[str, int], ListOffsetsResponse.ListOffsetsPartitionResponse] = {}
    for topic in request.topics:
        for one in topic.partitions:
            key = (topic.name, one.partition_index)
            answers[key] = LIST_OFFSETS.response.ListOffsetsPartitionResponse(
                partition_index=one.partition_index, timestamp=-1, offset=-1, leader_epoch=-1
            )
            try:
                if asked[key] > 1:
                    raise KafkaError(ErrorCode.invalid_request)
                partition = await _partition(node, context, request, topic.name, one)
                searches.add(key, partition, one.timestamp)
            except KafkaError as error:
                answers[key].error_code = _code(error, context.version)
    for key, found in (await searches.ended()).items():
        if isinstance(found, KafkaError):
            answers[key].error_code = _code(found, context.version)
        else:
            answers[key].timestamp, answers[key].offset, answers[key].leader_epoch = found
    topics: dict[str, list[ListOffsetsResponse.ListOffsetsPartitionResponse]] = {}
    for (name, _), answer in answers.items():
        topics.setdefault(name, []).append(answer)
    return LIST_OFFSETS.response(
        topics=[
            LIST_OFFSETS.response.ListOffsetsTopicResponse(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ]
    )


def _timeout_ms(node: Node, context: Context, request: ListOffsetsRequest) -> int:
    """How long remote searches may take (C-02)."""
    if context.version >= _FIRST_WITH_TIMEOUT:
        return request.timeout_ms
    return node.layers.number("remote.list.offsets.request.timeout.ms")


def _code(error: KafkaError, version: int) -> ErrorCode:
    if error.code is ErrorCode.offset_not_available and version < _FIRST_NOT_AVAILABLE:
        return ErrorCode.leader_not_available
    return error.code


@decision("list-offsets-reader")
def list_offsets_reader(replica_id: int, committed: bool) -> Reader:
    """Only a replica is told of what is not committed; −1 and −2 are no replicas (C-25), and only
    −1, a consumer, has an isolation level."""
    if replica_id >= 0:
        return Reader.FOLLOWER
    return Reader.COMMITTED if committed and replica_id == CONSUMER else Reader.CONSUMER


async def _partition(
    node: Node,
    context: Context,
    request: ListOffsetsRequest,
    topic: str,
    one: ListOffsetsRequest.ListOffsetsPartition,
) -> LogicalPartition:
    if request.isolation_level not in (0, 1):
        raise KafkaError(ErrorCode.unknown_server_error)
    if not timestamp_known(one.timestamp, context.version):
        raise KafkaError(ErrorCode.unsupported_version)
    partition = await node.partitions.find(topic, one.partition_index)
    partition.check(one.current_leader_epoch, only_leader=request.replica_id != DEBUGGING)
    return partition


class _Searches:
    """What is looked for in one request, by partition."""

    def __init__(self, partitions: Partitions, reader: Reader, timeout_s: float) -> None:
        self._partitions = partitions
        self._reader = reader
        self._deadline_s = asyncio.get_running_loop().time() + timeout_s
        self._wanted: dict[Key, tuple[LogicalPartition, int]] = {}

    def add(self, key: Key, partition: LogicalPartition, timestamp: int) -> None:
        """Look for this, too."""
        self._wanted[key] = (partition, timestamp)

    async def ended(self) -> dict[Key, Found | KafkaError]:
        """What was found of each."""
        found: dict[Key, Found | KafkaError] = {}
        left = list(self._wanted)
        while left:
            plans: dict[Key, tuple[Search, ...]] = {}
            for key, route in (await self._routed(left)).items():
                if isinstance(route, Refuse):
                    found[key] = KafkaError(route.error)
                else:
                    plans[key] = route
            ended = await self._search(plans)
            left = [key for key, plan in plans.items() if self._moved(key, plan)]
            if asyncio.get_running_loop().time() >= self._deadline_s:
                found |= {key: KafkaError(ErrorCode.kafka_storage_error) for key in left}
                left = []
            for key, results in ended.items():
                if key not in left and key not in found:
                    found[key] = self._answer(*self._wanted[key], results)
        return found

    def _moved(self, key: Key, plan: tuple[Search, ...]) -> bool:
        """Whether segments moved from this disk to the remote tier since the search was planned.

        Neither region had them for certain, so both have to be searched again (KAFKA-17498).
        """
        partition = self._wanted[key][0]
        local = partition.bounds(self._reader).local_log_start_offset
        tiered = any(one.kind is RegionKind.TIERED for one in partition.regions())
        return tiered and any(
            one.region.kind is RegionKind.LOCAL and one.region.start < local for one in plan
        )

    async def _search(self, plans: dict[Key, tuple[Search, ...]]) -> dict[Key, list[SearchEnd]]:
        """Each store is asked once, all at the same time."""
        groups: dict[RegionKind, list[tuple[LogicalPartition, Search, int]]] = {}
        for key, searches in plans.items():
            partition, timestamp = self._wanted[key]
            for search in searches:
                if search.error is not ErrorCode.none:
                    continue
                groups.setdefault(search.region.kind, []).append((partition, search, timestamp))
        timeout_s, stores = self._time_left_s(), self._partitions.stores
        ended = await asyncio.gather(
            *(
                stores[kind].find_timestamp_many(group, timeout_s=timeout_s)
                for kind, group in groups.items()
            )
        )
        left = {kind: iter(results) for kind, results in zip(groups, ended, strict=True)}
        return {
            key: [
                next(left[one.region.kind])
                if one.error is ErrorCode.none
                else SearchEnd(error=one.error)
                for one in searches
            ]
            for key, searches in plans.items()
        }

    async def _routed(self, keys: Sequence[Key]) -> dict[Key, tuple[Search, ...] | Refuse]:
        """Where each is looked for, once the authorities were asked that have to be."""
        routes = {key: self._route(key) for key in keys}
        wanted: dict[RegionKind, list[Key]] = {}
        for key, route in routes.items():
            if isinstance(route, Refresh):
                wanted.setdefault(route.what, []).append(key)
        came = await refresh_all(
            self._partitions.authorities,
            {kind: [self._wanted[key][0] for key in some] for kind, some in wanted.items()},
            timeout_s=self._time_left_s(),
        )
        refreshed = {
            key: one
            for some, ended in zip(wanted.values(), came, strict=True)
            for key, one in zip(some, ended, strict=True)
        }
        asked = {key: self._route(key, one) for key, one in refreshed.items()}
        return {key: one for key, one in (routes | asked).items() if not isinstance(one, Refresh)}

    def _route(
        self, key: Key, refreshed: Refreshed = Refreshed.NOT_ASKED
    ) -> tuple[Search, ...] | Refresh | Refuse:
        partition, timestamp = self._wanted[key]
        standing = partition.standing(self._reader, refreshed)
        return route_listing(timestamp, self._reader, partition.regions(), standing)

    def _time_left_s(self) -> float:
        return max(0.0, self._deadline_s - asyncio.get_running_loop().time())

    def _answer(
        self, partition: LogicalPartition, timestamp: int, ended: list[SearchEnd]
    ) -> Found | KafkaError:
        bounds = partition.bounds(self._reader)
        upto = readable_upto(
            self._reader, bounds.log_end_offset, bounds.high_watermark, bounds.last_stable_offset
        )
        end_is_known = self._reader is Reader.FOLLOWER or partition.end_is_known
        if timestamp < 0 and timestamp != MAX_TIMESTAMP:
            if timestamp == LATEST and not end_is_known:
                return KafkaError(ErrorCode.offset_not_available)
            try:
                tiered = partition.last_tiered() if timestamp in _OF_THE_TIER else None
            except KafkaError as error:
                return error
            offset = special_offset(timestamp, bounds, tiered, upto)
            return -1, offset, partition.epoch_of(offset, newest=timestamp == LATEST)
        merged = merge_latest(ended) if timestamp == MAX_TIMESTAMP else merge_search(ended)
        if merged.error is not ErrorCode.none:
            return KafkaError(merged.error)
        if merged.found is None or merged.found.offset >= upto:
            return NOT_FOUND if end_is_known else KafkaError(ErrorCode.offset_not_available)
        epoch = merged.found.leader_epoch
        return merged.found.timestamp, merged.found.offset, -1 if epoch is None else epoch
