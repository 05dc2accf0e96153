"""The disks of nodes in containers: volumes in memory that can be made as small as what they hold.

A volume is an object of the engine with our labels, so it goes with the rest. The machine of a node
has it too, so that it stays while the node is down. Its size is changed by the kernel (`mount -o
remount`), for which the lab has to be root on the machine of the engine; where it is not, disks are
plain folders, and never full.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.deployments.docker.engine import OwnedObjects
from harness.errors import LabBroken

SIZE = 1 << 30
ROOM = 1 << 16  # left when a disk is made full: what is written next fills it


class Disks:
    """A disk for each node, by name."""

    def __init__(self, owned: OwnedObjects, names: Sequence[str]) -> None:
        self.can_be_full = os.geteuid() == 0
        self.sources: dict[str, str] = {}
        """What a container is given: the name of a volume, or a folder of this machine."""
        self._folders: dict[str, Path] = {}
        for name in names:
            if self.can_be_full:
                options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={SIZE}"}
                volume = owned.client.volumes.create(
                    f"{owned.name}-{name}", driver_opts=options, labels=dict(owned.labels)
                )
                self.sources[name] = volume.name
                self._folders[name] = Path(volume.attrs["Mountpoint"])
            else:
                folder = self._folders[name] = owned.folder / "disks" / name
                folder.mkdir(parents=True)
                self.sources[name] = str(folder)

    def folder(self, name: str) -> Path:
        """Where this machine sees it."""
        return self._folders[name]

    def empty(self, name: str) -> None:
        """Remove all that is on it."""
        for path in self._folders[name].iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def fill(self, name: str) -> None:
        """Leave hardly any room, and from then on none."""
        self._resize(name, self.used(name) + ROOM)

    def clear(self, name: str) -> None:
        """Make it as large as it was."""
        self._resize(name, SIZE)

    def used(self, name: str) -> int:
        """Bytes that are taken."""
        found = os.statvfs(self._folders[name])
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def is_full(self, name: str) -> bool:
        """Whether there is no room for a single page."""
        return os.statvfs(self._folders[name]).f_bavail == 0

    def _resize(self, name: str, size: int) -> None:
        command = ["mount", "-o", f"remount,size={size}", str(self._folders[name])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabBroken(f"the disk of {name} cannot be made {size} bytes: {done.stderr}")
