"""From events to tables: small histories as text, and the rows they give."""

import duckdb
import pyarrow.parquet as pq
import pytest
from small_histories import LIVE, SIM, ops, rows, tables

from harness.history import TABLES, Run, collect_tables, history_of, read_history, write_tables


def test_invocation_and_completion_of_a_process_are_one_operation():
    found = tables(
        ops(
            """
            1 invoke read  10
            2 invoke write 11 value=4
            1 ok     read  12 value=3
            2 fail   write 13 value=4
            """
        )
    )
    columns = ("op", "completion", "process", "f", "type", "began", "ended", "value", "result")
    assert rows(found, "ops", *columns) == [
        (0, 2, 1, "read", "ok", 10, 12, None, "3"),
        (1, 3, 2, "write", "fail", 11, 13, "4", "4"),
    ]
    assert found.problems == []


def test_an_unknown_outcome_has_a_completion_but_no_end():
    found = tables(ops("1 invoke write 10 value=4 \n 1 info write 12"))
    assert rows(found, "ops", "completion", "type", "ended", "answered") == [(1, "info", None, 12)]


def test_an_operation_that_is_never_completed_is_unknown():
    found = tables(ops("1 invoke write 10 value=4"))
    assert rows(found, "ops", "completion", "type", "ended") == [(None, "info", None)]
    assert found.problems == []


def test_in_the_simulated_world_the_order_is_the_index():
    found = tables(ops("1 invoke read 500 \n 1 ok read 500"), header=SIM)
    assert rows(found, "ops", "began", "ended") == [(0, 1)]


def test_an_explicit_null_is_not_the_same_as_no_value():
    read = {"kind": "op", "clock": "host", "process": 0, "f": "read"}
    ask, answer = {"time": 1, "type": "invoke"}, {"time": 2, "type": "ok", "value": None}
    found = tables([read | ask, read | answer])
    assert rows(found, "ops", "value", "result") == [(None, "null")]


MISPAIRED = {
    "which it did not invoke": ("1 ok read 10", []),
    "is open; that one is closed as info": (
        "1 invoke read 10 \n 1 invoke write 11 \n 1 ok write 12",
        [("read", "info"), ("write", "ok")],
    ),
    "completes f write, but invoked read": (
        "1 invoke read 10 \n 1 ok write 11",
        [("read", "info")],
    ),
    "completes partition 2, but invoked 1": (
        "1 invoke fetch 10 topic=t partition=1 offset=0 \n 1 ok fetch 11 topic=t partition=2",
        [("fetch", "info")],
    ),
    "before it was invoked": ("1 invoke read 10 \n 1 ok read 9", [("read", "ok")]),
    "completed by clock other": (
        "1 invoke read 10 \n 1 ok read 11 clock=other",
        [("read", "ok")],
    ),
    "does not prove that produce had no effect": (
        "1 invoke produce 10 topic=t partition=0 send=s \n 1 fail produce 11 error=7",
        [("produce", "info")],
    ),
}


@pytest.mark.parametrize("words", MISPAIRED)
def test_what_does_not_pair_is_reported_and_never_dropped_in_silence(words):
    text, expected = MISPAIRED[words]
    found = tables(ops(text))
    assert [words in problem.reason for problem in found.problems] == [True]
    assert rows(found, "ops", "f", "type") == expected


def test_problems_name_file_line_and_event_of_a_sealed_history(tmp_path):
    run = Run.create(tmp_path / "run", run="1", sut="x", world="process")
    with run.shard("a", "host") as shard:
        for event in ops("1 invoke read 1 \n 1 ok read 2 \n 1 ok read 3"):
            shard.write(event)
    run.seal()
    written = write_tables(read_history(run.history), tmp_path / "tables")
    assert [(p.file, p.line) for p in written.problems] == [(str(run.history), 4)]
    assert pq.read_table(written["problems"]).to_pylist()[0]["line"] == 4


SEEDS = [[7002, 0, 0, 1, 9, 5], [7001, 0, 0, 4, 5, 5]]


