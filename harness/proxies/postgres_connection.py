"""One connection through the fault proxy: forwarding both ways, asking the gate on the way.

Everything that the frontend wants executed is shown to the gate first, which may keep it waiting or
refuse it. The answers of the database pass by the gate too; one that may have to be lost is kept
back until it is complete. Whatever ends a connection, both of its sides are reset.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from harness.proxies.postgres_frames import (
    ERROR_RESPONSE,
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


class Gate(Protocol):
    """Who decides what passes."""

    @property
    def losing(self) -> bool:
        """Whether replies have to be kept back until it is clear that they may pass."""

    async def admit(self, connection: Connection, group: Group) -> bool:
        """Whether a group that executes something goes on to the database, perhaps later."""

    def swallows(self, frame: Frame, answer_bytes: int) -> bool:
        """Whether the reply that ends with this frame is lost on its way back."""

    def saw_error(self, frame: Frame) -> None:
        """The database answered with an error."""


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

    async def serve(self, upstream: Upstream) -> None:
        """Forward both ways until one side hangs up."""
        startup = await read_startup(self._reader, self._writer)
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
        while True:
            group = await read_group(self._reader)
            if group.executes and not await self._gate.admit(self, group):
                return
            if group.answered:
                self._answering.append(group.executes)
            upstream.write(group.raw)
            await upstream.drain()

    async def _backward(self, server: asyncio.StreamReader) -> None:
        """The database's answers; one that is to be lost is kept until it is complete."""
        kept = bytearray()
        try:
            while True:
                frame = await read_frame(server)
                if frame.kind == ERROR_RESPONSE:
                    self._gate.saw_error(frame)
                kept += frame.raw
                if frame.kind == READY_FOR_QUERY:
                    executed = self._answering.popleft() if self._answering else False
                    self.in_transaction = frame.transaction_status != IDLE
                    if executed and self._gate.swallows(frame, len(kept)):
                        return
                elif self._gate.losing:
                    continue
                self._writer.write(bytes(kept))
                kept.clear()
                await self._writer.drain()
        finally:
            self.abort()

    def abort(self) -> None:
        """Break both sides at once; the client sees a reset, not a goodbye."""
        reset(self._writer)
        if self._upstream is not None:
            self._upstream.transport.abort()
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()
