"""The body of `serve`: a reference cluster that any Kafka client can use, until it is stopped."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

from harness.cli.progress import plural
from harness.cli.serve_orders import NODES, SOCKET, taking_orders
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import LOOPBACK, ProcessCluster
from harness.errors import LabBroken, UsageError
from harness.proxies.links import LinkProxy
from harness.scratch import ScratchFolder
from reference_impl.decisions import load_mutant

LOOK_S = 0.5
LACKS = "members of groups (committed offsets work), quotas, ACLs, delegation tokens, share groups"
"""What a client that expects all of Kafka will miss."""
FOLDER = "folder"
BUCKET = "objects"
COPIES = 3
"""How many replicas the topics of coordinators have, unless told."""


def run(
    *,
    brokers: int,
    racks: str,
    port: int,
    data: Path | None,
    properties: Sequence[str],
    mutants: Sequence[str],
    store: str = FOLDER,
    control_plane: str | None = None,
    orders: Path | None = None,
) -> int:
    """Serve until SIGTERM or Ctrl-C; the exit code. With a folder for orders (`serve_orders`) every
    byte goes through a proxy."""
    _check_places(orders, store, control_plane)
    plan = DeploymentPlan(
        brokers=brokers,
        racks=tuple(name.strip() for name in racks.split(",") if name.strip()),
        properties=_coordinators(brokers) | dict(_pair(text) for text in properties),
        mutants=tuple(mutants),
    )
    if port and port + brokers > 65536:
        raise UsageError(f"{brokers} brokers do not fit behind port {port}")
    for mutant in mutants:
        load_mutant(mutant)  # a mistake is told here, not by the first node that cannot start
    told = _asked_to_stop()
    with ScratchFolder("serve") as throwaway, ExitStack() as stack:
        folder = data or throwaway
        print(f"starting {plural(brokers, 'broker')} and a controller in {folder}", file=sys.stderr)
        services = ["--store", _store(store, folder, stack)]
        if control_plane is not None:
            services += ["--control-plane", _control_plane(control_plane, data, stack)]
        _refuse_taken_ports(port, brokers)
        links = None if orders is None else _link_proxy(plan, port, stack)
        cluster = ProcessCluster(
            folder,
            plan,
            first_port=0 if links else port,
            links=links,
            services=lambda node: services,
        )
        with cluster, _taking(orders, cluster, links):
            _tell(cluster)
            _watch(cluster, plan.node_names, told)
            print("stopping", file=sys.stderr)
    return 0


def _asked_to_stop() -> threading.Event:
    """Set by SIGTERM or Ctrl-C."""
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    return told


def _tell(cluster: ProcessCluster) -> None:
    """Where it is, and what it is not."""
    print(f"bootstrap={cluster.bootstrap}", flush=True)
    for name in cluster.plan.node_names:
        page = f"metrics at http://{cluster.metrics_address(name)}/metrics"
        print(f"{name}: pid {cluster.pid(name)}, {page}", file=sys.stderr)
    print(f"lacks: {LACKS}", file=sys.stderr)


def _link_proxy(plan: DeploymentPlan, first: int, stack: ExitStack) -> LinkProxy:
    """The ways between nodes and to them, at the ports that were asked for."""
    ports = {name: first + number for number, name in enumerate(plan.names)} if first else {}
    links = LinkProxy(plan.node_names, ports=ports)
    stack.callback(links.close)
    return links


def _taking(
    folder: Path | None, cluster: ProcessCluster, links: LinkProxy | None
) -> AbstractContextManager[object]:
    if folder is None or links is None:
        return nullcontext()
    print(f"orders at {folder / SOCKET}, nodes in {folder / NODES}", file=sys.stderr)
    return taking_orders(cluster, links, folder)


def _watch(cluster: ProcessCluster, names: Sequence[str], told: threading.Event) -> None:
    """Until it is told to stop: name nodes that died, and start them again when asked to."""
    again = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: again.set())
    down: set[str] = set()
    while not told.wait(LOOK_S):
        for name in names:
            state = cluster.state(name)
            if state.running:
                down.discard(name)
            elif name not in down:
                down.add(name)
                why = _ended(state.exit_code)
                how = f"`kill -USR1 {os.getpid()}` starts it again"
                print(f"{name} ended: {why}; {how}", file=sys.stderr, flush=True)
        for name in sorted(down) if again.is_set() else ():
            down.discard(name)
            cluster.start(name)
            cluster.wait(name)
            print(f"{name} is back: pid {cluster.pid(name)}", file=sys.stderr, flush=True)
        again.clear()


def _ended(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"


def _refuse_taken_ports(first: int, brokers: int) -> None:
    """A port that is taken is told before anything is started."""
    for port in range(first, first + brokers) if first else ():
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((LOOPBACK, port))
            except OSError as problem:
                raise UsageError(
                    f"port {port} cannot be listened on ({problem.strerror}); choose another first"
                    " port with --port N, or --port 0 for any that are free"
                ) from None


def _check_places(orders: Path | None, store: str, control_plane: str | None) -> None:
    """Refuse what cannot be shared by processes, and a folder that is not there."""
    if orders is not None and not orders.is_dir():
        raise UsageError(f"--orders {orders}: there is no such folder")
    _check_shared("--store", store, "folder, s3, or the address of a store")
    _check_shared("--control-plane", control_plane, "postgres, or the address of a database")


def _check_shared(option: str, kind: str | None, instead: str) -> None:
    if kind in ("memory", "memory:"):
        raise UsageError(
            f"{option} memory is for nodes in one process; here each node is a process of its own, "
            f"and processes share no memory: use {instead}"
        )


def _store(kind: str, folder: Path, stack: ExitStack) -> str:
    """The address of the store that all nodes share; a server of ours ends with the stack."""
    if kind == FOLDER:
        return str((folder / "objects").absolute())
    if kind != "s3":
        return kind
    from harness.processes.s3_server import SeaweedServer

    server = SeaweedServer()
    stack.callback(server.close)
    return server.start().url(BUCKET)


def _control_plane(kind: str, data: Path | None, stack: ExitStack) -> str:
    """The database that all nodes share, with the schema in it."""
    import psycopg

    from reference_impl.control_plane.migrations import MigrationError, install
    from reference_impl.control_plane.server import PostgresServer, ServerError

    if kind == "postgres":
        server = PostgresServer() if data is None else PostgresServer(data / "postgres")
        try:
            kind = stack.enter_context(server).dsn()
        except ServerError as problem:
            raise LabBroken(str(problem)) from problem
    try:
        install(kind)
    except (MigrationError, psycopg.Error) as problem:
        raise UsageError(f"--control-plane {kind}: {problem}".strip()) from None
    return kind


def _coordinators(brokers: int) -> dict[str, str]:
    """Where there are too few brokers for Kafka's defaults, the topics of coordinators want fewer
    replicas, as Kafka's own sample of a broker's properties says; else none could ever be made."""
    if brokers >= COPIES:
        return {}
    return {
        "offsets.topic.replication.factor": str(brokers),
        "transaction.state.log.replication.factor": str(brokers),
        "transaction.state.log.min.isr": "1",
    }


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--property {text!r} is not NAME=VALUE")
    return name, value
