"""The simulated network: hosts, who listens where, and what is done to the links between them.

Hosts are nodes, by their names, and ``lab`` for code that belongs to no process. A connection comes
from the host of the process that asks for it. Ports are a host's own; a listener is its process's.

    somebody listens                  a connection, after one round trip
    nobody listens                    ConnectionRefusedError, after one round trip
    the host is off, or cut away      TimeoutError, after ``CONNECT_SILENCE_S`` of silence
    there is no such host             socket.gaierror, at once

A process that is killed leaves its sockets to its kernel, which closes them. A machine that loses
power falls silent: what it had sent is on its way, what it had still to send again is not. Peers
learn of it when they give up, or by a reset when they send something and the machine is back.

Unlike real ones, listeners accept before they hear that the other side knows, and never have too
many waiting; there is no limit to what a link carries; packets are not lost, doubled or damaged.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket as names
from collections.abc import Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any, TypeVar

from harness.simulation.clock import NS
from harness.simulation.connections import Address, Factory, SimServer, SimTransport
from harness.simulation.link_faults import EVERYBODY, Cut, Delay, Hold, Hosts, LinkFault
from harness.simulation.links import Delivery, Kind, Link
from harness.simulation.process import Process, current_process
from harness.simulation.sockets import Socket

if TYPE_CHECKING:
    from harness.simulation.loop import SimLoop

__all__ = ["CONNECT_SILENCE_S", "LAB", "Cut", "Delay", "Hold", "LinkFault", "SimNetwork"]

LAB = "lab"
CONNECT_SILENCE_S = 10

_ANYWHERE = (None, "", "0.0.0.0", "::")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_FREE_PORTS = (32768, 61000)  # as Linux hands them out

Injected = TypeVar("Injected", bound=LinkFault)


class Host:
    """A machine: its ports, and the sockets its kernel knows."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.listeners: dict[int, SimServer] = {}
        self.sockets: dict[int, Socket] = {}
        self.silence: Cut | None = None  # while it is off
        self._next_port = _FREE_PORTS[0]

    def free_port(self) -> int:
        """The next one that nobody listens on."""
        while True:
            port = self._next_port
            self._next_port = port + 1 if port + 1 < _FREE_PORTS[1] else _FREE_PORTS[0]
            if port not in self.listeners:
                return port


