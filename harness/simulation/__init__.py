"""The simulated world: a cluster in one process, virtual time, every effect in our hands."""
