"""Answers that are still to come: requests that are carried out and wait to be settled.

A produce with acks=all is carried out once its leader has it, and answered once all replicas do.
Meanwhile the next one of the same connection may be carried out: followers then fetch many batches
at once, where they would fetch each by itself. Answers leave in the order of their requests; and
each begins to wait, with its own time limit, when the one before it is answered.

A peer that goes away takes its answers with it: nobody waits for them any longer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, NamedTuple, TypeVar

from reference_impl.kafka.frames import Header
from reference_impl.kafka.message import Message

Answered_co = TypeVar("Answered_co", bound=Message, covariant=True)

MOST_WAITING: Final = 64
"""Of one connection; a follower fetches that many batches of 16 KiB at once."""


class Later(NamedTuple, Generic[Answered_co]):
    """What a handler returns that has carried a request out: how to get the answer to it."""

    settle: Callable[[], Awaitable[Answered_co]]


class Answers:
    """Of one connection. ``send`` says whether it could; ``give_up`` breaks the connection."""

    def __init__(
        self,
        send: Callable[[Header, Message], Awaitable[bool]],
        give_up: Callable[[], None],
    ) -> None:
        self._send = send
        self._give_up = give_up
        self._waiting: deque[tuple[Header, Later[Message] | Message]] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._fewer: asyncio.Future[None] | None = None
        self._failure: Exception | None = None

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, header: Header, answer: Later[Message] | Message) -> None:
        """Send this one after all others."""
        self._waiting.append((header, answer))
        if self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def room_for(self, header: Header) -> None:
        """Return when such a request may be carried out: others than those that wait have to."""
        while self._waiting:
            if self._waiting[-1][0].api is header.api and len(self._waiting) < MOST_WAITING:
                return
            await self._change()

    async def sent(self) -> None:
        """Return when none is left."""
        while self._waiting:
            await self._change()

    def check(self) -> None:
        """Raise what kept an answer from being found, if anything did."""
        if self._failure is not None:
            raise self._failure

    async def drop(self) -> None:
        """The connection has ended: nobody waits any longer."""
        self._waiting.clear()
        if self._sending is not None:
            self._sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sending

    async def _change(self) -> None:
        self._fewer = asyncio.get_running_loop().create_future()
        await self._fewer

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                header, answer = self._waiting[0]
                message = await answer.settle() if isinstance(answer, Later) else answer
                if not await self._send(header, message):
                    self._lose()
                    return
                self._waiting.popleft()
                self._tell()
        except ConnectionError:
            self._lose()
        except Exception as failure:
            self._failure = failure
            self._lose()
        finally:
            self._sending = None

    def _lose(self) -> None:
        """No answer will leave any more."""
        self._waiting.clear()
        self._give_up()
        self._tell()

    def _tell(self) -> None:
        if self._fewer is not None and not self._fewer.done():
            self._fewer.set_result(None)
