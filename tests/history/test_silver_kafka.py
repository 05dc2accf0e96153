"""Sends, responses, records and listed offsets: what Kafka operations become."""

import pytest
from small_histories import ops, rows, tables


def produce(text):
    events = ops(text, topic="t", partition=0, f="produce")
    for event in events:
        if event["type"] == "invoke":
            event |= {"acks": -1, "producer": [7001, 0, 12], "records": [["a", 5], ["b", 6]]}
    return events


SENDS = {
    "one attempt": (
        "1 invoke _ 10 send=s attempt=1 \n 1 ok _ 12 send=s attempt=1 error=0 offset=104",
        [("s", 1, 1, "ok", None, 104, 10, 12)],
    ),
    "an ok without offset": (
        "1 invoke _ 10 send=s attempt=1 \n 1 ok _ 12 send=s error=0",
        [("s", 1, 1, "ok", None, None, 10, 12)],
    ),
    "unknown, then acknowledged": (
        """1 invoke _ 10 send=s attempt=1
        1 info _ 12 send=s attempt=1 error=7
        2 invoke _ 13 send=s attempt=2
        2 ok _ 15 send=s attempt=2 error=0 offset=9""",
        [("s", 2, 1, "ok", None, 9, 10, 15)],
    ),
    "refused, then unknown": (
        """1 invoke _ 10 send=s attempt=1
        1 fail _ 12 send=s attempt=1 error=19
        1 invoke _ 13 send=s attempt=2
        1 info _ 15 send=s attempt=2 error=7""",
        [("s", 2, 0, "info", "REQUEST_TIMED_OUT", None, 10, None)],
    ),
    "unknown, then refused, is still unknown": (
        """1 invoke _ 10 send=s attempt=1
        1 info _ 12 send=s attempt=1 error=7
        2 invoke _ 13 send=s attempt=2
        2 fail _ 15 send=s attempt=2 error=19""",
        [("s", 2, 0, "info", "NOT_ENOUGH_REPLICAS", None, 10, None)],
    ),
    "refused every time": (
        """1 invoke _ 10 send=s attempt=1
        1 fail _ 12 send=s attempt=1 error=19
        1 invoke _ 13 send=s attempt=2
        1 fail _ 15 send=s attempt=2 error=10""",
        [("s", 2, 0, "fail", "MESSAGE_TOO_LARGE", None, 10, 15)],
    ),
    "two attempts in flight at once, both acknowledged": (
        """1 invoke _ 10 send=s attempt=1
        2 invoke _ 11 send=s attempt=2
        2 ok _ 12 send=s error=0 offset=5
        1 ok _ 14 send=s error=0 offset=3""",
        [("s", 2, 2, "ok", None, 5, 10, 12)],
    ),
    "no answer at all": (
        "1 invoke _ 10 send=s attempt=1",
        [("s", 1, 0, "info", None, None, 10, None)],
    ),
}


@pytest.mark.parametrize("case", SENDS)
def test_attempts_add_up_to_a_send(case):
    text, expected = SENDS[case]
    found = tables(produce(text))
    columns = ("send", "attempts", "acknowledged", "type", "error", "base_offset", "began", "ended")
    assert rows(found, "sends", *columns) == expected
    assert found.problems == []


def test_a_send_declared_over_is_written_before_the_history_ends():
    text = "1 invoke _ 1 send=s attempt=1 \n 1 fail _ 2 send=s error=19"
    events = produce(text) + produce("1 invoke _ 3 send=s attempt=2")
    events[1]["last"] = True
    found = tables(events)
    assert rows(found, "sends", "send", "type") == [("s", "fail"), ("s", "info")]
    assert ["follows none that is open" in problem.reason for problem in found.problems] == [True]


