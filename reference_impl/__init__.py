"""The designs, executable: the reference that every rule is first proven on."""
