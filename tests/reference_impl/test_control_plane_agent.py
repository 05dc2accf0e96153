"""The agent over real pipes: answers in order, survives bad lines, ends with its input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import reference_impl
from reference_impl.control_plane.lines import topic_id_of
from reference_impl.control_plane.postgres import rows

ROOT = Path(reference_impl.__file__).parent.parent
NOWHERE = "postgresql://postgres@127.0.0.1:1/none"

MUTANTS = """
from reference_impl.decisions import Mutant, SqlMutant

MUTANTS = (
    Mutant(name="echo", decision="reported-boundary",
           replace=lambda log, asked, error: log.boundary if asked is None else asked),
    SqlMutant(name="sql-echo", decision="sql:reported_boundary",
              old="coalesce(log.diskless_log_start_offset, -1)",
              new="coalesce(p_asked, log.diskless_log_start_offset, -1)"),
    SqlMutant(name="pending", decision="sql:migration:V11", old="DEFAULT 0", new="DEFAULT -1"),
)
"""


class Agent:
    """A running agent and its two pipes."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reference_impl", "control-plane", *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.ready = self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found: dict[str, Any] = json.loads(line) if line else {}
        return found

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def ask(self, number: int, f: str, **arguments: Any) -> dict[str, Any]:
        request = {"id": number, "f": f, "topic": "t", "partition": 0, **arguments}
        self.send(json.dumps(request).encode() + b"\n")
        return self.read()

    def end(self) -> tuple[bytes, bytes, int]:
        out, err = self.process.communicate(timeout=20)
        return out, err, self.process.returncode


Start = Callable[..., Agent]


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[Agent] = []

    def begin(*arguments: str) -> Agent:
        running.append(Agent(*arguments))
        return running[-1]

    yield begin
    for agent in running:
        agent.process.kill()
        agent.process.communicate()


@pytest.fixture
def mutants(tmp_path: Path) -> Path:
    path = tmp_path / "bugs.py"
    path.write_text(MUTANTS)
    return path


def test_the_first_line_says_that_it_is_ready(start: Start) -> None:
    agent = start("--dsn", "memory:")
    pid = agent.process.pid
    assert agent.ready == {"ready": True, "pid": pid, "several_partitions": True}


def test_a_request_is_answered_with_its_id_and_the_stored_state(start: Start) -> None:
    agent = start("--dsn", "memory:")
    agent.ask(1, "create_log")
    call = {"boundary": 100, "leader_epoch": 5, "entries": [[7, 0, 0, 4, 10, 0]]}
    answer = agent.ask(7, "initialize_diskless_migration", **call)
    assert answer == {"id": 7, "error": "NONE", "boundary": 100, "epoch": 5, "reset_epoch": -1}
    assert agent.ask(8, "describe_producers")["seeds"] == [[7, 0, 0, 4, 10, 0]]
    assert agent.ask(9, "commit_batch", record_count=2)["base_offset"] == 100


def test_requests_sent_in_one_go_are_answered_in_order(start: Start) -> None:
    agent = start("--dsn", "memory:")
    where = '"topic":"t","partition":0'
    agent.send(b"".join(f'{{"id":{n},"f":"create_log",{where}}}\n'.encode() for n in (3, 1, 2)))
    assert [agent.read()["id"] for _ in range(3)] == [3, 1, 2]


@pytest.mark.parametrize(
    ("line", "number", "sentence"),
    [
        (b"not json", None, "not JSON"),
        (b"\xff\xfe", None, "not JSON"),
        (b"[" * 100_000, None, "not JSON"),
        (b"[]", None, "a JSON object is needed"),
        (b"", None, "not JSON"),
        (b"{}", None, "id must be an integer"),
        (b'{"id":4}', 4, "'f' is missing"),
        (b'{"id":4,"f":"create_log","topic":"t","partition":"0"}', 4, "must be an integer"),
    ],
)
def test_a_malformed_line_is_answered_and_the_agent_goes_on(
    start: Start, line: bytes, number: int | None, sentence: str
) -> None:
    agent = start("--dsn", "memory:")
    agent.send(line + b"\n")
    answer = agent.read()
    assert (answer["id"], answer["error"]) == (number, "INVALID_REQUEST")
    assert sentence in answer["message"]
    assert agent.ask(5, "create_log")["error"] == "NONE"


def test_a_call_with_unsuitable_arguments_is_answered_with_the_state(start: Start) -> None:
    agent = start("--dsn", "memory:")
    agent.ask(1, "create_log")
    answer = agent.ask(2, "commit_batch", record_count=0)
    assert (answer["error"], answer["boundary"]) == ("INVALID_REQUEST", -1)


def test_the_end_of_the_input_ends_the_agent(start: Start) -> None:
    assert start("--dsn", "memory:").end() == (b"", b"", 0)


def test_a_torn_last_line_is_not_carried_out(start: Start, database: str) -> None:
    agent = start("--dsn", database)
    agent.send(b'{"id":1,"f":"create_log","topic":"t","partition":0}')
    out, _, status = agent.end()
    assert (json.loads(out)["error"], status) == ("INVALID_REQUEST", 0)
    assert rows(database) == []


def test_a_reader_that_went_away_ends_the_agent_quietly(start: Start) -> None:
    agent = start("--dsn", "memory:")
    assert agent.process.stdout is not None
    agent.process.stdout.close()
    agent.send(b"anything\n")
    assert agent.process.wait(timeout=20) == 0
    assert agent.process.stderr is not None
    assert agent.process.stderr.read() == b""


