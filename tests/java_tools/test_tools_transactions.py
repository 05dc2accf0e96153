"""The tool that looks at transactions and ends those that hang."""

from __future__ import annotations

import re

import pytest
from confluent_kafka import Producer

from harness.deployments.apache_kafka import JavaTools
from harness.deployments.process_cluster import ProcessCluster

pytestmark = pytest.mark.foreign

TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
PATIENCE_S = 30


def test_an_open_transaction_is_listed_and_described_until_it_is_committed(
    tools: JavaTools, cluster: ProcessCluster, topic: str
) -> None:
    who = f"writer-of-{topic}"
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": who})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce(topic, b"a", partition=1)
    producer.flush(PATIENCE_S)

    assert _state(tools, who) == "Ongoing"
    assert f"{topic}-1" in tools.run(TRANSACTIONS, "describe", "--transactional-id", who)
    seen = tools.run(TRANSACTIONS, "describe-producers", "--topic", topic, "--partition", "1")
    assert re.search(r"^\d+ *\t", seen, re.MULTILINE)

    producer.commit_transaction(PATIENCE_S)

    assert _state(tools, who) == "CompleteCommit"


def _state(tools: JavaTools, who: str) -> str:
    """The last column of the row about a transactional id."""
    rows = [line.split() for line in tools.run(TRANSACTIONS, "list").splitlines()]
    (found,) = [row for row in rows if row[:1] == [who]]
    return found[3]
