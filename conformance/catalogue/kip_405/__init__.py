"""Rules of tiered storage (KIP-405)."""

from conformance.catalogue.kip_405 import followers, metadata, reads

RULES = (*reads.RULES, *followers.RULES, *metadata.RULES)
