"""From symbols to values, and from values back to symbols."""

from __future__ import annotations

from typing import Any

import pytest

from harness.differential.symbols import Symbols, UnknownSymbol, short_form

TOPIC_ID = "3e76e25c-ae45-4d62-9f37-a4ae36577842"
NOW = 1_800_000_000_000


@pytest.fixture
def symbols() -> Symbols:
    return Symbols(token="d0", now_ms=NOW, brokers=[4, 7], cluster_id="abc")


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("$topic:a", "d0-a"),
        ("$broker:1", 7),
        ("$now", NOW),
        ("$now-1000", NOW - 1000),
        ("$cluster_id", "abc"),
        ("$ref:pid", 40),
        ("$ref:pid+2", 42),
        ("an ordinary $topic:a in a sentence", "an ordinary $topic:a in a sentence"),
    ],
)
def test_a_symbol_becomes_its_value(symbols: Symbols, said: str, value: Any) -> None:
    symbols.references["pid"] = 40

    assert symbols.resolve({"x": [said]}) == {"x": [value]}


def test_a_symbol_that_nothing_has_told_is_an_error(symbols: Symbols) -> None:
    with pytest.raises(UnknownSymbol, match=r"\$ref:pid"):
        symbols.resolve({"producer_id": "$ref:pid"})


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("leader_id", 7, "$broker:1"),
        ("leader_id", -1, -1),
        ("leader_id", 9, 9),
        ("offset", 7, 7),
        ("isr_nodes", [4, 7], ["$broker:0", "$broker:1"]),
        ("host", "localhost", "$host"),
        ("rack", None, None),
        ("max_timestamp", NOW, "$now"),
        ("max_timestamp", NOW + 5, "$about_now"),
        ("max_timestamp", 1000, 1000),
        ("offset", NOW, NOW),
        ("producer_id", 40, "$ref:pid"),
        ("producer_id", 41, "$producer_id"),
        ("producer_id", -1, -1),
        ("session_id", 0, 0),
        ("session_id", 99, "$session_id"),
        ("name", "d0-a", "$topic:a"),
        ("error_message", "no topic d0-a here", "no topic $topic:a here"),
        ("error_message", f"no {short_form(TOPIC_ID)}", "no $topic_id:a"),
        ("topic_id", TOPIC_ID, "$topic_id:a"),
    ],
)
def test_what_a_cluster_chose_becomes_a_symbol(
    symbols: Symbols, field: str, value: Any, shown: Any
) -> None:
    symbols.references["pid"] = 40
    symbols.learn_topic_ids({"topics": [{"name": "d0-a", "topic_id": TOPIC_ID}]})

    assert symbols.normalise({field: value}) == {field: shown}


def test_throttling_is_no_answer(symbols: Symbols) -> None:
    assert symbols.normalise({"throttle_time": 5, "topics": []}) == {"topics": []}


def test_a_broker_as_a_resource_has_its_symbol(symbols: Symbols) -> None:
    said = {"resource_type": 4, "resource_name": "7"}

    assert symbols.normalise(said)["resource_name"] == "$broker:1"


def test_topics_of_others_are_left_out_where_only_our_own_are_meant(symbols: Symbols) -> None:
    answer = {"topics": [{"name": "d0-a", "partitions": []}, {"name": "other", "partitions": []}]}

    assert symbols.only_own_topics(answer) == {"topics": [{"name": "d0-a", "partitions": []}]}


def test_records_are_encoded_where_a_partition_is_produced_to(symbols: Symbols) -> None:
    symbols.references["pid"] = 40
    batch = {"records": [{"value": "v"}], "patch": {"producer_id": "$ref:pid"}}

    resolved = symbols.resolve({"partition_data": [{"index": 0, "records": [batch]}]})

    assert resolved["partition_data"][0]["records"][43:51] == (40).to_bytes(8, "big")
