"""Requests that are carried out and settled later: what goes on meanwhile, and in which order."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from wire_server import is_closed, metadata_frame, produce_frame, read_frame, run, serving

from reference_impl.kafka.answers import MOST_WAITING, Later
from reference_impl.kafka.apis import METADATA, PRODUCE, Api
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context, Handler
from reference_impl.ports.network import Connection


class Appends:
    """A produce that is carried out at once and settled when it is told; and metadata."""

    def __init__(self) -> None:
        self.carried_out: list[Api] = []
        self.settled = asyncio.Event()
        self.given_up = asyncio.Event()
        self.changed = asyncio.Event()

    async def produce(self, context: Context, request: Any) -> Message | Later | None:
        self._note(context)
        if request.acks == 1:
            return PRODUCE.response()
        return Later(self._settle)

    async def metadata(self, context: Context, request: Any) -> Message:
        self._note(context)
        return METADATA.response()

    @property
    def handlers(self) -> dict[Api, Handler]:
        return {PRODUCE: self.produce, METADATA: self.metadata}

    async def until(self, count: int) -> None:
        while len(self.carried_out) < count:
            self.changed.clear()
            await self.changed.wait()

    def _note(self, context: Context) -> None:
        self.carried_out.append(context.api)
        self.changed.set()

    async def _settle(self) -> Message:
        try:
            await self.settled.wait()
        except asyncio.CancelledError:
            self.given_up.set()
            raise
        return PRODUCE.response()


async def answered(connection: Connection) -> int:
    """The request that the next answer is to."""
    number: int = struct.unpack(">i", (await read_frame(connection))[:4])[0]
    return number


def test_the_next_produce_is_carried_out_before_the_last_one_is_settled() -> None:
    async def scenario() -> list[int]:
        appends = Appends()
        async with serving(appends.handlers) as connect:
            connection = await connect()
            frames = [produce_frame(number, b"x", acks=-1) for number in range(5)]
            await connection.send(b"".join(frames))
            await appends.until(5)
            appends.settled.set()
            return [await answered(connection) for _ in frames]

    assert run(scenario) == [0, 1, 2, 3, 4]


def test_an_answer_that_is_known_at_once_still_waits_for_those_before_it() -> None:
    async def scenario() -> list[int]:
        appends = Appends()
        async with serving(appends.handlers) as connect:
            connection = await connect()
            await connection.send(produce_frame(1, b"x", acks=-1) + produce_frame(2, b"x", acks=1))
            await appends.until(2)
            appends.settled.set()
            return [await answered(connection), await answered(connection)]

    assert run(scenario) == [1, 2]


def test_another_request_is_carried_out_only_when_all_before_it_are_answered() -> None:
    async def scenario() -> tuple[list[Api], list[int]]:
        appends = Appends()
        async with serving(appends.handlers) as connect:
            connection = await connect()
            for number in (1, 2):
                await connection.send(produce_frame(number, b"x", acks=-1))
            await connection.send(metadata_frame(3) + produce_frame(4, b"x", acks=1))
            other = await connect()
            await appends.until(2)
            await other.send(metadata_frame(9))  # answered by a server that could go on elsewhere
            await answered(other)
            before = list(appends.carried_out)
            appends.settled.set()
            return before, [await answered(connection) for _ in range(4)]

    before, order = run(scenario)
    assert before == [PRODUCE, PRODUCE, METADATA]
    assert order == [1, 2, 3, 4]


def test_only_so_many_are_carried_out_ahead() -> None:
    async def scenario() -> tuple[int, list[int]]:
        appends = Appends()
        async with serving(appends.handlers) as connect:
            connection = await connect()
            for number in range(MOST_WAITING + 10):
                await connection.send(produce_frame(number, b"x", acks=-1))
            other = await connect()
            await appends.until(MOST_WAITING)
            await other.send(metadata_frame(9))
            await answered(other)
            ahead = appends.carried_out.count(PRODUCE)
            appends.settled.set()
            return ahead, [await answered(connection) for _ in range(MOST_WAITING + 10)]

    ahead, order = run(scenario)
    assert ahead == MOST_WAITING
    assert order == list(range(MOST_WAITING + 10))


def test_nobody_waits_for_a_peer_that_has_gone() -> None:
    async def scenario() -> None:
        appends = Appends()
        async with serving(appends.handlers) as connect:
            connection = await connect()
            await connection.send(produce_frame(1, b"x", acks=-1))
            await appends.until(1)
            connection.abort()
            await appends.given_up.wait()

    run(scenario)


def test_an_answer_that_cannot_be_found_is_reported_and_the_connection_reset() -> None:
    async def fails() -> Message:
        raise ValueError("a bug")

    async def produce(context: Context, request: Any) -> Later:
        return Later(fails)

    async def scenario() -> bool:
        async with serving({PRODUCE: produce}) as connect:
            connection = await connect()
            await connection.send(produce_frame(1, b"x", acks=-1))
            return await is_closed(connection)

    assert run(scenario, uncaught=1)
