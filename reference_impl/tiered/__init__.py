"""KIP-405 tiered storage: finished segments in a remote store, below the local log."""
