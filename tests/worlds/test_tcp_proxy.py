"""The fault proxy on a stand-in for PostgreSQL: what passes, what waits, what vanishes."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from harness.proxies.postgres import Link, Proxies, Upstream

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
def bell() -> threading.Condition:
    return threading.Condition()


@pytest.fixture
def link(backend: Backend, bell: threading.Condition) -> Iterator[Link]:
    proxies = Proxies(bell)
    try:
        yield proxies.open(Upstream(host="127.0.0.1", port=backend.server_address[1]))
    finally:
        proxies.close()


@pytest.fixture
def frontend(link: Link) -> Iterator[Frontend]:
    client = Frontend(link.port)
    yield client
    client.close()


Until = Callable[[Callable[[], bool]], None]


@pytest.fixture
def until(bell: threading.Condition) -> Until:
    def wait(done: Callable[[], bool]) -> None:
        with bell:
            assert bell.wait_for(done, timeout=5)

    return wait


def test_left_alone_it_only_forwards(frontend: Frontend, link: Link, backend: Backend) -> None:
    assert frontend.ask(query(b"SELECT 1")) == [b"C", b"Z"]
    assert backend.seen == [b"SELECT 1"]
    assert link.counts.transactions == 1


def test_it_listens_on_loopback_only(link: Link) -> None:
    (listening,) = link._server.sockets
    assert listening.getsockname() == ("127.0.0.1", link.port)


def test_offers_of_encryption_are_declined_and_the_frontend_goes_on(link: Link) -> None:
    client = Frontend(link.port, first=SSL_REQUEST)
    assert client.wire.recv(1) == b"N"
    client.wire.sendall(STARTUP)
    assert client.answer() == [b"Z"]
    client.close()


def test_a_held_statement_does_not_reach_the_backend_until_it_is_forwarded(
    frontend: Frontend, link: Link, backend: Backend, until: Until
) -> None:
    link.hold()
    frontend.wire.sendall(query(b"SELECT 1"))
    until(lambda: link.counts.holds == 1)
    assert backend.seen == []
    assert link.counts.bytes_held == len(query(b"SELECT 1"))
    link.forward()
    assert frontend.answer() == [b"C", b"Z"]
    assert backend.seen == [b"SELECT 1"]


def test_exactly_one_transaction_is_let_through(
    frontend: Frontend, link: Link, backend: Backend, until: Until
) -> None:
    link.hold()
    frontend.wire.sendall(query(b"BEGIN"))
    until(lambda: link.counts.holds == 1)
    link.let_one_through()
    assert frontend.answer() == [b"C", b"Z"]
    assert frontend.ask(query(b"COMMIT")) == [b"C", b"Z"]
    frontend.wire.sendall(query(b"SELECT 2"))
    until(lambda: link.counts.holds == 2)
    assert backend.seen == [b"BEGIN", b"COMMIT"]
    assert link.counts.transactions == 1


def test_preparing_a_statement_is_not_a_transaction(
    frontend: Frontend, link: Link, backend: Backend, until: Until
) -> None:
    link.hold()
    assert frontend.ask(PARSE + SYNC) == [b"Z"]
    frontend.wire.sendall(EXECUTE + SYNC)
    until(lambda: link.counts.holds == 1)
    assert backend.seen == []
    link.let_one_through()
    assert frontend.answer() == [b"Z"]
    assert backend.seen == [b"execute"]


def test_a_lost_reply_was_carried_out_and_breaks_the_connection(
    frontend: Frontend, link: Link, backend: Backend
) -> None:
    link.lose_next_reply()
    assert frontend.ask(query(b"COMMIT")) == []
    assert backend.seen == [b"COMMIT"]
    assert link.counts.replies_dropped == 1
    assert link.counts.reply_bytes_dropped > 0


def test_losing_a_reply_waits_for_the_end_of_the_transaction(
    frontend: Frontend, link: Link, backend: Backend
) -> None:
    link.lose_next_reply()
    assert frontend.ask(query(b"BEGIN")) == [b"C", b"Z"]
    assert frontend.ask(query(b"COMMIT")) == []
    assert backend.seen == [b"BEGIN", b"COMMIT"]


def test_a_dropped_request_never_arrives_and_breaks_the_connection(
    frontend: Frontend, link: Link, backend: Backend
) -> None:
    link.drop_next_request()
    assert frontend.ask(query(b"COMMIT")) == []
    assert backend.seen == []
    assert link.counts.requests_dropped == 1
    assert link.counts.request_bytes_dropped == len(query(b"COMMIT"))


def test_what_waits_can_still_be_dropped(
    frontend: Frontend, link: Link, backend: Backend, until: Until
) -> None:
    link.hold()
    frontend.wire.sendall(query(b"COMMIT"))
    until(lambda: link.counts.holds == 1)
    link.drop_next_request()
    assert frontend.answer() == []
    assert backend.seen == []


def test_after_a_loss_a_new_connection_works(link: Link, frontend: Frontend) -> None:
    link.drop_next_request()
    frontend.ask(query(b"COMMIT"))
    again = Frontend(link.port)
    assert again.ask(query(b"SELECT 1")) == [b"C", b"Z"]
    again.close()


def test_refusing_turns_away_new_connections_and_resets_those_that_ask(
    frontend: Frontend, link: Link, backend: Backend, until: Until
) -> None:
    link.refuse(True)
    assert frontend.ask(query(b"SELECT 1")) == []
    assert link.counts.refusals == 1
    with contextlib.suppress(ConnectionError):
        turned_away = Frontend(link.port, first=b"")
        with contextlib.closing(turned_away):
            turned_away.wire.sendall(STARTUP)
            assert turned_away.answer() == []
    until(lambda: link.counts.refusals == 2)
    assert backend.seen == []
    link.refuse(False)
    again = Frontend(link.port)
    assert again.ask(query(b"SELECT 1")) == [b"C", b"Z"]
    again.close()


def test_refusing_reaches_what_is_held(
    frontend: Frontend, link: Link, backend: Backend, until: Until
) -> None:
    link.hold()
    frontend.wire.sendall(query(b"COMMIT"))
    until(lambda: link.counts.holds == 1)
    link.refuse(True)
    assert frontend.answer() == []
    assert backend.seen == []
    assert link.counts.refusals == 1


def test_errors_of_the_backend_are_counted_with_their_state(frontend: Frontend, link: Link) -> None:
    assert frontend.ask(query(b"FAIL")) == [b"E", b"Z"]
    assert link.counts.errors_answered == 1
    assert link.counts.last_sqlstate == "42883"


def test_a_reset_throws_away_what_was_held(
    frontend: Frontend, link: Link, backend: Backend, until: Until
) -> None:
    link.hold()
    frontend.wire.sendall(query(b"COMMIT"))
    until(lambda: link.counts.holds == 1)
    link.reset()
    link.forward()
    assert frontend.answer() == []
    assert backend.seen == []


def test_a_frame_of_absurd_length_ends_the_connection(frontend: Frontend) -> None:
    assert frontend.ask(b"Q\xff\xff\xff\xff") == []


def test_a_backend_that_is_not_there_looks_like_a_broken_connection(
    bell: threading.Condition,
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        proxies = Proxies(bell)
        try:
            link = proxies.open(Upstream(host="127.0.0.1", port=unused.getsockname()[1]))
            client = Frontend(link.port, first=b"")
            client.wire.sendall(STARTUP)
            assert client.answer() == []
            client.close()
        finally:
            proxies.close()


def test_closing_ends_the_thread_with_connections_open(
    backend: Backend, bell: threading.Condition
) -> None:
    before = threading.active_count()
    proxies = Proxies(bell)
    link = proxies.open(Upstream(host="127.0.0.1", port=backend.server_address[1]))
    client = Frontend(link.port)
    link.hold()
    client.wire.sendall(query(b"COMMIT"))
    proxies.close()
    proxies.close()
    assert client.answer() == []
    client.close()
    assert threading.active_count() <= before + 1  # the backend's own session may linger
