"""What the hooks `objects`, `metrics` and `trace` of a SUT file show: rows of a probe.

What is read is bounded in size and time. What has no meaning ends in an `AdapterError` that says
which hook, what it gave, and what was wanted; it is never held against the system.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import obstore
from obstore.exceptions import BaseError

from harness.deployments.deployment import Row
from harness.errors import AdapterError, CannotConnect, ProtocolBreach, shown
from harness.sut.model import Hook
from reference_impl.live.object_store import Patience, s3_store

OBJECTS = 100_000
LOOK_S = 10.0
METRICS_BYTES = 1 << 23
TRACE_BYTES = 1 << 22  # of one look
LINE_BYTES = 1 << 20
_CHUNK = 1 << 16
_PATIENCE = Patience(retries=1, retry_s=5.0, request_s=5.0)

_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


async def look_at_objects(hook: Hook) -> list[Row]:
    """Keys and sizes in a bucket, in order of their keys."""
    called = f"the hook objects ({hook.address})"
    found: list[Row] = []
    try:
        async with asyncio.timeout(2 * LOOK_S):
            store = s3_store(hook.address, _PATIENCE)
            async for chunk in obstore.list(store, chunk_size=1000):
                found += [{"key": one["path"], "size": one["size"]} for one in chunk]
                if len(found) > OBJECTS:
                    raise AdapterError(f"{called} lists more than {OBJECTS} objects")
    except TimeoutError:
        raise CannotConnect(f"{called} listed no end within {2 * LOOK_S:g} s") from None
    except (BaseError, OSError, ValueError) as error:
        first = str(error).partition("\n")[0]
        raise CannotConnect(f"{called} cannot be listed: {first[:300]}") from None
    return sorted(found, key=lambda row: str(row["key"]))


async def look_at_metrics(hook: Hook) -> list[Row]:
    """The samples of a Prometheus page."""
    called = f"the hook metrics ({hook.address})"
    try:
        async with asyncio.timeout(LOOK_S):
            answer = await _answer(urlsplit(hook.address))
    except TimeoutError:
        raise CannotConnect(f"{called} did not end within {LOOK_S:g} s") from None
    except (OSError, ValueError) as error:
        raise CannotConnect(f"{called} cannot be read: {str(error)[:300]}") from None
    return read_metrics(body_of(answer, called=called), called=called)


def body_of(answer: bytes, *, called: str) -> bytes:
    """The page in an answer of HTTP."""
    if len(answer) > METRICS_BYTES:
        raise AdapterError(f"{called} is longer than {METRICS_BYTES} bytes")
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.partition(b"\r\n")[0]
    if not re.fullmatch(rb"HTTP/1\.[01] 200\b.*", status):
        raise CannotConnect(f"{called} answers {shown(status) or 'nothing'}, not 200")
    return body


async def _answer(page: SplitResult) -> bytes:
    """All that a server answers to a GET of HTTP/1.0, after which it hangs up; bounded."""
    secure = page.scheme == "https"
    port = page.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(page.hostname, port, ssl=secure or None)
    try:
        path = f"{page.path or '/'}{'?' * bool(page.query)}{page.query}"
        ask = f"GET {path} HTTP/1.0\r\nHost: {page.netloc}\r\nAccept: text/plain\r\n\r\n"
        writer.write(ask.encode("ascii"))
        answer = bytearray()
        while len(answer) <= METRICS_BYTES and (chunk := await reader.read(_CHUNK)):
            answer += chunk
        return bytes(answer)
    finally:
        writer.transport.abort()


def read_metrics(page: bytes, *, called: str) -> list[Row]:
    """Name, labels and value of each sample; comments are left out."""
    rows: list[Row] = []
    for line in page.split(b"\n"):
        text = line.strip().decode("utf-8", "replace")
        if text and not text.startswith("#"):
            row = _sample(text)
            if row is None:
                raise ProtocolBreach(
                    f"{called} has a line that is no sample.",
                    got=shown(line),
                    want='NAME{LABEL="VALUE"} NUMBER, as Prometheus reads it',
                    see="the-hooks-objects-metrics-and-trace",
                )
            rows.append(row)
    return rows


def _sample(text: str) -> Row | None:
    found = _SAMPLE.fullmatch(text)
    if found is None:
        return None
    name, inside, number = found.groups()
    labels, rest = {}, inside or ""
    while rest.strip():
        label = _LABEL.match(rest)
        if label is None:
            return None
        unescaped = re.sub(r"\\.", lambda one: _ESCAPES.get(one[0], one[0]), label[2])
        labels[label[1]] = unescaped
        rest = rest[label.end() :]
    try:
        value = float(number)
    except ValueError:
        return None
    return {"name": name, "labels": labels, "value": _plain(value)}


def _plain(value: float) -> float | int | str:
    """A number as histories can have it; what is none (NaN, +Inf) as text."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'+' if value > 0 else '-'}Inf"
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value


def _float(text: str) -> float | int | str:
    return _plain(float(text))


def _integer(text: str) -> int | str:
    return int(text) if len(text) < 20 and abs(int(text)) < 1 << 63 else text


class TraceFile:
    """A file of JSON lines that grows; each look gives the lines since the last."""

    def __init__(self, hook: Hook, folder: Path | None) -> None:
        self._called = f"the hook trace ({hook.address})"
        self._path = (folder or Path()) / hook.target
        self._read = 0

    async def look(self) -> list[Row]:
        """The complete lines that were added since the last look, as many as fit into one."""
        return await asyncio.to_thread(self._look)

    def _look(self) -> list[Row]:
        try:
            if not self._path.is_file():  # a pipe might keep the lab waiting
                raise FileNotFoundError(0, "there is no such file")
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._read:
                    raise AdapterError(f"{self._called} is shorter than it was at the last look")
                file.seek(self._read)
                data = file.read(TRACE_BYTES)
        except OSError as error:
            raise CannotConnect(f"{self._called} cannot be read: {error.strerror}") from None
        complete = data[: data.rfind(b"\n") + 1]
        longest = max((len(line) for line in data.split(b"\n")), default=0)
        if longest > LINE_BYTES:
            raise self._breach(f"has a line of more than {LINE_BYTES} bytes", data)
        rows = [self._row(line) for line in complete.split(b"\n") if line.strip()]
        self._read += len(complete)
        return rows

    def _row(self, line: bytes) -> Row:
        try:
            found = json.loads(line, parse_constant=str, parse_float=_float, parse_int=_integer)
            json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair is no text
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._breach("has a line that is not a JSON object", line)
        return found

    def _breach(self, what: str, line: bytes) -> ProtocolBreach:
        return ProtocolBreach(
            f"{self._called} {what}.",
            got=shown(line),
            want="one JSON object a line",
            see="the-hooks-objects-metrics-and-trace",
        )
