"""Levers on nodes that really run, on the links between them and on the lab's own clients.

Each count is taken where the lever acts: ended processes and stopped threads from the kernel's
process table, held bytes from the link proxy. Of a node that is no process of this machine the lab
asks questions of its own: one that answered before it was killed and not after it has ended, and of
one that is paused those are counted that it does not answer.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.clients.admin import versions_offered
from harness.clients.answers import UnreadableAnswer
from harness.clients.raw import RawClient
from harness.deployments.deployment import Levers
from harness.deployments.live_client import LiveClient
from harness.deployments.nodes import ControlledNodes, Nodes
from harness.errors import AdapterError, LabBroken
from harness.levers import Counted, Lever, PulledLever
from harness.processes.groups import members, stopped_threads
from harness.proxies.links import Cut, LinkProxy
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

HURTING = frozenset({"kill", "wipe", "pause"})
ANSWERS_S = 5.0  # a node that runs has answered by then
UNANSWERED_S = 0.5  # one that stands still has not
BETWEEN_S = 0.1


@runtime_checkable
class LossyLinks(Protocol):
    """Links that can lose packets."""

    def lose_between(
        self, sources: Sequence[str], targets: Sequence[str], fraction: float, *, both: bool
    ) -> Cut:
        """Lose this part of what nodes send."""
        ...

    def heal(self, cut: Cut) -> None:
        """Lose nothing any more."""
        ...


class LiveLevers(Levers):
    """What can be done to nodes, links and clients."""

    def __init__(
        self,
        nodes: Nodes,
        clients: Mapping[str, LiveClient],
        *,
        links: LinkProxy | None = None,
        hurting: frozenset[str] = HURTING,
    ) -> None:
        """``hurting`` names what can be done to nodes."""
        self.down: Counter[str] = Counter()  # levers that keep a node down
        self._paused: Counter[str] = Counter()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._nodes = nodes
        self._clients = clients
        self._links = links
        self._controlled = nodes if isinstance(nodes, ControlledNodes) else None
        stop = {"stop"} if self._controlled else set()
        of_links = {"cut", "delay"} if links else set()
        self.offered = frozenset(hurting | stop | of_links)

    async def kill(self, node: str) -> Lever:
        """End a node or a client at once."""
        if node in self._clients:
            return await self._clients[node].kill()
        self._check("kill")
        return await self._take_down(node, self._nodes.kill)

    async def stop(self, node: str) -> Lever:
        """Shut a node down in good order."""
        if self._controlled is None:
            self._refuse("stop")
        return await self._take_down(node, self._controlled.terminate)

    async def wipe(self, node: str) -> Lever:
        """End a node and empty its disk."""
        self._check("wipe")
        return await self._take_down(node, self._nodes.kill, wipe=True)

    async def pause(self, node: str) -> Lever:
        """Stop the threads of a node, or keep back what a client sends and hears."""
        if node in self._clients:
            return await self._clients[node].pause()
        self._check("pause")
        state = await asyncio.to_thread(self._nodes.state, node)
        if state is not None and not state.running:
            return Counted({"threads_stopped": 0})
        group = self._nodes.pid(node)
        if group is None:
            return await self._pause_and_ask(node)
        await self._pause(node)
        return PulledLever(
            lambda: {"threads_stopped": stopped_threads(group)}, lambda: self._resume(node)
        )

    async def cut(self, sources: Sequence[str], targets: Sequence[str], *, both: bool) -> Lever:
        """Hold what passes in the link proxy."""
        return await self._hold(sources, targets, both, None)

    async def delay(
        self, sources: Sequence[str], targets: Sequence[str], seconds: float, *, both: bool
    ) -> Lever:
        """Hold what passes in the link proxy for so long."""
        return await self._hold(sources, targets, both, seconds)

    async def lose_packets(
        self, sources: Sequence[str], targets: Sequence[str], fraction: float, *, both: bool
    ) -> Lever:
        """Lose this part of the packets between nodes, where the links can."""
        links: object = self._links
        if not isinstance(links, LossyLinks):
            self._refuse("lose_packets")
        made = await asyncio.to_thread(links.lose_between, sources, targets, fraction, both=both)
        return PulledLever(lambda: made.evidence, lambda: asyncio.to_thread(links.heal, made))

    async def _hold(
        self, sources: Sequence[str], targets: Sequence[str], both: bool, seconds: float | None
    ) -> Lever:
        links = self._links
        if links is None:
            self._refuse("cut" if seconds is None else "delay")
        made = await asyncio.to_thread(
            links.cut_between, sources, targets, both=both, seconds=seconds
        )
        return PulledLever(lambda: made.evidence, lambda: asyncio.to_thread(links.heal, made))

    def _check(self, lever: str) -> None:
        if lever not in self.offered:
            self._refuse(lever)

    # ── nodes that are down ──────────────────────────────────────────────────────────────────────

    async def _take_down(
        self, name: str, end: Callable[[str], None], *, wipe: bool = False
    ) -> Lever:
        counts: dict[str, int] = {}
        async with self._locks[name]:
            self.down[name] += 1
            if self.down[name] == 1:
                counts |= await self._end(name, end)
            if wipe:
                counts |= await asyncio.to_thread(self._wiped, name)
        return PulledLever(lambda: counts, lambda: self._bring_up(name))

    async def _end(self, name: str, end: Callable[[str], None]) -> dict[str, int]:
        if await asyncio.to_thread(self._nodes.state, name) is not None:
            return await asyncio.to_thread(self._ended, name, end)
        answered = await self._answers(name, ANSWERS_S)
        await asyncio.to_thread(end, name)
        silent = answered and not await self._answers(name, ANSWERS_S)
        return {"processes_ended": int(silent)}

    def _ended(self, name: str, end: Callable[[str], None]) -> dict[str, int]:
        group = self._nodes.pid(name)
        if group is not None:
            before = members(group)
            end(name)
            return {"processes_ended": len(before - members(group))}
        states = [self._nodes.state(name)]
        end(name)
        states.append(self._nodes.state(name))
        return {"processes_ended": [one and one.running for one in states] == [True, False]}

    def _wiped(self, name: str) -> dict[str, int]:
        folder = self._nodes.data_folder(name)
        before = size_of(folder)
        self._nodes.wipe(name)
        if folder is None:
            return {"wipes_ordered": 1}  # it cannot be seen
        return {"bytes_wiped": max(0, before - size_of(folder))}

    async def _bring_up(self, name: str) -> None:
        async with self._locks[name]:
            if self.down[name] == 1:
                await asyncio.to_thread(self._nodes.start, name)
            self.down[name] -= 1
        if not self.down[name]:
            # A node that does not come back is for the rules: the next looks show it.
            with suppress(LabBroken, AdapterError):
                await asyncio.to_thread(self._nodes.wait, name)

    async def start_if_ended(self, name: str) -> None:
        """Start a node again that has ended by itself; one that is kept down stays so."""
        async with self._locks[name]:
            state = await asyncio.to_thread(self._nodes.state, name)
            if self.down[name] or state is None or state.running:
                return
            await asyncio.to_thread(self._nodes.start, name)
        with suppress(LabBroken, AdapterError):
            await asyncio.to_thread(self._nodes.wait, name)

    # ── the lab's own questions ──────────────────────────────────────────────────────────────────

    async def _pause_and_ask(self, name: str) -> Lever:
        counts = {"questions_unanswered": 0}

        async def ask() -> None:
            while True:
                answered = await self._answers(name, UNANSWERED_S)
                counts["questions_unanswered"] += not answered
                await asyncio.sleep(BETWEEN_S)

        answered_before = await self._answers(name, ANSWERS_S)
        await self._pause(name)
        asking = asyncio.ensure_future(ask() if answered_before else _nothing())

        async def release() -> None:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await self._resume(name)

        return PulledLever(lambda: counts, release)

    async def _pause(self, name: str) -> None:
        await asyncio.to_thread(self._nodes.pause, name)
        self._paused[name] += 1

    async def _resume(self, name: str) -> None:
        self._paused[name] -= 1
        if not self._paused[name]:
            await asyncio.to_thread(self._nodes.resume, name)

    async def _answers(self, name: str, within_s: float) -> bool:
        client = RawClient(StreamNetwork(), address_of(self._nodes, name))
        try:
            await versions_offered(client, timeout_s=within_s)
        except UnreadableAnswer:
            return True
        except OSError:
            return False
        return True


def address_of(nodes: Nodes, name: str) -> Address:
    """Where a node is found."""
    host, _, port = nodes.address(name).rpartition(":")
    return Address(host, int(port))


def files_in(folder: Path | None) -> list[tuple[str, int]]:
    """Names and sizes of the files of a disk that may change while it is looked at."""
    if folder is None or not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.rglob("*")):
        with suppress(OSError):
            if path.is_file():
                found.append((str(path.relative_to(folder)), path.stat().st_size))
    return found


def size_of(folder: Path | None) -> int:
    """How many bytes are on a disk."""
    return sum(size for _, size in files_in(folder))


async def _nothing() -> None:
    return None
