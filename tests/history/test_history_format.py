"""The document, the schema and the code say the same thing."""

import hashlib
import json
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.history import TABLES, import_history, load_schema, read_history
from harness.history import schema as schema_module
from harness.history.schema import line_fault

DOCUMENT = Path(schema_module.__file__).with_name("FORMAT.md").read_text(encoding="utf-8")
SCHEMA = load_schema()


def validator(entry):
    return jsonschema.Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{entry}"}]})


HISTORY_LINE, SHARD_LINE = validator("history_line"), validator("shard_line")


def examples(label):
    blocks = re.findall(rf"```json {label}\n(.*?)```", DOCUMENT, re.DOTALL)
    return [json.loads(line) for block in blocks for line in block.strip().splitlines()]


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("line", examples("history"), ids=lambda line: line["kind"])
def test_every_history_line_of_the_document_fits_the_schema_and_the_reader(line):
    HISTORY_LINE.validate(line)
    assert line_fault(line) is None


@pytest.mark.parametrize("line", examples("shard"), ids=lambda line: line["kind"])
def test_every_shard_line_of_the_document_fits_the_schema_and_the_reader(line):
    SHARD_LINE.validate(line)
    assert line_fault(line) is None


def test_the_document_shows_every_kind_of_line():
    shown = {line["kind"] for line in examples("history") + examples("shard")}
    assert shown == {"header", "footer", "op", "effect", "probe", "fault", "phase", "shard", "end"}


def test_the_writer_in_the_document_writes_what_the_reader_accepts(tmp_path):
    program = re.search(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert program is not None
    names: dict = {}
    exec(program.group(1), names)
    header = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": "external"}
    op = {"kind": "op", "time": 1, "clock": "host", "process": 0, "type": "invoke", "f": "read"}
    names["write"](tmp_path / "h.jsonl", header, [op, {**op, "time": 2, "process": 1}])
    history = read_history(tmp_path / "h.jsonl")
    assert len(list(history.events)) == 2
    assert history.complete
    assert import_history(tmp_path / "h.jsonl").complete
    raw = (tmp_path / "h.jsonl").read_bytes()
    before = raw[: raw.rindex(b',"sha256":"')]
    assert history.footer["sha256"] == hashlib.sha256(before).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"index": None},
        {"process": "3"},
        {"process": -1},
        {"type": "done"},
        {"time": 1.5},
        {"time": True},
        {"clock": ""},
        {"f": ""},
        {"error": []},
        {"partition": -1},
        {"attempt": 0},
        {"stored": []},
        {"kind": "operation"},
    ],
    ids=str,
)
def test_the_schema_and_the_fast_check_refuse_the_same_lines(change):
    line = {"kind": "op", "index": 0, "time": 1, "clock": "host", "process": 0, "type": "ok"}
    line |= {"f": "read"}
    HISTORY_LINE.validate(line)
    assert line_fault(line) is None
    assert not HISTORY_LINE.is_valid(line | change)
    assert line_fault(line | change) is not None


@pytest.mark.parametrize("name", ["kind", "time", "clock", "process", "type", "f"])
def test_a_required_field_is_required_by_both(name):
    line = {"kind": "op", "index": 0, "time": 1, "clock": "host", "process": 0, "type": "ok"}
    line |= {"f": "read"}
    del line[name]
    assert not HISTORY_LINE.is_valid(line)
    assert line_fault(line) is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.floats(0.1, 0.9),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
KINDS = ["op", "effect", "probe", "fault", "header", "footer"]
NAMES = sorted({name for kind in KINDS for name in SCHEMA["$defs"][kind]["properties"]})


@given(
    st.sampled_from(examples("history")),
    st.dictionaries(st.sampled_from(NAMES), JSON, max_size=3),
)
def test_what_the_fast_check_refuses_the_schema_refuses_too(example, change):
    line = example | change
    if line_fault(line) is not None:
        assert not HISTORY_LINE.is_valid(line)


def test_a_shard_line_has_no_index_and_a_history_line_has_one():
    line = {"kind": "fault", "time": 1, "clock": "host", "name": "pause", "target": "x"}
    line |= {"phase": "begin"}
    assert SHARD_LINE.is_valid(line)
    assert not HISTORY_LINE.is_valid(line)
    assert not SHARD_LINE.is_valid(line | {"index": 0})
    assert HISTORY_LINE.is_valid(line | {"index": 0})


def test_unknown_fields_are_allowed():
    for line in examples("history"):
        assert HISTORY_LINE.is_valid(line | {"x-note": {"any": [1]}})


@pytest.mark.parametrize(
    ("f", "missing"),
    [
        ("produce", "records"),
        ("fetch", "offset"),
        ("list_offsets", "timestamp"),
        ("initialize_diskless_migration", "boundary"),
    ],
)
def test_a_known_request_needs_its_arguments(f, missing):
    invoke = next(
        line for line in examples("history") if line.get("f") == f and line["type"] == "invoke"
    )
    assert HISTORY_LINE.is_valid(invoke)
    assert not HISTORY_LINE.is_valid({k: v for k, v in invoke.items() if k != missing})


def test_every_table_says_what_its_rows_and_columns_mean():
    for table in TABLES.values():
        assert table.one_row_per
        assert table.columns[0].type == "bigint"
        for column in table.columns:
            assert len(column.meaning) > 3, (table.name, column.name)