def test_agents_of_one_database_share_its_registers(start: Start, database: str) -> None:
    one, two = start("--dsn", database), start("--dsn", database)
    one.ask(1, "create_log")
    one.ask(2, "register_leader_epoch", leader_epoch=5)
    fenced = two.ask(1, "register_leader_epoch", leader_epoch=4)
    assert (fenced["error"], fenced["epoch"]) == ("FENCED_LEADER_EPOCH", 5)


def test_what_a_killed_agent_has_answered_is_stored(start: Start, database: str) -> None:
    agent = start("--dsn", database)
    agent.ask(1, "create_log")
    agent.ask(2, "register_leader_epoch", leader_epoch=5)
    agent.process.send_signal(signal.SIGKILL)
    agent.end()
    assert start("--dsn", database).ask(1, "get_diskless_log_start_offset")["epoch"] == 5


def test_an_agent_installs_the_schema_it_needs(start: Start, bare_database: str) -> None:
    assert start("--dsn", bare_database).ask(1, "create_log")["error"] == "NONE"


def test_an_agent_leaves_the_schema_alone_if_told_so(start: Start, bare_database: str) -> None:
    agent = start("--dsn", bare_database, "--no-install")
    answer = agent.ask(1, "create_log")
    assert answer["error"] == "KAFKA_STORAGE_ERROR"
    assert "create_log" in answer["message"]


def test_an_agent_without_database_starts_and_answers_that_it_timed_out(start: Start) -> None:
    agent = start("--dsn", NOWHERE)
    answer = agent.ask(1, "create_log")
    assert (answer["error"], answer["boundary"]) == ("REQUEST_TIMED_OUT", None)


def test_a_python_mutant_works_in_another_process(start: Start, mutants: Path) -> None:
    agent = start("--dsn", "memory:", "--mutant", f"{mutants}:echo")
    assert agent.ready["mutants"] == ["echo"]
    agent.ask(1, "create_log")
    agent.ask(2, "set_diskless_log_start_offset", boundary=100)
    refused = agent.ask(3, "set_diskless_log_start_offset", boundary=200)
    assert (refused["error"], refused["boundary"]) == ("BOUNDARY_MISMATCH", 200)


def test_a_sql_mutant_works_in_another_process(
    start: Start, mutants: Path, bare_database: str
) -> None:
    agent = start("--dsn", bare_database, "--mutant", f"{mutants}:sql-echo")
    agent.ask(1, "create_log")
    agent.ask(2, "set_diskless_log_start_offset", boundary=100)
    refused = agent.ask(3, "set_diskless_log_start_offset", boundary=200)
    assert (refused["error"], refused["boundary"]) == ("BOUNDARY_MISMATCH", 200)


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ((), 64, "--dsn"),
        (("--dsn", "memory:", "--mutant", "nonsense"), 64, "names no mutant"),
        (("--dsn", "memory:", "--trace", "x"), 64, "--trace needs --node and --clock"),
        (("--dsn", "memory:", "--mutant", "{mutants}:sql-echo"), 64, "edits SQL"),
        (("--dsn", NOWHERE, "--mutant", "{mutants}:sql-echo"), 3, "no schema at"),
        (("--dsn", "{database}", "--mutant", "{mutants}:pending"), 3, "comes too late"),
    ],
)
def test_an_agent_that_cannot_start_says_why_in_one_line(
    start: Start,
    mutants: Path,
    database: str,
    arguments: tuple[str, ...],
    status: int,
    sentence: str,
) -> None:
    agent = start(*(one.format(mutants=mutants, database=database) for one in arguments))
    out, err, found = agent.end()
    assert (agent.ready, out, found) == ({}, b"", status)
    assert sentence in err.decode()
    assert b"Traceback" not in err


def test_effects_are_appended_line_by_line(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text('{"torn": ')
    tracing = ("--trace", str(path), "--node", "2", "--clock", "host")
    agent = start("--dsn", "memory:", *tracing)
    agent.ask(1, "create_log")
    agent.ask(2, "commit_batch", record_count=1)
    torn, *lines = path.read_text().splitlines()
    assert torn == '{"torn": '
    effects = [json.loads(line) for line in lines]
    assert all(isinstance(effect.pop("time"), int) for effect in effects)
    same = {"kind": "effect", "clock": "host", "node": 2, "port": "control_plane"}
    where = {"topic_id": str(topic_id_of("t")), "partition": 0}
    created = {"partitions": [{**where, "topic": "t"}]}
    committed = {"partitions": [{**where, "record_count": 1}]}
    assert effects == [
        {**same, "effect": 1, "call": "create_log", "args": created, "outcome": "ok"},
        {
            **same,
            "effect": 2,
            "call": "commit_batch",
            "args": committed,
            "outcome": "BOUNDARY_UNSET",
        },
    ]


def test_several_partitions_are_asked_and_answered_in_one_line(start: Start) -> None:
    agent = start("--dsn", "memory:")
    agent.ask(1, "create_log")
    line = {"id": 2, "f": "register_leader_epoch", "partitions": []}
    line["partitions"] = [{"topic": t, "partition": 0, "leader_epoch": 5} for t in ("u", "t")]
    agent.send(json.dumps(line).encode() + b"\n")
    answer = agent.read()
    assert answer["id"] == 2
    assert [one["error"] for one in answer["partitions"]] == ["UNKNOWN_TOPIC_OR_PARTITION", "NONE"]


def test_the_schema_check_catches_a_foreign_history(start: Start, own_database: str) -> None:
    with psycopg.connect(own_database, autocommit=True) as connection:
        connection.execute("UPDATE schema_history SET checksum = 'other' WHERE version = 1")
    _, err, status = start("--dsn", own_database).end()
    assert (status, b"changed after it was applied" in err) == (3, True)
