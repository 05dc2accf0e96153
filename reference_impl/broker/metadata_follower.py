"""How a broker learns what the controller wrote: it fetches the metadata log, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from reference_impl.broker.node import Node
from reference_impl.kafka.apis import FETCH
from reference_impl.kafka.batches import Bytes, batches
from reference_impl.kafka.client import Peer
from reference_impl.kafka.records import records as records_of
from reference_impl.metadata.records import from_bytes

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest

METADATA_TOPIC_ID = UUID(int=1)
VERSION = 17
MAX_WAIT_MS = 500
MAX_BYTES = 8 * 1024 * 1024
_RETRY_S = 0.1


async def follow_metadata(node: Node, peer: Peer) -> None:
    """Apply every change as it is written, and let the partitions become what it says."""
    while True:
        try:
            answer = await peer.ask(
                FETCH, VERSION, _request(node), timeout_s=MAX_WAIT_MS / 1000 + 10
            )
            data = answer.responses[0].partitions[0]
            if data.error_code:
                raise ConnectionError(f"no metadata: error {data.error_code}")
        except (ConnectionError, TimeoutError, IndexError):
            await node.ports.clock.sleep(_RETRY_S)
            continue
        if _apply(node, data.records or b""):
            await node.partitions.apply()
            await node.transactions.roles_changed()
            await node.offsets.roles_changed()


def _request(node: Node) -> FetchRequest:
    partition = FETCH.request.FetchPartition(
        partition=0,
        current_leader_epoch=-1,
        fetch_offset=node.image.offset + 1,
        last_fetched_epoch=-1,
        log_start_offset=-1,
        partition_max_bytes=MAX_BYTES,
    )
    return FETCH.request(
        replica_state=FETCH.request.ReplicaState(
            replica_id=node.settings.node_id, replica_epoch=node.broker_epoch
        ),
        max_wait_ms=MAX_WAIT_MS,
        min_bytes=1,
        max_bytes=MAX_BYTES,
        session_epoch=-1,
        topics=[FETCH.request.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])],
    )


def _apply(node: Node, data: Bytes) -> bool:
    """Take the records in; whether there were any."""
    applied = False
    for at, batch in batches(data):
        if batch.base_offset <= node.image.offset:
            continue
        for record in records_of(data, at):
            node.image.apply(from_bytes(record.value or b""))
            applied = True
    return applied
