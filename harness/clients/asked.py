"""The requests that the lab makes of a cluster, by the names that histories give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from harness.clients.versions import Offered, why_not_offered

ASKED: Mapping[str, int] = MappingProxyType(
    {
        "metadata": 12,
        "produce": 11,
        "fetch": 12,
        "list_offsets": 8,
        "offset_for_leader_epoch": 4,
        "delete_records": 2,
        "create_topics": 7,
        "delete_topics": 6,
        "create_partitions": 3,
        "elect_leaders": 2,
        "describe_configs": 4,
        "incremental_alter_configs": 1,
        "alter_partition_reassignments": 0,
        "list_partition_reassignments": 0,
        "describe_topic_partitions": 0,
        "describe_cluster": 2,
        "describe_producers": 0,
        "find_coordinator": 4,
        "init_producer_id": 5,
        "add_partitions_to_txn": 3,
        "add_offsets_to_txn": 3,
        "txn_offset_commit": 4,
        "offset_fetch": 8,
        "end_txn": 4,
        "describe_transactions": 0,
        "list_transactions": 0,
        "produce/12": 12,  # producers of transaction version 2 (KIP-890)
        "end_txn/5": 5,
        "txn_offset_commit/5": 5,
    }
)
"""In which version, where a broker offers it; one that is asked in several has a line for each."""

ESSENTIAL = ("metadata", "produce", "fetch")
"""Without these nothing can be seen of a cluster."""
OF_TOPICS = (
    "describe_topic_partitions",
    "describe_cluster",
    "delete_topics",
    "create_partitions",
    "elect_leaders",
    "incremental_alter_configs",
    "alter_partition_reassignments",
    "list_partition_reassignments",
)
"""Those of who administers topics."""
OF_TRANSACTIONS = (
    "create_topics",
    "find_coordinator",
    "init_producer_id",
    "add_partitions_to_txn",
    "add_offsets_to_txn",
    "txn_offset_commit",
    "offset_fetch",
    "end_txn",
    "describe_transactions",
    "describe_producers",
    "list_transactions",
    "produce/12",
    "end_txn/5",
    "txn_offset_commit/5",
)
"""Those of transactional producers and of who looks at them."""


def lacking(offered: Offered) -> dict[str, str]:
    """The requests that a broker cannot be asked, with the reason."""
    asked = {
        name: why_not_offered(name.partition("/")[0], version, offered)
        for name, version in ASKED.items()
    }
    return {name: why for name, why in asked.items() if why is not None}


def first_lacking(requests: Iterable[str], lacks: Mapping[str, str]) -> str | None:
    """Why the first of these requests cannot be made, if one cannot."""
    return next((lacks[one] for one in requests if one in lacks), None)
