"""A controller and real brokers in the simulation, and a client of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from one_controller import AT, CLUSTER, add_controller

from harness.simulation.simulation import Simulation
from reference_impl.broker.broker import run_broker
from reference_impl.broker.settings import BrokerSettings
from reference_impl.kafka.apis import METADATA, Api
from reference_impl.kafka.client import Peer
from reference_impl.ports import Address, Ports

RACKS = "abc"


class Client:
    """Asks one broker, in the newest version unless told otherwise."""

    def __init__(self, sim: Simulation, broker: int) -> None:
        self.sim = sim
        self.peer = Peer(sim.lab, Address(f"b{broker}", 9092), "client")

    async def ask(self, api: Api, version: int | None = None, **fields: Any) -> Any:
        """The answer to a request with these fields."""
        chosen = api.versions[-1] if version is None else version
        return await self.peer.ask(api, chosen, api.request(**fields), timeout_s=60)

    async def until(self, seen: Callable[[Any], bool]) -> Any:
        """The first answer to Metadata for all topics of which this is so."""
        while True:
            answer = await self.ask(METADATA, topics=None)
            if seen(answer):
                return answer
            await asyncio.sleep(0.1)


def with_brokers(
    count: int, scenario: Callable[[Client], Awaitable[None]], **properties: str
) -> None:
    """Play the scenario with so many brokers, all of them up, asking the first of them."""
    configured = {name.replace("_", "."): value for name, value in properties.items()}
    with Simulation(seed=11) as sim:
        add_controller(sim, configured)
        for broker in range(1, count + 1):
            _add_broker(sim, broker, configured)
        sim.run(_whole(count, scenario, Client(sim, 1)))


def _add_broker(sim: Simulation, broker: int, properties: dict[str, str]) -> None:
    async def program(ports: Ports) -> None:
        settings = BrokerSettings(
            node_id=broker,
            cluster_id=CLUSTER,
            listen=Address(f"b{broker}", 9092),
            controller=AT,
            rack=RACKS[(broker - 1) % 3],
            properties=properties,
        )
        await run_broker(ports, settings)

    sim.add(f"b{broker}", program)


async def _whole(count: int, scenario: Callable[[Client], Awaitable[None]], client: Client) -> None:
    await asyncio.sleep(1)
    try:
        await client.until(lambda answer: len(answer.brokers) == count)
        await scenario(client)
    finally:
        await client.peer.close()
