"""Turns: changes of a log are made one after the other."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Protocol

from reference_impl.kafka.errors import KafkaError


class TakesTurns(Protocol):
    """A log, as far as its turns know it."""

    _lock: asyncio.Lock

    def _check_in_service(self) -> None: ...

    def _out_of_service(self, error: OSError) -> KafkaError: ...


class Turn:
    """Nobody else changes the log meanwhile; a disk that fails takes it out of service."""

    def __init__(self, log: TakesTurns) -> None:
        self._log = log

    async def __aenter__(self) -> None:
        await self._log._lock.acquire()
        try:
            self._log._check_in_service()
        except KafkaError:
            self._log._lock.release()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._log._lock.release()
        if isinstance(error, OSError):
            raise self._log._out_of_service(error) from error
