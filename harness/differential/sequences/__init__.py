"""The sequences written by hand, by the request they are about."""

from __future__ import annotations

from collections.abc import Iterator

from harness.differential.sequence import RequestSequence
from harness.differential.sequences import (
    cluster,
    configs,
    fetch,
    fetch_sessions,
    group_offsets,
    group_offsets_within,
    idempotence,
    malformed,
    metadata,
    offsets,
    other_configs,
    produce,
    produce_batches,
    repeated,
    replicated,
    replicated_admin,
    replicated_groups,
    replicated_transactions,
    tiered,
    tiered_bounds,
    tiered_configs,
    tiered_fetches,
    topics,
    transactions,
    transactions_edges,
    transactions_logs,
    transactions_looks,
    transactions_markers,
    transactions_partitions,
    transactions_produce,
    transactions_read,
    transactions_waiting,
)

GROUPS = (
    produce,
    produce_batches,
    idempotence,
    fetch,
    fetch_sessions,
    group_offsets,
    group_offsets_within,
    offsets,
    topics,
    configs,
    metadata,
    cluster,
    malformed,
    repeated,
    other_configs,
    replicated,
    replicated_admin,
    transactions,
    transactions_partitions,
    transactions_produce,
    transactions_read,
    transactions_markers,
    transactions_looks,
    transactions_waiting,
    transactions_edges,
    transactions_logs,
    replicated_transactions,
    tiered,
    tiered_configs,
    tiered_bounds,
    tiered_fetches,
    replicated_groups,
)


def all_sequences() -> Iterator[RequestSequence]:
    """Every sequence, in the order of the groups."""
    for group in GROUPS:
        yield from group.SEQUENCES
