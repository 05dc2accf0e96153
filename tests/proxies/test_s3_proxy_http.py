"""The S3 proxy as a reader of HTTP: what it passes on byte for byte, and what it answers itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from harness.proxies.http import HEAD_LIMIT_BYTES
from harness.proxies.s3 import S3Proxy

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Streams]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Amz-Request-Id:  odd\r\n\r\nok"


class Server:
    """Keeps what it hears, and says what it is told to after each empty line or end of chunks."""

    def __init__(self, *answers: bytes, after: bytes = b"\r\n\r\n", hangs_up: bool = False) -> None:
        self.heard = b""
        self._answers = list(answers)
        self._after = after
        self._hangs_up = hangs_up

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(EOFError, ConnectionError):
            self.heard += await reader.readuntil(self._after)
            writer.write(self._answers.pop(0) if self._answers else b"")
            await writer.drain()
            if not self._hangs_up:
                self.heard += await reader.read()
        writer.close()


@contextlib.asynccontextmanager
async def proxied(
    server: Server,
) -> AsyncIterator[tuple[S3Proxy, Connect]]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    proxy = S3Proxy("http://{}:{}".format(*listening.sockets[0].getsockname()))
    port = int(proxy.way("b1").rpartition(":")[2])
    opened: list[Streams] = []

    async def connect() -> Streams:
        opened.append(await asyncio.open_connection("127.0.0.1", port))
        return opened[-1]

    async with listening:
        try:
            yield proxy, connect
        finally:
            for _, writer in opened:
                writer.transport.abort()
            await asyncio.to_thread(proxy.close)


def asked(server: Server, *requests: bytes) -> bytes:
    """All that is answered on one connection to requests that are sent at once."""

    async def story() -> bytes:
        async with proxied(server) as (_, connect):
            reader, writer = await connect()
            writer.write(b"".join(requests))
            writer.write_eof()
            return await reader.read()

    return asyncio.run(story())


GET = b"GET /bucket/key?x-id=GetObject HTTP/1.1\r\nHOST: a\r\nx-odd:   b c \r\n\r\n"


def test_heads_and_bodies_pass_as_they_are() -> None:
    server = Server(OK)
    assert asked(server, GET) == OK
    assert server.heard == GET


def test_one_connection_serves_request_after_request() -> None:
    server = Server(OK, OK)
    assert asked(server, GET, GET) == OK + OK
    assert server.heard == GET + GET


@pytest.mark.parametrize(
    "last",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_server_that_closes_has_its_connection_closed(last: bytes) -> None:
    server = Server(last, OK)
    assert asked(server, GET, GET) == last


def test_chunks_pass_both_ways_with_their_trailers() -> None:
    chunks = b"5;note=x\r\nhello\r\nA\r\n0123456789\r\n0\r\nx-amz-checksum-crc32: AAAA\r\n\r\n"
    head = b"PUT /bucket/key HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    server = Server(answer, OK, after=b"AAAA\r\n\r\n")
    assert asked(server, head + chunks, head + chunks) == answer + OK
    assert server.heard == (head + chunks) * 2


def test_the_answer_to_a_head_has_no_body() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    head = b"HEAD /bucket/key HTTP/1.1\r\n\r\n"
    assert asked(Server(answer, OK), head, GET) == answer + OK


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked() -> None:
    async def story() -> None:
        server = Server(b"HTTP/1.1 100 Continue\r\n\r\n" + OK)
        async with proxied(server) as (_, connect):
            reader, writer = await connect()
            head = b"PUT /b/k HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
            writer.write(head)
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"body")
            assert await reader.readexactly(len(OK)) == OK

    asyncio.run(story())


def test_a_client_that_waits_to_be_asked_is_not_asked_for_what_fails() -> None:
    async def story() -> None:
        server = Server()
        async with proxied(server) as (proxy, connect):
            lever = proxy.fail()
            reader, writer = await connect()
            writer.write(b"PUT /b/k HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"<Code>SlowDown</Code>" in answer
            assert b"<Resource>/b/k</Resource>" in answer
            assert (lever.counts, server.heard) == ({"errors_answered": 1}, b"")

    asyncio.run(story())


MALFORMED = {
    "no_http": b"hello\r\n\r\n",
    "line_feeds": b"GET / HTTP/1.1\n\n",
    "another_version": b"GET / HTTP/2.0\r\n\r\n",
    "a_tunnel": b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n",
    "signs_in_the_target": b"GET /\xff HTTP/1.1\r\n\r\n",
    "no_target": b"GET http://[ HTTP/1.1\r\n\r\n",
    "no_colon": b"GET / HTTP/1.1\r\nhost\r\n\r\n",
    "a_folded_header": b"GET / HTTP/1.1\r\na: b\r\n c\r\n\r\n",
    "a_space_in_a_name": b"GET / HTTP/1.1\r\na : b\r\n\r\n",
    "no_length": b"PUT /b/k HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "two_lengths": b"PUT /b/k HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "length_and_chunks": b"PUT /b/k HTTP/1.1\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "another_coding": b"PUT /b/k HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
    "half_a_head": b"GET / HTTP/1.1\r\nhost: a",
    "a_long_line": b"GET /" + b"a" * (1 << 20),
    "many_headers": b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * HEAD_LIMIT_BYTES,
    "no_chunk": b"PUT /b/k HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "an_endless_chunk": b"PUT /b/k HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
    "many_trailers": b"PUT /b/k HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    + b"a: b\r\n" * HEAD_LIMIT_BYTES,
}


@pytest.mark.parametrize("how", MALFORMED)
def test_what_is_not_http_is_answered_400_and_not_passed_on(how: str) -> None:
    server = Server()
    answer = asked(server, MALFORMED[how])
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert server.heard in (b"", MALFORMED[how].partition(b"\r\n\r\n")[0] + b"\r\n\r\n")


def test_a_client_may_go_on_sending_after_its_answer() -> None:
    async def story() -> bytes:
        async with proxied(Server()) as (_, connect):
            reader, writer = await connect()
            writer.write(MALFORMED["a_long_line"])
            answer = await reader.read()
            for _ in range(16):  # more than sockets keep
                writer.write(MALFORMED["a_long_line"])
                await writer.drain()
            writer.write_eof()
            return answer

    assert asyncio.run(story()).startswith(b"HTTP/1.1 400 ")


def test_a_head_at_the_bound_passes() -> None:
    line = b"GET / HTTP/1.1\r\n"
    head = line + b"a: " + b"b" * (HEAD_LIMIT_BYTES - len(line) - 7) + b"\r\n\r\n"
    assert len(head) == HEAD_LIMIT_BYTES
    assert asked(Server(OK), head) == OK
    assert asked(Server(OK), b"a".join((head[:-4], head[-4:]))).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_goes_away_in_the_middle_ends_its_request_at_the_server() -> None:
    server = Server(after=b"body")
    with pytest.raises(ConnectionResetError):
        asked(server, b"PUT /b/k HTTP/1.1\r\nContent-Length: 4\r\n\r\nbo")


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0\r\n", b"HTTP/1.1 200 OK\r\n", OK[:-1]])
def test_a_server_that_speaks_no_http_looks_like_a_broken_connection(answer: bytes) -> None:
    with pytest.raises(ConnectionResetError):
        asked(Server(answer, hangs_up=True), GET)


@pytest.mark.parametrize(
    ("how", "range_", "answer"),
    [
        ("torn", b"bytes=-2", b"HTTP/1.1 206 P\r\nContent-Range: bytes 8-9/10\r\n"),
        ("corrupt", b"bytes=0-1,4-5", b"HTTP/1.1 206 P\r\nContent-Type: multipart/byteranges\r\n"),
    ],
)
def test_a_read_whose_damage_cannot_be_shown_says_so(
    how: str, range_: bytes, answer: bytes
) -> None:
    async def story() -> None:
        async with proxied(Server(answer + b"Content-Length: 2\r\n\r\n89")) as (proxy, connect):
            lever = proxy.damage(how, "k")
            reader, writer = await connect()
            writer.write(b"GET /b/k HTTP/1.1\r\nRange: " + range_ + b"\r\n\r\n")
            writer.write_eof()
            assert (await reader.read()).startswith(b"HTTP/1.1 501 ")
            assert list(lever.counts.values()) == [0]

    asyncio.run(story())


def test_checksums_of_the_whole_object_are_not_shown_with_damaged_bytes() -> None:
    async def story() -> None:
        answer = (
            b'HTTP/1.1 200 OK\r\nETag: "e"\r\nx-amz-checksum-crc32: AAAA\r\nContent-MD5: m\r\n'
            b"Content-Length: 5\r\n\r\naaaaa"
        )
        async with proxied(Server(answer)) as (proxy, connect):
            proxy.damage("corrupt", "k")
            reader, writer = await connect()
            writer.write(b"GET /b/k HTTP/1.1\r\nConnection: close\r\n\r\n")
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
            assert head == b'HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Length: 5'
            assert body == b"aa`aa"

    asyncio.run(story())
