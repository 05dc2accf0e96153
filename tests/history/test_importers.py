"""Histories of others: read where they can be, named where they cannot, harmless where hostile."""

import contextlib
import json
from pathlib import Path

import pytest

from harness.history import HistoryError, HistoryUnreadable, collect_tables, import_history
from harness.history.importers import FORMS, sniff
from harness.history.importers.edn import Unfinished, read_form
from harness.history.lines import BadLine

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="no public histories: ../shared/corpus is not beside the project"
)


def given(tmp_path, text, name="history"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def brief(history):
    return [(e["process"], e["type"], e["f"], e["value"]) for e in history.events]


READ_AND_WRITE = [
    (0, "invoke", "write", 4),
    (1, "invoke", "read", None),
    (0, "ok", "write", 4),
    (1, "ok", "read", 4),
]

EDN_VECTOR = """
; a comment, then the history
[{:process 0, :type :invoke, :f :write, :value 4}
 {:process 1, :type :invoke, :f :read,  :value nil}   ; the read
 #_{:process 9 :type :ok :f :nothing :value 1}
 {:process 0, :type :ok, :f :write, :value 4}
 {:value 4, :f :read, :type :ok, :process 1}]
"""
EDN_LIST = EDN_VECTOR.replace("[", "(").replace("]", ")")
EDN_LINES = EDN_VECTOR.replace("[", "").replace("]", "")
EDN_RECORDS = EDN_LINES.replace("{:process", "#jepsen.history.Op{:process")
CONSOLE = """INFO  jepsen.core - Running test
INFO  jepsen.util - 0\t:invoke\t:write\t4
12:00:00{GMT}\tINFO\t[jepsen worker 1] jepsen.util: 1\t:invoke\t:read\tnil
WARN  something else entirely
INFO  jepsen.util - 0\t:ok\t:write\t4
INFO  jepsen.util - 1\t:ok\t:read\t4
"""
KAFKA_JSON = json.dumps(
    {
        "name": "plain",
        "options": {"x": 1},
        "history": [{"process": p, "type": t, "f": f, "value": v} for p, t, f, v in READ_AND_WRITE],
        "expected": {"none": []},
    }
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (EDN_VECTOR, "jepsen-edn"),
        (EDN_LIST, "jepsen-edn"),
        (EDN_LINES, "jepsen-edn"),
        (EDN_RECORDS, "jepsen-edn"),
        ("\ufeff" + EDN_LINES, "jepsen-edn"),
        (EDN_VECTOR.replace("\n", "\r\n"), "jepsen-edn"),
        (CONSOLE, "jepsen-console"),
        (CONSOLE.replace("\n", "\r\n"), "jepsen-console"),
        (CONSOLE.expandtabs(8), "jepsen-console"),
        (KAFKA_JSON, "kafka-json"),
        (json.dumps(json.loads(KAFKA_JSON)["history"], indent=1), "kafka-json"),
    ],
)
def test_every_form_gives_the_same_neutral_operations(tmp_path, text, form):
    path = given(tmp_path, text)
    assert sniff(path) == form
    history = import_history(path)
    assert brief(history) == READ_AND_WRITE
    assert [e["index"] for e in history.events] == [0, 1, 2, 3]
    assert {(e["kind"], e["clock"]) for e in history.events} == {("op", "import")}
    assert (history.complete, history.problems) == (True, [])
    assert (history.header["world"], history.header["imported_from"]) == ("import", form)
    assert import_history(path, form=form).complete


def test_console_chatter_is_counted_and_ignored(tmp_path):
    assert import_history(given(tmp_path, CONSOLE)).ignored == 2


def test_a_console_without_operations_proves_nothing(tmp_path):
    history = import_history(given(tmp_path, "nothing\nto see\n"), form="jepsen-console")
    assert (history.complete, history.ignored) == (False, 2)


def test_imported_operations_are_ordered_by_index_in_the_tables(tmp_path):
    tables = collect_tables(import_history(given(tmp_path, EDN_VECTOR))).tables
    rows = [(r["f"], r["type"], r["began"], r["ended"]) for r in tables["ops"].to_pylist()]
    assert rows == [("write", "ok", 0, 2), ("read", "ok", 1, 3)]


def test_keys_times_indices_and_errors_of_the_source_are_kept(tmp_path):
    text = """{:process 0, :type :invoke, :f :get, :key "a", :value nil, :time 1000, :index 7}
    {:process 0, :type :info, :f :get, :key "a", :value nil, :time 2000, :error [:timeout 5]}"""
    first, second = import_history(given(tmp_path, text)).events
    assert (first["key"], first["time"], first["index"]) == ("a", 1000, 7)
    assert (second["index"], second["error"]) == (8, '["timeout",5]')


def test_a_console_line_may_end_with_an_error(tmp_path):
    text = "INFO  jepsen.util - 3\t:info\t:cas\t[1 2]\t:timed-out\n"
    (event,) = import_history(given(tmp_path, text)).events
    assert (event["value"], event["error"]) == ([1, 2], "timed-out")


