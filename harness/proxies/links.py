"""Links between the nodes of a process cluster that can be cut, one way or both.

Every node is reached through a port of the proxy. Who comes is told by a loopback address. A node
that can choose connects *from* one of its own (127.0.0.10 the controller, 127.0.0.11 broker 1, …).
A node that cannot is told to connect *to* one of its own: the proxy listens for each pair, and a
hosts file for each node says where its peers are. A client of the lab connects from 127.1.0.1,
127.1.0.2, …; `clients` are all of these and every other address. What comes from `LAB_HOST` is
the lab that looks, which no cut hides.

A cut loses nothing: what is sent waits here, as on a network that does not deliver, until the cut
is healed or one end gives up. New connections are taken and hear nothing. Each cut counts what it
held; that is the evidence that it bit.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.proxies.thread import LOOPBACK, LoopThread

CLIENTS = "clients"
CLIENT = "client-"  # how the name of one client begins
LAB, LAB_HOST = "lab", "127.1.255.1"
_CHUNK = 1 << 16
_PORTS_TRIED = 20


def host_of(name: str) -> str:
    """The address that a node connects from."""
    return f"127.0.0.{_number(name)}"


def host_between(caller: str, target: str) -> str:
    """The address at which one node finds another, and no other node does."""
    return f"127.0.{_number(caller)}.{_number(target)}"


def _number(name: str) -> int:
    """The controller is 10, ``broker-1`` is 11."""
    number = name.rpartition("-")[2]
    return 10 + int(number) if number.isdigit() else 10


def _names_of(name: str) -> tuple[str, ...]:
    """What a cut may call it."""
    return (name, CLIENTS) if name.startswith(CLIENT) else (name,)


@dataclass(slots=True)
class Cut:
    """Directions in which nothing passes, or so many seconds late, and what was held there."""

    directions: tuple[tuple[str, str], ...]
    seconds: float | None = None  # None: until it is healed
    bytes_held: int = 0
    deliveries_held: int = 0
    healed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def evidence(self) -> dict[str, int]:
        """What shows that it acted."""
        if self.seconds is not None:
            return {"deliveries_delayed": self.deliveries_held}
        return {"deliveries_held": self.deliveries_held, "bytes_held": self.bytes_held}

    def holds(self, source: str, target: str) -> bool:
        """Whether it is about what passes from there to there."""
        called = [(s, t) for s in _names_of(source) for t in _names_of(target)]
        return any(direction in self.directions for direction in called)

    async def hold(self, count: int) -> None:
        """Keep so many bytes until it is healed, or for its time."""
        self.bytes_held += count
        self.deliveries_held += 1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.seconds):
                await self.healed.wait()


class LinkProxy:
    """The ways to all these nodes, in one thread."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        for_each_pair: bool = False,
        ports: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """``for_each_pair``: also listen where each node finds each other (``host_between``).

        A node is found at the port named for it, else at any that is free.
        """
        self._peers = {LAB_HOST: LAB, **{host_of(name): name for name in names}}
        self._called = {
            host_between(name, other): name for name in names for other in names if for_each_pair
        }
        self._upstream: dict[str, tuple[str, int]] = {}
        self._cuts: list[Cut] = []
        self._thread = LoopThread("link-proxy")
        try:
            self.ports = {
                name: self._thread.order(self._listen(name, names, port=ports.get(name, 0)))
                for name in names
            }
        except BaseException:
            self.close()
            raise
        self.ways = {name: f"{LOOPBACK}:{port}" for name, port in self.ports.items()}

    def lead_to(self, name: str, port: int, host: str = LOOPBACK) -> None:
        """The way to a node ends at this port from now on."""
        self._upstream[name] = (host, port)

    def open_door(self, name: str, port: int) -> int:
        """A further port for clients, which leads to this port of a node."""
        door = f"{name}/clients"
        self._upstream[door] = (LOOPBACK, port)
        return self._thread.order(self._listen(name, (), door))

    def client_host(self, name: str) -> str:
        """The address that a client connects from, given out when first asked for."""
        for host, known in self._peers.items():
            if known == name:
                return host
        above, number = divmod(sum(one.startswith(CLIENT) for one in self._peers.values()), 250)
        host = f"127.1.{above}.{1 + number}"
        self._peers[host] = name
        return host

    def cut(self, here: str, there: Sequence[str], *, both: bool = True) -> Cut:
        """Let nothing pass from here to there, and nothing back if ``both``."""
        return self.cut_between([here], there, both=both)

    def cut_between(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        both: bool,
        seconds: float | None = None,
    ) -> Cut:
        """Let nothing pass from any source to any target, nor back if ``both``.

        With ``seconds`` everything passes, so much later.
        """
        directions = [(one, other) for one in sources for other in targets if one != other]
        directions += [(other, one) for one, other in directions] if both else []

        async def begin() -> Cut:
            made = Cut(tuple(directions), seconds)
            self._cuts.append(made)
            return made

        return self._thread.order(begin())

    def heal(self, cut: Cut) -> None:
        """Let everything pass that was held."""

        async def end() -> None:
            self._cuts.remove(cut)
            cut.healed.set()

        self._thread.order(end())

    def close(self) -> None:
        """Hang up everywhere and end the thread."""
        self._thread.close()

    # ── in the thread ────────────────────────────────────────────────────────────────────────────

    async def _listen(
        self, name: str, callers: Sequence[str], door: str = "", port: int = 0
    ) -> int:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._carry(name, door or name, reader, writer)

        hosts = [host for one in callers if (host := host_between(one, name)) in self._called]
        for left in reversed(range(_PORTS_TRIED)):
            server = await self._thread.listen(accept, port=port)
            port = server.sockets[0].getsockname()[1]
            try:
                if hosts:
                    await self._thread.listen(accept, hosts, port)
            except OSError:  # that port is taken at one of the addresses
                server.close()
                if not left:
                    raise
                port = 0
            else:
                break
        return port

    async def _carry(
        self,
        target: str,
        door: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        source = self._caller(writer)
        there: asyncio.StreamWriter | None = None
        try:
            await self._passable(source, target, 0)
            back, there = await asyncio.open_connection(*self._upstream[door])
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(source, target, reader, there))
                both.create_task(self._pump(target, source, back, writer))
        except* (OSError, EOFError):
            pass
        finally:
            for end in (writer, there):
                if end is not None:
                    with contextlib.suppress(OSError):
                        end.transport.abort()

    def _caller(self, writer: asyncio.StreamWriter) -> str:
        """Who is at the other end of a connection."""
        peer, called = (
            (writer.get_extra_info(end) or ("",))[0] for end in ("peername", "sockname")
        )
        return self._peers.get(peer) or self._called.get(called) or CLIENTS

    async def _pump(
        self, source: str, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(_CHUNK):
            await self._passable(source, target, len(data))
            writer.write(data)
            await writer.drain()
        raise EOFError

    async def _passable(self, source: str, target: str, count: int) -> None:
        met: list[Cut] = []  # each holds a delivery once
        while (cut := self._next_cut(source, target, met)) is not None:
            met.append(cut)
            await cut.hold(count)

    def _next_cut(self, source: str, target: str, met: list[Cut]) -> Cut | None:
        cuts = (cut for cut in self._cuts if cut.holds(source, target))
        return next((cut for cut in cuts if all(cut is not one for one in met)), None)
