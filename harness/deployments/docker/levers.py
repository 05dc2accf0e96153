"""Levers of containers beside those of processes: a disk without room."""

from __future__ import annotations

import asyncio

from harness.deployments.docker.disks import Disks
from harness.deployments.service_levers import ServiceLevers
from harness.levers import Lever, PulledLever


class DockerLevers(ServiceLevers):
    """Also on disks."""

    disks: Disks | None = None

    async def disk_full(self, node: str) -> Lever:
        """Leave no room on its disk; released, there is room, and a node that has ended for the
        lack of it runs again."""
        disks = self.disks
        if disks is None:
            self._refuse("disk_full")
        await asyncio.to_thread(disks.fill, node)
        before = disks.used(node)

        def counts() -> dict[str, int]:
            full = disks.is_full(node)
            return {"bytes_until_full": max(1, disks.used(node) - before) if full else 0}

        async def release() -> None:
            await asyncio.to_thread(disks.clear, node)
            await self.start_if_ended(node)

        return PulledLever(counts, release)
