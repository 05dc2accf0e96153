"""Reading: a flipped byte is seen, a bad line is named, the rest is kept."""

import json
import tracemalloc

import pytest

from harness.history import FormatUnsupported, HistoryUnreadable, Run, read_history
from harness.history.lines import MAX_LINE_BYTES

HEADER = '{"kind":"header","format":1,"run":"1","sut":"x","world":"process"}'


def line(index, **more):
    event = {"kind": "op", "index": index, "time": index, "clock": "host", "process": 0}
    return json.dumps(event | {"type": "invoke", "f": "read"} | more)


@pytest.fixture
def sealed(tmp_path):
    run = Run.create(tmp_path / "run", run="1", sut="none", world="process")
    with run.shard("a", "host") as shard:
        for time in range(3):
            shard.write(_op(time))
    return run.seal().path


def _op(time):
    event = {"kind": "op", "time": time, "process": time, "type": "invoke", "f": "read"}
    return event | {"value": "ö"}


def write(tmp_path, *lines):
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"".join(x if isinstance(x, bytes) else x.encode() + b"\n" for x in lines))
    return path


def test_a_sealed_history_is_complete_and_can_be_read_again_and_again(sealed):
    history = read_history(sealed)
    assert history.complete
    assert history.header["sut"] == "none"
    assert history.footer["events"] == 3
    assert [e["time"] for e in history.events] == [e["time"] for e in history.events] == [0, 1, 2]


def test_a_run_folder_stands_for_its_history(sealed):
    assert read_history(sealed.parent).complete


def test_problems_and_footer_are_known_without_reading_the_events_first(sealed):
    sealed.write_bytes(sealed.read_bytes().replace(b'"time":1', b'"time":9'))
    history = read_history(sealed)
    assert not history.complete
    assert [problem.line for problem in history.problems] == [5]


def test_stopping_in_the_middle_settles_nothing_wrongly(sealed):
    history = read_history(sealed)
    next(iter(history.events))
    assert history.complete


def test_any_flipped_byte_is_noticed(sealed):
    whole = sealed.read_bytes()
    for at in range(len(whole)):
        broken = bytearray(whole)
        broken[at] ^= 0x01
        sealed.write_bytes(broken)
        try:
            assert not read_history(sealed).complete, at
        except FormatUnsupported:
            assert b'"format":1' not in broken


def test_a_file_cut_at_any_byte_is_incomplete_and_keeps_its_whole_lines(sealed):
    whole = sealed.read_bytes()
    for cut in range(len(whole)):
        sealed.write_bytes(whole[:cut])
        history = read_history(sealed)
        assert not history.complete, cut
        kept = len(list(history.events))
        # A line whose newline alone is missing still is readable; nothing else is made up.
        assert max(0, min(3, whole[:cut].count(b"\n") - 1)) <= kept <= 3, cut


def test_a_missing_footer_means_incomplete_and_no_problem_of_a_line(tmp_path):
    history = read_history(write(tmp_path, HEADER, line(0)))
    assert (history.complete, history.problems, history.footer) == (False, [], None)
    assert history.reasons == ["no footer: the run was not sealed, or the file was cut"]


BAD_LINES = {
    "not JSON": b"garbage\n",
    "not JSON: Expecting": b"{\n",
    "one JSON object": b"[1]\n",
    "not UTF-8": b'{"kind":"op","f":"\xff\xfe"}\n',
    "Invalid control character": b'{"kind":"op","f":"a\x00b"}\n',
    "NaN": b'{"kind":"op","value":NaN}\n',
    "out of range": b'{"kind":"op","value":1e999}\n',
    "does not fit 64 bits": b'{"kind":"op","value":123456789012345678901234567890}\n',
    "nested deeper": b'{"kind":"op","value":' + b"[" * 70 + b"]" * 70 + b"}\n",
    "nested deeper than": b'{"kind":"op","value":' + b'{"a":' * 100_000 + b"\n",
    "surrogate": b'{"kind":"op","f":"\\ud800"}\n',
    "unknown kind": b'{"kind":"opera"}\n',
    "needs time": b'{"kind":"op"}\n',
    "process must be": json.dumps({**json.loads(line(1)), "process": "x"}).encode() + b"\n",
    "needs index": json.dumps(_op(1) | {"clock": "host"}).encode() + b"\n",
    "repeated": line(0).encode() + b"\n",
    "belongs in a shard": b'{"kind":"end","lines":0}\n',
    "not the first line": HEADER.encode() + b"\n",
    "something follows": line(1).encode() + b"{}\n",
}


