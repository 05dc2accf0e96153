"""A fault proxy before an S3 server, on loopback unless it is told another address.

It understands HTTP: it knows calls from bytes, and the reads of one object from other calls. Every
caller has a port of its own (`way`), so that a lever acts on one caller or on all. Left alone it
only forwards. The server is never changed: damage is shown to those who read (`s3_damage.py`).

A lever is pulled from any thread and holds for every call that is made after that; its `acted` and
`release` are awaited in any loop. A call that waits when a lever is released goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from harness.proxies.s3_connection import Connection
from harness.proxies.s3_levers import (
    DAMAGES,
    Cut,
    Direction,
    DropRequests,
    Fail,
    FailWrites,
    LeversInForce,
    LoseReplies,
    Refuse,
    S3Lever,
    Slow,
)
from harness.proxies.thread import LOOPBACK, LoopThread

Kind = TypeVar("Kind", bound=S3Lever)


class S3Proxy:
    """The ways of all callers to one S3 server, in one thread."""

    def __init__(self, endpoint: str, *, host: str = LOOPBACK) -> None:
        """``endpoint``: where the server is, as ``http://127.0.0.1:8333``; ``host``: where callers
        find the proxy."""
        self.lead_to(endpoint)
        self._levers = LeversInForce()
        self._ways: dict[str, str] = {}
        self._thread = LoopThread("s3-proxy", host)

    def lead_to(self, endpoint: str) -> None:
        """All ways end at this server from now on."""
        parts = urlsplit(endpoint)
        if parts.scheme != "http" or not parts.hostname or not parts.port:
            raise ValueError(f"not the endpoint of an S3 server: {endpoint!r}")
        self._server = (parts.hostname, parts.port)

    def way(self, caller: str) -> str:
        """The endpoint at which a caller finds the server; it listens from the first time."""
        if caller not in self._ways:
            self._ways[caller] = self._thread.order(self._listen(caller))
        return self._ways[caller]

    def close(self) -> None:
        """Hang up everywhere and end the thread."""
        self._thread.close()

    # Levers; `caller` is one of those who were given a way, None is all of them.

    def refuse(self, caller: str | None = None) -> S3Lever:
        """Reset connections: new ones at once, others when they ask (`refusals`)."""
        return self._pull(Refuse(self._thread, _callers(caller)))

    def slow(self, seconds: float, caller: str | None = None) -> S3Lever:
        """Let calls wait so long before the server sees them (`calls_delayed`)."""
        return self._pull(Slow(self._thread, _callers(caller), seconds=seconds))

    def fail(self, status: int = 503, caller: str | None = None) -> S3Lever:
        """Answer with an error in S3's form; the server sees nothing (`errors_answered`)."""
        return self._pull(Fail(self._thread, _callers(caller), status=status))

    def fail_writes(self, like: str) -> S3Lever:
        """Answer writes of objects with a key like this with an error (`writes_failed`)."""
        return self._pull(FailWrites(self._thread, like=like))

    def lose_replies(self, caller: str | None = None, times: int | None = None) -> S3Lever:
        """Let calls be carried out, throw their replies away and reset (`replies_dropped`)."""
        return self._pull(LoseReplies(self._thread, _callers(caller), times))

    def drop_requests(self, caller: str | None = None, times: int | None = None) -> S3Lever:
        """Throw calls away before the server sees them, and reset (`requests_dropped`)."""
        return self._pull(DropRequests(self._thread, _callers(caller), times))

    def cut(
        self, callers: Sequence[str], *, requests: bool = True, replies: bool = True
    ) -> S3Lever:
        """Keep what these callers send, what they are sent, or both (`deliveries_held`)."""
        chosen = {Direction.REQUESTS: requests, Direction.REPLIES: replies}
        directions = frozenset(way for way, held in chosen.items() if held)
        return self._pull(Cut(self._thread, frozenset(callers), directions=directions))

    def damage(self, how: str, key: str, bucket: str | None = None) -> S3Lever:
        """Let an object be read as `vanished`, `torn` or `corrupt` (`reads_missed`, `reads_torn`,
        `reads_corrupt`); the key is the whole one, and of any bucket if none is named."""
        if how not in DAMAGES:
            raise ValueError(f"not a damage: {how!r}; it is one of {', '.join(DAMAGES)}")
        return self._pull(DAMAGES[how](self._thread, key=key, bucket=bucket))

    def _pull(self, lever: Kind) -> Kind:
        async def begin() -> None:
            self._levers.add(lever)

        self._thread.order(begin())
        return lever

    # In the thread.

    async def _listen(self, caller: str) -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await Connection(caller, self._levers, lambda: self._server, reader, writer).serve()

        server = await self._thread.listen(serve)
        return f"http://{self._thread.host}:{server.sockets[0].getsockname()[1]}"


def _callers(caller: str | None) -> frozenset[str] | None:
    return None if caller is None else frozenset((caller,))
