"""The levers of a simulated deployment: those of the simulation, for code inside its loop.

Beside what every deployment may offer there are levers that only a simulation has: `lose_power`,
those on disks and clocks, and `at_effect`. They are named in `offered`, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Literal, cast, get_args

from harness.deployments.deployment import CONTROL_PLANE, OBJECT_STORE, Hold, Levers, Names
from harness.deployments.sim_client import SimClient
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.deployments.simulated_database import SimulatedDatabase
from harness.errors import LabBroken
from harness.levers import Counts, Lever, added_up, has_acted
from harness.simulation.clock import NS
from harness.simulation.gate import Act
from harness.simulation.lever import CallHold, SimLever
from harness.simulation.simulation import Simulation

How = Literal["vanished", "torn", "corrupt"]

PORTS = {CONTROL_PLANE: "control_plane", OBJECT_STORE: "object_store"}
READY_S = 30.0  # a broker that is kept from the controller does not get ready at all
_LOOK_S = 0.005

NODES = ("kill", "stop", "wipe", "pause", "cut", "delay", "lose_power")
DISKS = ("disk_full", "disk_slow", "disk_failing", "sync_failing")
CLOCKS = ("shift_clock", "drift_clock", "at_effect")
SERVICES = (
    "refuse",
    "slow",
    "fail",
    "disturb",
    "lose_replies",
    "drop_requests",
    "hold",
    "kill_service",
)


class PulledLevers:
    """Levers of the simulation that were pulled together; `ready` is awaited after the release."""

    def __init__(
        self, *levers: SimLever, ready: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._levers = levers
        self._ready = ready

    @property
    def counts(self) -> Counts:
        """What they did so far, together."""
        return added_up(lever.counts for lever in self._levers)

    async def acted(self) -> None:
        """Return once a count is above zero."""
        if len(self._levers) == 1:
            await self._levers[0].acted()
        while not has_acted(self.counts):
            await asyncio.sleep(_LOOK_S)

    async def release(self) -> None:
        """End them; a second time does nothing."""
        for lever in self._levers:
            lever.release()
        ready, self._ready = self._ready, None
        if ready is not None:
            await ready()


class SimHold(PulledLevers):
    """Calls of a node that are kept in the network."""

    def __init__(self, hold: CallHold) -> None:
        super().__init__(hold)
        self._hold = hold

    async def pass_one(self) -> int:
        """Let one transaction through; how many passed."""
        return await self._hold.pass_one()

    async def drop(self) -> None:
        """What is held never arrives, and nothing is held any more."""
        self._hold.drop()


class SimDeploymentLevers(Levers):
    """Pulls levers of a simulation, by the names of nodes and services."""

    def __init__(
        self,
        sim: Simulation,
        *,
        cluster: SimulatedCluster | None,
        database: SimulatedDatabase,
        clients: dict[str, SimClient],
        services: frozenset[str],
    ) -> None:
        offered = [*NODES, *CLOCKS, *(SERVICES if services else ()), *(DISKS if cluster else ())]
        if "object_store" in services:
            offered += ["damage", "fail_writes"]
        self.offered = frozenset(offered)
        self._sim = sim
        self._cluster = cluster
        self._database = database
        self._clients = clients
        self._services = services

    # Nodes.

    async def kill(self, node: str) -> Lever:
        """`kill -9`; released, it starts again and is ready."""
        return self._down(node, self._sim.levers.kill(node))

    async def stop(self, node: str) -> Lever:
        """Let it stop in good order; released, it starts again and is ready."""
        self._sim.levers.check_up(node)
        life = self._sim.nodes[node].process
        running = sum(one is life for one in self._sim.loop.processes)
        if node in self._clients:
            self._clients[node].stop()
        elif self._cluster is not None:
            self._cluster.stop(node)
        while self._sim.nodes[node].process is life:
            await asyncio.sleep(_LOOK_S)
        ended = running - sum(one is life for one in self._sim.loop.processes)
        start = partial(self._sim.levers.start_again, node)
        return self._down(node, SimLever(lambda: {"processes_ended": ended}, start))

    async def wipe(self, node: str) -> Lever:
        """End it as by a loss of power, and empty its disk."""
        return self._down(node, self._sim.levers.wipe(node))

    async def lose_power(self, node: str, *, lose: Literal["some", "all"] = "some") -> Lever:
        """End its machine; what was not synced may be gone."""
        return self._down(node, self._sim.levers.lose_power(node, lose=lose))

    async def pause(self, node: str) -> Lever:
        """Let its process stand still."""
        return PulledLevers(self._sim.levers.pause(node))

    async def shift_clock(self, node: str, milliseconds: int) -> Lever:
        """The time of day of a node jumps."""
        return PulledLevers(self._sim.levers.shift_clock(node, milliseconds))

    async def drift_clock(self, node: str, rate: float) -> Lever:
        """The clocks of a node run at this rate."""
        return PulledLevers(self._sim.levers.drift_clock(node, rate))

    async def at_effect(self, node: str, ahead: int, act: Act) -> Lever:
        """Do something to one of the next effects of a node."""
        number = self._sim.effects.counts.get(node, 0) + ahead
        return self._down(node, self._sim.levers.at_effect(node, number, act))

    def _down(self, node: str, lever: SimLever) -> Lever:
        return PulledLevers(lever, ready=partial(self._until_ready, node))

    async def _until_ready(self, node: str) -> None:
        if self._cluster is None or node in self._clients:
            return
        until_ns = self._sim.now_ns + int(READY_S * NS)
        while not self._cluster.ready(node) and self._sim.now_ns < until_ns:
            await asyncio.sleep(_LOOK_S)

    # Links.

    async def cut(self, sources: Sequence[str], targets: Sequence[str], *, both: bool) -> Lever:
        """Let nothing pass; requests and replies of a service wait like bytes on a link."""
        levers: list[SimLever] = []
        for here, there in self._apart(sources, targets):
            levers.append(self._sim.levers.cut(here, there, both=both))
        for ports, nodes in self._calls(sources, targets):
            levers.append(self._sim.levers.cut_calls(ports, nodes, there=True, back=both))
        for ports, nodes in self._calls(targets, sources):
            levers.append(self._sim.levers.cut_calls(ports, nodes, there=both, back=True))
        return PulledLevers(*levers)

    async def delay(
        self, sources: Sequence[str], targets: Sequence[str], seconds: float, *, both: bool
    ) -> Lever:
        """What passes takes so much longer; calls of a service, on the way there."""
        levers: list[SimLever] = []
        for here, there in self._apart(sources, targets):
            levers.append(self._sim.levers.delay(here, there, seconds, both=both))
        for ports, nodes in (*self._calls(sources, targets), *self._calls(targets, sources)):
            levers.append(self._sim.levers.delay_calls(ports, nodes, seconds))
        return PulledLevers(*levers)

    def _apart(self, sources: Names, targets: Names) -> list[tuple[list[str], list[str]]]:
        """The nodes on both sides, if there are any."""
        here = [one for one in sources if one not in PORTS]
        there = [one for one in targets if one not in PORTS]
        return [(here, there)] if here and there else []

    def _calls(self, nodes: Names, services: Names) -> list[tuple[list[str], list[str]]]:
        """The ports of services, and the nodes that call them, if there are any."""
        ports = [self._port(one) for one in services if one in PORTS]
        callers = [one for one in nodes if one not in PORTS]
        return [(ports, callers)] if ports and callers else []

    # Services.

    async def refuse(self, service: str, caller: str | None = None) -> Lever:
        """Calls are refused, and nothing is done."""
        return PulledLevers(self._sim.levers.refuse(self._port(service), caller))

    async def slow(self, service: str, seconds: float, caller: str | None = None) -> Lever:
        """Calls take so much longer before they are carried out."""
        return PulledLevers(self._sim.levers.slow(self._port(service), seconds, caller))

    async def fail(self, service: str, caller: str | None = None) -> Lever:
        """Calls are answered with a hard error; a PostgreSQL really loses its schema."""
        if service == CONTROL_PLANE and caller is None:
            self._port(service)
            return PulledLevers(self._database.fail())
        return PulledLevers(self._sim.levers.fail(self._port(service), caller))

    async def fail_writes(self, service: str, like: str) -> Lever:
        """Such objects are not written."""
        return PulledLevers(self._sim.levers.fail_writes(self._port(service), like))

    async def disturb(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Calls are given up for reasons that pass, and nothing is done."""
        return PulledLevers(self._sim.levers.disturb(self._port(service), caller, times=times))

    async def lose_replies(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Calls are carried out, and their replies are lost."""
        return PulledLevers(self._sim.levers.lose_replies(self._port(service), caller, times=times))

    async def drop_requests(
        self, service: str, caller: str | None = None, *, times: int | None = None
    ) -> Lever:
        """Calls are lost before they arrive."""
        lever = self._sim.levers.drop_requests(self._port(service), caller, times=times)
        return PulledLevers(lever)

    async def hold(self, service: str, caller: str) -> Hold:
        """Calls of a node stay in the network, and go down with its process."""
        return SimHold(self._sim.levers.hold_calls(self._port(service), caller))

    async def kill_service(self, service: str) -> Lever:
        """It is gone with its connections; its data is not. A twin has no process to count."""
        return PulledLevers(self._sim.levers.kill_service(self._port(service)))

    async def damage(self, how: str, key: str) -> Lever:
        """An object is vanished, torn or corrupt, until that is released."""
        if how not in get_args(How):
            raise LabBroken(f"objects are not {how!r}; known: {', '.join(get_args(How))}")
        self._port(OBJECT_STORE)
        return PulledLevers(self._sim.levers.damage(cast(How, how), key))

    def _port(self, service: str) -> str:
        port = PORTS.get(service, service)
        if port not in self._services:
            raise LabBroken(f"this deployment has no {service}")
        return port

    # Disks.

    async def disk_full(self, node: str, *, room: int = 0) -> Lever:
        """There is this much room left, and no more."""
        return PulledLevers(self._sim.levers.disk_full(node, room=room))

    async def disk_slow(self, node: str, seconds: float) -> Lever:
        """Everything that changes the disk takes this long."""
        return PulledLevers(self._sim.levers.disk_slow(node, seconds))

    async def disk_failing(self, node: str) -> Lever:
        """Whatever would change the disk answers EIO and changes nothing."""
        return PulledLevers(self._sim.levers.disk_failing(node))

    async def sync_failing(self, node: str, *, times: int | None = None) -> Lever:
        """Syncs answer EIO, and what they should have synced never will be."""
        return PulledLevers(self._sim.levers.sync_failing(node, times=times))
