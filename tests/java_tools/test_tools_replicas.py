"""Tools that move replicas and leaders, and one that strikes a broker off the list."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.clients.connection import ask_once
from harness.deployments.apache_kafka import JavaTools
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

pytestmark = pytest.mark.foreign

TOOLS = "org.apache.kafka.tools"
TOPICS = f"{TOOLS}.TopicCommand"
MOVES = f"{TOOLS}.reassign.ReassignPartitionsCommand"
TRIES = 10
"""How often a tool is asked whether something has come about; each time takes it a second."""


@pytest.fixture(scope="module")
def mortal(
    java: Callable[[str], JavaTools], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProcessCluster]:
    """A cluster whose brokers come and go."""
    with ProcessCluster(tmp_path_factory.mktemp("mortal"), DeploymentPlan(brokers=3)) as running:
        yield running


def _file(folder: Path, topic: str, replicas: list[int]) -> str:
    plan = folder / "plan.json"
    asked = [{"topic": topic, "partition": 0, "replicas": replicas}]
    plan.write_text(json.dumps({"version": 1, "partitions": asked}), encoding="utf-8")
    return str(plan)


def _created(tools: JavaTools, topic: str, replicas: str) -> None:
    tools.run(TOPICS, "--create", "--topic", topic, "--replica-assignment", replicas)


def _row(tools: JavaTools, topic: str) -> dict[str, str]:
    """What describing a topic says of its partition 0."""
    out = tools.run(TOPICS, "--describe", "--topic", topic)
    row = re.search(r"Partition: 0\tLeader: (\w+)\tReplicas: (\S+)\tIsr: (\S*)", out)
    assert row is not None, out
    return dict(zip(("leader", "replicas", "isr"), row.groups(), strict=True))


def _until(wanted: str, tools: JavaTools, tool: str, *arguments: str) -> str:
    for _ in range(TRIES):
        said = tools.run(tool, *arguments)
        if wanted in said:
            return said
    raise AssertionError(f"{wanted!r} did not come about:\n{said}")


@pytest.mark.parametrize("throttle", [(), ("--throttle", "50000000")], ids=["plain", "throttled"])
def test_a_partition_moves_to_another_broker_with_its_records(
    tools: JavaTools, cluster: ProcessCluster, tmp_path: Path, throttle: tuple[str, ...]
) -> None:
    topic = f"moved-{len(throttle)}"
    _created(tools, topic, "1:2")
    tools.run(f"{TOOLS}.ConsoleProducer", "--topic", topic, typed="one\ntwo\n")
    plan = ("--reassignment-json-file", _file(tmp_path, topic, [3, 2]))

    said = tools.run(MOVES, *plan, "--execute", *throttle)
    assert f"Successfully started partition reassignment for {topic}-0" in said
    _until(f"Reassignment of partition {topic}-0 is completed.", tools, MOVES, *plan, "--verify")

    after = _row(tools, topic)
    assert after["replicas"] == "3,2"
    assert sorted(after["isr"].split(",")) == ["2", "3"]
    assert f"{topic}-0:" not in tools.run(MOVES, "--list")
    configs = tools.run(TOPICS, "--describe", "--topic", topic)
    assert "throttled.replicas" not in configs
    dump = tools.bare(
        *(f"{TOOLS}.DumpLogSegments", "--print-data-log", "--files"),
        str(cluster.folder / "broker-3" / f"{topic}-0" / f"{0:020}.log"),
    )
    assert re.findall(r"payload: (\S+)", dump.out) == ["one", "two"]


def test_a_plan_is_proposed_for_the_brokers_that_are_named(
    tools: JavaTools, tmp_path: Path
) -> None:
    _created(tools, "planned", "1,2,3")
    wanted = tmp_path / "topics.json"
    wanted.write_text(json.dumps({"version": 1, "topics": [{"topic": "planned"}]}))

    arguments = ("--topics-to-move-json-file", str(wanted), "--broker-list", "2,3", "--generate")
    said = tools.run(MOVES, *arguments)

    now, _, proposed = said.partition("Proposed partition reassignment configuration")
    replicas = [one["replicas"] for one in json.loads(proposed)["partitions"]]
    assert '"replicas":[1]' in now
    assert len(replicas) == 3
    assert {broker for some in replicas for broker in some} == {2, 3}


def test_a_move_to_a_dead_broker_is_listed_until_it_is_cancelled(
    mortal: ProcessCluster, java: Callable[[str], JavaTools], tmp_path: Path
) -> None:
    tools = java(",".join(mortal.address(name) for name in ("broker-1", "broker-2")))
    _created(tools, "waiting", "1:2")
    mortal.terminate("broker-3")
    moved = [{"partition_index": 0, "replicas": [3, 2]}]
    fields = {"timeout": 5000, "topics": [{"name": "waiting", "partitions": moved}]}
    host, _, port = mortal.address("broker-1").rpartition(":")
    broker = Address(host, int(port))
    asked = ask_once(StreamNetwork(), broker, "alter_partition_reassignments", 0, fields)
    answer = asyncio.run(asked)
    assert answer["responses"][0]["partitions"][0]["error_code"] == "NONE"

    listed = tools.run(MOVES, "--list")
    plan = ("--reassignment-json-file", _file(tmp_path, "waiting", [3, 2]))
    # Else the tool wants to lift throttles on every broker, the dead one too.
    cancelled = tools.run(MOVES, *plan, "--cancel", "--preserve-throttles")

    assert re.search(r"waiting-0: replicas: [123],[123],[123]\. adding: 3\. removing: 1\.", listed)
    assert "Successfully cancelled partition reassignment for: waiting-0" in cancelled
    assert "No partition reassignments found." in tools.run(MOVES, "--list")
    # As in Kafka: those that stay keep the order the cancelled move gave them.
    assert _row(tools, "waiting")["replicas"] == "2,1"
    mortal.start("broker-3")
    mortal.wait("broker-3")


def test_the_preferred_leader_takes_over_again(
    mortal: ProcessCluster, java: Callable[[str], JavaTools]
) -> None:
    tools = java(",".join(mortal.address(name) for name in ("broker-1", "broker-3")))
    _created(tools, "led", "2:1")
    mortal.terminate("broker-2")
    assert _row(tools, "led")["leader"] == "1"
    mortal.start("broker-2")
    mortal.wait("broker-2")
    _until("Isr: 1,2", tools, TOPICS, "--describe", "--topic", "led")

    one = ("--topic", "led", "--partition", "0")
    election = (f"{TOOLS}.LeaderElectionCommand", "--election-type", "preferred", *one)
    held = tools.run(*election)
    again = tools.run(*election)

    assert "Successfully completed leader election (PREFERRED) for partitions led-0" in held
    assert "Valid replica already elected for partitions led-0" in again
    assert _row(tools, "led")["leader"] == "2"


def test_a_stopped_broker_is_struck_off_and_may_come_back(
    mortal: ProcessCluster, java: Callable[[str], JavaTools]
) -> None:
    where = ("--bootstrap-server", mortal.address("broker-1"))
    listing = ("list-endpoints", *where, "--include-fenced-brokers")
    tools = java(mortal.address("broker-1"))
    mortal.terminate("broker-3")

    def listed() -> dict[str, str]:
        rows = [line.split() for line in tools.bare(f"{TOOLS}.ClusterTool", *listing).lines[1:]]
        return {row[0]: row[-2] for row in rows}

    before = listed()
    said = tools.bare(f"{TOOLS}.ClusterTool", "unregister", *where, "--id", "3")
    after = listed()
    mortal.start("broker-3")
    mortal.wait("broker-3")

    assert before == {"1": "unfenced", "2": "unfenced", "3": "fenced"}
    assert said.lines == ["Broker 3 is no longer registered."]
    assert after == {"1": "unfenced", "2": "unfenced"}
    assert listed()["3"] == "unfenced"
