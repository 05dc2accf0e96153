"""Sends and polls as micro-operations: what they become in the tables."""

import pytest
from small_histories import rows, tables

from harness.history import import_history


def op(process, kind, f, value, **more):
    event = {"kind": "op", "clock": "host", "process": process, "type": kind, "f": f}
    return event | {"value": value} | more


def timed(*events):
    return [event | {"time": 10 * at} for at, event in enumerate(events)]


def laid_out(*events):
    return tables(timed(*events))


TXN = (
    op(1, "invoke", "txn", [["send", "x", 7], ["poll"], ["send", "x", "8"]]),
    op(
        1,
        "ok",
        "txn",
        [
            ["send", "x", [104, 7]],
            ["poll", {"y": [[3, "a"], [None, 4]], "z": []}],
            ["send", "x", "8"],
        ],
        rebalanced=["y"],
    ),
)


def test_a_send_is_a_record_sent_named_by_operation_and_place():
    columns = ("op", "completion", "f", "mop", "position", "send", "topic", "partition")
    assert rows(laid_out(*TXN), "records_sent", *columns) == [
        (0, 1, "txn", 0, 0, "0-0", "x", 0),
        (0, 1, "txn", 2, 0, "0-2", "x", 0),
    ]


def test_a_value_is_its_json_text_and_its_offset_what_the_completion_tells():
    found = laid_out(*TXN)
    assert rows(found, "records_sent", "value", "record_offset", "type") == [
        ("7", 104, "ok"),
        ('"8"', None, "ok"),
    ]


def test_a_polled_message_is_a_record_seen():
    columns = ("completion", "mop", "position", "topic", "record_offset", "value", "rebalanced")
    assert rows(laid_out(*TXN), "records_seen", *columns) == [
        (1, 1, 0, "y", 3, '"a"', True),
        (1, 1, 1, "y", None, "4", True),
    ]


def test_each_polled_key_is_an_answer_also_if_it_brings_nothing():
    columns = ("f", "topic", "partition", "records", "first_offset", "last_offset")
    assert rows(laid_out(*TXN), "responses", *columns) == [
        ("txn", "y", 0, 2, 3, None),
        ("txn", "z", 0, 0, None, None),
    ]


def test_an_operation_without_completion_has_sent_what_it_was_asked_to():
    found = laid_out(TXN[0])
    assert rows(found, "records_sent", "completion", "type", "record_offset", "ended") == [
        (None, "info", None, None),
        (None, "info", None, None),
    ]


def test_what_an_unknown_or_failed_operation_polled_is_kept_with_its_outcome():
    polled = [["poll", {"x": [[0, 1]]}]]
    found = laid_out(
        op(1, "invoke", "poll", [["poll"]]),
        op(1, "info", "poll", polled),
        op(2, "invoke", "poll", [["poll"]]),
        op(2, "fail", "poll", polled),
    )
    assert rows(found, "records_seen", "type", "value") == [("info", "1"), ("fail", "1")]


def test_keys_that_are_numbers_meet_those_that_a_map_made_texts_of():
    found = laid_out(
        op(1, "invoke", "txn", [["send", 11, 5], ["poll"]]),
        op(1, "ok", "txn", [["send", 11, [0, 5]], ["poll", {"11": [[0, 5]]}]]),
    )
    assert rows(found, "records_sent", "topic", "value") == [("11", "5")]
    assert rows(found, "records_seen", "topic", "value") == [("11", "5")]


def test_an_assignment_is_a_row_for_each_of_its_keys():
    found = laid_out(
        op(1, "invoke", "assign", ["x", "y"]),
        op(1, "ok", "assign", ["x", "y"]),
        op(1, "invoke", "subscribe", []),
        op(1, "info", "subscribe", []),
        op(1, "invoke", "crash", None),
        op(1, "info", "crash", None),
    )
    columns = ("op", "completion", "f", "type", "topic", "partition", "ended")
    assert rows(found, "assignments", *columns) == [
        (0, 1, "assign", "ok", "x", 0, 10),
        (0, 1, "assign", "ok", "y", 0, 10),
        (2, 3, "subscribe", "info", None, None, None),
        (4, 5, "crash", "info", None, None, None),
    ]


@pytest.mark.parametrize(
    "value",
    [
        "send",
        [7],
        [["append", "x", 1]],
        [["send", "x"]],
        [["poll", [1, 2]]],
        [["poll", {"x": [[0, "a", "b"]]}]],
        [["poll", {"x": [["zero", "a"]]}]],
        [["send", "x", ["0", "a"]]],
    ],
)
def test_what_is_no_micro_operation_is_named_and_leaves_no_row(value):
    found = laid_out(op(1, "invoke", "txn", [["poll"]]), op(1, "ok", "txn", value))
    assert [p.reason for p in found.problems if "cannot be laid out" in p.reason]
    assert rows(found, "records_sent", "op") + rows(found, "records_seen", "op") == []


def test_a_completion_without_invocation_is_named_and_kept_as_if_it_began_with_the_history():
    found = laid_out(
        op(1, "invoke", "poll", [["poll"]]),
        op(2, "ok", "send", [["send", "x", [0, 1]]]),
        op(1, "ok", "poll", [["poll", {}]]),
    )
    assert rows(found, "records_sent", "op", "completion", "began", "ended") == [(1, 1, 0, 10)]
    assert ["did not invoke; kept" in problem.reason for problem in found.problems] == [True]


def test_the_rebalance_log_of_jepsen_becomes_the_keys_it_names(tmp_path):
    path = tmp_path / "history.edn"
    path.write_text(
        "{:process 0, :type :invoke, :f :poll, :value [[:poll]]}\n"
        "{:process 0, :type :ok, :f :poll, :value [[:poll {1 [[0 7]], 2 [[0 8]]}]],"
        " :rebalance-log [{:keys [2]} {:keys nil}]}\n"
    )
    history = import_history(path)
    found = tables(list(history.events), header=history.header)
    assert rows(found, "records_seen", "topic", "rebalanced") == [("1", False), ("2", True)]


def test_a_completion_in_json_that_names_no_process_is_a_process_of_its_own(tmp_path):
    path = tmp_path / "history.json"
    path.write_text(
        '[{"type": "ok", "f": "poll", "value": [["poll", {"x": [[0, 1]]}]]},'
        ' {"type": "ok", "f": "send", "value": [["send", "x", [0, 1]]]}]'
    )
    history = import_history(path)
    found = tables(list(history.events), header=history.header)
    assert len({row for (row,) in rows(found, "ops", "process")}) == 2
