"""Many connections that announce much, send a part of it and then nothing, in simulated time."""

from __future__ import annotations

import asyncio
import struct

import pytest
from wire_server import HANDLERS, metadata_frame, produce_frame, read_frame

from harness.simulation.simulation import Simulation
from reference_impl.kafka.limits import Limits
from reference_impl.kafka.room import CHUNK_BYTES, Room
from reference_impl.kafka.server import serve
from reference_impl.ports import Address, Connection, Ports

pytestmark = pytest.mark.sim

PORT = 9092
HOSTILE = 20
LONG = 3 * CHUNK_BYTES
LONGEST = 4 * CHUNK_BYTES


class Broker:
    """Answers requests, with little room for them."""

    def __init__(self) -> None:
        self.room = Room(
            max_frame_bytes=LONGEST, normal_bytes=4 * CHUNK_BYTES, long_bytes=8 * CHUNK_BYTES
        )

    async def run(self, ports: Ports) -> None:
        async def handle(connection: Connection) -> None:
            await serve(connection, HANDLERS, limits=Limits(room=self.room))

        await ports.network.listen(Address(ports.name, PORT), handle)
        await asyncio.Event().wait()


async def stall(sim: Simulation, announced: int, sent: int) -> None:
    """Announce so many bytes, send so many, and wait to be closed."""
    connection = await sim.lab.connect(Address("n1", PORT))
    try:
        await connection.send(struct.pack(">i", announced) + bytes(sent))
        await connection.read_some(1)
    except ConnectionError:
        pass
    finally:
        connection.abort()


async def ask(sim: Simulation, frame: bytes) -> None:
    connection = await sim.lab.connect(Address("n1", PORT))
    await connection.send(frame)
    await read_frame(connection)
    await connection.close()


@pytest.mark.parametrize(
    ("announced", "sent"),
    [(LONGEST, 2 * CHUNK_BYTES), (CHUNK_BYTES, CHUNK_BYTES // 2)],
    ids=["long frames", "normal frames"],
)
def test_all_get_through_and_the_bound_holds(announced: int, sent: int) -> None:
    broker = Broker()
    most = {broker.room.normal: 0, broker.room.long: 0}

    with Simulation(seed=5) as sim:
        sim.add("n1", broker.run)
        sim.advance(0.1)
        hostile = [sim.spawn(stall(sim, announced, sent)) for _ in range(HOSTILE)]
        sim.advance(0.5)
        honest = [
            sim.spawn(ask(sim, frame))
            for frame in (
                metadata_frame(1),
                produce_frame(2, bytes(CHUNK_BYTES // 2)),
                produce_frame(3, bytes(LONG)),
            )
        ]

        def all_answered() -> bool:
            for pool in most:
                most[pool] = max(most[pool], pool.used)
            return all(task.done() for task in honest)

        sim.run_until(all_answered, within_s=60)
        sim.run_until(lambda: all(task.done() for task in hostile), within_s=120)

    for pool, used in most.items():
        assert used <= pool.size
    assert broker.room.pool(announced).closed > 0
    assert broker.room.used_bytes == 0


def test_others_do_not_wait_where_long_frames_fill_their_room() -> None:
    broker = Broker()

    with Simulation(seed=5) as sim:
        sim.add("n1", broker.run)
        sim.advance(0.1)
        for _ in range(HOSTILE):
            sim.spawn(stall(sim, LONGEST, 2 * CHUNK_BYTES))
        sim.advance(0.5)
        assert broker.room.long.pressed
        sim.run(ask(sim, metadata_frame(1)))
        sim.run(ask(sim, produce_frame(2, bytes(CHUNK_BYTES // 2))))
        assert broker.room.long.closed == 0  # they were answered before any was late