@pytest.mark.parametrize(
    "text",
    [
        "{:process :nemesis, :type :info, :f :start, :value {:a 1}}",
        "INFO  jepsen.util - :nemesis\t:info\t:start\t{:a 1}\n",
        '[{"process": "nemesis", "type": "info", "f": "start", "value": {"a": 1}}]',
    ],
)
def test_the_nemesis_is_noted_as_a_fault_and_opens_no_window(tmp_path, text):
    history = import_history(given(tmp_path, text))
    (event,) = history.events
    assert (event["kind"], event["name"], event["target"]) == ("fault", "start", "nemesis")
    assert (event["phase"], event["evidence"]) == ("noted", {"type": "info", "value": {"a": 1}})
    collected = collect_tables(history)
    assert collected.tables["faults"].num_rows == 1
    assert collected.tables["fault_windows"].num_rows == 0
    assert collected.problems == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nil", None),
        ("true", True),
        ("-17", -17),
        ("+3", 3),
        ("42N", 42),
        ("1.5", 1.5),
        ("2.5e3M", 2500.0),
        (":a/b", "a/b"),
        ("symbol", "symbol"),
        (r'"a\n\"\\é"', 'a\n"\\é'),
        (r'"\ud83d\ude00"', "\U0001f600"),
        ('"two\nlines"', "two\nlines"),
        (r"\a", "a"),
        (r"\newline", "\n"),
        (r"\(", "("),
        ("[1 2, [3]]", [1, 2, [3]]),
        ("(1 2)", [1, 2]),
        ("#{1 2}", [1, 2]),
        ('{:a 1, "b" [2] 3 nil}', {"a": 1, "b": [2], "3": None}),
        ("{[1 2] :x}", {"[1,2]": "x"}),
        ('#inst "2020"', "2020"),
        ("#a #b 7", 7),
        ("#_ 1 2", 2),
        ("#_ #_ 1 2 3", 3),
        ("[1 #_2 3 #_[4 5]]", [1, 3]),
        ("[1 ;c\n 2]", [1, 2]),
        ("[]", []),
    ],
)
def test_edn_is_read_as_json_has_it(text, value):
    assert read_form(text, 0) == (value, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "]", "[)", "{:a}", "{:a 1 :a 2}", '{1 2 "1" 3}', "1/2", "12abc", "##NaN", "##Inf",
        "^{:a 1} x", "'x",
        "#(x)", '#"re"', ":", r"\abc", r'"\q"', r'"\ud800"', "9" * 30, "1e999", "[#_]",
        "[" * 100, "#_" * 100, "#a " * 100,
    ],
)  # fmt: skip
def test_what_edn_cannot_bring_into_json_is_refused_with_a_reason(text):
    with pytest.raises(BadLine):
        read_form(text, 0)


def test_half_a_character_is_refused_in_a_string_and_in_a_keyword():
    # Not parameters: a report could not write them down.
    for text in ('"\udc80"', ":\udcff"):
        with pytest.raises(BadLine):
            read_form(text, 0)


@pytest.mark.parametrize("text", ["", " ", "[1", '"abc', "{:a", "#", "#tag", "#_", "\\", "; only"])
def test_a_text_that_ends_too_early_is_unfinished(text):
    with pytest.raises(Unfinished):
        read_form(text, 0)


GOOD = "{:process 0, :type :invoke, :f :read, :value nil}\n"
BAD_FORMS = {
    "without its closing quote": '{:process 0, :type :ok, :f "read, :value 1}\n',
    "unexpected }": "{:process 0, :type :ok, :f :read, :value [1}]}\n",
    "needs :f": "{:process 0, :type :ok, :value 1}\n",
    ":type is": "{:process 0, :type :done, :f :read, :value 1}\n",
    "needs :process": "{:type :ok, :f :read, :value 1}\n",
    "not negative": "{:process -1, :type :ok, :f :read, :value 1}\n",
    "an operation is a map": "17\n",
    "key without a value": "{:process 0, :type :ok, :f :read, :value}\n",
    "does not fit 64 bits": "{:process 0, :type :ok, :f :read, :value 99999999999999999999}\n",
    "nested deeper": "{:process 0, :type :ok, :f :read, :value " + "[" * 90 + "]" * 90 + "}\n",
    "not UTF-8": b'{:process 0, :type :ok, :f :read, :value "\xff"}\n',
}


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("words", BAD_FORMS)
def test_a_broken_operation_costs_itself_and_is_named(tmp_path, words, wrapped):
    bad = BAD_FORMS[words]
    good = GOOD.encode()
    text = good + good + (bad if isinstance(bad, bytes) else bad.encode()) + good
    history = import_history(given(tmp_path, b"[" + text + b"]" if wrapped else text), "jepsen-edn")
    assert len(list(history.events)) == 3
    assert [(p.line, words in p.reason) for p in history.problems] == [(3, True)]
    assert not history.complete


