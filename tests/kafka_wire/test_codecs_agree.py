"""Three codecs hold each other to the same bytes, in every version of every API.

kio writes each message too, and kafka-python, whose codecs come from Kafka's schema files by
another way, reads what we wrote and writes it again.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_python_classes import class_named
from kio.index import load_request_schema, load_response_schema
from kio_messages import kio_bytes, pairs

from reference_impl.kafka.apis import API_VERSIONS, APIS, Api


def third_opinion(api: Api, version: int, way: str) -> Any:
    """kafka-python's class, if it has one that knows this version."""
    if (api, way) == (API_VERSIONS, "Response"):
        return None  # it takes any with an error for version 0
    found = class_named(api.name + way)
    return found if found and version <= found.max_version else None


CASES = [
    pytest.param(api, version, way, id=f"{api.name}-{version}-{way}")
    for api in APIS
    for version in api.versions
    for way in ("Request", "Response")
]


def test_most_messages_have_a_third_opinion() -> None:
    asked = [third_opinion(*case.values) for case in CASES]

    assert sum(opinion is not None for opinion in asked) > 200


@pytest.mark.parametrize(("api", "version", "way"), CASES)
def test_messages_are_the_same_bytes_to_everybody(api: Api, version: int, way: str) -> None:
    codec = api.requests if way == "Request" else api.responses
    load = load_request_schema if way == "Request" else load_response_schema
    third = third_opinion(api, version, way)

    @settings(max_examples=3)
    @given(st.data())
    def compare(data: st.DataObject) -> None:
        theirs, ours = data.draw(pairs(codec, load(api.key, version)))

        written = codec.encode(ours, version)

        assert written == kio_bytes(theirs)
        assert codec.decode(written, version) == ours
        if third is not None:
            read = third.decode(written, version=version)
            read._header = None  # which some of its classes look for and none has set
            assert read.encode() == written

    compare()
