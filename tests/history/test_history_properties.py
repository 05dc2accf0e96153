"""Any events survive the way through shards, sealing and reading; any bytes survive being read."""

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.history import HistoryError, Run, collect_tables, import_history, read_history
from harness.history.importers import FORMS

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBER = st.integers(-(2**63), 2**63 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
TIME = st.integers(-5, 20)
OP = st.fixed_dictionaries(
    {
        "kind": st.just("op"),
        "time": TIME,
        "process": st.integers(0, 3),
        "type": st.sampled_from(["invoke", "ok", "fail", "info"]),
        "f": st.sampled_from(["read", "produce", "fetch", "commit_batch", "list_offsets"]),
    },
    optional={
        "value": JSON,
        "key": JSON,
        "topic": st.just("t"),
        "partition": st.integers(0, 1),
        "send": st.sampled_from(["a", "b"]),
        "attempt": st.integers(1, 3),
        "error": st.sampled_from([None, 0, 6, 7, "NONE", "BOUNDARY_UNSET"]),
        "offset": NUMBER,
        "records": st.lists(st.lists(JSON, max_size=5), max_size=2),
        "producer": st.lists(JSON, max_size=4),
        "stored": st.dictionaries(st.sampled_from(["boundary", "epoch", "seeds"]), JSON),
        "entries": st.lists(JSON, max_size=2),
        "anything": JSON,
    },
)
FAULT = st.fixed_dictionaries(
    {
        "kind": st.just("fault"),
        "time": TIME,
        "name": st.sampled_from(["pause", "kill"]),
        "target": st.just("broker-1"),
        "phase": st.sampled_from(["begin", "landed", "end"]),
    },
    optional={"evidence": st.none() | TEXT, "clock": st.just("other")},
)
PROBE = st.fixed_dictionaries(
    {
        "kind": st.just("probe"),
        "time": TIME,
        "what": st.sampled_from(["objects", "control_plane", "metrics"]),
        "rows": st.lists(JSON, max_size=2),
    }
)
SHARDS = st.lists(st.lists(OP | FAULT | PROBE, max_size=6), max_size=3)


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def recorded(folder, shards):
    """A fresh run with these events in it, sealed."""
    run = Run.create(tempfile.mkdtemp(dir=folder), run="1", sut="x", world="process")
    for number, events in enumerate(shards):
        with run.shard(f"w{number}", "host") as shard:
            for event in events:
                shard.write(event)
    run.seal()
    return run


@settings(max_examples=40, deadline=None)
@given(shards=SHARDS)
def test_what_was_recorded_is_what_is_read(folder, shards):
    run = recorded(folder, shards)
    history = read_history(run.history)
    events = list(history.events)
    assert [event.pop("index") for event in events] == list(range(len(events)))
    expected = [{"clock": "host", **event} for events in shards for event in events]
    key = repr
    assert sorted((dict(sorted(e.items())) for e in events), key=key) == sorted(
        (dict(sorted(e.items())) for e in expected), key=key
    )
    assert history.complete is bool(shards)
    assert history.problems == []


@settings(max_examples=40, deadline=None)
@given(shards=SHARDS)
def test_sealing_is_a_function_of_the_shards(folder, shards):
    first, second = recorded(folder, shards), recorded(folder, shards)
    assert first.history.read_bytes() == second.history.read_bytes()


@settings(max_examples=40, deadline=None)
@given(times=st.lists(st.lists(st.integers(0, 9), max_size=5).map(sorted), min_size=1, max_size=4))
def test_writers_with_steady_clocks_are_merged_in_time_order(folder, times):
    op = {"kind": "op", "process": 0, "type": "invoke", "f": "read"}
    shards = [
        [op | {"time": time, "value": writer} for time in ts] for writer, ts in enumerate(times)
    ]
    events = list(read_history(recorded(folder, shards).history).events)
    order = [(event["time"], event["value"]) for event in events]
    assert order == sorted(order)


@settings(max_examples=50, deadline=None)
@given(shards=SHARDS)
def test_any_events_can_be_laid_out_and_no_operation_vanishes(folder, shards):
    history = read_history(recorded(folder, shards).history)
    collected = collect_tables(history)
    invoked = [e for e in history.events if e["kind"] == "op" and e["type"] == "invoke"]
    found = collected.tables["ops"].column("op").to_pylist()
    assert sorted(found) == [event["index"] for event in invoked]


@settings(max_examples=40, deadline=None)
@given(shards=SHARDS.filter(any), data=st.data())
def test_a_damaged_history_is_never_complete_and_never_crashes(folder, shards, data):
    path = recorded(folder, shards).history
    raw = bytearray(path.read_bytes())
    start = data.draw(st.integers(0, len(raw) - 1))
    raw[start : start + data.draw(st.integers(1, 30))] = data.draw(st.binary(max_size=40))
    if bytes(raw) == path.read_bytes():
        return
    path.write_bytes(raw)
    with contextlib.suppress(HistoryError):
        history = read_history(path)
        collect_tables(history)
        assert not history.complete


FRAGMENTS = st.sampled_from(
    [
        b"[", b"]", b"{", b"}", b"(", b"#{", b"#_", b"#inst ", b'"', b"\\", b":process ", b":type ",
        b":invoke", b":f ", b":read", b" 0", b" nil", b"\n", b"\t", b";", b",", b"\x00", b"\xff",
        b'{"kind":"op"', b'"history":', b"INFO jepsen.util - 0\t:ok\t:read\t", b"1e999", b"##NaN",
        b"{:process 0, :type :ok, :f :read, :value 1}", b"9" * 30,
    ]
)  # fmt: skip
BYTES = st.binary(max_size=60) | st.lists(FRAGMENTS, max_size=25).map(b"".join)


@settings(max_examples=150, deadline=None)
@given(raw=BYTES, form=st.sampled_from([None, *FORMS]))
def test_no_bytes_crash_a_reader_or_an_importer(folder, raw, form):
    path = folder / "fuzz"
    path.write_bytes(raw)
    with contextlib.suppress(HistoryError):
        history = import_history(path, form=form)
        events = list(history.events)
        assert [event["index"] for event in events] == sorted(event["index"] for event in events)
        assert all(str(problem) for problem in history.problems)
        collect_tables(history)


@settings(max_examples=60, deadline=None)
@given(raw=BYTES)
def test_no_bytes_in_a_shard_crash_sealing(folder, raw):
    run = Run.create(tempfile.mkdtemp(dir=folder), run="1", sut="x", world="process")
    (run.folder / "shards" / "a.jsonl").write_bytes(raw)
    sealed = run.seal()
    assert not sealed.complete
    assert all("sealed from shards" in p.reason for p in read_history(sealed.path).problems)
