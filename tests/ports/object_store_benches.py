"""Object stores to be held to the contract of their port.

To add an implementation, write a bench and add a line to OBJECT_STORES. A bench is opened with the
request of the fixture that asks for it, by which it can reach a server that all of them share.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

import pytest

from reference_impl.live.object_store import open_object_store
from reference_impl.ports.effects import OpenGate
from reference_impl.ports.object_store import GatedObjectStore, ObjectStore
from tests.ports.sim_node_benches import sim_node

Result = TypeVar("Result")
Scenario = Callable[[], Awaitable[Result]]

_numbers = itertools.count()


class ObjectStoreBench(Protocol):
    """A node with an object store."""

    @property
    def store(self) -> ObjectStore:
        """The store, which is empty at first."""

    def run(self, scenario: Scenario[Result]) -> Result:
        """Run a test's coroutine on that node to its end."""


class LiveStoreBench:
    """A store that needs nothing but an event loop."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store

    def run(self, scenario: Scenario[Result]) -> Result:
        async def within_reason() -> Result:
            async with asyncio.timeout(60):
                return await scenario()

        return asyncio.run(within_reason())


@contextmanager
def memory(request: pytest.FixtureRequest) -> Iterator[ObjectStoreBench]:
    yield LiveStoreBench(open_object_store("memory:"))


@contextmanager
def gated(request: pytest.FixtureRequest) -> Iterator[ObjectStoreBench]:
    yield LiveStoreBench(GatedObjectStore(open_object_store("memory:"), OpenGate()))


@contextmanager
def simulated(request: pytest.FixtureRequest) -> Iterator[ObjectStoreBench]:
    with sim_node() as bench:
        yield bench


@contextmanager
def folder(request: pytest.FixtureRequest) -> Iterator[ObjectStoreBench]:
    with tempfile.TemporaryDirectory(prefix="tidemark-objects-") as place:
        yield LiveStoreBench(open_object_store(place))


@contextmanager
def moto(request: pytest.FixtureRequest) -> Iterator[ObjectStoreBench]:
    yield LiveStoreBench(open_object_store(_own_prefix(request.getfixturevalue("moto_url"))))


@contextmanager
def seaweedfs(request: pytest.FixtureRequest) -> Iterator[ObjectStoreBench]:
    yield LiveStoreBench(open_object_store(_own_prefix(request.getfixturevalue("seaweedfs_url"))))


def _own_prefix(url: str) -> str:
    """The same bucket, and a prefix that nobody else has."""
    return url.replace("?", f"/{next(_numbers)}?", 1)


OBJECT_STORES = [
    pytest.param(memory, id="memory"),
    pytest.param(gated, id="memory-gated"),
    pytest.param(simulated, id="sim"),
    pytest.param(folder, id="folder"),
    pytest.param(moto, id="moto", marks=pytest.mark.process),
    pytest.param(seaweedfs, id="seaweedfs", marks=pytest.mark.process),
]
