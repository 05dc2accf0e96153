"""Requests and answers as plain data."""

from __future__ import annotations

import pytest

from harness.clients.messages import (
    BadMessage,
    api_name,
    build,
    decode,
    encode,
    known_versions,
    plain,
    request_schema,
)
from harness.differential.sequences import all_sequences

ASKED = {step.api for sequence in all_sequences() for step in sequence.steps}
EVERY_REQUEST = [(api, version) for api in sorted(ASKED) for version in known_versions(api)]


@pytest.mark.parametrize("name", ["CreateTopics", "create_topics", "create-topics"])
def test_an_api_has_one_name_however_it_is_spelled(name: str) -> None:
    assert api_name(name) == "create_topics"


def test_an_api_that_is_not_there_is_named_in_the_error() -> None:
    with pytest.raises(BadMessage, match="MakeTopics"):
        api_name("MakeTopics")


@pytest.mark.parametrize(("api", "version"), EVERY_REQUEST)
def test_a_request_that_says_nothing_is_still_a_request(api: str, version: int) -> None:
    schema = request_schema(api, version)
    message = build(schema, {})
    data = encode(message)

    again, end = decode(schema, data, 0)

    assert (plain(again), end) == (plain(message), len(data))


def test_a_field_that_the_version_does_not_have_is_refused() -> None:
    with pytest.raises(BadMessage, match="FetchRequest v4 has no session_id"):
        build(request_schema("fetch", 4), {"session_id": 1})


def test_plain_data_is_what_was_said() -> None:
    said = {
        "topics": [
            {
                "name": "t",
                "num_partitions": 3,
                "replication_factor": 2,
                "assignments": [{"partition_index": 0, "broker_ids": [1, 2]}],
                "configs": [{"name": "retention.ms", "value": None}],
            }
        ],
        "timeout": 1500,
        "validate_only": True,
    }

    assert plain(build(request_schema("create_topics", 7), said)) == said