def test_a_call_of_the_boundary_register_is_one_row_with_what_was_stored():
    call = {"kind": "op", "clock": "host", "process": 3, "f": "initialize_diskless_migration"}
    call |= {"topic": "t1", "partition": 0, "node": 1}
    stored = {"boundary": 100, "epoch": 5, "reset_epoch": -1, "seeds": SEEDS}
    arguments = {"client": "a", "boundary": 100, "leader_epoch": 5, "entries": SEEDS}
    found = tables(
        [
            call | {"type": "invoke", "time": 7} | arguments,
            call | {"type": "ok", "time": 9, "error": "NONE", "stored": stored},
        ]
    )
    assert found.problems == []
    canonical = "[[7001,0,0,4,5,5],[7002,0,0,1,9,5]]"
    assert found.tables["boundary_ops"].to_pylist() == [
        {
            "op": 0, "completion": 1, "process": 3, "node": 1, "topic": "t1", "partition": 0,
            "f": "initialize_diskless_migration", "type": "ok", "error": "NONE", "clock": "host",
            "began": 7, "ended": 9, "answered": 9, "client": "a", "together": None,
            "boundary": 100, "leader_epoch": 5, "entries": canonical, "record_count": None,
            "stored_boundary": 100, "stored_epoch": 5, "stored_reset_epoch": -1,
            "stored_seeds": canonical, "base_offset": None,
        }
    ]  # fmt: skip
    assert rows(found, "ops", "f", "type") == [("initialize_diskless_migration", "ok")]
    assert rows(found, "responses", "op") == []


def test_a_committed_batch_shows_its_base_offset_and_a_lost_reply_shows_nothing():
    call = {"kind": "op", "clock": "host", "f": "commit_batch", "topic": "t", "partition": 0}
    stored = {"boundary": 5, "epoch": 1, "reset_epoch": -1, "base_offset": 5}
    found = tables(
        [
            call | {"process": 1, "type": "invoke", "time": 1, "record_count": 2},
            call | {"process": 1, "type": "ok", "time": 2, "error": "NONE", "stored": stored},
            call | {"process": 1, "type": "invoke", "time": 3, "record_count": 1},
            call | {"process": 1, "type": "info", "time": 4, "error": "REQUEST_TIMED_OUT"},
        ]
    )
    columns = ("type", "record_count", "base_offset", "stored_boundary", "ended")
    expected = [("ok", 2, 5, 5, 2), ("info", 1, None, None, None)]
    assert rows(found, "boundary_ops", *columns) == expected


def test_seeds_that_are_not_numbers_are_reported_and_the_operation_stays_in_ops():
    call = {"kind": "op", "clock": "host", "process": 1, "f": "seed_producer_state", "topic": "t"}
    invoke = call | {"partition": 0, "type": "invoke", "time": 1, "entries": [["x"], [1]]}
    found = tables([invoke])
    assert ["cannot be laid out" in problem.reason for problem in found.problems] == [True]
    assert (len(rows(found, "ops", "op")), len(rows(found, "boundary_ops", "op"))) == (1, 0)


def fault(text):
    events = []
    for line in text.strip().splitlines():
        name, target, phase, time, *more = line.split()
        event = {"kind": "fault", "clock": "host", "name": name, "target": target, "phase": phase}
        events.append(event | {"time": int(time)} | dict(pair.split("=") for pair in more))
    return events


