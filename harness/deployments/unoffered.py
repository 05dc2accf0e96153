"""Levers of a deployment that offers none; a subclass overrides those it has, and names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from harness.deployments.deployment import Hold
from harness.errors import LabBroken
from harness.levers import Lever


class UnofferedLevers:
    """Every lever refuses; to pull one is a mistake of the lab."""

    offered: frozenset[str] = frozenset()

    async def kill(self, node: str) -> Lever:
        """Not offered."""
        self._refuse("kill")

    async def stop(self, node: str) -> Lever:
        """Not offered."""
        self._refuse("stop")

    async def wipe(self, node: str) -> Lever:
        """Not offered."""
        self._refuse("wipe")

    async def pause(self, node: str) -> Lever:
        """Not offered."""
        self._refuse("pause")

    async def cut(self, sources: Sequence[str], targets: Sequence[str], *, both: bool) -> Lever:
        """Not offered."""
        self._refuse("cut")

    async def delay(
        self, sources: Sequence[str], targets: Sequence[str], seconds: float, *, both: bool
    ) -> Lever:
        """Not offered."""
        self._refuse("delay")

    async def refuse(self, service: str, caller: str | None = None) -> Lever:
        """Not offered."""
        self._refuse("refuse")

    async def slow(self, service: str, seconds: float, caller: str | None = None) -> Lever:
        """Not offered."""
        self._refuse("slow")

    async def fail(self, service: str, caller: str | None = None) -> Lever:
        """Not offered."""
        self._refuse("fail")

    async def lose_replies(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Not offered."""
        self._refuse("lose_replies")

    async def drop_requests(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Not offered."""
        self._refuse("drop_requests")

    async def hold(self, service: str, caller: str) -> Hold:
        """Not offered."""
        self._refuse("hold")

    async def kill_service(self, service: str) -> Lever:
        """Not offered."""
        self._refuse("kill_service")

    async def damage(self, how: str, key: str) -> Lever:
        """Not offered."""
        self._refuse("damage")

    def _refuse(self, lever: str, why: str = "") -> NoReturn:
        known = ", ".join(sorted(self.offered)) or "none"
        raise LabBroken(f"the lever {lever} is not offered here{why}; offered: {known}")
