"""The reference as processes: brokers, controller, PostgreSQL, SeaweedFS and clients.

    with open_process(run, DeploymentPlan(control_plane="postgres")) as system:
        system.run(play(system))

Everything is reached through proxies on loopback, and every client has ways of its own there. What
is faulty here is really faulty: a process that is killed dies, a request that is held sits in a
socket, a reply that is lost was sent by a database that has committed. Time is the host's.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.deployments.control_program import ControlProgram
from harness.deployments.deployment import CONTROL_PLANE, OBJECT_STORE, Role, Row
from harness.deployments.live import LiveDeployment
from harness.deployments.live_levers import LiveLevers
from harness.deployments.mutants import split_mutants
from harness.deployments.node_services import (
    BUCKET,
    NodeServices,
    PostgresBehindProxy,
    S3BehindProxy,
)
from harness.deployments.nodes import Nodes
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_client import ProcessClient
from harness.deployments.process_cluster import ProcessCluster, reference_environment
from harness.deployments.service_levers import Killable, ServiceLevers
from harness.errors import UsageError
from harness.history import Run
from harness.processes.database import Database, Log
from harness.processes.program import Program
from harness.processes.s3_server import SeaweedServer
from harness.proxies.links import LinkProxy
from harness.proxies.postgres import PostgresProxy, Upstream
from harness.proxies.s3 import S3Proxy
from harness.proxies.thread import LOOPBACK
from harness.scratch import ScratchFolder
from reference_impl.decisions import SqlMutant
from reference_impl.live.object_store import Patience, open_object_store
from reference_impl.ports import ObjectStore

ONE_TRY = Patience(retries=0)  # a client of the lab learns what became of each call


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What was started for a plan."""

    nodes: Nodes
    mutants: tuple[str, ...] = ()  # that nodes and agents are started with
    links: LinkProxy | None = None
    database: Database | None = None
    postgres: PostgresProxy | None = None
    s3_server: SeaweedServer | None = None
    s3: S3Proxy | None = None


class ProcessDeployment(LiveDeployment):
    """A system of processes."""

    pace = 2.0
    world = "process"

    def __init__(
        self, run: Run, plan: DeploymentPlan, parts: Parts, *, part: int = 0, shard: str | None
    ) -> None:
        self.plan = plan
        self._run = run
        self._parts = parts
        self._agents = 0
        super().__init__(
            run,
            parts.nodes,
            world=self.world,
            brokers=plan.broker_ids,
            controller=plan.brokers > 0,
            links=parts.links,
            part=part,
            shard=shard,
        )
        self.upgrades = plan.control_plane is not None
        if parts.database is not None:
            self.offer("control_plane", lambda: asyncio.to_thread(self._database().probe))
        if parts.s3_server is not None:
            self.offer("objects", self._objects)

    def nodes(self, role: Role) -> tuple[str, ...]:
        """The names of the nodes of a role."""
        services = {
            Role.CONTROL_PLANE: (CONTROL_PLANE, self._parts.database),
            Role.OBJECT_STORE: (OBJECT_STORE, self._parts.s3_server),
        }
        if role not in services:
            return super().nodes(role)
        name, there = services[role]
        return () if there is None else (name,)

    async def upgrade(self, logs: Sequence[Log]) -> None:
        """Create these logs under the old schema, then run the migrations that are left."""
        await asyncio.to_thread(self._database().upgrade, logs)

    def make_levers(self, hurting: frozenset[str]) -> LiveLevers:
        """With those on services."""
        nodes, links = self._parts.nodes, self._parts.links
        return self.with_services(ServiceLevers(nodes, self.clients, links=links, hurting=hurting))

    def with_services(self, levers: ServiceLevers) -> ServiceLevers:
        """Levers that also act on the services of this plan."""
        parts = self._parts
        if not self.plan.brokers:
            levers.offered = frozenset()
        servers = killable(self.plan, parts)
        levers.offer_services(postgres=parts.postgres, s3=parts.s3, servers=servers)
        return levers

    # ── clients ──────────────────────────────────────────────────────────────────────────────────

    def make_client(self, node: str, host: str | None) -> ProcessClient:
        """A client with an agent and a store, as far as the plan has these."""
        postgres, s3_server, s3 = self._parts.postgres, self._parts.s3_server, self._parts.s3
        program: ControlProgram | None = None
        store: ObjectStore | None = None
        if postgres is not None:
            start = partial(self._start_agent, node)
            program = ControlProgram(f"the agent of {node}", start, ours=True)
        if s3_server is not None and s3 is not None:
            url = S3BehindProxy(server=s3_server, proxy=s3).url(node)
            store = open_object_store(url, ONE_TRY)
        lose = (lambda: None) if postgres is None else (lambda: postgres.lose(node))
        return ProcessClient(node, host=host, program=program, store=store, on_kill=lose)

    def _start_agent(
        self, node: str, on_line: Callable[[bytes], None], on_end: Callable[[], None]
    ) -> Program:
        """An agent of the reference that reaches the database through the way of this client."""
        assert self._parts.postgres is not None
        dsn = PostgresBehindProxy(database=self._database(), proxy=self._parts.postgres).dsn(node)
        number = self.recorder.node(node.removeprefix("client-"))
        command = [sys.executable, "-m", "reference_impl", "control-plane", "--no-install"]
        command += ["--dsn", dsn, "--trace", str(self._trace_file(number))]
        command += ["--node", str(number), "--clock", self._slot.clock]
        for mutant in self._parts.mutants:
            command += ["--mutant", mutant]
        return Program(
            command,
            called=f"the agent of {node}",
            on_line=on_line,
            on_end=on_end,
            environment=reference_environment(),
        )

    def _trace_file(self, number: int) -> Path:
        """A shard for an agent: its first line is ours, the agent appends the rest."""
        self._agents += 1
        name = f"{self._slot.name}-agent-{number}-{self._agents}"
        shard = self._run.shard(name, self._slot.clock, mortal=True)
        shard.abandon()
        return shard.path

    # ── probes ───────────────────────────────────────────────────────────────────────────────────

    async def _objects(self) -> list[Row]:
        """Keys and sizes, past the proxy."""
        assert self._parts.s3_server is not None
        found = await open_object_store(self._parts.s3_server.url(BUCKET)).list()
        return [{"key": one.key, "size": one.size} for one in found]

    def _database(self) -> Database:
        if self._parts.database is None:
            raise UsageError("this deployment has no control plane")
        return self._parts.database


