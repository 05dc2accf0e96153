"""Levers on the services of a process deployment, beside those on nodes, links and clients.

What happens to calls happens in the proxy before a service; what happens to the service itself is
seen in the process table.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Protocol

from harness.deployments.deployment import CONTROL_PLANE, OBJECT_STORE, Hold
from harness.deployments.live_levers import LiveLevers
from harness.deployments.process_client import ProcessClient
from harness.levers import Counts, Lever, PulledLever, Together
from harness.proxies.links import CLIENTS
from harness.proxies.postgres import HoldOrder, PostgresProxy
from harness.proxies.s3 import S3Proxy

SERVICES = (CONTROL_PLANE, OBJECT_STORE)
CALLS = frozenset({"refuse", "slow", "fail", "lose_replies", "drop_requests", "cut", "delay"})
OF_POSTGRES = frozenset({"hold", "disturb"})


class Killable(Protocol):
    """A server of this deployment's own."""

    def kill(self) -> int:
        """SIGKILL; how many processes ended."""
        ...

    def start_again(self) -> None:
        """Start it on its data; return when it answers."""
        ...


class ServiceLevers(LiveLevers):
    """What can be done to services, too."""

    postgres: PostgresProxy | None = None
    s3: S3Proxy | None = None

    def offer_services(
        self,
        *,
        postgres: PostgresProxy | None,
        s3: S3Proxy | None,
        servers: Mapping[str, Killable],
    ) -> None:
        """Add what these proxies can do, and the killing of these servers."""
        self.postgres, self.s3, self._servers = postgres, s3, servers
        self._service_down: Counter[str] = Counter()
        self._service_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.offered |= CALLS if postgres or s3 else frozenset()
        self.offered |= OF_POSTGRES if postgres else frozenset()
        self.offered |= {"damage", "fail_writes"} if s3 else frozenset()
        self.offered |= {"kill_service"} if servers else frozenset()

    async def refuse(self, service: str, caller: str | None = None) -> Lever:
        """Refuse connections and calls."""
        return self._proxy("refuse", service).refuse(caller)

    async def slow(self, service: str, seconds: float, caller: str | None = None) -> Lever:
        """Calls take so much longer before they are carried out."""
        return self._proxy("slow", service).slow(seconds, caller)

    async def fail(self, service: str, caller: str | None = None) -> Lever:
        """Answer calls with a hard error."""
        return self._proxy("fail", service).fail(caller=caller)

    async def fail_writes(self, service: str, like: str) -> Lever:
        """Answer writes of such objects with an error."""
        if service != OBJECT_STORE or self.s3 is None:
            self._refuse("fail_writes", f" for {service}")
        return self.s3.fail_writes(like)

    async def disturb(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Answer calls with errors that pass."""
        if service != CONTROL_PLANE or self.postgres is None:
            self._refuse("disturb", f" for {service}")
        return self.postgres.disturb(caller, times)

    async def lose_replies(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Carry calls out and lose the replies."""
        return self._proxy("lose_replies", service).lose_replies(caller, times)

    async def drop_requests(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Lose calls before they arrive."""
        return self._proxy("drop_requests", service).drop_requests(caller, times)

    async def hold(self, service: str, caller: str) -> Hold:
        """Keep the transactions of a client in the network."""
        if service != CONTROL_PLANE or self.postgres is None:
            self._refuse("hold", f" for {service}")
        client = self._clients.get(caller)
        program = client.program if isinstance(client, ProcessClient) else None
        return ClientHold(self.postgres.hold(caller), program.idle if program else _nothing)

    async def cut(self, sources: Sequence[str], targets: Sequence[str], *, both: bool) -> Lever:
        """Hold what passes between nodes, and between nodes and services."""
        levers: list[Lever] = []
        for service, callers in self._calls(sources, targets):
            levers.append(self._proxy("cut", service).cut(callers, requests=True, replies=both))
        for service, callers in self._calls(targets, sources):
            levers.append(self._proxy("cut", service).cut(callers, requests=both, replies=True))
        here, there = _nodes(sources), _nodes(targets)
        if here and there and self._links is not None:
            levers.append(await super().cut(here, there, both=both))
        return Together(levers)

    async def delay(
        self, sources: Sequence[str], targets: Sequence[str], seconds: float, *, both: bool
    ) -> Lever:
        """What passes between nodes takes longer; calls of a service, on the way there."""
        levers: list[Lever] = []
        for service, callers in (*self._calls(sources, targets), *self._calls(targets, sources)):
            proxy = self._proxy("delay", service)
            levers += [proxy.slow(seconds, caller) for caller in callers]
        here, there = _nodes(sources), _nodes(targets)
        if here and there and self._links is not None:
            levers.append(await super().delay(here, there, seconds, both=both))
        return Together(levers)

    async def kill_service(self, service: str) -> Lever:
        """SIGKILL a server; released, it runs again on its data."""
        server = self._servers.get(service)
        if server is None:
            self._refuse("kill_service", f" for {service}")
        counts = {"processes_ended": 0}
        async with self._service_locks[service]:
            self._service_down[service] += 1
            if self._service_down[service] == 1:
                counts["processes_ended"] = await asyncio.to_thread(server.kill)

        async def release() -> None:
            async with self._service_locks[service]:
                self._service_down[service] -= 1
                if not self._service_down[service]:
                    await asyncio.to_thread(server.start_again)

        return PulledLever(lambda: counts, release)

    async def damage(self, how: str, key: str) -> Lever:
        """Let an object be damaged to those who read it."""
        if self.s3 is None:
            self._refuse("damage")
        return self.s3.damage(how, key)

    def _proxy(self, lever: str, service: str) -> PostgresProxy | S3Proxy:
        proxies = {CONTROL_PLANE: self.postgres, OBJECT_STORE: self.s3}
        proxy = proxies.get(service)
        if proxy is None:
            self._refuse(lever, f" for {service}")
        return proxy

    def _calls(
        self, nodes: Sequence[str], services: Sequence[str]
    ) -> Iterator[tuple[str, list[str]]]:
        """The services among the second, with the nodes that call them."""
        every = list(self._clients) if CLIENTS in nodes else []
        callers = list(dict.fromkeys([*_nodes(nodes), *every]))
        for service in services:
            if service in SERVICES and callers:
                yield service, callers


class ClientHold:
    """A hold on one client, which says by itself when it has nothing more to ask."""

    def __init__(self, hold: HoldOrder, idle: Callable[[], Awaitable[None]]) -> None:
        self._hold = hold
        self._idle = idle
        self.acted = hold.acted
        self.release = hold.release
        self.drop = hold.drop

    @property
    def counts(self) -> Counts:
        """How many requests were held."""
        return self._hold.counts

    async def pass_one(self) -> int:
        """Let one transaction through; return when the client has its answer, or when its next
        transaction is held."""
        passed = await self._hold.pass_one()
        if passed:
            waits = [asyncio.ensure_future(self._hold.holds_again())]
            waits.append(asyncio.ensure_future(self._idle()))
            _, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for one in left:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        return passed


def _nodes(names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in SERVICES]


async def _nothing() -> None:
    return None
