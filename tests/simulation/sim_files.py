"""Files on a simulated disk, in a few words."""

from __future__ import annotations

from at_once import now

from harness.simulation.disk import SimDisk, SimFile


def written(disk: SimDisk, path: str, data: bytes) -> SimFile:
    """A file with these bytes added, nothing synced."""
    file = now(disk.open(path))
    now(file.append(data))
    return file


def saved(disk: SimDisk, path: str, data: bytes) -> SimFile:
    """A file with these bytes added; they and its name are safe."""
    file = written(disk, path, data)
    now(file.sync())
    now(disk.sync_directory(path.rpartition("/")[0]))
    return file


def left_after_power_loss(disk: SimDisk) -> dict[str, bytes]:
    disk.lose_power(lose="all")
    return disk.contents()
