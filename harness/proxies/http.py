"""HTTP/1.1 as far as a proxy needs it: the heads of requests and replies, and where bodies end.

A head is kept as it came and is passed on so. Both a head and the lines inside a chunked body are
bounded; a body is read in pieces and never held as a whole, unless a limit is given. What breaks
the rules is a `BadHttp`, also where two readers could disagree about the end of a message.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

HEAD_LIMIT_BYTES = 32 << 10
PIECE_BYTES = 64 << 10
CHUNKED = -1
UNTIL_CLOSE = -2

Headers = tuple[tuple[str, str], ...]

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rf"({_TOKEN}) ([!-~]+) HTTP/1\.([01])")
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-5]\d\d)(?: .*)?")
_HEADER = re.compile(rf"({_TOKEN}):[ \t]*(.*?)[ \t]*")
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")


class BadHttp(ValueError):
    """Not HTTP/1.1, or more of it than anything of the lab would send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A first line and headers."""

    raw: bytes
    minor: int
    headers: Headers

    def values(self, name: str) -> list[str]:
        """What is said under that name, in order."""
        return [value for each, value in self.headers if each.lower() == name]

    def first(self, name: str) -> str:
        """The first value under that name, or the empty text."""
        return next(iter(self.values(name)), "")

    @property
    def keep_alive(self) -> bool:
        """Whether the connection may serve another request."""
        said = ",".join(self.values("connection")).lower().replace(" ", "").split(",")
        return "close" not in said and (self.minor == 1 or "keep-alive" in said)

    @property
    def content_length(self) -> int | None:
        """The length of a body, if it is said."""
        said = set(self.values("content-length"))
        if not said:
            return None
        length = said.pop()
        if said or not re.fullmatch(r"[0-9]{1,18}", length):
            raise BadHttp("no length: Content-Length")
        return int(length)

    def _framing(self, otherwise: int) -> int:
        """How the body ends: its length, CHUNKED or UNTIL_CLOSE."""
        coding = self.values("transfer-encoding")
        length = self.content_length
        if not coding:
            return otherwise if length is None else length
        if [each.lower() for each in coding] != ["chunked"] or length is not None:
            raise BadHttp("where the body ends is not clear")
        return CHUNKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Head):
    """What a client asks."""

    method: str
    target: str
    body: int

    @property
    def path(self) -> str:
        """The path, without percent signs and the first slash."""
        return unquote(urlsplit(self.target).path).removeprefix("/")

    @property
    def query(self) -> dict[str, list[str]]:
        """What follows the question mark."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Head):
    """What a server says."""

    status: int

    def body(self, method: str) -> int:
        """How the body of this reply to such a request ends."""
        if method == "HEAD" or self.status < 200 or self.status in (204, 304):
            return 0
        return self._framing(UNTIL_CLOSE)


def reply_head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    """A head to send."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def s3_error(
    status: int, code: str, request: Request | None, headers: Headers = (), message: str = ""
) -> bytes:
    """An error in S3's form; to a HEAD without its body, to no request the last."""
    resource = escape("/" + request.path) if request else ""
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{code}</Code><Message>{escape(message or HTTPStatus(status).phrase)}"
        f"</Message><Resource>{resource}</Resource><RequestId>0</RequestId></Error>"
    )
    body = b"" if request and request.method == "HEAD" else text.encode()
    headers = headers if request else (("Connection", "close"),)
    own = (("Content-Type", "application/xml"), ("Content-Length", str(len(body))), *headers)
    return reply_head(status, own) + body


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The head of the next request; None if the client hung up before it."""
    lines = await _lines(reader)
    if not lines:
        return None
    matched = _REQUEST_LINE.fullmatch(lines[0])
    if matched is None or matched[1] == "CONNECT":
        raise BadHttp("no request line")
    try:
        urlsplit(matched[2])
    except ValueError as error:
        raise BadHttp("no target") from error
    head = Head(raw=_raw(lines), minor=int(matched[3]), headers=_headers(lines[1:]))
    return Request(
        raw=head.raw,
        minor=head.minor,
        headers=head.headers,
        method=matched[1],
        target=matched[2],
        body=head._framing(0),
    )


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    """The head of the next reply."""
    lines = await _lines(reader)
    if not lines:
        raise EOFError
    matched = _STATUS_LINE.fullmatch(lines[0])
    if matched is None:
        raise BadHttp("no status line")
    return Reply(
        raw=_raw(lines),
        minor=int(matched[1]),
        headers=_headers(lines[1:]),
        status=int(matched[2]),
    )


async def read_body(reader: asyncio.StreamReader, body: int) -> AsyncIterator[tuple[bytes, bool]]:
    """The bytes of a body as they come, and whether they are content or frame it."""
    if body == CHUNKED:
        async for piece in _read_chunks(reader):
            yield piece
    elif body == UNTIL_CLOSE:
        while data := await reader.read(PIECE_BYTES):
            yield data, True
    else:
        async for data in _exactly(reader, body):
            yield data, True


async def read_content(reader: asyncio.StreamReader, body: int, limit: int) -> bytes:
    """The whole content of a body that has at most so many bytes."""
    content = bytearray()
    async for data, is_content in read_body(reader, body):
        content += data if is_content else b""
        if len(content) > limit:
            raise BadHttp(f"more than {limit} bytes")
    return bytes(content)


async def _read_chunks(reader: asyncio.StreamReader) -> AsyncIterator[tuple[bytes, bool]]:
    while True:
        line = await _line(reader)
        matched = _CHUNK_LINE.fullmatch(line)
        if matched is None:
            raise BadHttp("no chunk")
        yield line, False
        size = int(matched[1], 16)
        if not size:
            break
        async for data in _exactly(reader, size):
            yield data, True
        if await reader.readexactly(2) != b"\r\n":
            raise BadHttp("a chunk that does not end")
        yield b"\r\n", False
    trailers = await _lines(reader, begun=True)
    yield _raw(trailers), False


async def _exactly(reader: asyncio.StreamReader, count: int) -> AsyncIterator[bytes]:
    while count:
        data = await reader.read(min(count, PIECE_BYTES))
        if not data:
            raise EOFError
        count -= len(data)
        yield data


async def _lines(reader: asyncio.StreamReader, *, begun: bool = False) -> list[str]:
    """The lines up to an empty one; none if the other side hung up before the first."""
    lines: list[str] = []
    size = 0
    while True:
        line = await _line(reader, may_end=not begun and not size)
        size += len(line)
        if size > HEAD_LIMIT_BYTES:
            raise BadHttp("too long a head")
        if not line or (line == b"\r\n" and (lines or begun)):
            return lines
        if line != b"\r\n":  # an empty line before a request means nothing
            lines.append(line[:-2].decode("latin-1"))


async def _line(reader: asyncio.StreamReader, *, may_end: bool = False) -> bytes:
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        if may_end and not end.partial:
            return b""
        raise BadHttp("half a line") from end
    except asyncio.LimitOverrunError as error:
        raise BadHttp("too long a line") from error
    if not line.endswith(b"\r\n"):
        raise BadHttp("a line that ends in a line feed alone")
    return line


def _headers(lines: Iterable[str]) -> Headers:
    found = []
    for line in lines:
        matched = _HEADER.fullmatch(line)
        if matched is None or "\0" in line or "\r" in line:
            raise BadHttp("no header")
        found.append((matched[1], matched[2]))
    return tuple(found)


def _raw(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1")
