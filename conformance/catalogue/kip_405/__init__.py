"""Rules of tiered storage (KIP-405)."""

from conformance.catalogue.kip_405 import (
    followers,
    logs,
    metadata,
    plug_ins,
    reads,
    sequences,
    settings,
    transactions,
)

RULES = (
    *reads.RULES,
    *followers.RULES,
    *metadata.RULES,
    *plug_ins.RULES,
    *settings.RULES,
    *logs.RULES,
    *transactions.RULES,
    *sequences.RULES,
)
