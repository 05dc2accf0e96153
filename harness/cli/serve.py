"""The body of `serve`: a reference cluster that any Kafka client can use, until it is stopped."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from harness.errors import UsageError
from harness.scratch import ScratchFolder
from reference_impl.decisions import load_mutant


def run(
    *,
    brokers: int,
    racks: str,
    port: int,
    data: Path | None,
    properties: Sequence[str],
    mutants: Sequence[str],
) -> int:
    """Serve until SIGTERM or Ctrl-C; the exit code."""
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
    with ScratchFolder("serve") as throwaway:
        folder = data or throwaway
        print(f"starting {brokers} brokers and a controller in {folder}", file=sys.stderr)
        with ProcessCluster(folder, plan, first_port=port) as cluster:
            print(f"bootstrap={cluster.bootstrap}", flush=True)
            pages = {name: cluster.metrics_address(name) for name in plan.node_names}
            for name, address in pages.items():
                print(f"{name}: metrics at http://{address}/metrics", file=sys.stderr)
            told.wait()
            print("stopping", file=sys.stderr)
    return 0


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--property {text!r} is not NAME=VALUE")
    return name, value
