"""Three nodes that ask each other for signs of life, in unmodified asyncio streams.

python heartbeats.py SEED SECONDS     prints the hash of everything that ran, in order
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import sys

from harness.simulation.clock import NS, NodeClock
from harness.simulation.loop import SimLoop
from harness.simulation.network import SimNetwork
from harness.simulation.process import Process

NAMES = ("n1", "n2", "n3")
PORT = 9092
BEAT = 8


class Heartbeats:
    """The nodes, and what came of it."""

    def __init__(self, seed: int) -> None:
        self.loop = SimLoop(random.Random(seed))
        self.network = SimNetwork(self.loop, random.Random(seed + 1))
        self.loop.fabric = self.network
        self.answers = 0
        self.missed = 0
        for name in NAMES:
            self.network.add_host(name)
        for name in NAMES:
            process = Process(name, NodeClock(lambda: self.loop.now_ns))
            self.loop.processes.append(process)
            self.loop.create_task(self._node(name), context=process.context.copy())

    def run(self, seconds: float) -> None:
        self.loop.run_for(round(seconds * NS))

    async def _node(self, name: str) -> None:
        await asyncio.start_server(self._answer, name, PORT)
        await asyncio.gather(*(self._ask(other) for other in NAMES if other != name))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(await reader.readexactly(BEAT))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _ask(self, other: str) -> None:
        number = 0
        while True:
            await asyncio.sleep(0.1)
            try:
                reader, writer = await asyncio.open_connection(other, PORT)
            except OSError:
                continue
            try:
                while True:
                    number += 1
                    writer.write(number.to_bytes(BEAT, "big"))
                    await writer.drain()
                    answer = await asyncio.wait_for(reader.readexactly(BEAT), 1)
                    assert int.from_bytes(answer, "big") == number
                    self.answers += 1
                    await asyncio.sleep(0.1)
            except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
                self.missed += 1
            finally:
                writer.close()


def trace_hash(seed: int, seconds: float) -> str:
    """Everything that ran, by whom and when, with a cut in the middle."""
    beats = Heartbeats(seed)
    seen = hashlib.sha256()
    beats.loop.watch = lambda line: seen.update(f"{line}\n".encode())
    beats.run(seconds)
    cut = beats.network.cut("n1", ["n2", "n3"])
    beats.run(seconds)
    cut.heal()
    beats.run(seconds)
    beats.loop.close()
    assert beats.missed
    return seen.hexdigest()


if __name__ == "__main__":
    print(trace_hash(int(sys.argv[1]), float(sys.argv[2])))
