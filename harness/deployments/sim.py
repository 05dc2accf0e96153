"""The reference in a simulation: brokers, control plane, object store and clients in one process.

    with open_sim(run, DeploymentPlan(control_plane="memory"), seed=7) as system:
        system.run(play(system))    # virtual time; the same seed gives the same bytes

Each client is a node (`sim_client`). The object store is the simulation's own, whichever the plan
names; the control plane is in memory or on a real PostgreSQL. The mutants of the plan are in force
in this process while the deployment is open.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from harness.deployments.deployment import CONTROL_PLANE, OBJECT_STORE, Levers, Role, Row
from harness.deployments.metrics import look_at_pages
from harness.deployments.mutants import split_mutants
from harness.deployments.plan import CONTROLLER, DeploymentPlan, NodeState
from harness.deployments.sim_client import SimClient
from harness.deployments.sim_levers import SimDeploymentLevers
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.deployments.simulated_database import SimulatedDatabase, simulate
from harness.errors import DidNotStart, LabBroken, UsageError
from harness.history import Run
from harness.history.recorder import FIRST_CLIENT_ID, Recorder
from harness.history.run_slot import take_slot
from harness.simulation.errors import Deadlock, StillWaiting
from harness.simulation.observer import Unobserved
from harness.simulation.simulation import Simulation
from reference_impl.decisions import mutated
from reference_impl.ports import Address

if TYPE_CHECKING:
    from harness.processes.database import Log


class SimDeployment:
    """A system in a simulation. `sim` is for tests and sweeps that need more than levers."""

    world = "sim"
    pace = 1.0
    lacks: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        sim: Simulation,
        plan: DeploymentPlan,
        recorder: Recorder,
        database: SimulatedDatabase,
    ) -> None:
        self.sim = sim
        self.plan = plan
        self.recorder = recorder
        self.network = sim.lab
        self.brokers = self.known = plan.broker_ids
        self.upgrades = plan.control_plane == "postgres"
        self.run = sim.run
        self._database = database
        self._clients: dict[str, SimClient] = {}
        given = {"control_plane": plan.control_plane, "object_store": plan.object_store}
        self._services = frozenset(name for name, kind in given.items() if kind is not None)
        self._cluster = SimulatedCluster(sim, plan) if plan.brokers else None
        self.levers: Levers = SimDeploymentLevers(
            sim,
            cluster=self._cluster,
            database=database,
            clients=self._clients,
            services=self._services,
        )
        self._looks = {"nodes": self._nodes, "files": self._files}
        if self._cluster is not None:
            self._looks["log_lines"] = self._log_lines
        if plan.object_store is not None:
            self._looks["objects"] = self._objects
        if plan.control_plane is not None:
            self._looks["control_plane"] = database.probe
        self.probes = frozenset(self._looks)
        if self._cluster is not None:
            self.probes |= {"metrics"}
        if self._cluster is not None:
            self._settle(self._cluster)

    def _settle(self, cluster: SimulatedCluster) -> None:
        try:
            cluster.settle()
        except (StillWaiting, Deadlock) as late:
            waiting = [name for name in self.plan.node_names if not cluster.ready(name)]
            rows = [row for row in self._nodes() if row["state"] != "running"]
            rows += [
                NodeState(running=True, ready=False).row(name, on_purpose=False)
                for name in waiting
                if self.sim.nodes[name].up
            ]
            raise DidNotStart(f"{', '.join(waiting)} not ready: {late}", rows) from late

    def address(self, broker: int) -> Address:
        """Where clients find a broker."""
        if self._cluster is None:
            raise LabBroken("this deployment has no brokers")
        return self._cluster.address(broker)

    def nodes(self, role: Role) -> tuple[str, ...]:
        """The names of the nodes of a role."""
        there = {
            Role.BROKER: self.plan.names,
            Role.CONTROLLER: (CONTROLLER,) if self.plan.brokers else (),
            Role.CONTROL_PLANE: (CONTROL_PLANE,) if self.plan.control_plane else (),
            Role.OBJECT_STORE: (OBJECT_STORE,) if self.plan.object_store else (),
            Role.CLIENT: tuple(self._clients),
        }
        return there[role]

    def now_ms(self) -> int:
        """Virtual time of day."""
        return self.sim.now_ms

    def now_ns(self) -> int:
        """Virtual time since the simulation began."""
        return self.sim.now_ns

    async def probe(self, what: str) -> list[Row]:
        """Look from outside."""
        if what == "metrics" and self._cluster is not None:
            return await look_at_pages(self.network, self._cluster.metrics)
        if what not in self._looks:
            raise LabBroken(f"no probe {what!r} here; offered: {', '.join(sorted(self.probes))}")
        return self._looks[what]()

    async def client(self, name: str) -> SimClient:
        """The client of that name; its node is `client-NAME`."""
        node = f"client-{name}"
        if node not in self._clients:
            number = self.recorder.node(name)
            self._clients[node] = SimClient(self.sim, node, number, self._services)
        return self._clients[node]

    async def upgrade(self, logs: Sequence[Log]) -> None:
        """Create these logs under the old schema, then run the migrations that are left."""
        self._database.upgrade(logs)

    # Probes.

    def _nodes(self) -> list[Row]:
        """Every broker and the controller, and each that ended by itself once more."""
        names = self.plan.node_names if self.plan.brokers else ()
        now = [NodeState(running=self.sim.nodes[name].up) for name in names]
        rows = [
            state.row(name, on_purpose=not state.running)
            for name, state in zip(names, now, strict=True)
        ]
        exits = [NodeState(running=False).row(one, on_purpose=False) for one in self.sim.exits]
        return rows + exits

    def _log_lines(self) -> list[Row]:
        """What each node wrote last to its log, over all its lives."""
        return [
            {"node": name, "line": line}
            for name in self.plan.node_names
            for line in self.sim.nodes[name].log_lines
        ]

    def _objects(self) -> list[Row]:
        return [{"key": key, "size": size} for key, size in self.sim.store.rows()]

    def _files(self) -> list[Row]:
        """Every file on the disks of the nodes, as it reads now."""
        return [
            {"node": name, "path": path, "size": len(data)}
            for name, node in self.sim.nodes.items()
            for path, data in node.disk.contents().items()
        ]


@contextlib.contextmanager
def open_sim(
    run: Run,
    plan: DeploymentPlan,
    *,
    seed: int,
    part: int = 0,
    shard: str | None = None,
    records_effects: bool = False,
    forgiving: bool = False,
) -> Iterator[SimDeployment]:
    """A simulated deployment that records into a shard of its own.

    `part` and `shard` name that shard and its clock. With `records_effects` every effect of every
    node is recorded; a `forgiving` one lets nodes end by themselves, and its probe says so.
    """
    python, sql = split_mutants(plan.mutants)
    if plan.control_plane != "postgres":
        if sql:
            raise UsageError(f"mutant {sql[0][0]!r} is SQL; use the control plane postgres")
        if plan.schema_upto is not None:
            raise UsageError("an old schema needs the control plane postgres; memory has none")
    clock = "sim" if part == 0 and shard is None else f"sim-{shard or part}"
    slot = take_slot(run, world="sim", clock=clock, part=part, shard=shard)
    recorder = Recorder(
        slot, now=lambda: sim.now_ns, first_node=FIRST_CLIENT_ID if plan.brokers else 1
    )
    try:
        with mutated(*(mutant for _, mutant in python)), contextlib.ExitStack() as stack:
            sim, database = simulate(
                seed,
                observer=recorder if records_effects else Unobserved(),
                forgiving=forgiving,
                postgres=plan.control_plane == "postgres",
                schema_upto=plan.schema_upto,
                mutants=[mutant for _, mutant in sql],
            )
            stack.callback(database.close)
            stack.callback(sim.close)
            yield SimDeployment(sim, plan, recorder, database)
    except BaseException:
        slot.writer.abandon()
        raise
    slot.writer.close()
