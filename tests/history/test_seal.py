"""Sealing: one order, one hash, the same bytes every time, and the truth about what is missing."""

import hashlib
import json
import os
import shutil

import pytest

from harness.history import Run, ShardWriteFailed, read_history


def op(time, **more):
    return {"kind": "op", "time": time, "process": 0, "type": "invoke", "f": "read", **more}


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", run="1", sut="none", world="process")


def record(run, name, times, clock="host"):
    with run.shard(name, clock) as shard:
        for time in times:
            shard.write(op(time, value=f"{name}-{time}"))


def put(run, name, *lines):
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    (run.folder / "shards" / f"{name}.jsonl").write_text(text)


def first(name, **more):
    return {"kind": "shard", "format": 1, "writer": name, "clock": "host", **more}


def end(count):
    return {"kind": "end", "lines": count}


def values(run):
    return [event["value"] for event in read_history(run.history).events]


def test_lines_of_one_clock_are_merged_by_time(run):
    record(run, "b", [1, 4, 5])
    record(run, "a", [2, 3, 6])
    run.seal()
    assert values(run) == ["b-1", "a-2", "a-3", "b-4", "b-5", "a-6"]


def test_equal_times_go_by_name_of_the_shard(run):
    record(run, "b", [7, 7])
    record(run, "a", [7])
    run.seal()
    assert values(run) == ["a-7", "b-7", "b-7"]


def test_the_lines_of_a_shard_keep_their_order_even_if_its_clock_went_back(run):
    record(run, "a", [5, 3, 4])
    run.seal()
    assert values(run) == ["a-5", "a-3", "a-4"]


def test_a_line_of_another_clock_stays_behind_the_line_before_it(run):
    with run.shard("a", "host") as shard:
        shard.write(op(10, value="a-10"))
        shard.write(op(10**15, clock="broker-1", value="effect"))
        shard.write(op(11, value="a-11"))
    record(run, "b", [10, 12])
    run.seal()
    assert values(run) == ["a-10", "effect", "b-10", "a-11", "b-12"]


def test_index_counts_from_zero_and_the_footer_counts_and_hashes_what_is_before_it(run):
    record(run, "a", [1, 2])
    sealed = run.seal()
    raw = run.history.read_bytes()
    lines = [json.loads(line) for line in raw.splitlines()]
    assert [line["kind"] for line in lines] == ["header", "op", "op", "footer"]
    assert [line["index"] for line in lines[1:-1]] == [0, 1]
    assert lines[0] == run.header
    assert lines[-1]["events"] == sealed.events == 2
    assert lines[-1]["shards"] == [{"writer": "a", "clock": "host", "events": 2}]
    before = raw[: raw.rindex(b',"sha256":"')]
    assert lines[-1]["sha256"] == sealed.sha256 == hashlib.sha256(before).hexdigest()
    assert (sealed.complete, sealed.reasons, sealed.problems) == (True, (), ())


def test_the_index_stands_behind_the_kind_and_the_rest_of_a_line_is_copied(run):
    record(run, "a", [1])
    run.seal()
    assert run.history.read_bytes().splitlines()[1].startswith(b'{"kind":"op","index":0,"time":1,')


def test_lines_of_other_hands_may_have_spaces_and_any_order_of_fields(run):
    loose = (
        ' {"f":"read", "time": 3, "clock":"host", "process": 1, "type":"invoke", "kind":"op"} \n'
    )
    put(run, "a", first("a"), loose, end(1))
    assert run.seal().complete
    assert [event["index"] for event in read_history(run.history).events] == [0]


def test_sealing_twice_and_sealing_a_copy_elsewhere_give_the_same_bytes(run, tmp_path):
    record(run, "a", [3, 1, 2])
    put(run, "b", first("b"), op(1, clock="host"), '{"kind":"op","ti')
    first_bytes = run.seal().path.read_bytes()
    assert run.seal().path.read_bytes() == first_bytes
    shutil.copytree(run.folder, tmp_path / "elsewhere" / "copy")
    assert Run.open(tmp_path / "elsewhere" / "copy").seal().path.read_bytes() == first_bytes