@pytest.mark.parametrize("words", BAD_LINES)
def test_a_malformed_line_is_named_and_the_rest_is_kept(tmp_path, words):
    path = write(tmp_path, HEADER, line(0), BAD_LINES[words], line(1))
    history = read_history(path)
    assert [event["index"] for event in history.events] == [0, 1]
    assert len(history.problems) == 1
    problem = history.problems[0]
    assert (problem.file, problem.line) == (str(path), 3)
    assert words in problem.reason


def test_brackets_inside_text_are_not_nesting(tmp_path):
    history = read_history(write(tmp_path, HEADER, line(0, value="[" * 500 + "{" * 500)))
    assert history.problems == []
    assert len(list(history.events)) == 1


def test_a_gap_in_the_index_is_reported_and_the_line_kept(tmp_path):
    history = read_history(write(tmp_path, HEADER, line(0), line(5)))
    assert [event["index"] for event in history.events] == [0, 5]
    assert [problem.reason for problem in history.problems] == ["events 1 to 4 are missing"]


def test_events_out_of_order_are_left_out(tmp_path):
    history = read_history(write(tmp_path, HEADER, line(0), line(2), line(1), line(3)))
    assert [event["index"] for event in history.events] == [0, 2, 3]
    assert [problem.line for problem in history.problems] == [3, 4]


def test_nothing_may_follow_the_footer(sealed):
    with sealed.open("ab") as file:
        file.write(line(3).encode() + b"\n")
    reasons = [problem.reason for problem in read_history(sealed).problems]
    assert "an event after the footer" in reasons


def test_a_file_without_header_is_read_and_reported(tmp_path):
    history = read_history(write(tmp_path, line(0)))
    assert history.header == {}
    assert len(list(history.events)) == 1
    assert [problem.reason for problem in history.problems] == ["there is no header"]


def test_an_empty_file_is_an_incomplete_history(tmp_path):
    history = read_history(write(tmp_path))
    assert (history.complete, list(history.events)) == (False, [])


def test_an_unknown_format_number_is_refused_with_advice(tmp_path):
    path = write(tmp_path, HEADER.replace('"format":1', '"format":2'))
    with pytest.raises(FormatUnsupported, match="format 2; this version reads format 1"):
        read_history(path)


def test_a_missing_file_is_said_in_one_sentence(tmp_path):
    with pytest.raises(HistoryUnreadable, match="No such file"):
        read_history(tmp_path / "none.jsonl")
    with pytest.raises(HistoryUnreadable, match="seal the run first"):
        read_history(tmp_path)


def test_an_enormous_line_is_passed_over_without_being_held(tmp_path):
    path = tmp_path / "history.jsonl"
    with path.open("wb") as file:
        file.write(HEADER.encode() + b"\n" + line(0).encode() + b"\n")
        for _ in range(8):
            file.write(b"x" * MAX_LINE_BYTES)
        file.write(b"\n" + line(1).encode() + b"\n")
    tracemalloc.start()
    history = read_history(path)
    assert [event["index"] for event in history.events] == [0, 1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [problem.line for problem in history.problems] == [3]
    assert peak < 6 * MAX_LINE_BYTES


def test_a_file_of_garbage_is_summed_up(tmp_path):
    history = read_history(write(tmp_path, HEADER, *["x"] * 5000))
    assert len(history.problems) == 1001
    assert "4000 more" in history.problems[-1].reason