def test_an_operation_may_span_lines_and_lines_may_hold_several(tmp_path):
    spread = "{:process 0,\n :type :invoke,\n :f :read\n :value [1\n2]} "
    text = "[" + spread + GOOD.strip() + GOOD + "\n]"
    assert len(list(import_history(given(tmp_path, text)).events)) == 3


def test_a_history_that_is_never_closed_is_not_complete(tmp_path):
    history = import_history(given(tmp_path, "[" + GOOD))
    assert len(list(history.events)) == 1
    assert ["never closed" in problem.reason for problem in history.problems] == [True]


def test_a_console_value_that_is_not_edn_is_a_problem_of_its_line(tmp_path):
    lines = ["0\t:invoke\t:read\tnil", "0\t:ok\t:read\t#object[Foo", "1\t:invoke\t:read\tnil"]
    text = "".join(f"INFO  jepsen.util - {line}\n" for line in lines)
    history = import_history(given(tmp_path, text))
    assert len(list(history.events)) == 2
    assert [problem.line for problem in history.problems] == [2]


def test_a_json_operation_that_is_none_is_named_by_its_position(tmp_path):
    operation = {"process": 0, "type": "invoke", "f": "send", "value": []}
    text = json.dumps([operation, 7, operation | {"type": "x"}, operation])
    history = import_history(given(tmp_path, text))
    assert len(list(history.events)) == 2
    reasons = [problem.reason for problem in history.problems]
    assert [reason.split(":")[0] for reason in reasons] == ["operation 1", "operation 2"]


def test_what_a_document_expects_of_the_checkers_is_not_part_of_the_history(tmp_path):
    history = import_history(given(tmp_path, KAFKA_JSON))
    assert history.header["source_document"] == {"name": "plain", "options": {"x": 1}}
    assert "expected" not in json.dumps(dict(history.header)) + json.dumps(list(history.events))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("hello\nworld\n", "is no history this version knows"),
        ('{"history": 5}', "has no history"),
        ('{"history": [NaN]}', "not JSON"),
        ('{"history": [', "not JSON"),
        ('{"history": ' + "[" * 100_000, "nested deeper"),
        ('{"history": ' + "[" * 80 + "]" * 80 + "}", "nested deeper"),
    ],
)
def test_what_is_no_history_is_said_in_one_sentence(tmp_path, text, words):
    with pytest.raises(HistoryUnreadable, match=words):
        list(import_history(given(tmp_path, text)).events)


def test_an_unknown_form_lists_the_known_ones(tmp_path):
    with pytest.raises(HistoryUnreadable, match="known are ours, jepsen-edn"):
        import_history(given(tmp_path, "x"), form="xml")


def test_a_missing_file_is_an_error_of_the_history(tmp_path):
    for form in [None, *FORMS]:
        with pytest.raises(HistoryUnreadable, match="No such file"):
            list(import_history(tmp_path / "none", form=form).events)


MEGABYTE = 1 << 20
HOSTILE = {
    "brackets": lambda: b"[" * (4 * MEGABYTE),
    "maps": lambda: b"{:a " * MEGABYTE,
    "unterminated string": lambda: b'{:process 0 :type :ok :f "' + b"x" * (6 * MEGABYTE),
    "many unterminated strings": lambda: b'{:a "\n' * 20_000,
    "open maps, one a line": lambda: b"{:a 1\n" * 30_000,
    "escapes": lambda: b'{:a "' + b"\\\\" * (2 * MEGABYTE),
    "discards": lambda: b"#_" * MEGABYTE,
    "one line": lambda: b"[" + b"{:process 0 :type :invoke :f :read} " * (20 * MEGABYTE // 36),
    "numbers without end": lambda: b"{:a [" + b"1 " * (MEGABYTE * 9 // 4),
    "newlines": lambda: b"\n" * (MEGABYTE // 16),
    "tabs and colons": lambda: b"0\t:ok\t:" * MEGABYTE,
    "nul bytes": lambda: b"\0" * (4 * MEGABYTE),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_gives_problems_or_a_clear_error(tmp_path, name):
    path = given(tmp_path, HOSTILE[name]())
    for form in FORMS:
        with contextlib.suppress(HistoryError):
            history = import_history(path, form=form)
            list(history.events)
            assert not history.complete or (name, form) == ("newlines", "jepsen-edn")


@needs_corpus
def test_the_public_histories_are_read_without_a_problem():
    expected = json.loads((CORPUS / "expected.json").read_text())
    for name, facts in expected.items():
        history = import_history(CORPUS / name)
        collected = collect_tables(history)
        assert (history.complete, collected.problems) == (True, []), name
        if "events" in facts:
            assert len(list(history.events)) == facts["events"], name
            kept = [row for row in collected.tables["ops"].to_pylist() if row["type"] != "fail"]
            assert len(kept) == facts["ops_after_dropping_fail"], name
