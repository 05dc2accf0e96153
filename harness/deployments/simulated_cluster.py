"""The reference cluster in a simulation: a node for the controller, one for each broker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from harness.deployments.plan import CONTROLLER, CONTROLLER_ID, DeploymentPlan, broker_name
from harness.simulation.simulation import Simulation
from reference_impl.broker.broker import run_broker
from reference_impl.broker.settings import BrokerSettings
from reference_impl.controller.controller import ControllerSettings, run_controller
from reference_impl.metrics.endpoint import MetricsSettings
from reference_impl.partitions.catalog import StorageFactory
from reference_impl.ports import Address, Ports

PORT = 9092
CONTROLLER_PORT = 9093
METRICS_PORT = 9404


class SimulatedCluster:
    """Puts the nodes of a plan into a simulation and knows where they are."""

    def __init__(
        self,
        sim: Simulation,
        plan: DeploymentPlan,
        *,
        storages: Sequence[StorageFactory] | None = None,
    ) -> None:
        self.sim = sim
        self.plan = plan
        self._storages = storages
        self._stops: dict[str, asyncio.Event] = {}
        self._ready_life: dict[str, int] = {}  # the last one in which a node was ready
        sim.add(CONTROLLER, self._controller, number=CONTROLLER_ID)
        for number in plan.broker_ids:
            sim.add(broker_name(number), partial(self._broker, number), number=number)

    def address(self, broker_id: int) -> Address:
        """Where a client finds a broker."""
        return Address(broker_name(broker_id), PORT)

    @property
    def metrics(self) -> dict[str, Address]:
        """Where the metrics of each node are."""
        return {name: Address(name, METRICS_PORT) for name in self.plan.node_names}

    def settle(self, *, within_s: float = 30.0) -> None:
        """Let time pass until every broker is unfenced."""
        self.sim.run_until(lambda: all(map(self.ready, self.plan.names)), within_s=within_s)

    def ready(self, name: str) -> bool:
        """Whether the controller listens, or a broker was unfenced since it was started."""
        return self._ready_life.get(name) == self.sim.nodes[name].lives

    def stop(self, name: str) -> None:
        """Ask a node to end in good order."""
        self.sim.nodes[name].stopping = True
        self._stops[name].set()

    async def _controller(self, ports: Ports) -> None:
        await run_controller(
            ports,
            ControllerSettings(
                node_id=CONTROLLER_ID,
                cluster_id=self.plan.cluster_id,
                listen=Address(CONTROLLER, CONTROLLER_PORT),
                properties=self.plan.reference_properties,
                stop=self._stop_of(CONTROLLER),
                announce=lambda place: self._announce(CONTROLLER),
                metrics=MetricsSettings(listen=Address(CONTROLLER, METRICS_PORT)),
            ),
        )

    async def _broker(self, number: int, ports: Ports) -> None:
        await run_broker(
            ports,
            BrokerSettings(
                node_id=number,
                cluster_id=self.plan.cluster_id,
                listen=self.address(number),
                controller=Address(CONTROLLER, CONTROLLER_PORT),
                rack=self.plan.rack(number),
                properties=self.plan.reference_properties,
                stop=self._stop_of(ports.name),
                announce=lambda place, listening: self._announce(ports.name),
                metrics=MetricsSettings(listen=Address(ports.name, METRICS_PORT)),
            ),
            storages=self._storages,
        )

    def _stop_of(self, name: str) -> asyncio.Event:
        self._stops[name] = asyncio.Event()
        return self._stops[name]

    def _announce(self, name: str) -> None:
        self._ready_life[name] = self.sim.nodes[name].lives
