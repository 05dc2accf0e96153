"""Tools that ask what a cluster is: cluster, features, broker-api-versions, log-dirs."""

from __future__ import annotations

import json
import re

import pytest

from harness.deployments.apache_kafka import JavaTools
from harness.deployments.process_cluster import ProcessCluster
from reference_impl.kafka.apis import BROKER, offered_by

pytestmark = pytest.mark.foreign

TOOLS = "org.apache.kafka.tools"


def test_the_cluster_has_its_id_and_its_brokers(tools: JavaTools, cluster: ProcessCluster) -> None:
    where = ("--bootstrap-server", tools.bootstrap)

    named = tools.bare(f"{TOOLS}.ClusterTool", "cluster-id", *where)
    listed = tools.bare(f"{TOOLS}.ClusterTool", "list-endpoints", *where)

    assert named.lines == [f"Cluster ID: {cluster.plan.cluster_id}"]
    rows = [line.split()[:4] for line in listed.lines[1:]]
    addresses = [cluster.address(name).split(":") for name in cluster.plan.names]
    assert rows == [
        [str(number), host, port, rack]
        for number, (host, port), rack in zip((1, 2, 3), addresses, "abc", strict=True)
    ]


def test_features_are_those_of_a_new_cluster(tools: JavaTools) -> None:
    out = tools.run(f"{TOOLS}.FeatureCommand", "describe")

    levels = dict(re.findall(r"Feature: (\S+).*FinalizedVersionLevel: (\S+)", out))
    assert levels["metadata.version"] == "4.3-IV0"
    assert levels["eligible.leader.replicas.version"] == "1"


def test_every_broker_offers_what_the_table_of_apis_says(tools: JavaTools) -> None:
    out = tools.run(f"{TOOLS}.BrokerApiVersionsCommand")

    brokers = re.findall(r"\(id: (\d+) rack: \w isFenced: false\) -> \((.*?)^\)", out, re.M | re.S)
    assert sorted(number for number, _ in brokers) == ["1", "2", "3"]
    usable = re.compile(r"\((\d+)\): .*\[usable: (\d+)\]")
    wanted = {(str(api.key), str(api.versions[-1])) for api in offered_by(BROKER)}
    assert [set(usable.findall(rows)) for _, rows in brokers] == [wanted] * 3


def test_log_dirs_know_every_replica(tools: JavaTools, topic: str) -> None:
    said = tools.run(f"{TOOLS}.LogDirsCommand", "--describe", "--topic-list", topic)

    found = json.loads(said.splitlines()[-1])
    replicas = {
        (broker["broker"], partition["partition"])
        for broker in found["brokers"]
        for folder in broker["logDirs"]
        for partition in folder["partitions"]
    }
    assert replicas == {(broker, f"{topic}-{number}") for broker in (1, 2, 3) for number in (0, 1)}
    assert all(not folder["error"] for broker in found["brokers"] for folder in broker["logDirs"])
