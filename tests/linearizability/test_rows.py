from __future__ import annotations

import pandas
import pytest
from boundary_histories import row

from spark_checkers.linearizability import UnknownModel, UnusableHistory, search_rows

GET = "get_diskless_log_start_offset"
CREATED = row(0, "create_log", (0, 1), (-1, -1, -1))
SET = row(
    2,
    "initialize_diskless_migration",
    (2, 3),
    (100, 5, -1),
    boundary=100,
    leader_epoch=5,
    entries=((7001, 0, 0, 4, 10, 1_000),),
)
LOST = row(4, "commit_batch", (4, None), record_count=2)
STALE = row(6, GET, (6, 7), (-1, -1, -1))


def test_a_key_that_is_in_order_still_reports_how_much_was_searched() -> None:
    assert search_rows([CREATED, SET, LOST], model="boundary", budget_states=100) == [
        {
            "op": None,
            "verdict": "linearizable",
            "operations": 2,
            "explored": 2,
            "explanation": "3 operations have a legal order.",
            "prefix": [0, 2],
        }
    ]


def test_a_key_that_is_not_in_order_names_the_operation() -> None:
    (result,) = search_rows([CREATED, SET, LOST, STALE], model="boundary", budget_states=100)
    assert (result["verdict"], result["op"], result["operations"]) == ("not-linearizable", 6, 3)
    assert "operation 6 has no place in any legal order" in result["explanation"]


def test_a_key_too_hard_for_the_budget_is_unknown() -> None:
    (result,) = search_rows([CREATED, SET, STALE], model="boundary", budget_states=1)
    assert (result["verdict"], result["op"]) == ("unknown", None)


def test_rows_that_came_through_pandas_are_read_like_any_other() -> None:
    rows = [CREATED, SET, LOST, STALE]
    frame = pandas.DataFrame(rows)
    assert frame["ended"].dtype == float
    through_pandas = search_rows(frame.to_dict("records"), model="boundary")
    assert through_pandas == search_rows(rows, model="boundary")


def test_the_order_of_seeds_does_not_matter() -> None:
    one, two = [7001, 0, 0, 4, 10, 1_000], [7000, 0, 0, 4, 20, 1_000]
    asked = {**SET, "entries": f"[{one},{two}]"}
    told = {**row(4, "describe_producers", (4, 5), (100, 5, -1)), "stored_seeds": f"[{two},{one}]"}
    (result,) = search_rows([CREATED, asked, told], model="boundary")
    assert result["verdict"] == "linearizable"


@pytest.mark.parametrize("entries", ["[[1,2,3]]", "{}", "[7]", "nonsense", '[["a",0,0,0,0,0]]'])
def test_entries_that_are_no_seeds_can_only_be_refused(entries: str) -> None:
    asked = {**SET, "entries": entries}
    refused = {
        **asked,
        "type": "fail",
        "error": "INVALID_REQUEST",
        "stored_boundary": -1,
        "stored_epoch": -1,
    }
    (accepted,) = search_rows([CREATED, asked], model="boundary")
    (turned_down,) = search_rows([CREATED, refused], model="boundary")
    assert (accepted["verdict"], accepted["op"]) == ("not-linearizable", 2)
    assert turned_down["verdict"] == "linearizable"


def test_times_of_different_clocks_are_not_compared() -> None:
    elsewhere = {**STALE, "clock": "other"}
    (result,) = search_rows([CREATED, SET, elsewhere], model="boundary")
    assert result["verdict"] == "unknown"
    assert result["explanation"].endswith("timed by several clocks (host, other).")


def test_a_row_of_another_object_is_refused_by_name() -> None:
    with pytest.raises(UnusableHistory, match="operation 6 is a produce, which the model boundary"):
        search_rows([{**STALE, "f": "produce"}], model="boundary")


def test_a_refusal_without_an_error_is_refused_by_name() -> None:
    with pytest.raises(UnusableHistory, match="operation 6 was refused, but"):
        search_rows([{**STALE, "type": "fail", "error": None}], model="boundary")


def test_an_answer_without_a_time_is_refused_by_name() -> None:
    with pytest.raises(UnusableHistory, match="operation 6 is ok but lacks the time at which it e"):
        search_rows([{**STALE, "ended": None}], model="boundary")


def test_a_model_nobody_knows_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UnknownModel, match="Did you mean boundary"):
        search_rows([], model="bondary")


def test_rows_of_a_register_carry_their_values_as_json() -> None:
    plain = {"process": 1, "type": "ok", "clock": None}
    rows = [
        {**plain, "op": 0, "f": "write", "began": 0, "ended": 1, "value": "[1, 2]", "result": None},
        {**plain, "op": 2, "f": "read", "began": 2, "ended": 3, "value": None, "result": "[1, 2]"},
        {**plain, "op": 4, "f": "cas", "began": 4, "ended": 5, "value": "[9, 8]", "type": "fail"},
    ]
    (result,) = search_rows(rows, model="cas-register")
    assert (result["verdict"], result["operations"]) == ("linearizable", 2)


def test_a_register_can_be_told_what_it_starts_with() -> None:
    read = {"op": 0, "process": 1, "f": "read", "type": "ok", "began": 0, "ended": 1, "result": "7"}
    (seven,) = search_rows([read], model="register", initial=7)
    (nothing,) = search_rows([read], model="register")
    assert (seven["verdict"], nothing["verdict"]) == ("linearizable", "not-linearizable")
