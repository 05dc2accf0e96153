"""Worlds: where a system under test runs and a script is played."""

from harness.worlds.world import World, open_world

__all__ = ["World", "open_world"]
