"""A node that does one thing to the outside per request, so that each fault can be shown on it."""

from __future__ import annotations

from harness.simulation.simulation import Simulation
from reference_impl.control_plane.lines import request_of
from reference_impl.ports import Address, Connection, Network, Ports
from reference_impl.ports.object_store import StoreError

PORT = 9000
FILE = "data"


async def worker(ports: Ports) -> None:
    """Answer requests until killed. A request is a line: a word, then what belongs to it."""
    deeds = _Deeds(ports)

    async def serve(connection: Connection) -> None:
        while True:
            word, _, rest = (await _line(connection)).partition(" ")
            try:
                answer = await getattr(deeds, word)(rest)
            except (OSError, StoreError) as problem:
                answer = type(problem).__name__
            await connection.send(f"{answer}\n".encode())

    await ports.network.listen(Address(ports.name, PORT), serve)
    while True:
        await ports.clock.sleep(3600)


class _Deeds:
    """What a worker can be asked to do; the word is the name of the method."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def append(self, text: str) -> str:
        file = await self._ports.disk.open(FILE)
        await file.append(text.encode())
        return "appended"

    async def sync(self, _: str) -> str:
        await (await self._ports.disk.open(FILE)).sync()
        await self._ports.disk.sync_directory()
        return "synced"

    async def read(self, _: str) -> str:
        file = await self._ports.disk.open(FILE)
        return (await file.read(0, 1000)).decode()

    async def put(self, text: str) -> str:
        key, _, value = text.partition(" ")
        await self._ports.object_store.put(key, value.encode())
        return "put"

    async def get(self, key: str) -> str:
        return (await self._ports.object_store.get(key)).decode(errors="replace")

    async def register(self, epoch: str) -> str:
        log = {"topic": "t", "partition": 0}
        plane = self._ports.control_plane
        await plane.call(request_of({"f": "create_log", **log}))
        leader = {**log, "leader_epoch": int(epoch)}
        answer = await plane.call(request_of({"f": "register_leader_epoch", **leader}))
        return str(answer.partitions[0].error)

    async def ask(self, text: str) -> str:
        """Ask another node something."""
        name, _, question = text.partition(" ")
        return await asked(self._ports.network, name, question)

    async def now(self, _: str) -> int:
        return self._ports.clock.now_ms()

    async def nap(self, seconds: str) -> str:
        await self._ports.clock.sleep(float(seconds))
        return "slept"

    async def roll(self, _: str) -> int:
        return self._ports.rng.randrange(1_000_000)

    async def echo(self, text: str) -> str:
        return text

    async def fall(self, text: str) -> str:
        raise RuntimeError(text)


async def asked(network: Network, name: str, question: str) -> str:
    """Connect, ask one thing, and give back the answer."""
    connection = await network.connect(Address(name, PORT))
    try:
        await connection.send(f"{question}\n".encode())
        return await _line(connection)
    finally:
        connection.abort()


async def _line(connection: Connection) -> str:
    read = b""
    while not read.endswith(b"\n"):
        read += await connection.read_exactly(1)
    return read[:-1].decode()


def cluster(sim: Simulation, count: int = 2) -> Simulation:
    """Nodes n1, n2, …, all of them up and listening."""
    for number in range(1, count + 1):
        sim.add(f"n{number}", worker)
    sim.advance(0.1)
    return sim


def ask(sim: Simulation, name: str, question: str, *, within_s: float = 3600) -> str:
    """Ask a node something from the lab, and wait for the answer."""
    return sim.run(asked(sim.lab, name, question), within_s=within_s)
