"""The arena of real processes, real sockets, real signals, whoever started them.

What is done to nodes is asked of `Nodes`, what is done to the links between them of a link proxy.
Here it is only decided what is written down: when a fault begins, what shows that it has landed,
and that its end comes before it is lifted.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from conformance.classic.arena import SHARD, Heal, NodeRow, Stalled, node_row
from harness.deployments.nodes import Nodes
from harness.deployments.plan import CONTROLLER, broker_id, broker_name
from harness.errors import AdapterError, LabBroken, UsageError
from harness.history import Run
from harness.history.recorder import Evidence, Recorder
from harness.history.run_slot import take_slot
from harness.proxies.links import LinkProxy
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address, Network


class LiveArena:
    """Processes and, where they can be cut, the links between them."""

    def __init__(
        self,
        run: Run,
        nodes: Nodes,
        *,
        world: str,
        brokers: tuple[int, ...],
        links: LinkProxy | None = None,
    ) -> None:
        slot = take_slot(run, world=world, clock="host", part=0, shard=SHARD)
        self.writer = slot.writer
        self.recorder = Recorder(slot, now=time.monotonic_ns, lock=threading.RLock())
        self.network: Network = StreamNetwork()
        self.brokers = brokers
        self._nodes = nodes
        self._links = links
        self._down: set[str] = set()  # ended by the lab

    def nodes(self) -> list[NodeRow]:
        """See the protocol."""
        names = (CONTROLLER, *(broker_name(one) for one in self.brokers))
        seen = {name: self._nodes.state(name) for name in names}
        return [
            node_row(name, state, on_purpose=name in self._down)
            for name, state in seen.items()
            if state is not None
        ]

    def address(self, broker: int) -> Address:
        """See the protocol."""
        host, _, port = self._nodes.address(broker_name(broker)).rpartition(":")
        return Address(host, int(port))

    def now_ms(self) -> int:
        """The time of day."""
        return time.time_ns() // 1_000_000

    async def kill(self, name: str) -> Heal:
        """See the protocol."""
        return await self._end("kill-node", name, lambda: None)

    async def reimage(self, name: str) -> Heal:
        """See the protocol."""
        return await self._end("reimage-node", name, lambda: self._nodes.wipe(name))

    async def _end(self, fault: str, name: str, then: Callable[[], None]) -> Heal:
        begun = self.recorder.begin_fault(fault, name)
        self._down.add(name)
        await asyncio.to_thread(self._nodes.kill, name)
        await asyncio.to_thread(then)
        self.recorder.landed(begun, {"tasks_ended": 1})

        async def heal() -> None:
            self.recorder.end_fault(begun, {})
            await asyncio.to_thread(self._nodes.start, name)
            self._down.discard(name)
            # A node that does not come back is for the rules: the next looks show it.
            with suppress(LabBroken, AdapterError):
                await asyncio.to_thread(self._nodes.wait, name)

        return heal

    async def pause(self, name: str, stalled: Stalled) -> Heal:
        """See the protocol."""
        begun = self.recorder.begin_fault("pause-node", name)
        broker = broker_id(name)
        before = stalled(broker)
        await asyncio.to_thread(self._nodes.pause, name)

        async def heal() -> None:
            number = stalled(broker) - before
            if number > 0:
                self.recorder.landed(begun, {"callbacks_stalled": number})
            self.recorder.end_fault(begun, {})
            await asyncio.to_thread(self._nodes.resume, name)

        return heal

    async def cut(self, name: str, *, both: bool) -> Heal:
        """See the protocol."""
        links = self._links
        if links is None:
            raise UsageError("the links between these nodes cannot be cut")
        begun = self.recorder.begin_fault("cut-link", name)
        nodes = (CONTROLLER, *(broker_name(one) for one in self.brokers))
        made = links.cut(name, [other for other in nodes if other != name], both=both)

        async def heal() -> None:
            evidence: Evidence = made.evidence
            if evidence["deliveries_held"]:
                self.recorder.landed(begun, evidence)
            self.recorder.end_fault(begun, evidence)
            links.heal(made)

        return heal
