"""The ports on the real world: TCP, files, object stores, the machine's clocks and chance."""
