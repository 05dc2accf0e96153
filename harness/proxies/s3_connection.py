"""One connection of a caller to the S3 proxy: request after request, each shown to the levers.

The server is given a connection of its own for each request, so that one that idles there too long
never looks like a fault. A request that was held or delayed is carried out even if its caller has
given up: the network had it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from harness.proxies.http import (
    PIECE_BYTES,
    UNTIL_CLOSE,
    BadHttp,
    Reply,
    Request,
    read_body,
    read_content,
    read_reply,
    read_request,
    s3_error,
)
from harness.proxies.s3_damage import (
    LISTING_LIMIT_BYTES,
    Shown,
    may_list,
    object_of,
    reads_object,
    show,
    show_listing,
)
from harness.proxies.s3_levers import (
    FAILURES,
    Cut,
    Damage,
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
from harness.proxies.thread import reset

_HANGUPS = (OSError, EOFError)  # half of what was to come is an EOFError
_PARTING_S = 10.0


class Connection:
    """A connection that a caller has made."""

    def __init__(
        self,
        caller: str,
        levers: LeversInForce,
        server: Callable[[], tuple[str, int]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._caller = caller
        self._levers = levers
        self._server = server
        self._reader = reader
        self._writer = writer
        self._answering = False  # part of an answer has been sent

    async def serve(self) -> None:
        """Serve the caller until one of both sides hangs up or a lever breaks the connection."""
        try:
            await self._hold(Direction.REQUESTS)
            self._break_if(Refuse)
            while await self._exchange():
                self._answering = False
            await self._part()
        except BadHttp as error:
            with contextlib.suppress(*_HANGUPS):
                await self._complain(error)
        except _HANGUPS:
            pass
        finally:
            reset(self._writer)

    async def _exchange(self) -> bool:
        """One request and its reply; whether there may be another."""
        request = await read_request(self._reader)
        if request is None:
            return False
        await self._hold(Direction.REQUESTS)
        for slow in self._levers.all(Slow, self._caller):
            slow.act()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(slow.released.wait(), slow.seconds)
        self._break_if(Refuse)
        self._break_if(DropRequests)
        fail = self._levers.first(Fail, self._caller) or self._unwritten(request)
        if fail is None:
            return await self._forward(request)
        fail.act()
        waits = bool(request.first("expect"))  # its body comes only if we ask for it
        async for _ in read_body(self._reader, 0 if waits else request.body):
            pass
        parting = (("Connection", "close"),) if waits else ()
        await self._send(s3_error(fail.status, FAILURES[fail.status], request, parting))
        return request.keep_alive and not waits

    def _unwritten(self, request: Request) -> FailWrites | None:
        if request.method not in ("PUT", "POST"):
            return None
        _, key = object_of(request)
        failing = self._levers.all(FailWrites, self._caller)
        return next((each for each in failing if each.is_of(key)), None)

    def _break_if(self, kind: type[S3Lever]) -> None:
        lever = self._levers.first(kind, self._caller)
        if lever is not None:
            lever.act()
            raise ConnectionAbortedError(lever.what)

    async def _forward(self, request: Request) -> bool:
        from_server, to_server = await asyncio.open_connection(*self._server())
        upload = asyncio.create_task(self._upload(request, to_server))
        try:
            return await self._deliver(request, from_server, upload)
        except (BadHttp, *_HANGUPS) as error:
            wrong = upload.done() and not upload.cancelled() and upload.exception()
            if isinstance(wrong, BadHttp):
                raise wrong from error
            raise ConnectionAbortedError("the server hung up") from error
        finally:
            upload.cancel()
            await asyncio.gather(upload, return_exceptions=True)
            reset(to_server)

    async def _upload(self, request: Request, to_server: asyncio.StreamWriter) -> None:
        """Send a request on; what keeps it from ending ends the server's connection too."""
        try:
            to_server.write(request.raw)
            async for data, _ in read_body(self._reader, request.body):
                await self._hold(Direction.REQUESTS)
                to_server.write(data)
                await to_server.drain()
        except (BadHttp, *_HANGUPS):
            reset(to_server)
            raise

    async def _deliver(
        self, request: Request, from_server: asyncio.StreamReader, upload: asyncio.Task[None]
    ) -> bool:
        """Pass the server's reply on; whether another may follow it."""
        while (reply := await read_reply(from_server)).status < 200:
            await self._send(reply.raw)
        body = reply.body(request.method)
        lose = self._levers.first(LoseReplies, self._caller)
        if lose is not None:
            lose.claim()
            async for _ in read_body(from_server, body):
                pass
            lose.count(lose.what)
            raise ConnectionAbortedError(lose.what)
        alive = request.keep_alive
        if not await self._deliver_damaged(request, reply, from_server):
            alive = alive and reply.keep_alive and body != UNTIL_CLOSE
            await self._send(reply.raw)
            async for data, _ in read_body(from_server, body):
                await self._send(data)
        if reply.status < 400:
            await upload
        return alive and upload.done()  # an error may come before the end of the request

    async def _deliver_damaged(
        self, request: Request, reply: Reply, from_server: asyncio.StreamReader
    ) -> bool:
        """Show the reply as damaged, if what was read is; whether it was."""
        damages = self._levers.all(Damage, self._caller)
        body = reply.body(request.method)
        if damages and may_list(request) and reply.status == 200:
            content = await read_content(from_server, body, LISTING_LIMIT_BYTES)
            listing, met = show_listing(damages, request, reply, content)
            for each in met:
                each.act()
            await self._send(listing)
            return True
        damage = next((each for each in damages if each.is_of(*object_of(request))), None)
        if damage is None or not reads_object(request):
            return False
        shown = show(damage, request, reply)
        if shown is None:
            return False
        if shown.met:
            damage.act()
        await self._send(shown.head)
        async for data in _taken(shown, read_body(from_server, body)):
            await self._send(data)
        return True

    async def _send(self, data: bytes) -> None:
        await self._hold(Direction.REPLIES)
        self._answering = True
        self._writer.write(data)
        await self._writer.drain()

    async def _hold(self, direction: Direction) -> None:
        """Wait for the end of every cut in this direction."""
        cuts = self._levers.all(Cut, self._caller)
        while cut := next((each for each in cuts if direction in each.directions), None):
            cut.act()
            await cut.released.wait()
            cuts = self._levers.all(Cut, self._caller)

    async def _complain(self, error: BadHttp) -> None:
        if not self._answering:
            await self._send(s3_error(400, "BadRequest", None, message=str(error)))
            await self._part()

    async def _part(self) -> None:
        """Hang up in good order: a client that is still sending can read the answer."""
        self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PARTING_S):
                while await self._reader.read(PIECE_BYTES):
                    pass


async def _taken(shown: Shown, pieces: AsyncIterator[tuple[bytes, bool]]) -> AsyncIterator[bytes]:
    """The bytes of a body that are shown."""
    at = 0
    if not shown.take:
        return
    async for data, is_content in pieces:
        if not is_content:
            continue
        data = data[: shown.take - at]
        if shown.flip is not None and at <= shown.flip < at + len(data):
            changed = bytearray(data)
            changed[shown.flip - at] ^= 1
            data = bytes(changed)
        at += len(data)
        yield data
        if at == shown.take:
            return
    raise EOFError
