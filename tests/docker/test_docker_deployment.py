"""The reference in containers: what every deployment promises, and what only the kernel can cut."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from harness.clients.admin import create_topic
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment
from harness.deployments.docker.cuts import KernelCuts, from_inside
from harness.deployments.docker.deployed import open_docker
from harness.deployments.docker.links import ContainerLinks
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process import ProcessDeployment
from harness.history import Run
from harness.levers import has_acted
from reference_impl.ports import Network
from tests.deployments.deployment_contract import DeploymentContract, asks_broker

pytestmark = pytest.mark.docker

PLAN = DeploymentPlan(
    control_plane="postgres",
    object_store="s3",
    own_database=True,
    properties={"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"},
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("docker") / "run"
    return Run.create(folder, run="1", sut="reference", world="docker")


@pytest.fixture(scope="module")
def system(run: Run) -> Iterator[ProcessDeployment]:
    with open_docker(run, PLAN) as deployed:
        yield deployed


class TestContainers(DeploymentContract):
    """The contract, but for links between containers: they are cut by the kernel, or not at all."""

    between_brokers = "packets_dropped"

    def test_a_delayed_link_counts_what_it_delays(self, system: Deployment) -> None:
        assert "not slowed down" in system.levers.not_offered["delay"]
        assert "delay" not in system.levers.offered

    def test_a_cut_still_holds_for_a_broker_that_started_again(self, system: Deployment) -> None:
        async def play() -> None:
            cut = await system.levers.cut(["controller"], ["broker-3"], both=True)
            down = await system.levers.kill("broker-3")
            before = cut.counts["packets_dropped"]
            starting = asyncio.ensure_future(down.release())
            async with asyncio.timeout(30):
                while cut.counts["packets_dropped"] <= before:
                    await asyncio.sleep(0.2)
            await cut.release()
            await starting
            assert await asks_broker(await system.client("a"), system, 3)

        system.run(play())

    def test_a_broker_fills_its_disk_and_goes_on_once_there_is_room(
        self, system: Deployment
    ) -> None:
        async def fills(network: Network) -> None:
            raw = RawClient(network, system.address(1))
            for number in range(40):
                await create_topic(raw, f"filler-{number}", assignments=[[3]] * 8)

        async def play() -> None:
            client = await system.client("a")
            full = await system.levers.disk_full("broker-3")
            assert not has_acted(full.counts)
            await client.kafka(fills)
            async with asyncio.timeout(30):
                await full.acted()
            assert full.counts["bytes_until_full"] > 0
            await full.release()
            assert await asks_broker(client, system, 3)

        system.run(play())

    @pytest.mark.parametrize("service", ["control-plane", "object-store"])
    def test_a_service_that_was_killed_runs_again_with_what_it_had(
        self, system: Deployment, service: str
    ) -> None:
        async def play() -> None:
            probe = {"control-plane": "control_plane", "object-store": "objects"}[service]
            before = await system.probe(probe)
            down = await system.levers.kill_service(service)
            assert down.counts["processes_ended"] > 0
            await down.release()
            assert before
            assert await system.probe(probe) == before

        system.run(play())

    def test_a_machine_cuts_itself_off_where_nobody_may_enter(
        self, system: ProcessDeployment
    ) -> None:
        links = system._links
        assert isinstance(links, ContainerLinks)
        assert links.kernel is not None

        async def play() -> None:
            raw = RawClient(system.network, system.address(1))
            await create_topic(raw, "helped", assignments=[[1, 2, 3]])
            cut = await system.levers.cut(["broker-2"], ["broker-1"], both=False)
            await cut.acted()
            assert cut.counts["packets_dropped"] > 0
            await cut.release()

        mine, links.kernel = links.kernel, KernelCuts(links.kernel._machines, from_inside)
        try:
            system.run(play())
        finally:
            links.kernel = mine
