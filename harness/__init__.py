"""The lab: history, rules, worlds, adapters and the command line that drives them."""

__version__ = "2026.1"
