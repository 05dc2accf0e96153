"""Server and peers on the simulated loop: the same code, other worlds, and the same again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.simulation.simulation import Simulation
from harness.simulation.twice import twice
from reference_impl.kafka.apis import METADATA
from reference_impl.kafka.client import Peer
from reference_impl.kafka.limits import Limits
from reference_impl.kafka.message import Message
from reference_impl.kafka.room import Room
from reference_impl.kafka.server import Context, serve
from reference_impl.ports import Address, Connection, Ports

PORT = 9092
ASKED = METADATA.request(topics=[])


async def broker(ports: Ports) -> None:
    """Answers after a second; half a minute without a request is too long."""
    limits = Limits(idle_s=30, room=Room(connections=50))

    async def metadata(context: Context, request: Any) -> Message:
        await asyncio.sleep(1)
        return METADATA.response(cluster_id=context.client_id)

    async def handle(connection: Connection) -> None:
        await serve(connection, {METADATA: metadata}, limits=limits)

    await ports.network.listen(Address(ports.name, PORT), handle)
    await asyncio.Event().wait()


def peer(sim: Simulation, name: str) -> Peer:
    return Peer(sim.lab, Address("n1", PORT), name)


def started(sim: Simulation) -> None:
    sim.add("n1", broker)
    sim.advance(1)


async def asked(peer: Peer, timeout_s: float = 10) -> str | None:
    answer = await peer.ask(METADATA, 9, ASKED, timeout_s=timeout_s)
    assert answer.cluster_id is None or isinstance(answer.cluster_id, str)
    return answer.cluster_id


def test_peers_are_answered_in_simulated_time() -> None:
    with Simulation(seed=1) as sim:
        started(sim)

        async def all_ask() -> list[str | None]:
            peers = [peer(sim, f"p{n}") for n in range(20)]
            answers = await asyncio.gather(*[asked(p) for p in peers])
            await asyncio.gather(*[p.close() for p in peers])
            return answers

        assert sim.run(all_ask()) == [f"p{n}" for n in range(20)]


def test_a_cut_link_is_a_late_answer_and_a_healed_one_is_not() -> None:
    with Simulation(seed=2) as sim:
        sim.add("n1", broker)
        heard: list[str | None] = []

        async def other(ports: Ports) -> None:
            asker = Peer(ports.network, Address("n1", PORT), "n2")
            while True:
                try:
                    heard.append(await asked(asker))
                except ConnectionError:
                    heard.append("failed")
                await asyncio.sleep(1)

        sim.add("n2", other)
        sim.advance(5)
        cut = sim.levers.cut("n1", "n2")
        sim.advance(30)
        during = len(heard)
        cut.release()
        sim.advance(30)

    assert "n2" in heard[:during]
    assert "failed" in heard[:during]
    assert heard[-1] == "n2"


def test_an_idle_connection_is_closed_after_half_a_minute() -> None:
    with Simulation(seed=3) as sim:
        started(sim)

        async def idle() -> float:
            connection = await sim.lab.connect(Address("n1", PORT))
            began = asyncio.get_running_loop().time()
            with pytest.raises(ConnectionError):
                await connection.read_some(1)
            await connection.close()
            return asyncio.get_running_loop().time() - began

        assert sim.run(idle()) == pytest.approx(30, abs=1)


def test_the_same_seed_does_the_same_again() -> None:
    def scenario(sim: Simulation) -> None:
        started(sim)

        async def busy() -> None:
            peers = [peer(sim, f"p{n}") for n in range(5)]
            for _ in range(3):
                await asyncio.gather(*[asked(p) for p in peers])
            await asyncio.gather(*[p.close() for p in peers])

        sim.run(busy())

    assert twice(scenario, seed=4) > 100
