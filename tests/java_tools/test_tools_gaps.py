"""What the reference does not offer is refused; the tool says so, and does not wait in vain.

A test that fails here is good news: the gap is closed, and its row in docs/java-tools.md moves up.
"""

from __future__ import annotations

import pytest

from harness.deployments.apache_kafka import JavaTools

pytestmark = pytest.mark.foreign

TOOLS = "org.apache.kafka.tools"
GAPS = {
    "LIST_GROUPS": (f"{TOOLS}.consumer.group.ConsumerGroupCommand", "--list"),
    "JOIN_GROUP": (f"{TOOLS}.consumer.ConsoleConsumer", "--topic", "any", "--group", "g"),
    "DESCRIBE_QUORUM": (f"{TOOLS}.MetadataQuorumCommand", "describe", "--status"),
    "UPDATE_FEATURES": (f"{TOOLS}.FeatureCommand", "disable", "--feature", "group.version"),
    "DESCRIBE_ACLS": (f"{TOOLS}.AclCommand", "--list"),
    "LIST_CONFIG_RESOURCES": (f"{TOOLS}.ClientMetricsCommand", "--list"),
    "DESCRIBE_CLIENT_QUOTAS": (
        *("kafka.admin.ConfigCommand", "--describe", "--entity-type", "users"),
    ),
}


@pytest.mark.parametrize("api", GAPS)
def test_a_tool_is_told_which_request_is_missing(tools: JavaTools, api: str) -> None:
    log = tools.folder / "tools.log"
    before = log.stat().st_size if log.exists() else 0

    told = tools.attempt(*GAPS[api])

    # The console consumer leaves its reason to the log.
    logged = log.read_bytes()[before:].decode()
    assert f"The node does not support {api}" in told.out + told.err + logged
