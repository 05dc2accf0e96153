"""How fast simulated clusters run, and what recording and judging them costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.cli.benches.machines import HOME, IdleMachine, RegisterTrial, register
from harness.cli.benches.measured import Measured, timed
from harness.simulation.simulation import Simulation
from harness.steps.draw import explore
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address, Connection, Ports

NAMES = ("n1", "n2", "n3")
BEAT_S = 0.1
SIMULATED_S = 200
ROUND_TRIPS = 10_000
EXAMPLES = 40
STEPS = 50


def measure(folder: Path) -> Iterator[Measured]:
    """Simulated seconds, callbacks and messages a second; steps and examples a second."""
    yield from _heartbeats()
    yield from _machines()


def _heartbeats() -> Iterator[Measured]:
    with Simulation(1) as sim:
        for name in NAMES:
            sim.add(name, _beating)
        seconds = timed(lambda: sim.advance(SIMULATED_S))
        callbacks, messages = sim.loop.callbacks, sum(sim.effects.counts.values())
    yield Measured(
        row="simulated time",
        unit="s/s",
        rate=SIMULATED_S / seconds,
        baseline="three nodes that beat in real time",
        baseline_rate=1,
    )
    yield Measured(
        row="simulated callbacks",
        unit="callbacks/s",
        rate=callbacks / seconds,
        baseline="bare asyncio, callbacks that do nothing",
        baseline_rate=_bare_callbacks(),
    )
    yield Measured(
        row="simulated messages",
        unit="messages/s",
        rate=messages / seconds,
        baseline="asyncio streams over TCP, without pauses",
        baseline_rate=2 * ROUND_TRIPS / asyncio.run(_round_trips()),
    )


async def _beating(ports: Ports) -> None:
    """Answer heartbeats, and send one to everybody else again and again."""
    await ports.network.listen(Address(ports.name, 1), _answering)
    await ports.clock.sleep(BEAT_S)
    async with asyncio.TaskGroup() as group:
        for peer in NAMES:
            if peer != ports.name:
                group.create_task(_beats(ports, Address(peer, 1)))


async def _beats(ports: Ports, peer: Address) -> None:
    connection = await ports.network.connect(peer)
    while True:
        await asyncio.wait_for(_ask(connection), timeout=1)
        await ports.clock.sleep(BEAT_S)


async def _answering(connection: Connection) -> None:
    while True:
        await connection.send(await connection.read_exactly(4))


async def _ask(connection: Connection) -> bytes:
    await connection.send(b"beat")
    return await connection.read_exactly(4)


def _bare_callbacks() -> float:
    """Callbacks a second of the standard loop, each scheduling the next."""
    count = 300_000

    async def main() -> float:
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def again(left: int) -> None:
            if left:
                loop.call_soon(again, left - 1)
            else:
                over.set()

        started = time.perf_counter()
        loop.call_soon(again, count)
        await over.wait()
        return count / (time.perf_counter() - started)

    return asyncio.run(main())


async def _round_trips() -> float:
    network = StreamNetwork()
    listener = await network.listen(Address("127.0.0.1", 0), _answering)
    connection = await network.connect(listener.address)
    started = time.perf_counter()
    for _ in range(ROUND_TRIPS):
        await _ask(connection)
    elapsed = time.perf_counter() - started
    connection.abort()
    await listener.close()
    return elapsed


def _machines() -> Iterator[Measured]:
    idle = _idle_s()
    asking = timed(lambda: explore(RegisterTrial, examples=EXAMPLES, steps=STEPS))
    yield Measured(
        row="machine steps",
        unit="steps/s",
        rate=EXAMPLES * STEPS / asking,
        baseline="a machine whose steps do nothing",
        baseline_rate=EXAMPLES * STEPS / idle,
    )
    examples = timed(_unobserved)
    yield Measured(
        row="examples",
        unit="examples/s",
        rate=EXAMPLES / (asking - idle),
        baseline="the same round trips, neither recorded nor judged",
        baseline_rate=EXAMPLES / examples,
    )


def _idle_s() -> float:
    """Seconds that Hypothesis itself needs for examples of full length."""
    chosen = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    return timed(lambda: run_state_machine_as_test(IdleMachine, settings=chosen))


def _unobserved() -> None:
    for _ in range(EXAMPLES):
        with Simulation(0) as sim:
            sim.add(HOME.host, register)
            sim.advance(0.01)
            connection = sim.run(sim.lab.connect(HOME))
            for _ in range(STEPS):
                sim.run(_ask_register(connection))


async def _ask_register(connection: Connection) -> None:
    await connection.send(b"?")
    await connection.read_exactly(1)
