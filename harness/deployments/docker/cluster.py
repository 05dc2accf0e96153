"""The reference cluster as containers: one for the controller, one for each broker.

Nodes know each other by addresses that stay, on a network of their own; clients come in through the
link proxy. The disk of a node is a folder of this machine, so it can be looked at and emptied. Each
start is a container of its own, with the disk and on the machine of the one before.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from harness.deployments.docker.container import Container, Machine, Program
from harness.deployments.docker.disks import Disks
from harness.deployments.docker.engine import Network, OwnedObjects
from harness.deployments.docker.links import ContainerLinks
from harness.deployments.plan import (
    CONTROLLER,
    CONTROLLER_ID,
    DeploymentPlan,
    NodeState,
    broker_id,
)
from harness.errors import DidNotStart, LabBroken

PORT, METRICS_PORT = 9092, 9404
DATA = "/data"
LOG_BYTES = 1 << 18
LOG_LINES = 5000
START_S = 60.0
STOP_S = 30.0
PAUSE_S = 0.05
LAST_WORDS = 1500


def make_machines(
    owned: OwnedObjects,
    network: Network,
    names: Sequence[str],
    *,
    ports: Mapping[str, Mapping[int, int]] = MappingProxyType({}),
    disks: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Machine]:
    """One for each node: the controller is number 10 in the network, ``broker-1`` is 11."""
    number = {name: 10 if name == CONTROLLER else 10 + broker_id(name) for name in names}
    return {
        name: Machine(
            owned,
            name,
            network.host(number[name]),
            ports=ports.get(name, {}),
            disk=disks.get(name),
        )
        for name in names
    }


class ContainerCluster:
    """The nodes of a plan; entering starts them, what owns the objects removes them."""

    def __init__(
        self,
        owned: OwnedObjects,
        machines: Mapping[str, Machine],
        plan: DeploymentPlan,
        *,
        image: str,
        disks: Disks,
        shards: Path,
        links: ContainerLinks,
        services: Callable[[str], Sequence[str]] = lambda name: (),
    ) -> None:
        """``services`` gives the options by which a node finds its store and its control plane,
        each time it is started; effects are traced into files of the folder ``shards``."""
        self.plan = plan
        self.disks = disks
        self._owned = owned
        self._machines = machines
        self._image = image
        self._shards = shards
        self._links = links
        self._services = services
        self._containers: dict[str, Container] = {}
        self._logged: defaultdict[str, bytes] = defaultdict(bytes)  # by those that have ended

    def __enter__(self) -> ContainerCluster:
        self.start(CONTROLLER)
        self.wait(CONTROLLER)
        for name in self.plan.names:
            self.start(name)
        for name in self.plan.names:
            self.wait(name)
        return self

    def __exit__(self, *_: object) -> None:
        """What owns the objects removes them."""

    def address(self, name: str) -> str:
        """Where clients find a node."""
        return self._links.ways[name]

    def metrics_address(self, name: str) -> str:
        """Where the page of its metrics is."""
        return f"{self._host(name)}:{METRICS_PORT}"

    def state(self, name: str) -> NodeState:
        """Whether its container runs, and how it ended if not."""
        return self._containers[name].state()

    def pid(self, name: str) -> int | None:
        """Its first process, where that can be seen from here."""
        return self._containers[name].pid()

    def data_folder(self, name: str) -> Path:
        """The disk of a node."""
        return self.disks.folder(name)

    def log_tail(self, name: str, most_bytes: int) -> bytes:
        """The end of what a node wrote to its error output, over all its starts."""
        said = self._containers[name].said(out=False, last=LOG_LINES)
        return (self._logged[name] + said)[-most_bytes:]

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────

    def start(self, name: str) -> None:
        """Start a node that is down; ``wait`` returns when it is ready."""
        if name in self._containers:
            self._logged[name] = self.log_tail(name, LOG_BYTES)
            self._containers.pop(name).remove()
        program = Program(
            image=self._image,
            command=self._command(name),
            mounts={self.disks.sources[name]: DATA, str(self._shards): str(self._shards)},
            user=f"{os.getuid()}:{os.getgid()}",
        )
        self._containers[name] = Container(self._owned, name, program, self._machines[name])

    def wait(self, name: str, *, within_s: float = START_S) -> None:
        """Return when a node has said that it is ready."""
        container = self._containers[name]
        deadline = time.monotonic() + within_s
        while not _ready(container.said(err=False)):
            words = container.said(last=40)[-LAST_WORDS:].decode(errors="replace")
            if not container.state().running:
                raise LabBroken(f"{name} ended:\n{words}")
            if time.monotonic() > deadline:
                row = NodeState(running=True, ready=False).row(name, on_purpose=False)
                raise DidNotStart(f"{name} was not ready in {within_s:.0f} s:\n{words}", [row])
            time.sleep(PAUSE_S)

    def kill(self, name: str) -> None:
        """SIGKILL; returns when it has ended."""
        self._containers[name].kill()

    def wipe(self, name: str) -> None:
        """Empty the disk of a node that is down."""
        self.disks.empty(name)

    def pause(self, name: str) -> None:
        """Stop its threads, and wait until they stand still."""
        self._containers[name].pause()

    def resume(self, name: str) -> None:
        """Let it go on."""
        self._containers[name].resume()

    def terminate(self, name: str) -> None:
        """SIGTERM, and wait until it has gone; a node that does not go is killed."""
        self._containers[name].stop(STOP_S)

    # ── what it is told ──────────────────────────────────────────────────────────────────────────

    def _host(self, name: str) -> str:
        return self._machines[name].host

    def _command(self, name: str) -> list[str]:
        part = CONTROLLER if name == CONTROLLER else "broker"
        number = CONTROLLER_ID if name == CONTROLLER else broker_id(name)
        host = self._host(name)
        command = [part, "--node-id", str(number), "--cluster-id", self.plan.cluster_id]
        command += ["--listen", f"{host}:{PORT}", "--data", DATA]
        command += ["--metrics-host", host, "--metrics-port", str(METRICS_PORT)]
        if part == "broker":
            command += ["--controller", f"{self._host(CONTROLLER)}:{PORT}"]
            rack = self.plan.rack(number)
            command += ["--rack", rack] if rack else []
        command += self._services(name)
        for key, value in self.plan.reference_properties.items():
            command += ["--property", f"{key}={value}"]
        for mutant in self.plan.mutants:
            command += ["--mutant", mutant]
        return command


def _ready(said: bytes) -> bool:
    for line in said.splitlines():
        with contextlib.suppress(ValueError):
            told = json.loads(line)
            if isinstance(told, dict) and told.get("ready"):
                return True
    return False
