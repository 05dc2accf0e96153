"""The hooks of a SUT file: tiny programs and servers, well-behaved and everything but."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from harness.deployments import hooks
from harness.deployments.control_program import Deadlines
from harness.deployments.deployment import ClientLost, Deployment, Role
from harness.deployments.external import ExternalClient, external_deployment
from harness.errors import AdapterError, CannotConnect, LabBroken, ProtocolBreach
from harness.history import Run
from harness.sut import Hook, read_sut
from harness.sut.protocol import SCHEMA_FILE

pytestmark = pytest.mark.process

EXAMPLE = re.search(r"```python\n(.*?)```", SCHEMA_FILE.with_name("README.md").read_text(), re.S)[1]
READY = 'import json, sys, time\nprint(json.dumps({"ready": True}), flush=True)\n'
# Answers every question but the second, which it keeps.
SECOND_KEPT = READY + (
    "for n, line in enumerate(sys.stdin):\n"
    "    if n == 1: time.sleep(600)\n"
    '    print(json.dumps({"id": json.loads(line)["id"], "error": "NONE", "boundary": n}),'
    " flush=True)\n"
)
USUAL, NOT_READY, NO_ANSWER = Deadlines(), Deadlines(ready_s=0.1), Deadlines(answer_s=0.1)
LOG = {"topic": "t", "partition": 0}

Deploy = Callable[..., Deployment]


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    """Deploys a system with these hooks; of a control plane the source is given."""
    opened = []

    def start(*, deadlines: Deadlines | None = None, **given: str) -> Deployment:
        if "control_plane" in given:
            (tmp_path / "control.py").write_text(given["control_plane"])
            given["control_plane"] = f"exec:{shlex.quote(sys.executable)} control.py"
        lines = [f"{name} = {json.dumps(address)}" for name, address in given.items()]
        file = tmp_path / "sut.toml"
        about = '[sut]\nname = "heron"\nversion = "1"\nprofiles = ["migration"]\n[hooks]\n'
        file.write_text(about + "\n".join(lines))
        run = Run.create(tmp_path / "run", run="1", sut="heron", world="external")
        opened.append(external_deployment(run, read_sut(file), deadlines=deadlines))
        return opened[-1].__enter__()

    yield start
    for one in opened:
        one.__exit__(None, None, None)


def client_of(system: Deployment, name: str = "a") -> ExternalClient:
    return system.run(system.client(name))


# ── control_plane ────────────────────────────────────────────────────────────────────────────────


def test_clients_ask_programs_of_their_own_that_speak_for_one_control_plane(deploy: Deploy) -> None:
    system = deploy(control_plane=EXAMPLE)
    old, new = client_of(system, "old"), client_of(system, "new")

    system.run(old.control_plane("create_log", LOG))
    moved = system.run(new.control_plane("register_leader_epoch", {**LOG, "leader_epoch": 6}))
    fenced = system.run(old.control_plane("register_leader_epoch", {**LOG, "leader_epoch": 5}))

    assert moved is not None
    assert moved.error == "NONE"
    assert fenced is not None
    assert (fenced.error, fenced.stored["epoch"]) == (
        "FENCED_LEADER_EPOCH",
        6,
    )
    assert system.nodes(Role.CLIENT) == ("client-old", "client-new")
    assert system.levers.offered == {"lose_replies"}


def test_a_killed_client_loses_its_answer_and_starts_again(deploy: Deploy) -> None:
    system = deploy(control_plane=SECOND_KEPT)
    client = client_of(system)

    async def killed() -> dict[str, int]:
        await client.control_plane("create_log", LOG)
        kept = asyncio.ensure_future(client.control_plane("create_log", LOG))
        await asyncio.sleep(0)
        lever = await system.levers.kill("client-a")
        with pytest.raises(ClientLost, match="client-a was killed"):
            await kept
        with pytest.raises(ClientLost):
            await client.control_plane("create_log", LOG)
        await lever.release()
        again = await client.control_plane("create_log", LOG)
        assert again is not None
        assert again.stored["boundary"] == 0
        return dict(lever.counts)

    assert system.run(killed()) == {
        "processes_ended": 1,
        "operations_open": 1,
        "connections_ended": 0,
    }


def test_a_paused_client_hears_its_answer_when_it_goes_on(deploy: Deploy) -> None:
    system = deploy(control_plane=EXAMPLE)
    client, other = client_of(system), client_of(system, "b")

    async def paused() -> None:
        await client.ready()
        lever = await system.levers.pause("client-a")
        assert lever.counts["threads_stopped"] == 1
        asked = asyncio.ensure_future(client.control_plane("create_log", LOG))
        await other.control_plane("create_log", LOG)
        assert not asked.done()
        await lever.release()
        answer = await asked
        assert answer is not None
        assert answer.error == "NONE"

    system.run(paused())


def test_a_lost_reply_ends_the_program_with_the_question_in_hand(deploy: Deploy) -> None:
    system = deploy(control_plane=SECOND_KEPT)
    client = client_of(system)

    async def lost() -> None:
        await client.control_plane("create_log", LOG)
        lever = await system.levers.lose_replies("control-plane", "client-a", times=1)
        assert await client.control_plane("create_log", LOG) is None
        assert lever.counts == {"replies_dropped": 1}
        answer = await client.control_plane("create_log", LOG)
        assert answer is not None
        assert answer.stored["boundary"] == 0
        await lever.release()
        with pytest.raises(LabBroken, match="lose_replies is not offered here for object-store"):
            await system.levers.lose_replies("object-store")

    system.run(lost())


def test_an_answer_that_is_no_longer_waited_for_is_not_taken_for_the_next(deploy: Deploy) -> None:
    system = deploy(control_plane=EXAMPLE)
    client = client_of(system)

    async def play() -> None:
        first = asyncio.ensure_future(client.control_plane("create_log", LOG))
        while not client.program.asking:
            await asyncio.sleep(0)
        first.cancel()
        answer = await client.control_plane("get_diskless_log_start_offset", LOG)
        assert answer is not None

    system.run(play())


def test_silence_after_an_answer_is_an_unknown_outcome(deploy: Deploy) -> None:
    system = deploy(control_plane=SECOND_KEPT)
    client = client_of(system)
    assert system.run(client.control_plane("create_log", LOG)) is not None

    client.program.deadlines = NO_ANSWER
    assert system.run(client.control_plane("create_log", LOG)) is None

    client.program.deadlines = Deadlines()
    assert system.run(client.control_plane("create_log", LOG)) is not None


@pytest.mark.parametrize(
    ("source", "deadlines", "error", "said"),
    [
        ("import time; time.sleep(600)", NOT_READY, CannotConnect, "no ready line within 0.1 s"),
        ("import sys; sys.exit('no database')", USUAL, CannotConnect, "by itself.*no database"),
        ("print('hello', flush=True); input()", USUAL, ProtocolBreach, "not a JSON object"),
        (READY + "sys.stdin.readline()", USUAL, AdapterError, "ended by itself"),
        (READY + "input(); print('{}', flush=True); input()", USUAL, ProtocolBreach, "not fit"),
        (READY + "print('{}', flush=True); input()", USUAL, ProtocolBreach, "printed|spoke"),
        (READY + "time.sleep(600)", NO_ANSWER, AdapterError, "has never answered anything"),
    ],
    ids=["silent", "ended", "no-json", "mute", "no-answer", "talkative", "slow"],
)
def test_a_broken_program_is_told_from_a_broken_system(
    deploy: Deploy, source: str, deadlines: Deadlines, error: type[AdapterError], said: str
) -> None:
    system = deploy(control_plane=source, deadlines=deadlines)
    client = client_of(system)

    with pytest.raises(error, match=f"(?s){said}"):
        system.run(client.control_plane("create_log", LOG))


def test_a_program_that_is_not_there_is_one_sentence(deploy: Deploy, tmp_path: Path) -> None:
    system = deploy(control_plane=EXAMPLE)
    (tmp_path / "control.py").unlink()

    with pytest.raises(CannotConnect, match="can't open file"):
        system.run(client_of(system).control_plane("create_log", LOG))


# ── metrics ──────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def page(body: bytes, status: int = 200) -> Iterator[str]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/metrics"
        server.shutdown()


def test_metrics_are_rows_of_name_labels_and_value(deploy: Deploy) -> None:
    text = (
        "# HELP commits of batches\n# TYPE commits counter\n"
        'commits{topic="a\\"b",partition="0"} 3\n'
        'ratio 0.25 1700000000000\nlast NaN\nbucket{le="+Inf",} +Inf\n'
    )
    with page(text.encode()) as address:
        system = deploy(metrics=address)
        rows = system.run(system.probe("metrics"))

    assert system.probes == {"metrics"}
    assert rows == [
        {"name": "commits", "labels": {"topic": 'a"b', "partition": "0"}, "value": 3},
        {"name": "ratio", "labels": {}, "value": 0.25},
        {"name": "last", "labels": {}, "value": "NaN"},
        {"name": "bucket", "labels": {"le": "+Inf"}, "value": "+Inf"},
    ]


@pytest.mark.parametrize(
    ("body", "status", "error", "said"),
    [
        (b"<html>log in</html>", 200, ProtocolBreach, "got:  <html>"),
        (b"commits three", 200, ProtocolBreach, "no sample"),
        (b'commits{topic="a} 3', 200, ProtocolBreach, "no sample"),
        (b"", 503, CannotConnect, "answers HTTP/1.0 503 Service Unavailable, not 200"),
        (b"a 1\n" * 100, 200, AdapterError, "longer than 300 bytes"),
    ],
)
def test_a_page_that_is_none_is_told(
    deploy: Deploy,
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    status: int,
    error: type[AdapterError],
    said: str,
) -> None:
    monkeypatch.setattr(hooks, "METRICS_BYTES", 300)
    with page(body, status) as address:
        system = deploy(metrics=address)
        with pytest.raises(error, match=said):
            system.run(system.probe("metrics"))


def test_nobody_at_the_address_of_the_page_is_one_sentence(deploy: Deploy) -> None:
    system = deploy(metrics="http://127.0.0.1:1/metrics")

    with pytest.raises(CannotConnect, match=r"hook metrics .* cannot be read: .* failed"):
        system.run(system.probe("metrics"))


def test_a_server_that_never_ends_its_page_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "LOOK_S", 0.1)

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                writer.write(b"a")
                await asyncio.sleep(0.02)
        finally:
            writer.transport.abort()

    async def look() -> None:
        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        hook = Hook(name="metrics", scheme="http://", target=f"127.0.0.1:{port}/")
        with pytest.raises(CannotConnect, match=r"did not end within 0\.1 s"):
            await hooks.look_at_metrics(hook)
        server.close()

    asyncio.run(look())


# ── objects ──────────────────────────────────────────────────────────────────────────────────────

LISTED = """<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult><Name>heron</Name><KeyCount>2</KeyCount><IsTruncated>false</IsTruncated>
<Contents><Key>wal/b</Key><Size>7</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified>
<ETag>"1"</ETag></Contents>
<Contents><Key>wal/a</Key><Size>5</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified>
<ETag>"2"</ETag></Contents></ListBucketResult>"""


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.mark.usefixtures("credentials")
def test_objects_are_keys_and_sizes(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    with page(LISTED.encode()) as address:
        system = deploy(objects=f"s3://heron?endpoint={address}")
        rows = system.run(system.probe("objects"))
        assert rows == [{"key": "wal/a", "size": 5}, {"key": "wal/b", "size": 7}]

        monkeypatch.setattr(hooks, "OBJECTS", 1)
        with pytest.raises(AdapterError, match="lists more than 1 objects"):
            system.run(system.probe("objects"))


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize(("body", "status"), [(b"hello", 200), (b"no such key", 403)])
def test_a_store_that_is_none_is_told(deploy: Deploy, body: bytes, status: int) -> None:
    with page(body, status) as address:
        system = deploy(objects=f"s3://heron?endpoint={address}")
        with pytest.raises(CannotConnect, match=r"the hook objects .* cannot be listed"):
            system.run(system.probe("objects"))


# ── trace ────────────────────────────────────────────────────────────────────────────────────────


def test_a_trace_gives_each_complete_line_once(deploy: Deploy, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    system = deploy(trace="file:./trace.jsonl")
    trace.write_text('{"node": 1, "call": "put"}\n{"node": 2, "ca')
    assert system.run(system.probe("trace")) == [{"node": 1, "call": "put"}]

    with trace.open("a") as more:
        more.write('ll": "get"}\n')

    assert system.run(system.probe("trace")) == [{"node": 2, "call": "get"}]
    assert system.run(system.probe("trace")) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read: there is no such file"),
        ("[1]\n", "not a JSON object"),
        ("put object 7\n", "got:  put object 7"),
        ('{"a": "\\ud800"}\n', "not a JSON object"),
        ("x" * 101, "more than 100 bytes"),
    ],
)
def test_a_trace_that_is_none_is_told(
    deploy: Deploy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
) -> None:
    monkeypatch.setattr(hooks, "LINE_BYTES", 100)
    system = deploy(trace="file:./trace.jsonl")
    if text is not None:
        (tmp_path / "trace.jsonl").write_text(text)

    with pytest.raises(AdapterError, match=said):
        system.run(system.probe("trace"))