def test_a_run_without_shards_is_incomplete(run):
    sealed = run.seal()
    assert (sealed.complete, sealed.events) == (False, 0)
    assert sealed.reasons == ("no shard: nothing was recorded",)


def test_a_run_whose_writers_saw_nothing_is_complete(run):
    record(run, "a", [])
    assert run.seal().complete


@pytest.mark.parametrize(
    ("lines", "kept", "words"),
    [
        ([], 0, "empty"),
        ([first("a"), op(1, clock="host")], 1, "no end line"),
        ([first("a"), op(1, clock="host"), '{"kind":"op"'], 1, "torn"),
        ([first("a"), "garbage\n", op(1, clock="host"), end(1)], 1, "a.jsonl:2: malformed"),
        ([first("a"), '{"time":1}\n', op(1, clock="host"), end(1)], 1, "there is no kind"),
        ([first("a"), op("x", clock="host"), end(0)], 0, "time must be integer"),
        ([first("a"), op(1), end(0)], 0, "clock must be string"),
        ([first("a"), op(1, clock="host", index=3), end(0)], 0, "index is given by sealing"),
        ([first("a"), {"kind": "header"}, end(0)], 0, "needs format"),
        ([first("a"), op(1, clock="host"), end(7)], 1, "wrote 7 events, 1 are here"),
        ([first("a"), end(0), op(1, clock="host")], 0, "after the end line"),
        ([op(1, clock="host"), end(1)], 1, "not a shard line"),
        ([first("a"), first("a"), end(0)], 0, "two writers"),
        ([first("a"), '{"kind":"op","value":' + "[" * 5000 + "\n", end(0)], 0, "nested"),
        ([first("a"), '{"kind":["op"]}\n', end(0)], 0, "unknown kind"),
    ],
)
def test_what_a_shard_lacks_is_a_reason_and_the_rest_is_kept(run, lines, kept, words):
    put(run, "a", *lines)
    sealed = run.seal()
    assert sealed.events == kept
    assert not sealed.complete
    assert any(words in reason for reason in sealed.reasons), sealed.reasons
    history = read_history(run.history)
    assert not history.complete
    assert list(sealed.reasons) == history.footer["reasons"]


def test_many_bad_lines_do_not_flood_the_footer(run):
    put(run, "a", first("a"), *["garbage\n"] * 3000, end(0))
    sealed = run.seal()
    assert len(sealed.reasons) == 101
    assert "more" in sealed.reasons[-1]


def test_a_mortal_writer_may_be_cut_short_without_spoiling_the_run(run):
    record(run, "client", [1])
    put(run, "broker", first("broker", mortal=True), op(2, clock="host"), '{"kind":"eff')
    sealed = run.seal()
    assert (sealed.complete, sealed.events) == (True, 2)
    assert any("torn" in note for note in sealed.notes)
    assert read_history(run.history).complete


def test_a_mortal_writer_may_start_again_behind_its_torn_line(run):
    life = first("broker", mortal=True)
    torn = '{"kind":"eff\n'
    put(run, "broker", life, op(1, clock="host"), torn, life, op(2, clock="host"), end(1))
    sealed = run.seal()
    assert (sealed.complete, sealed.events) == (True, 2)
    assert any("started again" in note for note in sealed.notes)


def test_a_bad_line_in_the_middle_of_a_life_spoils_even_a_mortal_shard(run):
    life = first("broker", mortal=True)
    put(run, "broker", life, "garbage\n", op(1, clock="host"), end(1))
    assert not run.seal().complete


def test_a_line_beyond_the_bound_is_dropped_and_named(run):
    long = op(1, clock="host", value="x" * (17 << 20))
    put(run, "a", first("a"), long, op(2, clock="host"), end(1))
    sealed = run.seal()
    assert sealed.events == 1
    assert any("longer than" in reason for reason in sealed.reasons)


def test_a_failing_disk_leaves_no_half_history(run, monkeypatch):
    record(run, "a", [1])

    def fail(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ShardWriteFailed, match="the shards are untouched"):
        run.seal()
    assert sorted(p.name for p in run.folder.iterdir()) == ["header.json", "shards"]
