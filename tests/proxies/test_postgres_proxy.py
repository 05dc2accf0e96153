"""The fault proxy on a stand-in for PostgreSQL: what passes, what waits, what vanishes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import socketserver
import struct
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from harness.levers import Lever
from harness.proxies.postgres import PostgresProxy, Upstream

Result = TypeVar("Result")
SELECT = b"SELECT 1"
STARTUP = struct.pack("!II", 8, 196608)
SSL_REQUEST = struct.pack("!II", 8, 80877103)
SYNC = b"S\0\0\0\x04"
EXECUTE = b"E" + struct.pack("!I", 9) + b"\0\0\0\0\0"
PARSE = b"P" + struct.pack("!I", 8) + b"x\0\0\0"


def query(text: bytes) -> bytes:
    return b"Q" + struct.pack("!I", 5 + len(text)) + text + b"\0"


def ready(status: bytes = b"I") -> bytes:
    return b"Z" + struct.pack("!I", 5) + status


class Backend(socketserver.ThreadingTCPServer):
    """Answers each query with a frame and ReadyForQuery; BEGIN opens a transaction."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.seen: list[bytes] = []


class _Session(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        with contextlib.suppress(OSError, struct.error):
            self.rfile.read(struct.unpack("!I", self.rfile.read(4))[0] - 4)
            self.wfile.write(ready())
            while head := self.rfile.read(5):
                self._frame(head[:1], self.rfile.read(struct.unpack("!I", head[1:])[0] - 4))

    def _frame(self, kind: bytes, body: bytes) -> None:
        if kind == b"Q":
            self.server.seen.append(body[:-1])
            if body.startswith(b"FAIL"):
                fields = b"SERROR\0C42883\0\0"
                self.wfile.write(b"E" + struct.pack("!I", 4 + len(fields)) + fields)
            else:
                self.wfile.write(b"C" + struct.pack("!I", 4 + len(body)) + body)
            self.wfile.write(ready(b"T" if body.startswith(b"BEGIN") else b"I"))
        elif kind == b"E":
            self.server.seen.append(b"execute")
        elif kind == b"S":
            self.wfile.write(ready())


class Frontend:
    """A client that speaks frames."""

    def __init__(self, port: int, first: bytes = STARTUP) -> None:
        self.wire = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.wire.sendall(first)
        if first == STARTUP:
            assert self.answer() == [b"Z"]

    def ask(self, raw: bytes) -> list[bytes]:
        self.wire.sendall(raw)
        return self.answer()

    def answer(self) -> list[bytes]:
        """The kinds of frames up to ReadyForQuery; empty when the connection broke."""
        kinds: list[bytes] = []
        try:
            while not kinds or kinds[-1] != b"Z":
                head = self._exactly(5)
                self._exactly(struct.unpack("!I", head[1:])[0] - 4)
                kinds.append(head[:1])
        except (ConnectionError, EOFError):
            return []
        return kinds

    def _exactly(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            piece = self.wire.recv(size - len(got))
            if not piece:
                raise EOFError
            got += piece
        return got

    def close(self) -> None:
        self.wire.close()


@pytest.fixture
def backend() -> Iterator[Backend]:
    with Backend() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def proxy(backend: Backend) -> Iterator[PostgresProxy]:
    made = PostgresProxy(Upstream(host="127.0.0.1", port=backend.server_address[1]))
    yield made
    made.close()


@pytest.fixture
def port(proxy: PostgresProxy) -> int:
    return proxy.way("a")


@pytest.fixture
def frontend(port: int) -> Iterator[Frontend]:
    client = Frontend(port)
    yield client
    client.close()


@pytest.fixture
def other(proxy: PostgresProxy) -> Iterator[Frontend]:
    client = Frontend(proxy.way("b"))
    yield client
    client.close()


def run(work: Coroutine[Any, Any, Result]) -> Result:
    async def bounded() -> Result:
        return await asyncio.wait_for(work, 20)

    return asyncio.run(bounded())


def count_of(lever: Lever) -> int:
    [count] = lever.counts.values()
    return count


def test_left_alone_it_only_forwards(frontend: Frontend, backend: Backend) -> None:
    assert frontend.ask(query(SELECT)) == [b"C", b"Z"]
    assert backend.seen == [SELECT]


def test_a_caller_keeps_its_port(proxy: PostgresProxy, port: int) -> None:
    assert proxy.way("a") == port != proxy.way("b")


def test_offers_of_encryption_are_declined_and_the_frontend_goes_on(port: int) -> None:
    client = Frontend(port, first=SSL_REQUEST)
    assert client.wire.recv(1) == b"N"
    client.wire.sendall(STARTUP)
    assert client.answer() == [b"Z"]
    client.close()


def test_a_held_statement_does_not_reach_the_backend_until_it_is_released(
    proxy: PostgresProxy, frontend: Frontend, other: Frontend, backend: Backend
) -> None:
    hold = proxy.hold("a")
    frontend.wire.sendall(query(SELECT))
    run(hold.acted())
    assert hold.counts == {"requests_held": 1}
    assert other.ask(query(b"SELECT 2")) == [b"C", b"Z"]
    assert backend.seen == [b"SELECT 2"]
    run(hold.release())
    assert frontend.answer() == [b"C", b"Z"]
    assert backend.seen == [b"SELECT 2", SELECT]
    assert frontend.ask(query(SELECT)) == [b"C", b"Z"]
    assert hold.counts == {"requests_held": 1}


def test_exactly_one_transaction_is_let_through(
    proxy: PostgresProxy, frontend: Frontend, backend: Backend
) -> None:
    hold = proxy.hold("a")
    assert run(hold.pass_one()) == 0
    frontend.wire.sendall(query(b"COMMIT"))
    run(hold.acted())
    assert run(hold.pass_one()) == 1
    assert backend.seen == [b"COMMIT"]
    assert frontend.answer() == [b"C", b"Z"]
    frontend.wire.sendall(query(SELECT))
    run(hold.holds_again())
    assert backend.seen == [b"COMMIT"]
    assert hold.counts == {"requests_held": 2}


def test_what_belongs_to_a_transaction_passes_with_it(
    proxy: PostgresProxy, frontend: Frontend, backend: Backend
) -> None:
    hold = proxy.hold("a")
    frontend.wire.sendall(query(b"BEGIN"))
    run(hold.acted())
    with ThreadPoolExecutor(1) as thread:
        passed = thread.submit(run, hold.pass_one())
        assert frontend.answer() == [b"C", b"Z"]
        assert frontend.ask(query(b"COMMIT")) == [b"C", b"Z"]
        assert passed.result() == 1
    assert backend.seen == [b"BEGIN", b"COMMIT"]


def test_preparing_a_statement_is_not_a_transaction(
    proxy: PostgresProxy, frontend: Frontend, backend: Backend
) -> None:
    hold = proxy.hold("a")
    assert frontend.ask(PARSE + SYNC) == [b"Z"]
    frontend.wire.sendall(EXECUTE + SYNC)
    run(hold.acted())
    assert backend.seen == []
    assert run(hold.pass_one()) == 1
    assert backend.seen == [b"execute"]


def test_what_is_held_can_be_dropped(
    proxy: PostgresProxy, frontend: Frontend, port: int, backend: Backend
) -> None:
    hold = proxy.hold("a")
    frontend.wire.sendall(query(b"COMMIT"))
    run(hold.acted())
    run(hold.drop())
    assert frontend.answer() == []
    again = Frontend(port)
    assert again.ask(query(SELECT)) == [b"C", b"Z"]
    assert backend.seen == [SELECT]
    again.close()


def test_what_a_client_sent_before_it_died_is_carried_out(
    proxy: PostgresProxy, frontend: Frontend, other: Frontend, backend: Backend
) -> None:
    hold = proxy.hold("a")
    frontend.wire.sendall(query(b"COMMIT"))
    run(hold.acted())
    frontend.close()
    assert run(hold.pass_one()) == 1
    assert backend.seen == [b"COMMIT"]


def test_a_lost_reply_was_carried_out_and_breaks_the_connection(
    proxy: PostgresProxy, frontend: Frontend, port: int, backend: Backend
) -> None:
    lever = proxy.lose_replies("a", times=1)
    assert frontend.ask(query(b"COMMIT")) == []
    assert backend.seen == [b"COMMIT"]
    again = Frontend(port)
    assert again.ask(query(SELECT)) == [b"C", b"Z"]
    assert lever.counts == {"replies_dropped": 1}
    again.close()


def test_losing_a_reply_waits_for_the_end_of_the_transaction(
    proxy: PostgresProxy, frontend: Frontend, backend: Backend
) -> None:
    proxy.lose_replies()
    assert frontend.ask(query(b"BEGIN")) == [b"C", b"Z"]
    assert frontend.ask(query(b"COMMIT")) == []
    assert backend.seen == [b"BEGIN", b"COMMIT"]


def test_a_dropped_request_never_arrives_and_breaks_the_connection(
    proxy: PostgresProxy, frontend: Frontend, other: Frontend, backend: Backend
) -> None:
    lever = proxy.drop_requests("a", times=2)
    assert frontend.ask(query(b"COMMIT")) == []
    assert other.ask(query(SELECT)) == [b"C", b"Z"]
    assert backend.seen == [SELECT]
    assert lever.counts == {"requests_dropped": 1}


def test_refusing_turns_away_new_connections_and_resets_those_that_ask(
    proxy: PostgresProxy, frontend: Frontend, port: int, backend: Backend
) -> None:
    lever = proxy.refuse()
    assert frontend.ask(query(SELECT)) == []
    assert lever.counts == {"refusals": 1}
    with contextlib.suppress(ConnectionError):
        turned_away = Frontend(port, first=b"")
        with contextlib.closing(turned_away):
            turned_away.wire.sendall(STARTUP)
            assert turned_away.answer() == []
    run(lever.release())
    again = Frontend(port)
    assert again.ask(query(SELECT)) == [b"C", b"Z"]
    assert backend.seen == [SELECT]
    assert lever.counts == {"refusals": 2}
    again.close()


def test_refusing_reaches_what_is_held(
    proxy: PostgresProxy, frontend: Frontend, backend: Backend
) -> None:
    hold = proxy.hold("a")
    frontend.wire.sendall(query(b"COMMIT"))
    run(hold.acted())
    lever = proxy.refuse("a")
    assert frontend.answer() == []
    assert backend.seen == []
    assert count_of(lever) == 1


def test_a_slow_statement_waits_until_its_time_has_come_or_the_lever_is_released(
    proxy: PostgresProxy, frontend: Frontend, backend: Backend
) -> None:
    lever = proxy.slow(3600, "a")
    frontend.wire.sendall(query(SELECT))
    run(lever.acted())
    assert backend.seen == []
    run(lever.release())
    assert frontend.answer() == [b"C", b"Z"]
    brief = proxy.slow(0.001)
    assert frontend.ask(query(SELECT)) == [b"C", b"Z"]
    assert lever.counts == brief.counts == {"calls_delayed": 1}


def test_a_failed_statement_is_answered_with_an_error_and_does_nothing(
    proxy: PostgresProxy, frontend: Frontend, other: Frontend, backend: Backend
) -> None:
    lever = proxy.fail("a")
    assert frontend.ask(query(b"COMMIT")) == [b"E", b"Z"]
    assert frontend.ask(EXECUTE + SYNC) == [b"E", b"Z"]
    assert other.ask(query(b"FAIL")) == [b"E", b"Z"]  # the database's own
    assert backend.seen == [b"FAIL"]
    assert lever.counts == {"errors_answered": 2}
    run(lever.release())
    assert frontend.ask(query(b"COMMIT")) == [b"C", b"Z"]


@pytest.mark.parametrize(("there", "seen"), [(True, []), (False, [SELECT])])
def test_a_cut_holds_one_direction(
    proxy: PostgresProxy, frontend: Frontend, backend: Backend, there: bool, seen: list[bytes]
) -> None:
    lever = proxy.cut(["a"], requests=there, replies=not there)
    frontend.wire.sendall(query(SELECT))
    run(lever.acted())
    assert backend.seen == seen
    run(lever.release())
    assert frontend.answer() == [b"C", b"Z"]
    assert backend.seen == [SELECT]
    assert lever.counts == {"deliveries_held": 1}


def test_a_connection_made_during_a_cut_hears_nothing_until_it_is_released(
    proxy: PostgresProxy, port: int
) -> None:
    lever = proxy.cut(["a"])
    client = Frontend(port, first=b"")
    client.wire.sendall(STARTUP)
    run(lever.acted())
    run(lever.release())
    assert client.answer() == [b"Z"]
    client.close()


def test_a_lever_that_nobody_meets_counts_nothing(proxy: PostgresProxy, frontend: Frontend) -> None:
    levers = [proxy.refuse("b"), proxy.fail("b"), proxy.hold("b")]
    assert frontend.ask(query(SELECT)) == [b"C", b"Z"]
    assert [count_of(lever) for lever in levers] == [0, 0, 0]


def test_a_frame_of_absurd_length_ends_the_connection(frontend: Frontend) -> None:
    assert frontend.ask(b"Q\xff\xff\xff\xff") == []


def test_a_backend_that_is_not_there_looks_like_a_broken_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        proxy = PostgresProxy(Upstream(host="127.0.0.1", port=unused.getsockname()[1]))
        try:
            client = Frontend(proxy.way("a"), first=b"")
            client.wire.sendall(STARTUP)
            assert client.answer() == []
            client.close()
        finally:
            proxy.close()


def test_closing_ends_what_is_held(proxy: PostgresProxy, frontend: Frontend) -> None:
    hold = proxy.hold("a")
    frontend.wire.sendall(query(b"COMMIT"))
    run(hold.acted())
    proxy.close()
    proxy.close()
    assert frontend.answer() == []
    run(hold.release())
