"""What every object store promises to whoever uses its port, whatever keeps the objects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from object_store_benches import OBJECT_STORES, ObjectStoreBench

from reference_impl.ports.object_store import (
    AlreadyExists,
    InvalidRange,
    ObjectInfo,
    ObjectNotFound,
    ObjectStore,
    StoreError,
)

OpenBench = Callable[[], AbstractContextManager[ObjectStoreBench]]

ODD_KEYS = [
    "a b",
    " ",
    " a ",
    "a%b",
    "%41",
    "a+b",
    "a#b",
    "a#1",
    "a?b=c&d",
    "'\"<>|{}^`[]~*:;,$!()@=",
    "]]>&amp;",
    "é",
    "e\u0301",
    "日本/\U0001f600",
    "\x85",
    "...",
    ".hidden/.b",
    "a.object",
    "a.object/b",
    "a.object./b.object.",
    "x" * 240,
    "/".join(["y" * 179] * 5),
]
# Reports cannot hold half a surrogate pair, so tests get a word for it.
LONE = "half a surrogate"
NOT_KEYS = [
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/./b",
    "a/../b",
    "a\\b",
    "a\nb",
    "a\x7f",
    "a\0b",
    "\ufffe",
    "\uffff",
    LONE,
    "x" * 241,
    "/".join(["y" * 180] * 5),
]


@pytest.fixture(scope="module", params=OBJECT_STORES)
def open_bench(request: pytest.FixtureRequest) -> OpenBench:
    return partial(request.param, request)


@pytest.fixture
def bench(open_bench: OpenBench) -> Iterator[ObjectStoreBench]:
    with open_bench() as opened:
        yield opened


@pytest.fixture
def store(bench: ObjectStoreBench) -> ObjectStore:
    return bench.store


async def keys(store: ObjectStore, prefix: str = "") -> list[str]:
    return [found.key for found in await store.list(prefix)]


# --- objects --------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"bytes", bytes(range(256)) * 40_000], ids=len)
def test_what_was_put_is_there_whole(
    bench: ObjectStoreBench, store: ObjectStore, data: bytes
) -> None:
    async def scenario() -> tuple[bytes, ObjectInfo, tuple[ObjectInfo, ...]]:
        await store.put("wal/7", data)
        return await store.get("wal/7"), await store.head("wal/7"), await store.list()

    info = ObjectInfo(key="wal/7", size=len(data))
    assert bench.run(scenario) == (data, info, (info,))


def test_a_put_takes_the_place_of_what_was_there(
    bench: ObjectStoreBench, store: ObjectStore
) -> None:
    async def scenario() -> bytes:
        await store.put("a", b"a long one")
        await store.put("a", b"short")
        return await store.get("a")

    assert bench.run(scenario) == b"short"


def test_a_put_that_must_be_new_changes_nothing_that_is_there(
    bench: ObjectStoreBench, store: ObjectStore
) -> None:
    async def scenario() -> list[bytes]:
        await store.put("a", b"first", if_absent=True)
        with pytest.raises(AlreadyExists):
            await store.put("a", b"second", if_absent=True)
        read = [await store.get("a")]
        await store.delete(["a"])
        await store.put("a", b"third", if_absent=True)
        return [*read, await store.get("a")]

    assert bench.run(scenario) == [b"first", b"third"]


def test_of_many_who_must_be_first_one_is(bench: ObjectStoreBench, store: ObjectStore) -> None:
    async def compete(name: bytes) -> bytes | None:
        try:
            await store.put("a", name, if_absent=True)
        except AlreadyExists:
            return None
        return name

    async def scenario() -> tuple[list[bytes], bytes]:
        tries = await asyncio.gather(*(compete(b"%d" % number) for number in range(4)))
        return [name for name in tries if name is not None], await store.get("a")

    winners, kept = bench.run(scenario)
    assert winners == [kept]


def test_what_is_not_there_is_not_found(bench: ObjectStoreBench, store: ObjectStore) -> None:
    async def scenario() -> None:
        await store.put("a/b/c", b"bytes")
        for key in ("other", "a", "a/b", "a/b/c/d"):
            for look in (store.get(key), store.get_range(key, 0, 1), store.head(key)):
                with pytest.raises(ObjectNotFound, match=key):
                    await look

    bench.run(scenario)


@pytest.mark.parametrize(
    ("start", "count", "read"),
    [(0, 10, b"0123456789"), (3, 4, b"3456"), (8, 100, b"89"), (9, 1, b"9")],
)
def test_a_range_ends_where_the_object_ends(
    bench: ObjectStoreBench, store: ObjectStore, start: int, count: int, read: bytes
) -> None:
    async def scenario() -> bytes:
        await store.put("a", b"0123456789")
        return await store.get_range("a", start, count)

    assert bench.run(scenario) == read


@pytest.mark.parametrize(
    ("data", "start", "count"),
    [(b"01234", 5, 1), (b"01234", 99, 1), (b"", 0, 1), (b"01234", 2, 0), (b"01234", -1, 1)],
)
def test_a_range_without_a_byte_is_invalid(
    bench: ObjectStoreBench, store: ObjectStore, data: bytes, start: int, count: int
) -> None:
    async def scenario() -> None:
        await store.put("a", data)
        with pytest.raises(InvalidRange):
            await store.get_range("a", start, count)

    bench.run(scenario)


def test_an_empty_object_has_no_range_even_as_a_folder(
    bench: ObjectStoreBench, store: ObjectStore
) -> None:
    async def scenario() -> bytes:
        for key in ("a", "a/b"):
            await store.put(key, b"")
        with pytest.raises(InvalidRange):
            await store.get_range("a", 0, 1)
        return await store.get("a")

    assert bench.run(scenario) == b""


def test_deleted_objects_are_gone_and_missing_ones_do_not_matter(
    bench: ObjectStoreBench, store: ObjectStore
) -> None:
    async def scenario() -> list[str]:
        for key in ("a", "b", "c/d", "e"):
            await store.put(key, b"")
        await store.delete([])
        await store.delete(["none", "a", "c/none", "c", "c/d", "a", "b"])
        return await keys(store)

    assert bench.run(scenario) == ["e"]


def test_closing_twice_is_harmless(bench: ObjectStoreBench, store: ObjectStore) -> None:
    async def scenario() -> None:
        await store.close()
        await store.close()

    bench.run(scenario)


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ODD_KEYS, ids=ascii)
def test_an_odd_key_is_a_key_like_any_other(
    bench: ObjectStoreBench, store: ObjectStore, key: str
) -> None:
    async def scenario() -> tuple[bytes, list[str], list[str]]:
        await store.put(key, b"bytes", if_absent=True)
        read, there = await store.get(key), await keys(store, key[:1])
        await store.delete([key])
        return read, there, await keys(store)

    assert bench.run(scenario) == (b"bytes", [key], [])


@pytest.mark.parametrize("key", NOT_KEYS, ids=lambda key: ascii(key)[:20])
def test_what_is_no_key_is_refused_and_begins_none(
    bench: ObjectStoreBench, store: ObjectStore, key: str
) -> None:
    key = "\ud800" if key == LONE else key

    async def scenario() -> list[str]:
        await store.put("other", b"")
        uses: list[Awaitable[Any]] = [
            store.put(key, b""),
            store.put(key, b"", if_absent=True),
            store.get(key),
            store.get_range(key, 0, 1),
            store.head(key),
            store.delete(["other", key]),
        ]
        for use in uses:
            with pytest.raises(ValueError, match="not a key"):
                await use
        return await keys(store)

    assert bench.run(scenario) == ["other"]


def test_an_object_may_have_the_name_of_a_folder(
    bench: ObjectStoreBench, store: ObjectStore
) -> None:
    async def scenario() -> list[list[str]]:
        for key in ("a/b/c", "a/b", "a"):
            await store.put(key, key.encode())
            assert await store.get(key) == key.encode()
        there = [await keys(store), await keys(store, "a/b")]
        await store.delete(["a/b"])
        return [*there, await keys(store)]

    assert bench.run(scenario) == [["a", "a/b", "a/b/c"], ["a/b", "a/b/c"], ["a", "a/b/c"]]


def test_listings_are_in_the_order_of_bytes(bench: ObjectStoreBench, store: ObjectStore) -> None:
    unordered = ["b", "a/b", "a-b", "a.b", "ab", "a", "B", "é", "\uffee", "\U0001f600", "~"]

    async def scenario() -> list[str]:
        for key in unordered:
            await store.put(key, b"")
        return await keys(store)

    assert bench.run(scenario) == sorted(unordered, key=str.encode)


@pytest.mark.parametrize(
    ("prefix", "listed"),
    [
        ("", ["w", "wal", "wal/0001", "wal/0002", "wal/1/a", "walrus"]),
        ("wal", ["wal", "wal/0001", "wal/0002", "wal/1/a", "walrus"]),
        ("wal/", ["wal/0001", "wal/0002", "wal/1/a"]),
        ("wal/000", ["wal/0001", "wal/0002"]),
        ("wal/0001", ["wal/0001"]),
        ("wal/1/", ["wal/1/a"]),
        ("wal/0001/", []),
        ("wal//", []),
        ("/", []),
        ("../", []),
        ("x", []),
    ],
)
def test_a_prefix_is_text_and_may_end_in_a_name(
    bench: ObjectStoreBench, store: ObjectStore, prefix: str, listed: list[str]
) -> None:
    async def scenario() -> list[str]:
        for key in ("walrus", "wal/1/a", "wal/0002", "wal/0001", "wal", "w"):
            await store.put(key, b"")
        return await keys(store, prefix)

    assert bench.run(scenario) == listed


def test_a_listing_has_more_than_one_page(bench: ObjectStoreBench, store: ObjectStore) -> None:
    names = [f"segment/{number:04d}" for number in range(1001)]

    async def scenario() -> tuple[list[str], list[str]]:
        for name in names:
            await store.put(name, b"")
        there = await keys(store, "segment/")
        await store.delete(names)
        return there, await keys(store)

    assert bench.run(scenario) == (names, [])


# --- step by step ---------------------------------------------------------------------------------

SOME_KEYS = ("a", "a/b", "a/b/c", "ab", "a.object", "a.object/b", "b#1", "ä")
some_key = st.sampled_from(SOME_KEYS)
# SeaweedFS takes a folder for an object here: `tests/processes/test_s3_server.py` shows it.
no_folder = some_key.filter(lambda key: not any(k.startswith(f"{key}/") for k in SOME_KEYS))
number = st.integers(0, 4)
steps = st.one_of(
    st.tuples(st.just("put"), some_key, st.binary(max_size=3)),
    st.tuples(st.just("put_if_absent"), no_folder, st.binary(max_size=3)),
    st.tuples(st.just("get"), some_key),
    st.tuples(st.just("get_range"), some_key, number, number),
    st.tuples(st.just("list"), some_key | st.sampled_from(["", "a/", "a.", "b#"])),
    st.tuples(st.just("delete"), st.lists(some_key, max_size=4)),
)


class Model:
    """What a store is, in a few lines."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def put(self, key: str, data: bytes) -> None:
        self.objects[key] = data

    def put_if_absent(self, key: str, data: bytes) -> object:
        if key in self.objects:
            return AlreadyExists
        return self.put(key, data)

    def get(self, key: str) -> object:
        return self.objects.get(key, ObjectNotFound)

    def get_range(self, key: str, start: int, count: int) -> object:
        if count == 0:
            return InvalidRange
        if key not in self.objects:
            return ObjectNotFound
        return self.objects[key][start : start + count] or InvalidRange

    def list(self, prefix: str) -> object:
        found = [key for key in self.objects if key.startswith(prefix)]
        return [(key, len(self.objects[key])) for key in sorted(found, key=str.encode)]

    def delete(self, keys: list[str]) -> None:
        for key in keys:
            self.objects.pop(key, None)


async def carried_out(store: ObjectStore, call: str, *arguments: Any) -> object:
    """What the store makes of a step, in the words of the model."""
    try:
        if call == "put_if_absent":
            return await store.put(*arguments, if_absent=True)
        if call == "list":
            return [(found.key, found.size) for found in await store.list(*arguments)]
        return await getattr(store, call)(*arguments)
    except StoreError as error:
        return type(error)


@settings(max_examples=30)
@given(life=st.lists(steps, max_size=15))
def test_a_store_is_a_dictionary(open_bench: OpenBench, life: list[tuple[Any, ...]]) -> None:
    model = Model()

    async def scenario() -> None:
        for call, *arguments in life:
            expected = getattr(model, call)(*arguments)
            assert await carried_out(bench.store, call, *arguments) == expected, (call, arguments)

    with open_bench() as bench:
        bench.run(scenario)
