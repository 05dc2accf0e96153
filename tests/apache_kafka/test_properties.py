"""What the nodes are told."""

from __future__ import annotations

from pathlib import Path

from harness.deployments.apache_kafka.properties import NodeAddress, as_file, node_properties

NODES = [NodeAddress(node_id=n, port=100 + n, controller_port=200 + n) for n in (1, 2, 3)]
FOLDER, JARS = Path("/run"), Path("/jars")


def test_three_nodes_name_each_other_as_voters_and_share_one_remote_store() -> None:
    told = [node_properties(node, NODES, folder=FOLDER, jars=JARS, settings={}) for node in NODES]

    assert {one["controller.quorum.voters"] for one in told} == {
        "1@127.0.0.1:201,2@127.0.0.1:202,3@127.0.0.1:203"
    }
    assert {one["rsm.config.dir"] for one in told} == {"/run/remote"}
    assert len({one["log.dirs"] for one in told}) == 3
    assert [one["broker.rack"] for one in told] == ["a", "b", "c"]


def test_internal_topics_have_as_many_copies_as_there_are_nodes() -> None:
    alone = node_properties(NODES[0], NODES[:1], folder=FOLDER, jars=JARS, settings={})
    many = node_properties(NODES[0], NODES, folder=FOLDER, jars=JARS, settings={})

    names = [name for name in alone if name.endswith("replication.factor")]
    assert len(names) == 4
    assert {alone[name] for name in names} == {"1"}
    assert {many[name] for name in names} == {"3"}
    assert (alone["transaction.state.log.min.isr"], many["transaction.state.log.min.isr"]) == (
        "1",
        "2",
    )


def test_what_the_caller_says_wins() -> None:
    settings = {"log.retention.check.interval.ms": "7", "auto.create.topics.enable": "false"}
    told = node_properties(NODES[0], NODES, folder=FOLDER, jars=JARS, settings=settings)

    assert settings.items() <= told.items()


def test_a_file_holds_one_setting_a_line() -> None:
    assert as_file({"a": "1", "b": "c:\\d"}) == "a=1\nb=c:\\\\d\n"