class SimNetwork:
    """All hosts and links of a simulation; the ``fabric`` of its loop."""

    def __init__(self, loop: SimLoop, rng: random.Random) -> None:
        self._loop = loop
        self._rng = rng
        self._kernel = Context()  # belongs to no process, so nothing pauses or kills it
        self._hosts: dict[str, Host] = {}
        self._links: dict[tuple[str, str], Link] = {}
        self._faults: list[LinkFault] = []
        self._numbered = 0
        self.add_host(LAB)

    def add_host(self, name: str) -> None:
        """A machine of that name; there may be one already."""
        if name not in self._hosts:
            self._hosts[name] = Host(name)

    # What processes ask for.

    async def connect(self, factory: Factory, host: str, port: int) -> tuple[Any, Any]:
        """A transport and its protocol, once the other side has accepted."""
        process = current_process()
        source = self._host_of(process)
        target = self._find(host, source)
        protocol = factory()
        client = self._open(source, target, port)
        source.sockets[client.number] = client
        waiter: asyncio.Future[None] = self._loop.create_future()
        transport = SimTransport(self._loop, client, process, lambda: protocol, waiter)
        silence = self._loop.schedule(
            CONNECT_SILENCE_S * NS, _no_answer, client, waiter, context=self._kernel
        )
        client.link.carry(Delivery(client.peer, Kind.SYN, b"", self._loop.now_ns))
        try:
            await waiter
        except BaseException as error:
            transport.abort()
            if isinstance(error, OSError):
                raise _failed(error, client.peer.address) from None
            raise
        finally:
            silence.cancel()
        return transport, protocol

    def listen(self, factory: Factory, host: str, port: int) -> SimServer:
        """Somebody who accepts connections there."""
        process = current_process()
        home = self._host_of(process)
        if host not in _ANYWHERE and self._find(host, home) is not home:
            raise _os_error(errno.EADDRNOTAVAIL, f"{host} is not {home.name}")
        port = port or home.free_port()
        if port in home.listeners:
            raise _os_error(errno.EADDRINUSE, f"somebody listens on {home.name}:{port}")
        server = SimServer(self._loop, process, factory, (home.name, port), self._vacate)
        home.listeners[port] = server
        return server

    # What happens to machines.

    def process_killed(self, process: Process) -> None:
        """Its kernel closes what it had open."""
        self.add_host(process.name)
        home = self._hosts[process.name]
        for server in [*home.listeners.values()]:
            if server.process is process:
                self._vacate(server)
        for socket in [*home.sockets.values()]:
            if socket.process is process:
                socket.close()

    def power_lost(self, name: str) -> LinkFault:
        """A machine goes dark without a word. What that did is counted until it is up again."""
        home = self._hosts[name]
        if home.silence is None:
            home.silence = self.cut(EVERYBODY, name, both=False)
        home.listeners.clear()
        for link in self._links.values():
            if link.source == name:
                link.drop()
        for socket in [*home.sockets.values()]:
            socket.vanish()
        return home.silence

    def host_up(self, name: str) -> None:
        """A machine is on, with a kernel that remembers nothing; one that was on, stays so."""
        home = self._hosts[name]
        if home.silence is not None:
            home.silence.heal()
            home.silence = None

    # What happens to links.

    def cut(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> Cut:
        """Nothing passes from these to those until it is healed."""
        return self._inject(Cut(sources, targets, both=both))

    def hold(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> Hold:
        """Nothing passes but what is released."""
        return self._inject(Hold(sources, targets, both=both))

    def delay(self, sources: Hosts, targets: Hosts, extra_s: float, *, both: bool = True) -> Delay:
        """What is sent takes this much longer."""
        return self._inject(Delay(sources, targets, both=both, extra_s=extra_s))

    def _inject(self, fault: Injected) -> Injected:
        sources, targets = _named(fault.sources), _named(fault.targets)
        for name in (*sources, *targets):
            if name not in self._hosts and name != EVERYBODY:
                raise ValueError(f"there is no host {name!r}")
        if all(one == other != EVERYBODY for one in sources for other in targets):
            raise ValueError(f"no link leads from {sources} to {targets}")
        self._faults = [*(old for old in self._faults if not old.over), fault]
        for link in self._links.values():
            if fault.meets(link):
                fault.begin(link)
        return fault

    # Between them.

    def _host_of(self, process: Process | None) -> Host:
        if process is None:
            return self._hosts[LAB]
        if not process.alive:
            raise _os_error(errno.ENETDOWN, f"{process.name} is dead")
        self.add_host(process.name)
        return self._hosts[process.name]

    def _find(self, name: str, asking: Host) -> Host:
        if name in _LOOPBACK:
            return asking
        if name not in self._hosts:
            raise names.gaierror(names.EAI_NONAME, f"Name or service not known: {name}")
        return self._hosts[name]

    def _open(self, source: Host, target: Host, port: int) -> Socket:
        """Two sockets that know each other; the first is the client's."""
        way = self._link(source.name, target.name)
        client = self._socket((source.name, source.free_port()), way)
        server = self._socket((target.name, port), way.reverse)
        client.peer, server.peer = server, client
        way.receivers[server.number] = server
        way.reverse.receivers[client.number] = client
        return client

    def _socket(self, address: Address, link: Link) -> Socket:
        self._numbered += 1
        return Socket(
            self._loop, self._kernel, self._numbered, address, link, self._forget, self._knocked
        )

    def _knocked(self, socket: Socket) -> None:
        """Somebody wants a connection to a port of a host."""
        name, port = socket.address
        home = self._hosts[name]
        server = home.listeners.get(port)
        if server is None:
            socket.refuse()
        else:
            home.sockets[socket.number] = socket
            server.accept(socket)

    def _forget(self, socket: Socket) -> None:
        """Both ends are gone."""
        for end in (socket, socket.peer):
            end.peer.link.receivers.pop(end.number, None)
            self._hosts[end.address[0]].sockets.pop(end.number, None)

    def _vacate(self, server: SimServer) -> None:
        name, port = server.address
        if self._hosts[name].listeners.get(port) is server:
            del self._hosts[name].listeners[port]

    def _link(self, source: str, target: str) -> Link:
        if (source, target) not in self._links:
            forth = self._new_link(source, target)
            back = forth if source == target else self._new_link(target, source)
            forth.reverse, back.reverse = back, forth
            for link in (forth, back):
                for fault in self._faults:
                    if not fault.over and fault.meets(link):
                        fault.begin(link)
        return self._links[source, target]

    def _new_link(self, source: str, target: str) -> Link:
        link = self._links[source, target] = Link(self._loop, self._rng, source, target)
        return link


def _no_answer(client: Socket, waiter: asyncio.Future[None]) -> None:
    """Nobody answered, unless the answer is there and its process did not look yet."""
    if not client.answered() and not waiter.done():
        waiter.set_exception(_os_error(errno.ETIMEDOUT, "no answer"))


def _failed(error: OSError, address: Address) -> OSError:
    return _os_error(error.errno or errno.EIO, f"Connect call failed {address}")


def _os_error(number: int, what: str) -> OSError:
    return OSError(number, f"{os.strerror(number)}: {what}")


def _named(hosts: Hosts) -> Sequence[str]:
    return (hosts,) if isinstance(hosts, str) else hosts
