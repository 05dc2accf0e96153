"""The folder that Apache Kafka tiers to (LocalTieredStorage), as an object store of the lab.

Objects are its files. It is out of order while a file stands in place of the folder: whatever is
read, written or deleted then ends in an error. What is counted are the files that are out of reach
meanwhile: a folder that holds nothing was not missed.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from harness.deployments.deployment import OBJECT_STORE, Row
from harness.deployments.live_levers import LiveLevers, files_in
from harness.levers import Lever, PulledLever

STORAGE = "kafka-tiered-storage"  # what LocalTieredStorage calls its folder
HIDDEN = "hidden"


class RemoteFolder:
    """The folder, and whether it can be reached."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / STORAGE
        self._away = folder / HIDDEN
        self._holds = 0

    def objects(self) -> list[Row]:
        """Keys and sizes, in order, whether brokers reach them or not."""
        folder = self._away if self._holds else self._folder
        return [{"key": key, "size": size} for key, size in files_in(folder)]

    def hide(self) -> int:
        """Put a file in its place; how many objects are out of reach."""
        self._holds += 1
        if self._holds == 1 and self._folder.is_dir():
            self._folder.rename(self._away)
            self._folder.touch()
        return len(files_in(self._away))

    def show(self) -> None:
        """Put it back."""
        self._holds -= 1
        if not self._holds and self._away.is_dir():
            self._folder.unlink()
            self._away.rename(self._folder)


class TieringLevers(LiveLevers):
    """Also on the store."""

    def __init__(self, nodes: Any, clients: Any, remote: RemoteFolder, **named: Any) -> None:
        super().__init__(nodes, clients, **named)
        self._remote = remote
        self.offered = self.offered | {"fail"}

    async def fail(self, service: str, caller: str | None = None) -> Lever:
        """Let everything that brokers do in the folder end in an error."""
        if service != OBJECT_STORE:
            self._refuse("fail")
        hidden = await asyncio.to_thread(self._remote.hide)
        return PulledLever(
            lambda: {"objects_hidden": hidden}, lambda: asyncio.to_thread(self._remote.show)
        )
