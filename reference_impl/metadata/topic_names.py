"""Which names topics may have."""

from __future__ import annotations

import re

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode, KafkaError

MAX_LENGTH = 249
CLUSTER_METADATA = "__cluster_metadata"
REMOTE_LOG_METADATA = "__remote_log_metadata"
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")

_LEGAL = re.compile(r"[a-zA-Z0-9._-]*")


@decision("topic-name-problem", rules=("KFK-115",))
def problem_with(name: str) -> str | None:
    """What is wrong with a name, in Kafka's words; None if it will do."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_LENGTH}"
    if not _LEGAL.fullmatch(name):
        return (
            f"'{name}' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )
    return None


def check_name(name: str) -> None:
    """INVALID_TOPIC_EXCEPTION for what cannot be the name of a topic."""
    problem = problem_with(name)
    if problem is not None:
        raise KafkaError(ErrorCode.invalid_topic_exception, f"Topic name is invalid: {problem}")


def is_internal(name: str) -> bool:
    """A topic that Kafka keeps for itself."""
    return name in INTERNAL


def similar_names(name: str) -> str:
    """The same for names that metrics could not tell apart: there, a dot is an underscore."""
    return name.replace(".", "_")
