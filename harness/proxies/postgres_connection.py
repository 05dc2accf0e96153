"""One connection through the fault proxy: forwarding both ways, asking the gate on the way.

Everything that the frontend wants executed is shown to the gate first, which may keep it waiting or
refuse it. The answers of the database pass by the gate too; one that may have to be lost is kept
back until it is complete. What has left a client is carried out, also if the client is gone before
it is answered. Whatever ends a connection, both of its sides are reset.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from harness.proxies.postgres_frames import (
    IDLE,
    READY_FOR_QUERY,
    Frame,
    FrameTooLarge,
    Group,
    is_cancel,
    read_frame,
    read_group,
    read_startup,
)
from harness.proxies.thread import reset

HANGUPS = (asyncio.IncompleteReadError, FrameTooLarge, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Where the database listens: a socket file, or host and port."""

    host: str
    port: int

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A fresh connection to the database."""
        if self.host.startswith("/"):
            return await asyncio.open_unix_connection(f"{self.host}/.s.PGSQL.{self.port}")
        return await asyncio.open_connection(self.host, self.port)


class Passage(Enum):
    """What becomes of something that a frontend wants executed."""

    ON = auto()  # to the database
    BREAK = auto()  # it is thrown away, and the connection breaks


class Gate(Protocol):
    """Who decides what passes."""

    @property
    def losing(self) -> bool:
        """Whether replies have to be kept back until it is clear that they may pass."""

    async def carried(self, *, back: bool) -> None:
        """Return when something may travel to the database, or back."""

    async def admit(self, connection: Connection, group: Group) -> Passage | bytes:
        """What becomes of a group that executes something, or what it is answered instead; it may
        take its time."""

    def swallows(self, frame: Frame, answer_bytes: int) -> bool:
        """Whether the reply that ends with this frame is lost on its way back."""

    def answered(self, connection: Connection) -> None:
        """All that a connection has asked so far is answered."""


class Connection:
    """One accepted connection and its counterpart at the database."""

    def __init__(
        self, gate: Gate, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.task: asyncio.Task[None] | None = None
        self.in_transaction = False
        self._gate = gate
        self._reader = reader
        self._writer = writer
        self._upstream: asyncio.StreamWriter | None = None
        self._answering: deque[bool] = deque()
        self._all_answered = asyncio.Event()
        self._all_answered.set()

    async def serve(self, upstream: Upstream) -> None:
        """Forward both ways until one side hangs up."""
        startup = await read_startup(self._reader, self._writer)
        await self._gate.carried(back=False)
        server, self._upstream = await upstream.connect()
        self._upstream.write(startup)
        if is_cancel(startup):
            await self._upstream.drain()
            return
        back = asyncio.ensure_future(self._backward(server))
        try:
            await self._forward(self._upstream)
        finally:
            back.cancel()
            with contextlib.suppress(*HANGUPS, asyncio.CancelledError):
                await back

    async def _forward(self, upstream: asyncio.StreamWriter) -> None:
        """What the frontend sends, until it hangs up and all of it is answered."""
        while (group := await self._next_group()) is not None:
            await self._gate.carried(back=False)
            passage = await self._gate.admit(self, group) if group.executes else Passage.ON
            if passage is Passage.BREAK:
                return
            if isinstance(passage, bytes):
                await self._all_answered.wait()
                await self._gate.carried(back=True)
                self._writer.write(passage)
                continue
            if group.answered:
                self._answering.append(group.executes)
                self._all_answered.clear()
            upstream.write(group.raw)
            await upstream.drain()
        await self._all_answered.wait()

    async def _next_group(self) -> Group | None:
        """None when the frontend has gone."""
        try:
            return await read_group(self._reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def _backward(self, server: asyncio.StreamReader) -> None:
        """The database's answers; one that is to be lost is kept until it is complete."""
        kept = bytearray()
        try:
            while True:
                frame = await read_frame(server)
                kept += frame.raw
                if frame.kind == READY_FOR_QUERY:
                    executed = self._answering.popleft() if self._answering else False
                    self.in_transaction = frame.transaction_status != IDLE
                    if executed and self._gate.swallows(frame, len(kept)):
                        return
                elif self._gate.losing:
                    continue
                await self._gate.carried(back=True)
                self._writer.write(bytes(kept))
                kept.clear()
                await self._writer.drain()
                if frame.kind == READY_FOR_QUERY and not self._answering:
                    self._all_answered.set()
                    self._gate.answered(self)
        finally:
            self._all_answered.set()
            self.abort()

    def abort(self) -> None:
        """Break both sides at once; the client sees a reset, not a goodbye."""
        reset(self._writer)
        if self._upstream is not None:
            self._upstream.transport.abort()
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()
