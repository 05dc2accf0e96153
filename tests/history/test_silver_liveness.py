"""Phases, who leads and which nodes run: what the tables of liveness make of lines."""

from small_histories import rows, tables

AT = {"clock": "host"}
CONVERGE = {"kind": "phase", "campaign": "c", "name": "converge", **AT}
ABOUT = {"kind": "op", "f": "metadata", "process": 1, "topic": "t", "partition": 0, **AT}
PHASE = ("phase", "since", "until", "since_ns", "until_ns", "bound_ns")


def numbered(*lines):
    return [{"index": index, **line} for index, line in enumerate(lines)]


def test_a_phase_is_a_window_with_its_bound():
    begin = {**CONVERGE, "time": 5, "phase": "begin", "bound_s": 1.5}
    laid = tables(numbered(begin, {**CONVERGE, "time": 9, "phase": "end"}))
    assert rows(laid, "phases", *PHASE) == [("converge", 5, 9, 5, 9, 1_500_000_000)]


def test_a_phase_that_does_not_end_stays_open():
    laid = tables(numbered({**CONVERGE, "time": 5, "phase": "begin"}))
    assert rows(laid, "phases", *PHASE) == [("converge", 5, None, 5, None, None)]


def test_what_a_broker_says_of_the_leader_is_a_row():
    told = {"error": 0, "leader": 2, "leader_epoch": 3, "isr": [3, 2], "replicas": [1, 2, 3]}
    laid = tables(
        numbered(
            {**ABOUT, "time": 1, "type": "invoke", "node": 1, "look": 7},
            {**ABOUT, "time": 2, "type": "ok", "node": 1, **told},
        )
    )
    columns = ("node", "look", "leader", "leader_epoch", "isr", "replicas", "type")
    expected = [(1, 7, 2, 3, ",2,3,", ",1,2,3,", "ok")]
    assert rows(laid, "leaders_told", *columns) == expected


def test_a_look_at_the_nodes_has_a_row_for_each():
    found = [
        {"node": "broker-1", "state": "running", "exit_code": None, "on_purpose": False},
        {"node": "broker-2", "state": "ended", "exit_code": -9, "on_purpose": True},
    ]
    laid = tables(numbered({"kind": "probe", "time": 1, "what": "nodes", "rows": found, **AT}))
    assert rows(laid, "probes_nodes", "node_name", "state", "exit_code", "on_purpose") == [
        ("broker-1", "running", None, False),
        ("broker-2", "ended", -9, True),
    ]


def test_a_look_at_the_metrics_has_a_row_for_each_sample():
    found = [
        {"node": "broker-1", "name": "a_total", "labels": {"topic": "t"}, "value": 3},
        {"name": "b", "value": 0.5},
        {"name": "c", "value": 1 << 63},
    ]
    laid = tables(numbered({"kind": "probe", "time": 1, "what": "metrics", "rows": found, **AT}))
    assert rows(laid, "probes_metrics", "node_name", "name", "labels", "value") == [
        ("broker-1", "a_total", '{"topic":"t"}', 3),
        (None, "b", "{}", None),
        (None, "c", "{}", None),
    ]
