"""The simulated network on the bench: the live class, unmodified, on the loop of simulations."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from echo_peer import echo

from harness.simulation.clock import NS, NodeClock
from harness.simulation.errors import NodeFailed
from harness.simulation.link_faults import LinkFault
from harness.simulation.loop import SimLoop
from harness.simulation.network import SimNetwork
from harness.simulation.process import Process
from reference_impl.live.network import StreamNetwork
from reference_impl.ports.network import Address, Handler, Listener, Network

Result = TypeVar("Result")

PATIENCE_S = 3600  # of simulated time: a test that hangs is to fail


class SimNetworkBench:
    """Two simulated nodes; the test runs on the first. A bench with a link, and one with a peer."""

    nowhere = Address("server", 1)

    def __init__(self) -> None:
        self.client: Network = StreamNetwork()
        self.loop = SimLoop(random.Random(1))
        self._network = SimNetwork(self.loop, random.Random(2))
        self._faults: list[LinkFault] = []
        self.loop.fabric = self._network
        self._here, self._there = (self._process(name) for name in ("client", "server"))

    def _process(self, name: str) -> Process:
        process = Process(name, NodeClock(lambda: self.loop.now_ns))
        self.loop.processes.append(process)
        self._network.add_host(name)
        return process

    def run(self, scenario: Callable[[], Awaitable[Result]]) -> Result:
        async def watched() -> Result:
            return await scenario()

        task = self.loop.create_task(watched(), context=self._here.context.copy())
        result = self.loop.run_within(task, limit_ns=PATIENCE_S * NS)
        for context in self.loop.errors:
            raise NodeFailed(context["message"]) from context.get("exception")
        return result

    async def listen(self, handler: Handler) -> Listener:
        listening = StreamNetwork().listen(Address("server", 0), handler)
        return await self.loop.create_task(listening, context=self._there.context.copy())

    async def by_link(self, listener: Listener) -> Address:
        return listener.address

    def cut(self, *, to_server: bool = True, to_client: bool = True) -> None:
        if to_server:
            self._faults.append(self._network.cut("client", "server", both=False))
        if to_client:
            self._faults.append(self._network.cut("server", "client", both=False))

    def heal(self) -> None:
        for fault in self._faults:
            fault.heal()

    async def start_echo(self) -> Address:
        return (await self.listen(echo)).address

    def freeze(self) -> None:
        self._there.paused = True

    def thaw(self) -> None:
        self._there.paused = False
        self.loop.unpark(self._there)

    def kill(self) -> None:
        self._network.process_killed(self._there)
        self._there.end()


@contextmanager
def sim_network() -> Iterator[SimNetworkBench]:
    bench = SimNetworkBench()
    try:
        yield bench
    finally:
        bench.loop.close()
