"""A broker or the controller as a process of its own, on TCP and files.

    python -m reference_impl controller --node-id 3000 --cluster-id ID --listen 127.0.0.1:0
                                        --data DIR [--metrics-port 0] [--property name=value]…
                                        [--store URL] [--control-plane DSN]
                                        [--trace FILE [--trace-ports PORT,…] [--clock NAME]]
    python -m reference_impl broker --node-id 1 --cluster-id ID --listen 127.0.0.1:0
                                    --controller 127.0.0.1:19093 --data DIR [--rack a]
                                    [--property name=value]… [--mutant module:name]…

It says where it is found, and where its metrics are, in one line of JSON on stdout once it is ready
(a broker: once it is registered and unfenced), and then nothing. SIGTERM and SIGINT stop it in good
order; a second one at once. What it is too late to tell anybody goes to stderr.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Coroutine

from reference_impl.broker.broker import run_broker
from reference_impl.broker.settings import BrokerSettings
from reference_impl.control_plane.trace import TraceFile
from reference_impl.controller.controller import ControllerSettings, run_controller
from reference_impl.live.clock import SystemClock, SystemRng
from reference_impl.live.compiling import compile_walk_when_busy
from reference_impl.live.disk import FileDisk
from reference_impl.live.memory import keep_freed_memory
from reference_impl.live.services import open_control_plane, open_store
from reference_impl.live.sockets import SocketNetwork
from reference_impl.live.workers import ThreadWorkers
from reference_impl.metadata.configs import ConfigError
from reference_impl.metrics.endpoint import MetricsSettings
from reference_impl.ports import Address, Gate, Ports
from reference_impl.ports.disk import GatedDisk
from reference_impl.ports.effects import OpenGate, TracingGate
from reference_impl.ports.network import GatedNetwork
from reference_impl.ports.object_store import GatedObjectStore

BROKEN = 1
INTERRUPTED = 130


def run(options: argparse.Namespace, properties: dict[str, str]) -> int:
    """Be that node until it is told to stop; the exit status."""
    try:
        asyncio.run(_live(options, properties))
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, ConfigError) as error:
        print(f"reference_impl: {options.part} {options.node_id}: {error}", file=sys.stderr)
        return BROKEN
    return 0


async def _live(options: argparse.Namespace, properties: dict[str, str]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _told_to_stop, stop)
    ports = _ports(options)
    found: list[Address] = []  # where the metrics are
    metrics = MetricsSettings(
        listen=Address(options.metrics_host, options.metrics_port), announce=found.append
    )
    program: Coroutine[None, None, None]
    if options.part == "controller":
        program = run_controller(
            ports,
            ControllerSettings(
                node_id=options.node_id,
                cluster_id=options.cluster_id,
                listen=options.listen,
                properties=properties,
                stop=stop,
                announce=lambda place: _announce(place, place, found),
                metrics=metrics,
            ),
        )
    else:
        keep_freed_memory()
        compile_walk_when_busy()
        program = run_broker(
            ports,
            BrokerSettings(
                node_id=options.node_id,
                cluster_id=options.cluster_id,
                listen=options.listen,
                advertised=options.advertised,
                controller=options.controller,
                rack=options.rack,
                properties=properties,
                log_dir=str(options.data),
                room=lambda: shutil.disk_usage(options.data)[::2],
                stop=stop,
                announce=lambda place, listening: _announce(place, listening, found),
                metrics=metrics,
            ),
        )
    await program


def _told_to_stop(stop: asyncio.Event) -> None:
    if stop.is_set():
        os._exit(INTERRUPTED)
    stop.set()


def _announce(place: Address, listening: Address, metrics: list[Address]) -> None:
    said = {
        "ready": True,
        "address": str(place),
        "port": listening.port,
        "metrics": str(metrics[0]),
        "pid": os.getpid(),
    }
    print(json.dumps(said), flush=True)


def _ports(options: argparse.Namespace) -> Ports:
    """What it is given; ports that are not traced are the bare ones."""
    name = f"{options.part}-{options.node_id}"
    traced: tuple[str, ...] = ()
    gate: Gate = OpenGate()
    if options.trace is not None:
        clock = options.clock or name
        gate = TracingGate(TraceFile(options.trace, node=options.node_id, clock=clock))
        traced = options.trace_ports
    network, disk = SocketNetwork(options.from_host), FileDisk(options.data)
    store = open_store(options.store)
    plane = open_control_plane(
        options.control_plane, gate if "control_plane" in traced else OpenGate()
    )
    return Ports(
        name=name,
        network=GatedNetwork(network, gate) if "network" in traced else network,
        disk=GatedDisk(disk, gate) if "disk" in traced else disk,
        object_store=GatedObjectStore(store, gate) if "object_store" in traced else store,
        control_plane=plane,
        clock=SystemClock(),
        rng=SystemRng(),
        workers=ThreadWorkers(),
        write_log_line=lambda line: print(line, file=sys.stderr, flush=True),
    )
