"""One connection to a broker, for requests as raw as wanted.

A broker's answer may also be that it closes the connection, or (acks 0) nothing at all. Both are
answers here, not errors. Only a broker that stays silent where it must speak is one: `Silence`.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

from harness.clients.answers import NOT_READABLE, UnreadableAnswer, answer_size
from harness.clients.messages import (
    API_KEYS,
    build,
    decode,
    encode,
    known_versions,
    plain,
    request_schema,
    response_schema,
)

CLOSED: Mapping[str, Any] = {"connection": "closed"}
"""The answer of a broker that hangs up."""

NO_ANSWER: Mapping[str, Any] = {"connection": "open, no answer"}
"""The answer to a produce request with acks 0 that was taken."""

PATIENCE_S = 40.0


class Silence(TimeoutError):
    """A broker neither answered nor hung up."""


class Connection:
    """A socket, and the correlation ids on it."""

    def __init__(self, host: str, port: int, *, timeout_s: float = PATIENCE_S) -> None:
        self._socket = socket.create_connection((host, port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._timeout_s = timeout_s
        self._correlation_id = 0
        self.closed = False

    def close(self) -> None:
        self._socket.close()
        self.closed = True

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, api: str, version: int, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send one request and return its answer as plain data."""
        if version not in known_versions(api):
            return self.ask_raw(api, version, b"")
        body = encode(build(request_schema(api, version), fields))
        if api == "produce" and fields.get("acks") == 0:
            return self._tell(api, version, body)
        return self.ask_raw(api, version, body)

    def ask_raw(self, api: str, version: int, body: bytes) -> Mapping[str, Any]:
        """The same with a body of any bytes."""
        self._correlation_id += 1
        return self.ask_frame(api, version, self._header(api, version) + body)

    def ask_frame(self, api: str, version: int, frame: bytes) -> Mapping[str, Any]:
        """The same with a frame of any bytes, its header among them."""
        self._correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
        try:
            answer = self.receive() if self.send(frame) else None
        except UnreadableAnswer as problem:
            self.close()
            return {"undecodable": "", "because": str(problem)}
        if answer is None:
            return CLOSED
        try:
            return self._decode(api, version, answer)
        except (*NOT_READABLE, KeyError) as problem:
            return {"undecodable": answer.hex(), "because": type(problem).__name__}

    def _tell(self, api: str, version: int, body: bytes) -> Mapping[str, Any]:
        """A request without an answer; the next one shows whether the broker still listens."""
        self._correlation_id += 1
        sent = self.send(self._header(api, version) + body)
        alive = sent and "connection" not in self.ask("api_versions", 0, {})
        return NO_ANSWER if alive else CLOSED

    def _header(self, api: str, version: int) -> bytes:
        versions = known_versions(api)
        like = min(max(version, versions.start), versions.stop - 1)
        schema = request_schema(api, like).__header_schema__
        said = {
            "request_api_key": API_KEYS[api],
            "request_api_version": version,
            "correlation_id": self._correlation_id,
            "client_id": "tidemark",
        }
        return encode(build(schema, said))

    def _decode(self, api: str, version: int, data: bytes) -> Mapping[str, Any]:
        if version not in known_versions(api):
            version = 0 if api == "api_versions" else max(known_versions(api))
        schema = response_schema(api, version)
        if api == "api_versions" and data[4:6] == b"\x00\x23":
            schema = response_schema(api, 0)  # too new for this broker: it answers in version 0
        header, at = decode(schema.__header_schema__, data, 0)
        message, at = decode(schema, data, at)
        answer = plain(message)
        if header.correlation_id != self._correlation_id:
            answer["wrong_correlation_id"] = header.correlation_id - self._correlation_id
        if at != len(data):
            answer["bytes_behind_the_answer"] = len(data) - at
        return answer

    def send(self, payload: bytes) -> bool:
        """One frame; false if the broker has hung up."""
        try:
            self._socket.sendall(struct.pack(">i", len(payload)) + payload)
        except (BrokenPipeError, ConnectionResetError):
            self.close()
            return False
        return True

    def receive(self) -> bytes | None:
        """The next frame, or None if the broker hangs up instead."""
        deadline = time.monotonic() + self._timeout_s
        size = self._exactly(4, deadline)
        return None if size is None else self._exactly(answer_size(size), deadline)

    def _exactly(self, wanted: int, deadline: float) -> bytes | None:
        chunks = []
        while wanted:
            try:
                self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
                chunk = self._socket.recv(min(wanted, 1 << 20))
            except ConnectionResetError:
                chunk = b""
            except TimeoutError:
                raise Silence(f"no answer within {self._timeout_s:g} s") from None
            if not chunk:
                self.close()
                return None
            chunks.append(chunk)
            wanted -= len(chunk)
        return b"".join(chunks)
