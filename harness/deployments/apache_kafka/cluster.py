"""A cluster of real Kafka nodes in a folder."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from harness.deployments.apache_kafka.jars import jars_folder
from harness.deployments.apache_kafka.jvm import CHEAP_JAVA, java_command
from harness.deployments.apache_kafka.node import Node
from harness.deployments.apache_kafka.properties import (
    HOST,
    NodeAddress,
    as_file,
    node_properties,
)
from harness.deployments.apache_kafka.starting import (
    PAUSE_S,
    START_S,
    brokers_known,
    format_nodes,
    free_ports,
    new_cluster_id,
)
from harness.errors import LabBroken


class ApacheKafka:
    """One or three combined nodes; entering starts them, leaving ends them."""

    def __init__(
        self,
        *,
        folder: Path,
        nodes: int = 1,
        settings: Mapping[str, str] | None = None,
        java_options: Sequence[str] = CHEAP_JAVA,
    ) -> None:
        if nodes not in (1, 3):
            raise LabBroken(f"a quorum of {nodes} is not offered: 1 or 3")
        self.folder = folder.resolve()
        self._settings = dict(settings or {})
        self._java_options = java_options
        self._count = nodes
        self.nodes: dict[int, Node] = {}

    @property
    def bootstrap(self) -> str:
        """What a client is told to connect to."""
        return ",".join(f"{HOST}:{node.port}" for node in self.nodes.values())

    def address(self, node_id: int = 1) -> tuple[str, int]:
        """Host and port of one node."""
        return HOST, self.nodes[node_id].port

    def data_folder(self, node_id: int) -> Path:
        """Where a node keeps its logs."""
        return self.folder / f"n{node_id}" / "data"

    def __enter__(self) -> ApacheKafka:
        try:
            self._prepare()
            format_nodes(self.nodes.values(), new_cluster_id())
            for node in self.nodes.values():
                node.start()
            self.wait_until_ready()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every node. What is in the folder stays."""
        for node in self.nodes.values():
            node.kill()

    def stop(self, node_id: int) -> None:
        """A controlled shutdown."""
        self.nodes[node_id].stop()

    def kill(self, node_id: int) -> None:
        """SIGKILL."""
        self.nodes[node_id].kill()

    def pause(self, node_id: int) -> None:
        """SIGSTOP; its connections stay open and silent."""
        self.nodes[node_id].pause()

    def resume(self, node_id: int) -> None:
        self.nodes[node_id].resume()

    def restart(self, node_id: int) -> None:
        """Start a node that was stopped or killed, and wait until all running ones are ready."""
        self.nodes[node_id].start()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Return when every running node names all running nodes as brokers."""
        deadline = time.monotonic() + START_S
        running = {one.node_id: one for one in self.nodes.values() if one.running}
        waiting = dict(running)
        while waiting:
            for node_id, node in list(waiting.items()):
                if not node.running:
                    raise LabBroken(f"Kafka node {node_id} ended:\n{node.last_words()}")
                if running.keys() <= brokers_known(node.port):
                    del waiting[node_id]
            if waiting and time.monotonic() > deadline:
                node = next(iter(waiting.values()))
                raise LabBroken(f"Kafka was not ready in {START_S:g} s:\n{node.last_words()}")
            time.sleep(PAUSE_S)

    def _prepare(self) -> None:
        command = java_command(self.folder, self._java_options)
        jars = jars_folder()
        everybody = _addresses(self._count)
        for one in everybody:
            place = self.folder / f"n{one.node_id}"
            place.mkdir(exist_ok=True)
            properties = node_properties(
                one, everybody, folder=self.folder, jars=jars, settings=self._settings
            )
            (place / "node.properties").write_text(as_file(properties), encoding="utf-8")
            self.nodes[one.node_id] = Node(
                node_id=one.node_id, port=one.port, folder=place, java=command
            )


def _addresses(count: int) -> list[NodeAddress]:
    """Free ports for every node."""
    ports = free_ports(2 * count)
    return [
        NodeAddress(node_id=at + 1, port=ports[2 * at], controller_port=ports[2 * at + 1])
        for at in range(count)
    ]
