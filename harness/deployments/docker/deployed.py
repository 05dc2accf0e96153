"""The reference in containers: brokers, controller, PostgreSQL, SeaweedFS; clients of the lab.

    with open_docker(run, DeploymentPlan(control_plane="postgres")) as system:
        system.run(play(system))

It is driven and looked at like the reference as processes; what is different is where its programs
run, and that the links between its nodes are cut by the kernel. Clients, agents and proxies are
processes and threads of this machine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from harness.deployments.docker.cluster import PORT, ContainerCluster, make_machines
from harness.deployments.docker.disks import Disks
from harness.deployments.docker.engine import Network, OwnedObjects
from harness.deployments.docker.images import postgres_image, reference_image, s3_image
from harness.deployments.docker.levers import DockerLevers
from harness.deployments.docker.links import ContainerLinks, limit
from harness.deployments.docker.services import ContainerDatabase, ContainerPostgres, ContainerS3
from harness.deployments.live_levers import LiveLevers
from harness.deployments.mutants import split_mutants
from harness.deployments.node_services import NodeServices, PostgresBehindProxy, S3BehindProxy
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process import Parts, ProcessDeployment, check_plan
from harness.history import Run
from harness.history.run import SHARDS_FOLDER
from harness.proxies.postgres import PostgresProxy, Upstream
from harness.proxies.s3 import S3Proxy
from reference_impl.decisions import SqlMutant


class DockerDeployment(ProcessDeployment):
    """A system of containers."""

    world = "docker"

    def make_levers(self, hurting: frozenset[str]) -> LiveLevers:
        """With those on disks."""
        nodes = self._parts.nodes
        levers = DockerLevers(nodes, self.clients, links=self._parts.links, hurting=hurting)
        if isinstance(nodes, ContainerCluster) and self.plan.brokers and nodes.disks.can_be_full:
            levers.disks = nodes.disks
            levers.offered |= {"disk_full"}
        return self.with_services(levers)


@contextlib.contextmanager
def open_docker(
    run: Run, plan: DeploymentPlan, *, part: int = 0, shard: str | None = None
) -> Iterator[ProcessDeployment]:
    """A deployment that records into a shard of its own; all of it ends with it."""
    with contextlib.ExitStack() as stack:
        owned = stack.enter_context(OwnedObjects(str(run.header["run"])))
        parts = _start(run, plan, owned, stack, shard or f"docker-{part}")
        with DockerDeployment(run, plan, parts, part=part, shard=shard) as system:
            if isinstance(parts.links, ContainerLinks):
                limit(system.levers, parts.links)
            yield system


def _start(
    run: Run, plan: DeploymentPlan, owned: OwnedObjects, stack: contextlib.ExitStack, slot: str
) -> Parts:
    """Start what the plan asks for: the services first, both at the same time, then the nodes."""
    python, sql = split_mutants(plan.mutants)
    check_plan(plan, sql)
    network = owned.make_network()
    postgres, s3 = _start_services(plan, [one for _, one in sql], owned, network, stack)
    mutants = tuple(reference for reference, _ in python)
    names = plan.node_names if plan.brokers else ()
    disks = Disks(owned, names)
    machines = make_machines(owned, network, names, disks=disks.sources)
    links = ContainerLinks(machines)
    stack.callback(links.close)
    for name, machine in machines.items():
        links.lead_to(name, PORT, machine.host)
    cluster = ContainerCluster(
        owned,
        machines,
        replace(plan, mutants=mutants),
        image=reference_image(owned.client) if plan.brokers else "",
        disks=disks,
        shards=(run.folder / SHARDS_FOLDER).resolve(),
        links=links,
        services=NodeServices(run=run, slot=slot, traced=plan.traced, postgres=postgres, s3=s3),
    )
    if plan.brokers:
        cluster.__enter__()
    return Parts(
        nodes=cluster,
        mutants=mutants,
        links=links if plan.brokers else None,
        database=None if postgres is None else postgres.database,
        postgres=None if postgres is None else postgres.proxy,
        s3_server=None if s3 is None else s3.server,
        s3=None if s3 is None else s3.proxy,
    )


def _start_services(
    plan: DeploymentPlan,
    mutants: list[SqlMutant],
    owned: OwnedObjects,
    network: Network,
    stack: contextlib.ExitStack,
) -> tuple[PostgresBehindProxy | None, S3BehindProxy | None]:
    def start_database() -> ContainerDatabase:
        server = ContainerPostgres(owned, network, postgres_image(owned.client))
        return ContainerDatabase(server, schema_upto=plan.schema_upto, mutants=mutants)

    def start_s3() -> ContainerS3:
        server = ContainerS3(owned, network, s3_image(owned.client))
        server.start()
        return server

    with ThreadPoolExecutor(2) as threads:
        database: Future[ContainerDatabase] | None
        database = threads.submit(start_database) if plan.control_plane else None
        s3_server = threads.submit(start_s3) if plan.object_store else None
    postgres, s3 = None, None
    if database is not None:
        found = database.result()
        proxy = PostgresProxy(Upstream(host=found.host, port=found.port), host=network.gateway)
        stack.callback(proxy.close)
        postgres = PostgresBehindProxy(database=found, proxy=proxy)
    if s3_server is not None:
        server = s3_server.result()
        before = S3Proxy(server.endpoint, host=network.gateway)
        stack.callback(before.close)
        s3 = S3BehindProxy(server=server, proxy=before)
    return postgres, s3
