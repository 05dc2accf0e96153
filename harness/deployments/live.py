"""A deployment of real nodes: the host's clock, a real event loop, real sockets and signals.

Every deployment but the simulated one is a subclass, or this class with other nodes. It offers the
levers that its nodes and links have, and the probes `nodes`, `files` and `log_lines` where these
can be seen. Services (control plane, object store) and their probes are added by subclasses.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType, TracebackType
from typing import Any, Self

from harness.deployments.deployment import Levers, Result, Role, Row
from harness.deployments.live_client import LiveClient
from harness.deployments.live_levers import HURTING, LiveLevers, address_of, files_in
from harness.deployments.metrics import look_at_pages
from harness.deployments.nodes import LoggingNodes, MeasuredNodes, Nodes
from harness.deployments.plan import CONTROLLER, broker_name
from harness.errors import LabBroken, LabError, UsageError
from harness.history import Run
from harness.history.recorder import FIRST_CLIENT_ID, Recorder
from harness.history.run_slot import take_slot
from harness.proxies.links import LAB_HOST, LinkProxy
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address, Network

CLOCK = "host"
LOG_BYTES = 1 << 18
LOG_LINES = 1000  # of each node
FILES = 10_000  # of each node
LOGS_FOLDER = "logs"

Probe = Callable[[], Awaitable[list[Row]]]


class LiveDeployment:
    """Nodes that run, and the links between them; leaving it ends the loop, not the nodes."""

    pace = 1.0
    upgrades = False
    lacks: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        run: Run,
        nodes: Nodes,
        *,
        world: str,
        brokers: tuple[int, ...],
        controller: bool = True,
        links: LinkProxy | None = None,
        hurting: frozenset[str] = HURTING,
        part: int = 0,
        shard: str | None = None,
    ) -> None:
        """Every node is reached through ``links``; ``hurting`` names what can be done to nodes."""
        clock = CLOCK if shard is None and part == 0 else f"{CLOCK}-{shard or part}"
        slot = take_slot(run, world=world, clock=clock, part=part, shard=shard)
        self.world = world
        self.brokers = self.known = brokers
        self.recorder = Recorder(
            slot,
            now=time.monotonic_ns,
            lock=threading.RLock(),
            first_node=FIRST_CLIENT_ID if brokers else 1,
        )
        self.network: Network = StreamNetwork(LAB_HOST if links is not None else None)
        self.clients: dict[str, LiveClient] = {}
        self._live_nodes = nodes
        self._links = links
        self._names = ((CONTROLLER,) if controller else (), tuple(map(broker_name, brokers)))
        self._live_levers = self.make_levers(hurting)
        self.levers: Levers = self._live_levers
        self._slot = slot
        self._run_folder = run.folder
        self._runner = asyncio.Runner()
        self._looks: dict[str, Probe] = {}
        self.probes: frozenset[str] = frozenset()
        self._offer_probes()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._runner.run(self.close())
        finally:
            self._runner.close()
            self._keep_logs()
        if kind is None:  # else something is missing from this shard, and must be seen to be
            self._slot.writer.close()

    async def close(self) -> None:
        """End what the deployment has under way in its loop."""
        for client in self.clients.values():
            await client.close()

    def _keep_logs(self) -> None:
        """Leave the end of each node's log in the run folder: the nodes' own folders are scratch.

        They help to understand a finding and are no evidence: no judge reads them.
        """
        nodes = self._live_nodes
        if not isinstance(nodes, LoggingNodes):
            return
        folder = self._run_folder / LOGS_FOLDER / self._slot.name
        for name in (name for role in self._names for name in role):
            with suppress(
                LabError, KeyError, OSError
            ):  # a node that never was, a disk that is full
                if tail := nodes.log_tail(name, LOG_BYTES):
                    folder.mkdir(parents=True, exist_ok=True)
                    (folder / f"{name}.log").write_bytes(tail)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Carry out work in the loop of this deployment; the loop stays for the next time."""
        return self._runner.run(work)

    def address(self, broker: int) -> Address:
        """Where clients find a broker."""
        return address_of(self._live_nodes, broker_name(broker))

    def nodes(self, role: Role) -> tuple[str, ...]:
        """The names of the nodes of a role."""
        controllers, brokers = self._names
        known = {
            Role.CONTROLLER: controllers,
            Role.BROKER: brokers,
            Role.CLIENT: tuple(self.clients),
        }
        return known.get(role, ())

    def now_ms(self) -> int:
        """The time of day."""
        return time.time_ns() // 1_000_000

    def now_ns(self) -> int:
        """The host's clock that never goes back."""
        return time.monotonic_ns()

    async def upgrade(self, logs: Sequence[tuple[str, int]]) -> None:
        """Not here, unless a subclass says so."""
        raise LabBroken("this deployment has no schema of ours to upgrade")

    def make_levers(self, hurting: frozenset[str]) -> LiveLevers:
        """Its levers; subclasses make some that also act on services."""
        return LiveLevers(self._live_nodes, self.clients, links=self._links, hurting=hurting)

    # ── clients ──────────────────────────────────────────────────────────────────────────────────

    async def client(self, name: str) -> LiveClient:
        """The client of that name, from an address of its own where there are links."""
        node = f"client-{name}"
        if node not in self.clients:
            host = self._links.client_host(node) if self._links is not None else None
            self.clients[node] = self.make_client(node, host)
        return self.clients[node]

    def make_client(self, node: str, host: str | None) -> LiveClient:
        """A client; subclasses make one that also has a control plane or a store."""
        return LiveClient(node, host=host)

    # ── probes ───────────────────────────────────────────────────────────────────────────────────

    async def probe(self, what: str) -> list[Row]:
        """Look from outside."""
        if what not in self._looks:
            known = ", ".join(sorted(self._looks)) or "nothing"
            raise UsageError(f"{what} cannot be looked at here; what can: {known}")
        return await self._looks[what]()

    def offer(self, what: str, look: Probe) -> None:
        """Add a probe."""
        self._looks[what] = look
        self.probes = frozenset(self._looks)

    def _offer_probes(self) -> None:
        nodes, names = self._live_nodes, [name for role in self._names for name in role]
        if any(nodes.state(name) is not None for name in names):
            self.offer("nodes", lambda: asyncio.to_thread(self._seen, names))
        folders = {name: nodes.data_folder(name) for name in names}
        if any(folder is not None for folder in folders.values()):
            self.offer("files", lambda: asyncio.to_thread(self._files, names))
        if names and isinstance(nodes, LoggingNodes):
            self.offer("log_lines", lambda: asyncio.to_thread(self._log_lines, nodes, names))
        if names and isinstance(nodes, MeasuredNodes):
            self.offer("metrics", lambda: look_at_pages(self.network, _pages(nodes, names)))

    def _seen(self, names: list[str]) -> list[Row]:
        states = {name: self._live_nodes.state(name) for name in names}
        return [
            state.row(name, on_purpose=self._live_levers.down[name] > 0)
            for name, state in states.items()
            if state is not None
        ]

    def _files(self, names: list[str]) -> list[Row]:
        return [
            {"node": name, "path": file, "size": size}
            for name in names
            for file, size in files_in(self._live_nodes.data_folder(name))[:FILES]
        ]

    def _log_lines(self, nodes: LoggingNodes, names: list[str]) -> list[Row]:
        return [
            {"node": name, "line": line}
            for name in names
            for line in last_lines(nodes.log_tail(name, LOG_BYTES))
        ]


def _pages(nodes: MeasuredNodes, names: list[str]) -> dict[str, Address]:
    found = {name: nodes.metrics_address(name).rpartition(":") for name in names}
    return {name: Address(host, int(port)) for name, (host, _, port) in found.items() if host}


def last_lines(tail: bytes) -> list[str]:
    """The last complete lines; the first of a tail may be half a line and is left out if full."""
    lines = tail.decode("utf-8", "replace").splitlines()
    whole = lines[1:] if len(tail) >= LOG_BYTES else lines
    return whole[-LOG_LINES:]
