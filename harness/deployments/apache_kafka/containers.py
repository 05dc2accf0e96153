"""Three brokers and a controller of Apache Kafka in containers, with links that can be cut.

The image turns variables into properties and formats its own disk. It is the official one, or a
copy that is named, or, where neither is in the engine and Java and the jars are at hand, one that
is made of these (``local_image.py``). Nodes know each other by name on a network of their own, on
which the kernel cuts them off; clients come in by the link proxy.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docker.errors import DockerException  # type: ignore[import-untyped]

from harness.deployments.apache_kafka.jars import WITHOUT_IT, KafkaUnavailable
from harness.deployments.apache_kafka.local_image import JARS, NAME, local_image
from harness.deployments.apache_kafka.properties import (
    TIERING,
    container_properties,
    tiered,
)
from harness.deployments.apache_kafka.starting import (
    PAUSE_S,
    START_S,
    brokers_known,
    free_ports,
    new_cluster_id,
    quorum_known,
)
from harness.deployments.docker.cluster import make_machines
from harness.deployments.docker.container import Container, Machine, Program
from harness.deployments.docker.engine import OwnedObjects, first_line
from harness.deployments.docker.links import ContainerLinks
from harness.deployments.docker.tree import is_there
from harness.deployments.plan import (
    CONTROLLER,
    CONTROLLER_ID,
    DeploymentPlan,
    NodeState,
    broker_id,
)
from harness.errors import LabBroken
from harness.processes.kafka_release import VERSION

IMAGE = f"apache/kafka:{VERSION}"
IMAGE_SETTING = "TIDEMARK_KAFKA_IMAGE"
"""Names a copy of the image elsewhere."""
INSIDE_PORT = {True: 9093, False: 9092}
"""Where a controller or a broker listens for us, inside its container."""
REMOTE = "/remote"  # the folder that brokers tier to, inside
HEAP = "-Xms128m -Xmx512m"
CHEAP = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
LAST_WORDS = 1500
LOG_LINES = 1000
STOP_S = 30.0


def as_environment(properties: Mapping[str, str]) -> dict[str, str]:
    """Settings as the image takes them: `.` becomes `_`, `_` two of them, and `-` three."""
    named = {}
    for name, value in properties.items():
        escaped = name.replace("_", "__").replace("-", "___").replace(".", "_")
        named[f"KAFKA_{escaped.upper()}"] = value
    return named


def choose_image(client: Any) -> str:
    """The one that is named, or the official one if the engine has it; else one made here, where
    that is possible; else the official one, from its registry."""
    chosen = os.environ.get(IMAGE_SETTING, IMAGE)
    if is_there(client, chosen):
        return chosen
    if chosen == IMAGE:
        with contextlib.suppress(KafkaUnavailable):
            return local_image(client)
    client.images.pull(chosen)
    return chosen


class ContainerKafka:
    """The nodes of a plan as containers; entering starts them, leaving removes them."""

    def __init__(self, plan: DeploymentPlan, *, logs: Path, run: str = "by-hand") -> None:
        """What nodes say is written to ``logs`` at the end, a file for each."""
        self.plan = plan
        self.logs = logs
        self._run = run
        self._cluster_id = new_cluster_id()
        self._containers: dict[str, Container] = {}
        self._stack = contextlib.ExitStack()
        self._owned: OwnedObjects
        self._machines: dict[str, Machine]
        self._image = ""
        self.links: ContainerLinks
        self.remote: Path

    def __enter__(self) -> ContainerKafka:
        try:
            self._begin()
            for name in self.plan.node_names:
                self._create(name)
            for name in self.plan.node_names:
                self.wait(name)
        except DockerException as problem:
            self.close()
            raise KafkaUnavailable(
                f"Apache Kafka {VERSION} cannot be started from the image {self._image or IMAGE}:"
                f" {first_line(problem)}. `./tidemark doctor` says whether a Docker engine"
                f" answers here. {WITHOUT_IT}"
            ) from None
        except BaseException:
            self.close()
            raise
        return self

    def _begin(self) -> None:
        self._owned = self._stack.enter_context(OwnedObjects(self._run))
        self._image = choose_image(self._owned.client)
        self.remote = self._owned.folder / "remote"
        self.remote.mkdir()
        self.remote.chmod(0o777)  # the image has a user of its own
        names = self.plan.node_names
        self._ports = dict(zip(names, free_ports(len(names)), strict=True))
        inside = {name: {INSIDE_PORT[name == CONTROLLER]: self._ports[name]} for name in names}
        network = self._owned.make_network()
        self._machines = make_machines(self._owned, network, names, ports=inside)
        self.links = ContainerLinks(self._machines)
        self._stack.callback(self.links.close)
        for name, port in self._ports.items():
            self.links.lead_to(name, port)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Keep what the nodes said, and remove everything that was made."""
        try:
            for name in list(self._containers):
                self._remove(name)
        finally:
            self._stack.close()

    def address(self, name: str) -> str:
        """Where clients find a broker."""
        return self.links.ways[name]

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────

    def start(self, name: str) -> None:
        """Start a node that is down, from its own disk or, after ``wipe``, from an empty one."""
        if name in self._containers:
            self._containers[name].start()
        else:
            self._create(name)

    def wait(self, name: str) -> None:
        """Return when a broker is known to itself as unfenced, or a controller leads."""
        deadline = time.monotonic() + START_S
        container = self._containers[name]
        while not self._ready(name):
            if not container.state().running:
                raise LabBroken(f"Kafka's {name} ended:\n{self._said(name)[-LAST_WORDS:]}")
            if time.monotonic() > deadline:
                raise LabBroken(f"Kafka's {name} was not ready in {START_S:g} s")
            time.sleep(PAUSE_S)

    def _ready(self, name: str) -> bool:
        port = self._ports[name]
        if name == CONTROLLER:
            quorum = quorum_known(port)
            return quorum is not None and quorum.leader == CONTROLLER_ID
        return broker_id(name) in brokers_known(port)

    def state(self, name: str) -> NodeState:
        """Whether its container runs, paused or not, and how it ended if not."""
        if name not in self._containers:
            return NodeState(running=False)
        return self._containers[name].state()

    def pid(self, name: str) -> int | None:
        """Its first process, where that can be seen from here."""
        return self._containers[name].pid() if name in self._containers else None

    def data_folder(self, name: str) -> Path | None:
        """None: its disk is inside."""
        return None

    def log_tail(self, name: str, most_bytes: int) -> bytes:
        """The end of what a node logged."""
        if name not in self._containers:
            return b""
        return self._containers[name].said(last=LOG_LINES)[-most_bytes:]

    def terminate(self, name: str) -> None:
        """SIGTERM; a node that does not go is killed."""
        self._containers[name].stop(STOP_S)

    def kill(self, name: str) -> None:
        """SIGKILL; returns when it has ended."""
        if name in self._containers:
            self._containers[name].kill()

    def pause(self, name: str) -> None:
        """Stop its threads, and wait until they stand still."""
        self._containers[name].pause()

    def resume(self, name: str) -> None:
        """Let it go on."""
        if name in self._containers:
            self._containers[name].resume()

    def wipe(self, name: str) -> None:
        """Remove a node that is down, and its disk with it."""
        if name in self._containers:
            self._remove(name)

    # ── containers ───────────────────────────────────────────────────────────────────────────────

    def _create(self, name: str) -> None:
        number = CONTROLLER_ID if name == CONTROLLER else broker_id(name)
        rack = None if name == CONTROLLER else self.plan.rack(number)
        door = self.links.ports[name]
        properties = container_properties(name, number, door, rack)
        if name == CONTROLLER:
            properties[TIERING] = "true"
        else:
            copies = str(min(3, len(self.plan.names)))
            properties |= tiered(Path(REMOTE), Path(JARS), copies=copies, listener="REPLICATION")
        program = Program(
            image=self._image,
            environment={
                "CLUSTER_ID": self._cluster_id,
                "KAFKA_HEAP_OPTS": HEAP,
                "KAFKA_JVM_PERFORMANCE_OPTS": CHEAP,
                **as_environment({**properties, **self.plan.properties}),
            },
            mounts={str(self.remote): REMOTE},
            user=f"{os.getuid()}:{os.getgid()}" if self._image.startswith(NAME) else None,
        )
        self._containers[name] = Container(self._owned, name, program, self._machines[name])

    def _said(self, name: str) -> str:
        return self._containers[name].said().decode(errors="replace")

    def _remove(self, name: str) -> None:
        folder = self.logs / name
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "console.log").open("a", encoding="utf-8") as kept:
            kept.write(self._said(name))
        self._containers.pop(name).remove()
