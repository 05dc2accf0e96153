"""What Kafka itself promises about a log, whatever stores it."""

from conformance.catalogue.kafka import (
    answers,
    appends,
    edges,
    fencing,
    fetches,
    jepsen,
    lineage,
    liveness,
    metrics,
    racks,
    replicas,
    sequences,
    transactions,
    watermarks,
)

RULES = (
    *jepsen.RULES,
    *appends.RULES,
    *answers.RULES,
    *fetches.RULES,
    *watermarks.RULES,
    *lineage.RULES,
    *liveness.RULES,
    *edges.RULES,
    *racks.RULES,
    *replicas.RULES,
    *sequences.RULES,
    *metrics.RULES,
    *transactions.RULES,
    *fencing.RULES,
)
