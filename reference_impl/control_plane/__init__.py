"""The control plane of diskless partitions: the boundary register, in memory and in PostgreSQL."""
