"""Every anomaly of Jepsen's Kafka checker: where it shows, where it does not, when it counts."""

from __future__ import annotations

import pytest
from anomaly_histories import PAIRS, Pair
from micro_histories import anomalies, checked, verdicts

from conformance.catalogue.kafka.jepsen import RULES

CASES = [
    pytest.param(name, pair, id=f"{name}-{number}")
    for name, pairs in PAIRS.items()
    for number, pair in enumerate(pairs, start=1)
]
# These take a search that runs out of its budget; test_cycles.py has them.
GIVEN_UP = {
    "PL-1-cycle-exists",
    "PL-2-cycle-exists",
    "strong-PL-1-cycle-exists",
    "strong-PL-2-cycle-exists",
    "cycle-search-timeout",
}


def test_every_anomaly_has_its_pair_of_histories() -> None:
    assert {*PAIRS, *GIVEN_UP} == {rule.anomaly for rule in RULES}


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_the_history_that_shows_the_anomaly_is_flagged_with_its_cases(
    name: str, pair: Pair
) -> None:
    assert anomalies(pair.shows, **pair.options)[name] == pair.cases


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_the_nearest_history_that_does_not_is_not(name: str, pair: Pair) -> None:
    assert name not in anomalies(pair.not_so, **pair.options)


GOOD = """
    0 ok   subscribe x y
    1 ok   assign x y
    2 ok   txn   send x 1@0 | send y 1@0
    2 fail txn   send x 2 | send y 2
    3 info send  send x 3
    2 ok   send  send y 4@3
    0 ok   poll  poll x:1@0,3@5 y:1@0
    1 ok   txn   poll x:1@0 y:1@0 | poll x:3@5
    1 fail txn   poll y:4@3
    1 ok   txn   poll y:4@3
    0 ok   poll  poll y:
    0 ok   poll  poll y:4@3
"""


def test_a_good_history_is_valid_and_shows_nothing() -> None:
    found = checked(GOOD)

    assert (found["anomalies"], found["valid"]) == ([], True)


def test_polls_that_move_are_allowed_where_consumers_subscribe() -> None:
    moved = "0 ok send send x a@0 | send x b@1 \n 1 ok poll poll x:a@0,b@1 \n 1 ok poll poll x:a@0"

    assert verdicts(moved)["nonmonotonic-poll"] is True
    assert verdicts(f"1 ok subscribe x \n {moved}")["nonmonotonic-poll"] is False


def test_the_options_of_a_history_outweigh_its_operations() -> None:
    moved = """
        1 ok subscribe x
        0 ok send  send x a@0 | send x b@1
        1 ok poll  poll x:a@0,b@1
        1 ok poll  poll x:a@0
    """

    assert verdicts(moved, sub_via=["assign"])["nonmonotonic-poll"] is True
    assert verdicts(moved, sub_via=["subscribe"])["nonmonotonic-poll"] is False


def test_cycles_count_only_while_they_rest_on_reads_alone() -> None:
    cycle = """
        0 invoke txn  send x a | poll
        1 invoke txn  send y b | poll
        0 ok     txn  send x a@0 | poll y:b@0
        1 ok     txn  send y b@0 | poll x:a@0
    """

    assert verdicts(cycle) == {"G1c": True}
    assert verdicts(cycle, ww_deps=True) == {"G1c": False}


def test_writes_that_interleave_are_told_and_never_count() -> None:
    interleaved = """
        0 ok send  send x a@0 | send x c@2
        1 ok send  send x b@1
        2 ok poll  poll x:a@0,b@1,c@2
    """
    found = checked(interleaved)

    assert [(one["type"], one["bad"]) for one in found["anomalies"]] == [("int-send-skip", False)]
    assert found["valid"] is True


def test_ww_deps_may_be_asked_for_where_a_history_says_nothing() -> None:
    found = checked("0 ok send send x b@1 \n 1 ok send send x a@0", ww_deps=True)

    assert "G0-realtime" in [one["type"] for one in found["anomalies"]]


def test_a_damaged_history_shows_what_it_shows_and_gets_no_verdict_for_lack_of_something() -> None:
    lost = [{"kind": "op", "index": 0, "time": 0, "clock": "import", "process": 3, "type": "ok"}]
    lost[0] |= {"f": "poll", "value": [["poll", {"x": [[0, "a"]]}]]}

    found = checked(lost)

    assert [one["type"] for one in found["anomalies"]][:1] == ["garbage-read"]
    assert checked("0 ok send send x a@0 \n 1 ok poll poll x:a@0")["valid"] is True
    assert found["valid"] is None


def test_numbers_and_texts_are_different_values_and_keys_come_out_as_they_went_in() -> None:
    told = """
        0 ok send  send 7 1@0
        1 ok poll  poll 7:a@0
    """

    assert anomalies(told)["inconsistent-offsets"] == [
        {"key": 7, "offset": 0, "index": 0, "values": [1, "a"]}
    ]


def test_all_cases_are_counted_and_the_first_are_listed() -> None:
    sends = "\n".join(f"0 ok send send x {number}@{number}" for number in range(50))
    found = {one["type"]: one for one in checked(f"{sends} \n 1 ok poll poll x:49@49")["anomalies"]}

    lost = found["lost-write"]
    assert (found["unseen"]["count"], lost["count"], len(lost["all"])) == (49, 49, 32)
