"""Three brokers and a controller from the official image, for machines with Docker and no Java.

The image turns variables into properties and formats its own disk. Nodes know each other by name on
a network of their own; clients come in by ports of this machine. What can be done to a node is what
Docker can do to a container; links are not cut here.

A lab that is killed leaves its containers to the reaper of testcontainers (Ryuk), which is an image
too. All of them carry the label `tidemark`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.deployments.apache_kafka.jars import WITHOUT_IT, KafkaUnavailable
from harness.deployments.apache_kafka.properties import HOST, container_properties
from harness.deployments.apache_kafka.starting import (
    PAUSE_S,
    START_S,
    brokers_known,
    free_ports,
    new_cluster_id,
    quorum_known,
)
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
LABELS = {"tidemark": "apache-kafka"}
HEAP = "-Xms128m -Xmx512m"
LAST_WORDS = 1500
LOG_LINES = 1000
STOP_S = 30


def as_environment(properties: Mapping[str, str]) -> dict[str, str]:
    """Settings as the image takes them: `.` becomes `_`, `_` two of them, and `-` three."""
    named = {}
    for name, value in properties.items():
        escaped = name.replace("_", "__").replace("-", "___").replace(".", "_")
        named[f"KAFKA_{escaped.upper()}"] = value
    return named


class ContainerKafka:
    """The nodes of a plan as containers; entering starts them, leaving removes them."""

    def __init__(self, plan: DeploymentPlan, *, logs: Path) -> None:
        """What nodes say is written to ``logs`` at the end, a file for each."""
        self.plan = plan
        self.logs = logs
        self.image = os.environ.get(IMAGE_SETTING, IMAGE)
        names = (CONTROLLER, *plan.names)
        self._ports = dict(zip(names, free_ports(len(names)), strict=True))
        self._cluster_id = new_cluster_id()
        self._network: Any = None
        self._containers: dict[str, Any] = {}

    def __enter__(self) -> ContainerKafka:
        from docker.errors import DockerException  # type: ignore[import-untyped]
        from testcontainers.core.network import Network

        try:
            self._network = Network(docker_network_kw={"labels": LABELS}).create()
            for name in self._ports:
                self._create(name)
            for name in self._ports:
                self.wait(name)
        except DockerException as problem:
            self.close()
            raise KafkaUnavailable(
                f"Apache Kafka {VERSION} cannot be started from the image {self.image}:"
                f" {_first_line(problem)}. {WITHOUT_IT}"
            ) from None
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Keep what the nodes said, and remove everything that was made."""
        for name in list(self._containers):
            self._remove(name)
        if self._network is not None:
            self._network.remove()
            self._network = None

    def address(self, name: str) -> str:
        """Where clients find a broker."""
        return f"{HOST}:{self._ports[name]}"

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────

    def start(self, name: str) -> None:
        """Start a node that is down, from its own disk or, after ``wipe``, from an empty one."""
        if name in self._containers:
            self._inside(name).start()
        else:
            self._create(name)

    def wait(self, name: str) -> None:
        """Return when a broker is known to itself as unfenced, or a controller leads."""
        deadline = time.monotonic() + START_S
        while not self._ready(name):
            container = self._inside(name)
            container.reload()
            if container.status == "exited":
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
        container = self._inside(name)
        container.reload()
        running = container.status in ("running", "paused", "restarting")
        code = None if running else container.attrs["State"].get("ExitCode")
        return NodeState(running=running, exit_code=code)

    def pid(self, name: str) -> int | None:
        """None: what Docker freezes, the process table does not show as stopped."""
        return None

    def data_folder(self, name: str) -> Path | None:
        """None: its disk is inside."""
        return None

    def log_tail(self, name: str, most_bytes: int) -> bytes:
        """The end of what a node logged."""
        return bytes(self._inside(name).logs(tail=LOG_LINES))[-most_bytes:]

    def terminate(self, name: str) -> None:
        """SIGTERM; a node that does not go is killed."""
        self._inside(name).stop(timeout=STOP_S)

    def kill(self, name: str) -> None:
        """SIGKILL; returns when it has ended."""
        container = self._inside(name)
        container.kill()
        container.wait()

    def pause(self, name: str) -> None:
        """Freeze all of it."""
        self._inside(name).pause()

    def resume(self, name: str) -> None:
        """Let it go on."""
        self._inside(name).unpause()

    def wipe(self, name: str) -> None:
        """Remove a node that is down, and its disk with it."""
        self._remove(name)

    # ── containers ───────────────────────────────────────────────────────────────────────────────

    def _create(self, name: str) -> None:
        from testcontainers.core.container import DockerContainer

        container = DockerContainer(self.image)
        container.with_name(f"tidemark-{self._cluster_id[:8].lower()}-{name}".replace("_", "-"))
        container.with_kwargs(labels=LABELS)
        container.with_network(self._network).with_network_aliases(name)
        container.with_bind_ports(INSIDE_PORT[name == CONTROLLER], self._ports[name])
        container.with_env("CLUSTER_ID", self._cluster_id)
        container.with_env("KAFKA_HEAP_OPTS", HEAP)
        number = CONTROLLER_ID if name == CONTROLLER else broker_id(name)
        rack = None if name == CONTROLLER else self.plan.rack(number)
        properties = container_properties(name, number, self._ports[name], rack)
        for key, value in as_environment({**properties, **self.plan.properties}).items():
            container.with_env(key, value)
        self._containers[name] = container.start()

    def _inside(self, name: str) -> Any:
        return self._containers[name].get_wrapped_container()

    def _said(self, name: str) -> str:
        return bytes(self._inside(name).logs()).decode(errors="replace")

    def _remove(self, name: str) -> None:
        folder = self.logs / name
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "console.log").open("a", encoding="utf-8") as kept:
            kept.write(self._said(name))
        self._containers.pop(name).stop(force=True, delete_volume=True)


def _first_line(problem: Exception) -> str:
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__
