"""Metadata managers of two brokers to try the contract on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from reference_impl.tiered.memory_metadata import MemoryMetadataManager, MemoryMetadataRegistry
from reference_impl.tiered.metadata import RemoteLogMetadataManager

T = TypeVar("T")
Call = Callable[[RemoteLogMetadataManager], Awaitable[T]]


class MetadataBench(Protocol):
    """Brokers 1 and 2, each with a manager."""

    def call(self, broker: int, do: Call[T]) -> T:
        """Let a broker do something with its manager."""
        ...

    def restart(self, broker: int) -> None:
        """Close its manager and start another one, which was told of nothing yet."""
        ...

    def lead(self, broker: int | None) -> None:
        """Let it lead the metadata partitions, or none of the two."""
        ...

    def close(self) -> None:
        """End both."""
        ...


class MemoryBench:
    """Views of one registry."""

    def __init__(self) -> None:
        self.registry = MemoryMetadataRegistry()
        self.managers: dict[int, MemoryMetadataManager] = {}
        self._runner = asyncio.Runner()
        for broker in (1, 2):
            self._start(broker)

    def _start(self, broker: int) -> None:
        self.managers[broker] = MemoryMetadataManager(self.registry, broker_id=broker)

    def call(self, broker: int, do: Call[T]) -> T:
        async def called() -> T:
            return await do(self.managers[broker])

        return self._runner.run(called())

    def restart(self, broker: int) -> None:
        self.call(broker, lambda manager: manager.close())
        self._start(broker)

    def lead(self, broker: int | None) -> None:
        self.registry.lead(broker)

    def close(self) -> None:
        for broker in self.managers:
            self.call(broker, lambda manager: manager.close())
        self._runner.close()