def test_each_record_sent_knows_its_sequence_and_its_offset():
    text, _ = SENDS["one attempt"]
    found = tables(produce(text))
    columns = ("position", "value", "timestamp", "producer_id", "sequence", "record_offset", "type")
    assert rows(found, "records_sent", *columns) == [
        (0, "a", 5, 7001, 12, 104, "ok"),
        (1, "b", 6, 7001, 13, 105, "ok"),
    ]
    answer = rows(found, "responses", "f", "send", "attempt", "answered_offset", "asked_offset")
    assert answer == [("produce", "s", 1, 104, None)]


def fetch(records):
    ask = {"kind": "op", "clock": "host", "process": 1, "f": "fetch", "topic": "t", "partition": 0}
    ask |= {"node": 2}
    answer = {"error": 0, "high_watermark": 120, "last_stable_offset": 119, "log_start_offset": 3}
    return [
        ask | {"type": "invoke", "time": 1, "offset": 100, "isolation": "read_committed"},
        ask | {"type": "ok", "time": 2, "records": records} | answer,
    ]


def test_a_fetch_is_one_response_and_one_row_per_record_seen():
    found = tables(fetch([[100, "a", 5, 3], [103, None, 6, 3, "k"]]))
    columns = ("asked_offset", "high_watermark", "last_stable_offset", "log_start_offset")
    assert rows(found, "responses", *columns, "records") == [(100, 120, 119, 3, 2)]
    assert rows(found, "responses", "first_offset", "last_offset", "answered") == [(100, 103, 2)]
    columns = ("position", "record_offset", "value", "timestamp", "leader_epoch", "record_key")
    assert rows(found, "records_seen", *columns, "node") == [
        (0, 100, "a", 5, 3, None, 2),
        (1, 103, None, 6, 3, "k", 2),
    ]
    assert rows(found, "records_seen", "asked_offset", "isolation") == [(100, "read_committed")] * 2


@pytest.mark.parametrize("record", [[1.5, "a"], ["1", "a"], "ab", [1], [None, "a"], [1, "a", "x"]])
def test_a_record_that_is_none_is_reported_and_the_others_are_kept(record):
    found = tables(fetch([[100, "a", 5], record, [101, "b", 6]]))
    assert rows(found, "records_seen", "record_offset") == [(100,), (101,)]
    assert len(found.problems) == 1
    assert "event 1:" in found.problems[0].reason


@pytest.mark.parametrize("offset", [2**61 + 1, 2**63 - 1, -(2**63)])
def test_an_offset_that_no_log_can_have_is_reported_and_not_judged(offset):
    found = tables(fetch([[100, "a", 5], [offset, "b", 6], [101, "c", 7]]))
    assert rows(found, "records_seen", "record_offset") == [(100,), (101,)]
    assert [f"offset {offset} is beyond any log" in p.reason for p in found.problems] == [True]


def test_a_send_that_was_acknowledged_beyond_any_log_is_reported():
    table = """
        1 invoke produce 5 topic=t partition=0 send=s
        1 ok     produce 6 topic=t partition=0 send=s error=0 offset={}
        """
    assert not tables(ops(table.format(2**61))).problems
    found = tables(ops(table.format(2**63 - 1)))
    assert rows(found, "sends", "send") == rows(found, "records_sent", "send") == []
    assert len(found.problems) == 2


def test_a_value_that_does_not_fit_its_column_costs_its_row_only():
    found = tables(fetch([[100, 7, 5], [101, "b", 6]]))
    assert rows(found, "records_seen", "value") == [("b",)]
    assert ["does not fit table records_seen" in p.reason for p in found.problems] == [True]


def test_listed_offsets_keep_what_was_asked_and_what_was_answered():
    found = tables(
        ops(
            """
            1 invoke list_offsets 5 topic=t partition=0 timestamp=-2
            1 ok     list_offsets 6 topic=t partition=0 error=0 offset=17 leader_epoch=4
            """
        )
    )
    columns = ("asked_timestamp", "answered_offset", "leader_epoch", "error", "answered")
    assert rows(found, "offsets_listed", *columns) == [(-2, 17, 4, "NONE", 6)]
