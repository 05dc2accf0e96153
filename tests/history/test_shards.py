"""A writer that is killed loses at most its last line, and everybody can tell."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.history import (
    EventRefused,
    Run,
    RunFolderError,
    ShardClosed,
    ShardWriteFailed,
    ShardWriter,
    read_history,
)

ROOT = Path(__file__).resolve().parents[2]


def op(time, **more):
    return {"kind": "op", "time": time, "process": 0, "type": "invoke", "f": "read", **more}


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", run="1", sut="none", world="process")


def test_a_shard_is_its_first_line_the_events_and_an_end_line(tmp_path):
    with ShardWriter(tmp_path / "client-1.jsonl", clock="host") as shard:
        shard.write(op(5, value=None))
    assert lines(tmp_path / "client-1.jsonl") == [
        {"kind": "shard", "format": 1, "writer": "client-1", "clock": "host"},
        {"kind": "op", "time": 5, "clock": "host", "process": 0, "type": "invoke", "f": "read"}
        | {"value": None},
        {"kind": "end", "lines": 1},
    ]


def test_an_event_is_in_the_file_before_write_returns(tmp_path):
    shard = ShardWriter(tmp_path / "a.jsonl", clock="host")
    shard.write(op(1))
    assert lines(tmp_path / "a.jsonl")[-1]["time"] == 1
    shard.close()


def test_an_event_may_name_another_clock_than_its_writer(tmp_path):
    with ShardWriter(tmp_path / "a.jsonl", clock="host") as shard:
        shard.write(op(1, clock="broker-1"))
    assert lines(tmp_path / "a.jsonl")[1]["clock"] == "broker-1"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"time": 1}, "not kind"),
        ({"kind": "footer", "events": 0, "sha256": "0" * 64}, "not kind"),
        ({"kind": ["op"]}, "not kind"),
        ({"kind": "op", "time": 1}, "needs process, type, f"),
        (op("soon"), "time must be integer"),
        (op(True), "time must be integer"),
        (op(1, process=-1), "process must be at least 0"),
        (op(1, type="maybe"), "type must be invoke or ok or fail or info"),
        (op(1, index=4), "index is given by sealing"),
        (op(1, value=b"bytes"), "value must be JSON, not b'bytes'"),
        (op(1, value=[b"bytes"]), "bytes is not JSON serializable"),
        (op(1, value={1, 2}), "value must be JSON"),
        (op(1, value=[object()]), "object is not JSON serializable"),
        (op(1, value=float("nan")), "Out of range float"),
        (op(1, value=2**63), "does not fit 64 bits"),
        (op(1, value="\ud800"), "surrogate"),
        (op(1, value="x" * (17 * 1024 * 1024)), "longer than"),
    ],
)
def test_what_is_not_an_event_is_refused_and_leaves_no_trace(tmp_path, event, words):
    shard = ShardWriter(tmp_path / "a.jsonl", clock="host")
    with pytest.raises(EventRefused, match=words):
        shard.write(event)
    shard.write(op(2))
    shard.close()
    assert [line["kind"] for line in lines(tmp_path / "a.jsonl")] == ["shard", "op", "end"]


def test_nesting_without_end_is_refused_and_not_a_crash(tmp_path):
    loop: list = []
    loop.append(loop)
    deep: list = []
    for _ in range(200):
        deep = [deep]
    with ShardWriter(tmp_path / "a.jsonl", clock="host") as shard:
        for value in (loop, deep):
            with pytest.raises(EventRefused, match=r"nested|itself"):
                shard.write(op(1, value=value))


def test_a_closed_shard_takes_no_more_events(tmp_path):
    shard = ShardWriter(tmp_path / "a.jsonl", clock="host")
    shard.close()
    shard.close()
    with pytest.raises(ShardClosed, match="closed"):
        shard.write(op(1))


def test_a_block_that_fails_leaves_a_shard_without_end_line(tmp_path):
    def fail():
        with ShardWriter(tmp_path / "a.jsonl", clock="host") as shard:
            shard.write(op(1))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert lines(tmp_path / "a.jsonl")[-1]["kind"] == "op"


def test_a_shard_is_never_reopened(tmp_path):
    ShardWriter(tmp_path / "a.jsonl", clock="host").close()
    with pytest.raises(RunFolderError, match="a name of its own"):
        ShardWriter(tmp_path / "a.jsonl", clock="host")


def test_a_full_disk_takes_the_half_line_back_and_says_that_nothing_is_lost(run):
    shard = run.shard("client-1", "host")
    shard.write(op(1))
    room = shard.path.stat().st_size + 20
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        with pytest.raises(ShardWriteFailed, match="Nothing already recorded is lost"):
            shard.write(op(2, value="x" * 500))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    shard.write(op(3))
    shard.close()
    sealed = run.seal()
    assert sealed.complete
    assert [event["time"] for event in read_history(sealed.path).events] == [1, 3]


def test_threads_share_a_shard_without_mixing_their_lines(run):
    shard = run.shard("client-1", "host")

    def work(process):
        for time in range(200):
            shard.write(op(time, process=process, value="x" * process * 50))

    workers = [threading.Thread(target=work, args=(process,)) for process in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    shard.close()
    sealed = run.seal()
    assert (sealed.events, sealed.complete) == (800, True)


WRITER = """
import sys
from harness.history import Run
shard = Run.open(sys.argv[1]).shard("victim", "host")
time = 0
while True:
    time += 1
    shard.write({"kind": "op", "time": time, "process": time, "type": "invoke", "f": "write",
                 "value": "v" * (time % 97)})
    print(time, flush=True)
