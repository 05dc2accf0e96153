"""Many lines at a time give the tables, and the words about bad lines, that line by line gives.

Histories are put together by chance from lines of every sort, then damaged: bytes changed, lines
cut, lost, repeated, swapped, keys said twice, numbers too long, types wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from harness.cli.benches.log_lines import log_lines
from harness.history import (
    TABLES,
    HistoryError,
    bulk,
    other_lines,
    range_lines,
    read_history,
    silver,
    write_tables,
)
from harness.history.bulk import write_bulk_tables
from harness.history.ranges import BULK_TABLES, bucket_of, bucket_of_part

BY_LINE, AT_ONCE = 1 << 60, 0
# The others have no rows from plain lines; two of them show that they get theirs.
TOLD = (*BULK_TABLES, "fault_windows", "leaders_told")
HERE = {"topic": "t0", "partition": 0, "node": 1}
SEND = {"send": "s", "attempt": 1, "acks": -1, "records": [["a", 5], ["b", None, "k"]]}
SEEN = [[0, "a", 5, 3], [1, None], [3, "c", None, None, "k"]]
# What is asked, how it ends, and what the two lines say; a null at the end leaves the second out.
ODD: list[tuple[str, str | None, dict[str, Any], dict[str, Any]]] = [
    ("produce", "fail", SEND | {"send": "f"}, {"error": "NOT_ENOUGH_REPLICAS"}),
    ("produce", "fail", SEND | {"send": "g"}, {"error": "NOT_LEADER_OR_FOLLOWER"}),
    ("produce", "fail", SEND | {"send": "h"}, {}),
    ("produce", "info", SEND | {"send": "i"}, {"error": "REQUEST_TIMED_OUT"}),
    ("produce", "ok", SEND | {"send": "i", "attempt": 2}, {"error": "NONE", "offset": 7}),
    ("produce", "ok", SEND | {"send": "j", "producer": [7, 0, -1]}, {"offset": -1}),
    ("produce", "ok", SEND | {"send": "k", "producer": [-1, 0, 4]}, {"error": 0, "offset": 1}),
    ("produce", "ok", SEND | {"send": "l", "transaction": "x", "attempt": None}, {"offset": 2}),
    ("produce", "ok", {"send": "m", "acks": 1, "records": []}, {"offset": 2}),
    ("produce", "ok", {"acks": 1, "records": [["v", 1]]}, {"offset": 2}),
    ("produce", None, SEND | {"send": "n"}, {}),
    ("produce", "ok", SEND | {"send": "o", "records": [["v", 1, "k", 2]]}, {"offset": 1 << 62}),
    ("fetch", "ok", {"offset": 0, "isolation": "read_committed"}, {"records": SEEN}),
    ("fetch", "ok", {"offset": 0, "leader_epoch": -1, "rack": ""}, {"records": []}),
    ("fetch", "ok", {}, {"offset": 4, "records": [["no offset", "a"]]}),
    ("fetch", "fail", {"offset": 9, "max_bytes": 1}, {"error": "OFFSET_OUT_OF_RANGE"}),
    ("fetch", "fail", {"offset": 9}, {"error": "NONE"}),
    ("fetch", "info", {"offset": 9, "isolation": None}, {"error": None, "detail": "é"}),
    ("list_offsets", "ok", {"timestamp": -1}, {"offset": 3, "found_timestamp": -1}),
    ("list_offsets", "ok", {"timestamp": 5, "topic": "other"}, {"offset": 3, "leader_epoch": 2}),
    ("list_offsets", "ok", {"timestamp": 5, "partition": 1 << 40}, {"offset": 3}),
    ("metadata", "ok", {"look": 1}, {"leader": 1, "leader_epoch": 2, "isr": [1]}),
    ("txn", "ok", {"value": [["send", "x", 1]]}, {"value": [["send", "x", [0, 1]]]}),
]
RETRIED = [
    ("produce", "fail", SEND | {"send": "p"}, {"error": "NOT_ENOUGH_REPLICAS"}),
    ("produce", "info", SEND | {"send": "p", "attempt": 2}, {"error": "REQUEST_TIMED_OUT"}),
    ("produce", "ok", SEND | {"send": "p", "attempt": 3}, {"error": "NONE", "offset": 11}),
]
ALONE: list[dict[str, Any]] = [
    {"kind": "fault", "name": "kill", "target": "broker-1", "phase": "begin"},
    {"kind": "fault", "name": "kill", "target": "broker-1", "phase": "end"},
    {"kind": "phase", "campaign": "c", "name": "load", "phase": "begin"},
    {"kind": "probe", "what": "objects", "rows": [["a", 1]]},
    {"kind": "op", "process": 77, "type": "ok", "f": "txn", "value": [["send", "x", [0, 1]]]},
    {"kind": "op", "process": 78, "type": "ok", "f": "fetch", "records": SEEN},
    {"kind": "op", "process": 0, "type": "invoke", "f": "fetch", **HERE, "offset": 1},
]
REPLACED = [
    (b'"offset":', b'"offset":1,"offset":'),
    (b'"index":', b'"index":9'),
    (b'"process":', b'"process":-'),
    (b'"time":', b'"time":99999999999999999999'),
    (b'"partition":0', b'"partition":"0"'),
    (b'"clock":"host"', b'"clock":""'),
    (b'"node":1', b'"node": 1.0'),
    (b'"send":"', b'"send":"\\u0041'),
    (b'{"kind":"op"', b'{"kind":"odd"'),
    (b"5", b"\xff"),
    (b"]", b""),
]


def pair(number: int, odd: tuple[str, str | None, dict[str, Any], dict[str, Any]]) -> Iterator[Any]:
    f, ended, asked, answered = odd
    line = {"kind": "op", "process": 100 + number % 3, "f": f, **HERE}
    yield {**line, "type": "invoke", **asked}
    if ended is not None:
        yield {**line, "type": ended, **answered}


PIECES = st.one_of(
    st.builds(lambda n: [*log_lines(10 * n, 2)], st.integers(1, 4)),
    st.builds(lambda n, odd: [*pair(n, odd)], st.integers(0, 9), st.sampled_from(ODD)),
    st.builds(lambda n: [line for odd in RETRIED for line in pair(n, odd)], st.integers(0, 9)),
    st.builds(lambda event: [event], st.sampled_from(ALONE)),
)
EVERYTHING = [
    *([*pair(number, odd)] for number, odd in enumerate((*ODD, *RETRIED))),
    *([event] for event in ALONE),
    [*log_lines(60, 3)],
    *([*pair(number, odd)] for number, odd in enumerate(RETRIED)),
]
DAMAGE = st.one_of(
    st.tuples(st.just("replace"), st.integers(0, 200), st.sampled_from(REPLACED)),
    st.tuples(st.sampled_from(["drop", "twice", "swap", "cut"]), st.integers(0, 200), st.none()),
    st.tuples(st.just("soup"), st.integers(0, 20_000), st.binary(min_size=1, max_size=3)),
)


def sealed(world: str, pieces: list[list[dict[str, Any]]]) -> bytes:
    """The lines as a sealed history."""
    header = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": world}
    lines = [header]
    for index, event in enumerate(event for piece in pieces for event in piece):
        given = {name: value for name, value in event.items() if name != "kind"}
        place = {"time": 1_000 * index, "clock": "host"} | given
        lines.append({"kind": event["kind"], "index": index} | place)
    footer = {"kind": "footer", "events": len(lines) - 1}
    body = b"".join(json.dumps(x, separators=(",", ":")).encode() + b"\n" for x in [*lines, footer])
    body = body[:-2]
    return body + b',"sha256":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def damaged(content: bytes, how: tuple[str, int, Any]) -> bytes:
    kind, at, given = how
    lines = content.split(b"\n")
    if kind == "soup":
        at %= len(content)
        return content[:at] + given + content[at + len(given) :]
    at %= len(lines)
    if kind == "cut":
        return b"\n".join(lines[: at + 1])[:-1]
    if kind == "replace":
        lines[at] = lines[at].replace(*given)
    elif kind == "drop":
        del lines[at]
    elif kind == "twice":
        lines.insert(at, lines[at])
    else:
        lines[at - 1], lines[at] = lines[at], lines[at - 1]
    return b"\n".join(lines)


class InBuckets(bulk.Threads):
    """Threads that part rows by their logs, as tasks do."""

    def __init__(self, buckets: int) -> None:
        super().__init__()
        self._buckets = buckets

    def buckets(self, size: int) -> int:
        return self._buckets


def told(path: Path, folder: Path, buckets: int = 1) -> object:
    """All that is told of a history: its rows in no order, and what is wrong with it. A file that
    is said to be of one bucket has no row of another."""
    try:
        history = read_history(path)
        tables = write_tables(history, folder, only=TOLD, runs=InBuckets(buckets))
    except HistoryError as error:
        return repr(error)
    for file in folder.glob("*/*.parquet"):
        if parted := bucket_of_part(file.name):
            logs = parquet.read_table(file, columns=["topic", "partition"]).to_pylist()
            assert all(belongs(log, *parted) for log in logs)
    found = {name: parquet.read_table(tables[name]) for name in TOLD}
    for name in BULK_TABLES:
        assert found[name].schema.types == silver.arrow_schema(TABLES[name]).types
    rows = {name: sorted(map(repr, table.to_pylist())) for name, table in found.items()}
    problems = (history.problems, tables.problems, history.notes)
    return rows, problems, history.complete, history.footer, history.ignored


def belongs(log: dict[str, Any], bucket: int, buckets: int) -> bool:
    return bucket_of(log["topic"], log["partition"], buckets) == bucket


@settings(
    max_examples=settings().max_examples // 7,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example("process", EVERYTHING, [], 500, 3)
@example("sim", EVERYTHING, [("drop", 30, None)], 4_000, 1)
@given(
    world=st.sampled_from(["sim", "process"]),
    pieces=st.lists(PIECES, max_size=12),
    damage=st.lists(DAMAGE, max_size=2),
    block=st.sampled_from([500, 4_000, 1 << 20]),
    buckets=st.integers(1, 3),
)
def test_they_tell_the_same_of_any_history(
    monkeypatch: pytest.MonkeyPatch,
    world: str,
    pieces: list[list[dict[str, Any]]],
    damage: list[tuple[str, int, Any]],
    block: int,
    buckets: int,
) -> None:
    content = sealed(world, pieces)
    for how in damage:
        content = damaged(content, how)
    monkeypatch.setattr(bulk, "RANGE_BYTES", block)
    with TemporaryDirectory() as name:
        path = Path(name) / "history.jsonl"
        path.write_bytes(content)
        monkeypatch.setattr(silver, "BULK_BYTES", BY_LINE)
        by_line = told(path, Path(name) / "by-line")
        monkeypatch.setattr(silver, "BULK_BYTES", AT_ONCE)
        at_once = told(path, Path(name) / "at-once", buckets)

    assert at_once == by_line


def test_what_is_plainly_written_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(sealed("process", [[*log_lines(200, 4)]]))
    targets = {name: tmp_path / name for name in TABLES}
    decoded: list[bytes] = []
    monkeypatch.setattr(range_lines, "decode", decoded.append)

    problems = write_bulk_tables(read_history(path), path, targets)

    assert (problems, decoded) == ([], [])
    assert parquet.read_table(tmp_path / "ops").num_rows == 100


def test_many_odd_lines_among_more_plain_ones_are_laid_out_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(sealed("process", [[*log_lines(200, 4)], ALONE]))
    monkeypatch.setattr(other_lines, "OTHERS_HELD", 3)
    monkeypatch.setattr(silver, "BULK_BYTES", AT_ONCE)
    at_once = write_tables(read_history(path), tmp_path / "at once")
    monkeypatch.setattr(silver, "BULK_BYTES", BY_LINE)
    by_line = write_tables(read_history(path), tmp_path / "by line")

    assert (at_once["ops"].is_dir(), by_line["ops"].is_dir()) == (True, False)
    for name in TABLES:
        first = TABLES[name].columns[0].name
        one, other = (parquet.read_table(tables[name]) for tables in (at_once, by_line))
        assert one.sort_by(first).equals(other.sort_by(first))


def test_a_history_of_mostly_odd_lines_is_read_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(sealed("process", [ALONE, ALONE]))
    monkeypatch.setattr(other_lines, "OTHERS_HELD", 3)

    assert write_bulk_tables(read_history(path), path, {"ops": tmp_path / "ops"}) is None
