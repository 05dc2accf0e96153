"""The simulated object store and obstore's, step by step: the same calls, the same answers.

In memory and in a folder; what a server makes of the same calls is in the contract tests.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from harness.simulation.object_store import SimObjectStore
from reference_impl.live.object_store import open_object_store
from reference_impl.ports.object_store import ObjectStore, StoreError

# Keys that are folders for others, look like files of a folder, or sort oddly; then no keys.
KEYS = ("a", "a/b", "a/b/c", "ab", "a.object", "a.object/b", "a/b#1", "a b", "ä", "€", "𝄞", "Z")
NO_KEYS = ("", "/a", "a/", "a//b", ".", "a/..", "a\nb", "a\\b", "\ud800", "x" * 1025)
PREFIXES = (*KEYS, *NO_KEYS, "a.", "a/b#", "a.object/", "x")

keys = st.sampled_from(KEYS * 4 + NO_KEYS)


class Stores(RuleBasedStateMachine):
    """Three stores, asked the same."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.stores: dict[str, ObjectStore] = {
            "simulated": SimObjectStore(Random(0)),
            "in memory": open_object_store("memory:"),
            "in a folder": open_object_store(self.folder.name),
        }

    def teardown(self) -> None:
        self.runner.close()
        self.folder.cleanup()

    @rule(key=keys, data=st.binary(max_size=8), if_absent=st.booleans())
    def put(self, key: str, data: bytes, if_absent: bool) -> None:
        self.all(lambda store: store.put(key, data, if_absent=if_absent))

    @rule(key=keys)
    def get(self, key: str) -> None:
        self.all(lambda store: store.get(key))

    @rule(key=keys, start=st.integers(-1, 9), count=st.integers(-1, 9))
    def get_range(self, key: str, start: int, count: int) -> None:
        self.all(lambda store: store.get_range(key, start, count))

    @rule(key=keys)
    def head(self, key: str) -> None:
        self.all(lambda store: store.head(key))

    @rule(prefix=st.sampled_from(PREFIXES))
    def list_some(self, prefix: str) -> None:
        self.all(lambda store: store.list(prefix))

    @rule()
    def list_all(self) -> None:
        self.all(lambda store: store.list())

    @rule(some=st.lists(keys, max_size=4))
    def delete(self, some: list[str]) -> None:
        self.all(lambda store: store.delete(some))

    def all(self, call: Callable[[ObjectStore], Coroutine[Any, Any, object]]) -> None:
        answers = {name: self.answer(call(store)) for name, store in self.stores.items()}
        assert answers == dict.fromkeys(answers, answers["simulated"])

    def answer(self, call: Coroutine[Any, Any, object]) -> object:
        try:
            return self.runner.run(call)
        except (StoreError, ValueError) as error:
            return type(error)


TestStores = Stores.TestCase
TestStores.settings = settings(stateful_step_count=40)