"""


def test_kill_minus_nine_loses_at_most_the_last_line_and_the_run_says_incomplete(run):
    with run.shard("witness", "host") as witness:
        witness.write(op(1))
    victim = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(run.folder)], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    assert victim.stdout is not None
    for _ in range(random.Random(os.getpid()).randint(1, 400)):
        last = int(victim.stdout.readline())
    os.kill(victim.pid, signal.SIGKILL)
    last = max([last, *(int(line) for line in victim.stdout if line.strip())])
    victim.wait()
    victim.stdout.close()

    sealed = run.seal()
    times = [e["time"] for e in read_history(sealed.path).events if e["f"] == "write"]
    assert times[:last] == list(range(1, last + 1)), "a line that was acknowledged is missing"
    assert len(times) <= last + 1
    assert not sealed.complete
    assert any("victim.jsonl" in reason and "no end line" in reason for reason in sealed.reasons)
    assert not read_history(sealed.path).complete


def test_a_shard_cut_at_any_byte_keeps_every_whole_line_and_seals_as_incomplete(tmp_path):
    with ShardWriter(tmp_path / "whole.jsonl", clock="host") as shard:
        for time, value in enumerate(("a", "böse \U0001f525", None)):
            shard.write(op(time, process=time, value=value))
    whole = (tmp_path / "whole.jsonl").read_bytes()
    run = Run.create(tmp_path / "run", run="1", sut="none", world="process")
    victim = run.folder / "shards" / "victim.jsonl"
    for cut in range(len(whole)):
        victim.write_bytes(whole[:cut])
        whole_lines = whole[:cut].count(b"\n")
        sealed = run.seal()
        assert not sealed.complete, cut
        assert sealed.events == max(0, min(3, whole_lines - 1)), cut
        torn = cut > 0 and whole[cut - 1 : cut] != b"\n"
        assert torn == any("torn" in reason for reason in sealed.reasons), cut
        history = read_history(sealed.path)
        assert [event["time"] for event in history.events] == list(range(sealed.events)), cut
        assert not history.complete
        assert history.problems == []
    victim.write_bytes(whole)
    assert run.seal().complete


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "a/b", "a\\b", "a b", ".hidden", "-x", "a\0b", "ä", "x" * 101]
)
def test_a_writer_cannot_be_named_out_of_the_folder(run, name):
    with pytest.raises(RunFolderError, match="cannot name a writer"):
        run.shard(name, "host")


def test_a_run_is_made_once_and_opened_by_others(tmp_path):
    made = Run.create(tmp_path / "r", run="7", sut="reference", world="sim", seed=7, extra=[1])
    assert Run.open(tmp_path / "r").header == made.header
    with pytest.raises(RunFolderError, match="already holds a run"):
        Run.create(tmp_path / "r", run="8", sut="reference", world="sim")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"run": "1", "sut": "x"}, "needs world"),
        ({"run": "1", "sut": "x", "world": "moon"}, "world must be"),
        ({"run": 1, "sut": "x", "world": "sim"}, "run must be string"),
        ({"run": "1", "sut": "x", "world": "sim", "more": object()}, "more must be JSON"),
    ],
)
def test_a_run_needs_a_sound_header(tmp_path, fields, words):
    with pytest.raises(RunFolderError, match=words):
        Run.create(tmp_path / "r", **fields)


def test_a_folder_without_a_sound_header_is_not_a_run(tmp_path):
    with pytest.raises(RunFolderError, match="not a run folder"):
        Run.open(tmp_path)
    (tmp_path / "header.json").write_text('{"kind":"header"')
    with pytest.raises(RunFolderError, match="not JSON"):
        Run.open(tmp_path)