@contextlib.contextmanager
def open_process(
    run: Run, plan: DeploymentPlan, *, part: int = 0, shard: str | None = None
) -> Iterator[ProcessDeployment]:
    """A deployment of processes that records into a shard of its own; all of it ends with it."""
    with contextlib.ExitStack() as stack:
        parts = _start(run, plan, stack, shard or f"process-{part}")
        with ProcessDeployment(run, plan, parts, part=part, shard=shard) as system:
            yield system


def _start(run: Run, plan: DeploymentPlan, stack: contextlib.ExitStack, slot: str) -> Parts:
    """Start what the plan asks for: the services first, all of them at the same time, then the
    nodes, which are told where these are. The stack ends it."""
    python, sql = split_mutants(plan.mutants)
    check_plan(plan, sql)
    of_nodes = replace(plan, mutants=tuple(reference for reference, _ in python))
    links = LinkProxy(plan.node_names) if plan.brokers else None
    if links is not None:
        stack.callback(links.close)
    postgres, s3 = _start_services(plan, [mutant for _, mutant in sql], stack)
    services = NodeServices(run=run, slot=slot, traced=plan.traced, postgres=postgres, s3=s3)
    cluster = ProcessCluster(
        stack.enter_context(ScratchFolder("cluster")), of_nodes, links=links, services=services
    )
    if plan.brokers:
        stack.callback(cluster.kill_all)
        cluster.__enter__()
    return Parts(
        nodes=cluster,
        mutants=of_nodes.mutants,
        links=links,
        database=None if postgres is None else postgres.database,
        postgres=None if postgres is None else postgres.proxy,
        s3_server=None if s3 is None else s3.server,
        s3=None if s3 is None else s3.proxy,
    )


def check_plan(plan: DeploymentPlan, sql: Sequence[tuple[str, SqlMutant]]) -> None:
    """Refuse what programs that share no memory cannot have."""
    if plan.control_plane not in (None, "postgres") or plan.object_store not in (None, "s3"):
        raise UsageError("processes share no memory: the control plane is postgres, the store s3")
    if sql and plan.control_plane is None:
        raise UsageError(f"mutant {sql[0][0]!r} is SQL; use the control plane postgres")


def _start_services(
    plan: DeploymentPlan, mutants: Sequence[SqlMutant], stack: contextlib.ExitStack
) -> tuple[PostgresBehindProxy | None, S3BehindProxy | None]:
    def start_database() -> Database:
        own = plan.own_database
        database = Database(schema_upto=plan.schema_upto, mutants=mutants, own=own)
        stack.callback(database.close)
        return database

    def start_s3() -> SeaweedServer:
        server = SeaweedServer()
        stack.callback(server.close)
        return server.start()

    with ThreadPoolExecutor(2) as threads:
        database = threads.submit(start_database) if plan.control_plane else None
        s3_server = threads.submit(start_s3) if plan.object_store else None
    postgres, s3 = None, None
    if database is not None:
        found = database.result()
        proxy = PostgresProxy(Upstream(host=LOOPBACK, port=found.port))
        stack.callback(proxy.close)
        postgres = PostgresBehindProxy(database=found, proxy=proxy)
    if s3_server is not None:
        server = s3_server.result()
        before = S3Proxy(server.endpoint)
        stack.callback(before.close)
        s3 = S3BehindProxy(server=server, proxy=before)
    return postgres, s3


def killable(plan: DeploymentPlan, parts: Parts) -> dict[str, Killable]:
    """The servers that are this deployment's own."""
    servers: dict[str, Killable] = {}
    if parts.database is not None and plan.own_database:
        servers[CONTROL_PLANE] = parts.database
    if parts.s3_server is not None:
        servers[OBJECT_STORE] = parts.s3_server
    return servers
