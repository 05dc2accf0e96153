"""The body of `serve`: a reference cluster that any Kafka client can use, until it is stopped."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from harness.errors import LabBroken, UsageError
from harness.scratch import ScratchFolder
from reference_impl.decisions import load_mutant

FOLDER = "folder"
BUCKET = "objects"


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
) -> int:
    """Serve until SIGTERM or Ctrl-C; the exit code."""
    _check_shared("--store", store, "folder, s3, or the address of a store")
    _check_shared("--control-plane", control_plane, "postgres, or the address of a database")
    plan = DeploymentPlan(
        brokers=brokers,
        racks=tuple(name.strip() for name in racks.split(",") if name.strip()),
        properties=dict(_pair(text) for text in properties),
        mutants=tuple(mutants),
    )
    if port and port + brokers > 65536:
        raise UsageError(f"{brokers} brokers do not fit behind port {port}")
    for mutant in mutants:
        load_mutant(mutant)  # a mistake is told here, not by the first node that cannot start
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    with ScratchFolder("serve") as throwaway, ExitStack() as stack:
        folder = data or throwaway
        print(f"starting {brokers} brokers and a controller in {folder}", file=sys.stderr)
        services = ["--store", _store(store, folder, stack)]
        if control_plane is not None:
            services += ["--control-plane", _control_plane(control_plane, data, stack)]
        cluster = ProcessCluster(folder, plan, first_port=port, services=lambda node: services)
        with cluster:
            print(f"bootstrap={cluster.bootstrap}", flush=True)
            pages = {name: cluster.metrics_address(name) for name in plan.node_names}
            for name, address in pages.items():
                print(f"{name}: metrics at http://{address}/metrics", file=sys.stderr)
            told.wait()
            print("stopping", file=sys.stderr)
    return 0


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


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--property {text!r} is not NAME=VALUE")
    return name, value
