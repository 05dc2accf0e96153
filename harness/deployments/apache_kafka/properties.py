"""What a node is told.

A node is broker and controller at once, or one of them. Tiered storage is on: all combined nodes
share one folder as their remote store, so a test may look into it, or break it. Retention and
tiering tasks run every second, because a lab does not wait five minutes. Everything else is Kafka's
own default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.deployments.plan import CONTROLLER, CONTROLLER_ID
from harness.processes.kafka_release import VERSION

HOST = "127.0.0.1"
RACKS = "abc"
TIERING = "remote.log.storage.system.enable"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAddress:
    """Where a node listens."""

    node_id: int
    port: int
    controller_port: int


def node_properties(
    node: NodeAddress,
    everybody: Sequence[NodeAddress],
    *,
    folder: Path,
    jars: Path,
    settings: Mapping[str, str],
) -> dict[str, str]:
    """The settings of one node, the caller's own above all."""
    copies = str(len(everybody))
    least = "1" if len(everybody) == 1 else "2"
    voters = ",".join(f"{one.node_id}@{HOST}:{one.controller_port}" for one in everybody)
    return {
        "process.roles": "broker,controller",
        "node.id": str(node.node_id),
        "controller.quorum.voters": voters,
        "listeners": f"PLAINTEXT://{HOST}:{node.port},CONTROLLER://{HOST}:{node.controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{node.port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(folder / f"n{node.node_id}" / "data"),
        "broker.rack": RACKS[node.node_id - 1],
        **_internal_topics(copies, least),
        "log.retention.check.interval.ms": "1000",
        "log.initial.task.delay.ms": "1000",
        **tiered(folder / "remote", jars, copies=copies),
        **settings,
    }


def broker_properties(
    node_id: int,
    *,
    client_port: int,
    port: int,
    advertised: str,
    voters: str,
    data: Path,
    door: int | None = None,
) -> dict[str, str]:
    """The settings of one of three brokers that are no controllers.

    Clients have a listener of their own, which they reach at the port ``door`` if there is one;
    other nodes use the listener that is ``advertised``.
    """
    return {
        "process.roles": "broker",
        "node.id": str(node_id),
        "controller.quorum.voters": voters,
        "listeners": f"CLIENT://{HOST}:{client_port},REPLICATION://{HOST}:{port}",
        "advertised.listeners": f"CLIENT://{HOST}:{door or client_port},REPLICATION://{advertised}",
        "listener.security.protocol.map": _ISOLATED,
        "inter.broker.listener.name": "REPLICATION",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(data),
        **_internal_topics("3", "2"),
    }


def controller_properties(
    node_id: int, port: int, advertised: str, voters: str, data: Path
) -> dict[str, str]:
    """The settings of a controller that is no broker, the only voter of its quorum."""
    return {
        "process.roles": "controller",
        "node.id": str(node_id),
        "controller.quorum.voters": voters,
        "listeners": f"CONTROLLER://{HOST}:{port}",
        "advertised.listeners": f"CONTROLLER://{advertised}",
        "listener.security.protocol.map": _ISOLATED,
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(data),
    }


def container_properties(name: str, node_id: int, port: int, rack: str | None) -> dict[str, str]:
    """The settings of a controller or a broker in a container, known to the others by its name.

    Clients come in by ``port`` of the machine that runs the container.
    """
    voters = f"{CONTROLLER_ID}@{CONTROLLER}:9093"
    data = Path("/var/lib/kafka/data")
    if name == CONTROLLER:
        found = controller_properties(node_id, 9093, f"{name}:9093", voters, data)
    else:
        found = broker_properties(
            node_id,
            client_port=9092,
            port=9094,
            advertised=f"{name}:9094",
            voters=voters,
            data=data,
        )
        found["advertised.listeners"] = f"CLIENT://{HOST}:{port},REPLICATION://{name}:9094"
        if rack:
            found["broker.rack"] = rack
    found["listeners"] = found["listeners"].replace(HOST, "0.0.0.0")
    return found


_ISOLATED = "CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT"


def _internal_topics(copies: str, least: str) -> dict[str, str]:
    return {
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": least,
        "transaction.state.log.num.partitions": "5",
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": least,
        "group.initial.rebalance.delay.ms": "0",
    }


def tiered(remote: Path, jars: Path, *, copies: str, listener: str = "PLAINTEXT") -> dict[str, str]:
    """Tiered storage into a folder that all brokers share, its metadata kept by Kafka itself."""
    storage = "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"
    return {
        TIERING: "true",
        "remote.log.metadata.manager.listener.name": listener,
        "remote.log.storage.manager.class.name": storage,
        "remote.log.storage.manager.class.path": str(jars / f"kafka-storage-{VERSION}-test.jar"),
        "remote.log.storage.manager.impl.prefix": "rsm.config.",
        "rsm.config.dir": str(remote),
        "remote.log.metadata.manager.impl.prefix": "rlmm.config.",
        "rlmm.config.remote.log.metadata.topic.replication.factor": copies,
        "rlmm.config.remote.log.metadata.topic.num.partitions": "5",
        "remote.log.manager.task.interval.ms": "1000",
    }


def as_file(properties: Mapping[str, str]) -> str:
    """Java's own format; none of our values needs its escapes but the backslash."""
    return "".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items())


LOGGING = """status=warn
appender.file.type=File
appender.file.name=FILE
appender.file.fileName=${sys:tidemark.log}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=[%d] %p %m (%c{1})%n
rootLogger.level=info
rootLogger.appenderRef.file.ref=FILE
"""
"""One log file per node, in its own folder."""
