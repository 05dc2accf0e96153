"""Configurations of tiered topics: what is refused, when they are created and when they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.differential.sequence import Step
from harness.differential.sequences.building import TIMEOUT_MS, config_is, described, made
from harness.differential.sequences.configs import DELETE, SET
from harness.differential.sequences.tiered import altered_to, remote, story, tiered


def created(name: str, configs: Mapping[str, str], **more: Any) -> Step:
    """A topic, or the refusal to make it."""
    said = [{"name": key, "value": value} for key, value in configs.items()]
    topic = {"name": f"$topic:{name}", "num_partitions": 1, "replication_factor": 1}
    fields = {"topics": [{**topic, "configs": said}], "timeout": TIMEOUT_MS, **more}
    return Step(api="create_topics", version=7, fields=fields)


SEQUENCES = (
    story(
        "create_compacted",
        "compacted topics cannot be tiered",
        *(
            created("a", {"remote.storage.enable": "true", "cleanup.policy": policy})
            for policy in ("compact", "compact,delete", "delete,compact")
        ),
        created("a", {"cleanup.policy": "compact"}),
        altered_to(("remote.storage.enable", SET, "true")),
    ),
    story(
        "create_with_local_retention",
        "local retention is no more than retention",
        *(
            created("a", {"remote.storage.enable": "true", **configs}, validate_only=True)
            for configs in (
                {"local.retention.ms": "1000", "retention.ms": "1000"},
                {"local.retention.ms": "1001", "retention.ms": "1000"},
                {"local.retention.ms": "-1", "retention.ms": "1000"},
                {"local.retention.ms": "-2", "retention.ms": "1000"},
                {"local.retention.ms": "-3", "retention.ms": "1000"},
                {"local.retention.ms": "1000", "retention.ms": "-1"},
                {"local.retention.bytes": "1000", "retention.bytes": "1000"},
                {"local.retention.bytes": "1001", "retention.bytes": "1000"},
                {"local.retention.bytes": "-1", "retention.bytes": "1000"},
                {"local.retention.bytes": "-2", "retention.bytes": "1000"},
                {"local.retention.bytes": "-3", "retention.bytes": "1000"},
                {"local.retention.bytes": "1000", "retention.bytes": "-1"},
            )
        ),
        created("a", {"remote.storage.enable": "perhaps"}, validate_only=True),
    ),
    story(
        "alter_local_retention",
        "neither side of the comparison can be moved past the other",
        tiered(local_retention_ms="1000", retention_ms="2000"),
        altered_to(("local.retention.ms", SET, "2001")),
        altered_to(("retention.ms", SET, "999")),
        altered_to(("retention.ms", SET, "500"), ("local.retention.ms", SET, "500")),
        altered_to(("local.retention.ms", DELETE, None)),
        config_is("a", "local.retention.ms", "-2"),
        described("a", "retention.ms", "local.retention.ms", "local.retention.bytes"),
    ),
    story(
        "alter_to_compacted",
        "a tiered topic cannot become compacted",
        tiered(),
        altered_to(("cleanup.policy", SET, "compact")),
        altered_to(("cleanup.policy", SET, "compact,delete")),
        described("a", "cleanup.policy", "remote.storage.enable"),
    ),
    story(
        "disable",
        "what is tiered stays so, unless its remote part is given up by name",
        tiered(),
        altered_to(("remote.storage.enable", SET, "false")),
        altered_to(("remote.storage.enable", DELETE, None)),
        altered_to(("remote.log.delete.on.disable", SET, "false")),
        altered_to(("remote.storage.enable", SET, "false")),
        described("a", "remote.storage.enable"),
    ),
    story(
        "disable_and_delete",
        "the remote part is given up by name",
        tiered(),
        *remote(),
        altered_to(
            ("remote.storage.enable", SET, "false"), ("remote.log.delete.on.disable", SET, "true")
        ),
        described("a", "remote.storage.enable"),
    ),
    story(
        "described",
        "the settings of a tiered topic, and what they are unless told",
        made("a", configs={"remote.storage.enable": "true"}),
        described("a", "remote.storage.enable", "local.retention.ms", "local.retention.bytes"),
        made("b"),
        described("b", "remote.storage.enable", "local.retention.ms", "local.retention.bytes"),
    ),
)