WINDOWS = {
    "begun, landed, ended": (
        "pause b begin 1 \n pause b landed 3 evidence=14 \n pause b end 9",
        [("pause", "b", 1, 9, True, '"14"')],
        0,
    ),
    "never landed": ("pause b begin 1 \n pause b end 9", [("pause", "b", 1, 9, False, None)], 0),
    "never ended": (
        "pause b begin 1 \n pause b landed 2",
        [("pause", "b", 1, None, True, None)],
        0,
    ),
    "two targets": (
        "pause b begin 1 \n pause c begin 2 \n pause b end 3 \n pause c end 4",
        [("pause", "b", 1, 3, False, None), ("pause", "c", 2, 4, False, None)],
        0,
    ),
    "twice in turn": (
        "pause b begin 1 \n pause b end 2 \n pause b begin 3 \n pause b end 4",
        [("pause", "b", 1, 2, False, None), ("pause", "b", 3, 4, False, None)],
        0,
    ),
    "begun twice at once": (
        "pause b begin 1 \n pause b begin 2 \n pause b end 4",
        [("pause", "b", 1, 4, False, None)],
        1,
    ),
    "landed without begin": ("pause b landed 2", [("pause", "b", 2, None, True, None)], 1),
    "ended without begin": ("pause b end 2", [], 1),
    "only noted": ("start nemesis noted 2", [], 0),
    "ended by another clock": (
        "pause b begin 1 \n pause b end 9 clock=other",
        [("pause", "b", 1, None, False, None)],
        1,
    ),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_fault_lines_become_windows(case):
    text, expected, problems = WINDOWS[case]
    found = tables(fault(text))
    columns = ("fault", "target", "since", "until", "landed", "evidence")
    assert rows(found, "fault_windows", *columns) == expected
    assert len(found.problems) == problems
    assert len(rows(found, "faults", "index")) == len(text.strip().splitlines())


def test_probes_become_one_row_per_thing_found():
    base = {"kind": "probe", "clock": "host"}
    log = {"topic": "t", "partition": 0, "boundary": 5, "epoch": 2, "reset_epoch": -1}
    logs = [log | {"seeds": SEEDS}, {"topic": "u", "partition": 1}]
    stored = [["wal/a", 10], {"key": "wal/b", "size": 0}]
    found = tables(
        [
            base | {"time": 1, "what": "control_plane", "rows": logs},
            base | {"time": 2, "what": "objects", "rows": stored},
            base | {"time": 3, "what": "files", "rows": [{"path": "x"}]},
            base | {"time": 4, "what": "objects", "rows": [["wal/a"], ["wal/c", 1]]},
        ]
    )
    columns = ("probe", "topic", "partition", "boundary", "epoch", "reset_epoch", "seeds")
    assert rows(found, "probes_control_plane", *columns) == [
        (0, "t", 0, 5, 2, -1, "[[7001,0,0,4,5,5],[7002,0,0,1,9,5]]"),
        (0, "u", 1, None, None, None, None),
    ]
    objects = [(1, "wal/a", 10), (1, "wal/b", 0), (3, "wal/c", 1)]
    assert rows(found, "probes_objects", "probe", "object_key", "size") == objects
    assert rows(found, "probes_other", "what", "detail") == [("files", '{"path":"x"}')]
    assert len(found.problems) == 1


def test_effects_keep_their_arguments_as_text():
    effect = {"kind": "effect", "clock": "broker-1", "time": 9, "node": 1, "effect": 41}
    effect |= {"port": "control_plane", "call": "seed", "args": {"b": 1, "a": 2}, "outcome": "ok"}
    found = tables([effect])
    columns = ("index", "happened", "node", "effect", "port", "call", "args", "outcome")
    expected = (0, 9, 1, 41, "control_plane", "seed", '{"a":2,"b":1}', "ok")
    assert rows(found, "effects", *columns) == [expected]


def test_every_table_is_written_also_when_it_is_empty(tmp_path):
    written = write_tables(history_of([]), tmp_path / "tables")
    assert list(written) == list(TABLES)
    for name, path in written.items():
        names = [column.name for column in TABLES[name].columns]
        assert pq.read_table(path).column_names == names
    assert sorted(p.name for p in (tmp_path / "tables").iterdir()) == sorted(
        f"{name}.parquet" for name in TABLES
    )


def test_files_and_memory_hold_the_same_rows_over_many_batches(tmp_path):
    events = [
        event
        for n in range(9000)
        for event in ops(f"{n} invoke read {2 * n} \n {n} ok read {2 * n + 1} value={n}")
    ]
    history = history_of(events, header=LIVE)
    written = write_tables(history, tmp_path)
    collected = collect_tables(history)
    assert pq.read_table(written["ops"]) == collected.tables["ops"]
    assert collected.tables["ops"].num_rows == 9000


@pytest.mark.parametrize("name", TABLES)
def test_no_column_needs_quotes_in_sql(name):
    connection = duckdb.connect()
    columns = TABLES[name].columns
    declared = ", ".join(f'"{column.name}" {column.type}' for column in columns)
    connection.execute(f"CREATE TABLE {name} ({declared})")
    for column in columns:
        c = column.name
        connection.execute(f"SELECT x.{c}, {c} AS {c} FROM {name} AS x WHERE {c} IS NULL")
        connection.execute(f"SELECT max({c}) OVER (PARTITION BY {c} ORDER BY {c}) FROM {name}")
