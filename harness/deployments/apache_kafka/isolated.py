"""Three brokers and a controller of its own, with links between them that can be cut.

Kafka calls this the isolated mode, and it is the shape of the reference: a killed controller is no
killed broker, and a broker whose disk was emptied is no voter that forgot its vote.

All connections pass the link proxy. Clients reach a broker at a listener of theirs, by a door of
their own; nodes reach brokers at the listener REPLICATION, the controller at CONTROLLER. A Java
program cannot be told which address to connect from, so each node finds its peers at addresses of
its own, by names that its hosts file (`jdk.net.hosts.file`) translates.
"""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from harness.deployments.apache_kafka.jars import jars_folder
from harness.deployments.apache_kafka.jvm import CHEAP_JAVA, installed_java, java_command
from harness.deployments.apache_kafka.node import Node
from harness.deployments.apache_kafka.properties import (
    HOST,
    TIERING,
    as_file,
    broker_properties,
    controller_properties,
    tiered,
)
from harness.deployments.apache_kafka.starting import (
    PAUSE_S,
    START_S,
    brokers_known,
    format_nodes,
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
from harness.proxies.links import LinkProxy, host_between

Seen = TypeVar("Seen")


class IsolatedKafka:
    """The nodes of a plan; entering starts them, leaving ends them. ``links`` belong to them."""

    def __init__(
        self,
        plan: DeploymentPlan,
        *,
        logs: Path,
        data: Path,
        java_options: Sequence[str] = CHEAP_JAVA,
    ) -> None:
        """What nodes say stays in ``logs``, what they store in ``data``, a folder for each."""
        self.plan = plan
        self.logs = logs.resolve()
        self.data = data.resolve()
        self.remote = self.data / "remote"  # the store that all brokers tier to
        self._java = tuple(java_options)
        self._cluster_id = new_cluster_id()
        self._nodes: dict[str, Node] = {}
        self._doors: dict[str, int] = {}
        jars_folder()  # before anything is opened: perhaps there are none
        installed_java()
        self.links = LinkProxy(plan.node_names, for_each_pair=True)

    def __enter__(self) -> IsolatedKafka:
        try:
            self._prepare()
            format_nodes(self._nodes.values(), self._cluster_id)
            for name in self._nodes:
                self.start(name)
            for name in self._nodes:
                self.wait(name)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every node and every link. What is in the folders stays."""
        for node in self._nodes.values():
            node.kill()
        self.links.close()

    def address(self, name: str) -> str:
        """Where clients find a broker."""
        return f"{HOST}:{self._doors[name]}"

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────

    def start(self, name: str) -> None:
        """Start a node that is down; ``wait`` returns when it is ready."""
        self._nodes[name].start()

    def wait(self, name: str, *, within_s: float = START_S) -> None:
        """Return when a broker knows itself as unfenced, or a controller leads and is followed.

        What brokers say of the cluster is what they have heard; until all that run have heard of
        the controller's new life, they would tell of the old one.
        """
        if name == CONTROLLER:
            began = self._until(name, self._leads, within_s)
            self._until(name, lambda: self._followed_up_to(began), within_s)
        else:
            port = self._nodes[name].port
            self._until(name, lambda: broker_id(name) in brokers_known(port) or None, within_s)

    def _until(self, name: str, seen: Callable[[], Seen | None], within_s: float) -> Seen:
        node = self._nodes[name]
        deadline = time.monotonic() + within_s
        while (found := seen()) is None:
            if not node.running:
                raise LabBroken(f"Kafka's {name} ended:\n{node.last_words()}")
            if time.monotonic() > deadline:
                raise LabBroken(f"Kafka's {name} was not ready in {within_s:g} s")
            time.sleep(PAUSE_S)
        return found

    def _leads(self) -> int | None:
        """The end of the metadata log, once the controller leads it."""
        quorum = quorum_known(self._nodes[CONTROLLER].port)
        leads = quorum is not None and quorum.leader == CONTROLLER_ID
        return quorum.high_watermark if quorum and leads and quorum.high_watermark >= 0 else None

    def _followed_up_to(self, offset: int) -> bool | None:
        """True once every running node has read the metadata log so far."""
        quorum = quorum_known(self._nodes[CONTROLLER].port)
        running = [node.node_id for node in self._nodes.values() if node.running]
        ends = quorum.ends if quorum else {}
        return all(ends.get(one, -1) >= offset for one in running) or None

    def state(self, name: str) -> NodeState:
        """Whether its process runs, and how it ended if not."""
        node = self._nodes[name]
        return NodeState(running=node.running, exit_code=node.exit_code)

    def pid(self, name: str) -> int | None:
        """The process of a node."""
        return self._nodes[name].pid

    def data_folder(self, name: str) -> Path:
        """The disk of a node."""
        return self.data / name

    def log_tail(self, name: str, most_bytes: int) -> bytes:
        """The end of what a node logged."""
        return self._nodes[name].log_tail(most_bytes)

    def terminate(self, name: str) -> None:
        """SIGTERM, and wait until it has gone; a node that does not go is killed."""
        self._nodes[name].stop()

    def kill(self, name: str) -> None:
        """SIGKILL."""
        self._nodes[name].kill()

    def pause(self, name: str) -> None:
        """SIGSTOP, and wait until it stands still."""
        self._nodes[name].pause()

    def resume(self, name: str) -> None:
        """SIGCONT."""
        self._nodes[name].resume()

    def wipe(self, name: str) -> None:
        """Empty the disk of a node that is down, and format it for the same cluster again.

        That is what an operator does with a new disk: without `meta.properties` Kafka does not
        start. The broker comes back with its id and with a log directory of a new id.
        """
        shutil.rmtree(self.data / name)
        format_nodes([self._nodes[name]], self._cluster_id)

    # ── beginning ────────────────────────────────────────────────────────────────────────────────

    def _prepare(self) -> None:
        names = (CONTROLLER, *self.plan.names)
        ports = iter(free_ports(2 * len(names)))
        for name in names:
            folder = self.logs / name
            folder.mkdir(parents=True)
            own, between = next(ports), next(ports)
            inside = own if name == CONTROLLER else between
            self.links.lead_to(name, inside)
            self._doors[name] = self.links.open_door(name, own)
            properties = self._properties(name, own, inside)
            (folder / "node.properties").write_text(as_file(properties), encoding="utf-8")
            hosts = folder / "hosts"
            hosts.write_text(_hosts(name, names), encoding="utf-8")
            java = java_command(self.logs, (*self._java, f"-Djdk.net.hosts.file={hosts}"))
            number = CONTROLLER_ID if name == CONTROLLER else broker_id(name)
            self._nodes[name] = Node(node_id=number, port=own, folder=folder, java=java)

    def _properties(self, name: str, port: int, inside: int) -> dict[str, str]:
        advertised = f"{name}:{self.links.ports[name]}"
        voters = f"{CONTROLLER_ID}@{CONTROLLER}:{self.links.ports[CONTROLLER]}"
        data = self.data / name
        if name == CONTROLLER:
            found = controller_properties(CONTROLLER_ID, port, advertised, voters, data)
            # It is the controller that refuses tiered topics where tiering is off.
            return {**found, TIERING: "true", **self.plan.properties}
        number = broker_id(name)
        found = broker_properties(
            number,
            client_port=port,
            port=inside,
            advertised=advertised,
            voters=voters,
            data=data,
            door=self._doors[name],
        )
        rack = self.plan.rack(number)
        racks = {"broker.rack": rack} if rack else {}
        copies = str(min(3, len(self.plan.names)))
        store = tiered(self.remote, jars_folder(), copies=copies, listener="REPLICATION")
        return {**found, **racks, **store, **self.plan.properties}


def _hosts(name: str, everybody: Sequence[str]) -> str:
    """Where a node finds the others, itself among them; nothing else is looked up."""
    ways = "".join(f"{host_between(name, other)} {other}\n" for other in everybody)
    return f"{HOST} localhost {socket.gethostname()}\n{ways}"
