"""Patience: a limit to waiting that costs nothing where nobody has to wait.

``asyncio.timeout`` sets and cancels a timer whatever happens inside. Of the reads and sends of a
busy connection most are done at once, and then the timer is most of what they cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


async def within(seconds: float, work: Coroutine[Any, Any, Result]) -> Result:
    """What the work returns; TimeoutError if it has to wait, and for longer than that."""
    try:
        awaited = work.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    async with asyncio.timeout(seconds):
        return await _Begun(work, awaited)


class _Begun(Generic[Result]):
    """Work that waits for something, and goes on from there."""

    def __init__(self, work: Coroutine[Any, Any, Result], awaited: Any) -> None:
        self._work = work
        self._awaited = awaited

    def __await__(self) -> Generator[Any, Any, Result]:
        awaited = self._awaited
        while True:
            try:
                try:
                    answer = yield awaited
                except BaseException as error:
                    awaited = self._work.throw(error)
                else:
                    awaited = self._work.send(answer)
            except StopIteration as done:
                result: Result = done.value
                return result
