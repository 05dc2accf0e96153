"""The object store on obstore: its addresses, its files, and what it says when nobody answers."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore import exceptions
from obstore.store import S3Store

from reference_impl.live.object_store import Patience, open_object_store
from reference_impl.ports.object_store import (
    ObjectNotFound,
    ObjectStore,
    StoreError,
    StoreUnavailable,
)

HASTY = Patience(connect_s=0.2, request_s=0.3, retries=1, retry_s=0.3)
CALLS: dict[str, Callable[[ObjectStore], Awaitable[Any]]] = {
    "put": lambda store: store.put("a", b""),
    "put_if_absent": lambda store: store.put("a", b"", if_absent=True),
    "get": lambda store: store.get("a"),
    "get_range": lambda store: store.get_range("a", 0, 1),
    "head": lambda store: store.head("a"),
    "list": lambda store: store.list(),
    "delete": lambda store: store.delete(["a"]),
}
each_call = pytest.mark.parametrize("call", CALLS)


def outcome(store: ObjectStore, call: str) -> type[BaseException] | None:
    async def ask() -> None:
        await CALLS[call](store)

    try:
        asyncio.run(ask())
    except StoreError as error:
        return type(error)
    return None


def s3(port: int, patience: Patience = HASTY) -> ObjectStore:
    address = f"s3://bucket?endpoint=http://127.0.0.1:{port}"
    return open_object_store(f"{address}&access_key_id=any&secret_access_key=any", patience)


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "file:",
        "file://elsewhere/folder",
        "http://127.0.0.1:9000/bucket",
        "s3://",
        "s3:///prefix",
        "s3://bucket?bukket=x",
        "s3://bucket?endpoint",
        "s3://bucket/a//b",
        f"s3://bucket/{'p' * 101}",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(
        ValueError, match=r"not an object store|S3|bad query field|not a key|prefix"
    ):
        open_object_store(url)


def test_a_refused_address_does_not_show_its_secret() -> None:
    with pytest.raises(ValueError, match="bukket") as refused:
        open_object_store("s3://bucket?secret_access_key=sesame&bukket=x")
    assert "sesame" not in str(refused.value)


def test_a_secret_is_taken_sign_by_sign() -> None:
    url = "s3://bucket?region=r&access_key_id=k&secret_access_key=a+b/c%2Bd%26e"
    store = open_object_store(url)
    assert isinstance(store._store, S3Store)
    assert store._store.config["secret_access_key"] == "a+b/c+d&e"


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file://localhost{}"])
def test_a_folder_has_several_forms_of_address(tmp_path: Path, form: str) -> None:
    place = tmp_path / "a b%"
    url = form.format(place if form == "{}" else str(place).replace("%", "%25"))
    asyncio.run(open_object_store(url).put("k", b""))
    assert [path.name for path in place.iterdir()] == ["k.object"]


def test_a_relative_folder_stays_where_it_was_when_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_object_store("objects")
    monkeypatch.chdir("/")
    asyncio.run(store.put("k", b""))
    assert (tmp_path / "objects" / "k.object").exists()


def test_stores_in_memory_share_nothing() -> None:
    async def story() -> int:
        await open_object_store("memory:").put("a", b"")
        return len(await open_object_store("memory:").list())

    assert asyncio.run(story()) == 0


@pytest.mark.process
def test_credentials_may_come_from_the_environment(
    seaweedfs_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket, _, query = seaweedfs_url.partition("?")
    settings = dict(field.split("=", 1) for field in query.split("&"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", settings["access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", settings["secret_access_key"])
    store = open_object_store(f"{bucket}?endpoint={settings['endpoint']}")
    assert outcome(store, "list") is None
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    store = open_object_store(f"{bucket}?endpoint={settings['endpoint']}")
    assert outcome(store, "list") is StoreUnavailable


@pytest.mark.process
def test_stores_with_different_prefixes_do_not_meet(seaweedfs_url: str) -> None:
    async def story() -> list[list[str]]:
        one, other = (
            open_object_store(seaweedfs_url.replace("?", f"/{prefix}?", 1))
            for prefix in ("prefix/one", "prefix/on")
        )
        await one.put("a", b"")
        await other.put("b", b"")
        whole = open_object_store(seaweedfs_url)
        return [
            [found.key for found in await store.list(prefix)]
            for store, prefix in ((one, ""), (other, ""), (whole, "prefix/"))
        ]

    assert asyncio.run(story()) == [["a"], ["b"], ["prefix/on/b", "prefix/one/a"]]


# --- files ----------------------------------------------------------------------------------------


def test_an_object_is_a_file_that_looks_like_its_key(tmp_path: Path) -> None:
    async def story() -> None:
        store = open_object_store(str(tmp_path))
        for key in ("wal", "wal/7", "x.object/y"):
            await store.put(key, b"")

    asyncio.run(story())
    files = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(files) == ["wal.object", "wal/7.object", "x.object./y.object"]


def test_files_of_others_are_no_objects(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "torn.object#1").write_text("")  # an upload that was cut off
    assert asyncio.run(open_object_store(str(tmp_path)).list()) == ()


# --- nobody answers -------------------------------------------------------------------------------


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Where connections are taken and nothing is ever said."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(20)
        yield listening.getsockname()[1]


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nobody listens on, and nobody can take meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@each_call
def test_a_server_that_refuses_is_unavailable(closed_port: int, call: str) -> None:
    assert outcome(s3(closed_port), call) is StoreUnavailable


@each_call
def test_a_server_that_is_silent_is_unavailable_in_good_time(silent_port: int, call: str) -> None:
    began = time.monotonic()
    assert outcome(s3(silent_port), call) is StoreUnavailable
    assert time.monotonic() - began < 10


@each_call
@pytest.mark.parametrize(
    "name", [name for name in dir(exceptions) if name.endswith("Error") and name != "NotFoundError"]
)
def test_whatever_obstore_raises_ends_in_the_tree(
    monkeypatch: pytest.MonkeyPatch, call: str, name: str
) -> None:
    kind = getattr(exceptions, name)

    def fail(*args: object, **options: object) -> None:
        raise kind("first line\nsecond line")

    for function in ("put_async", "get_async", "get_range_async", "head_async", "list"):
        monkeypatch.setattr(obstore, function, fail)
    monkeypatch.setattr(obstore, "delete_async", fail)
    expected = {"AlreadyExistsError": "AlreadyExists"} if call == "put_if_absent" else {}
    got = outcome(open_object_store("memory:"), call)
    assert got is not None
    assert got.__name__ == expected.get(name, "StoreUnavailable")


@each_call
def test_not_found_is_definite_only_where_an_object_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise FileNotFoundError("no such bucket")

    for function in ("put_async", "get_async", "get_range_async", "head_async", "list"):
        monkeypatch.setattr(obstore, function, fail)
    monkeypatch.setattr(obstore, "delete_async", fail)
    looks = call in ("get", "get_range", "head")
    expected = ObjectNotFound if looks else StoreUnavailable
    assert outcome(open_object_store("memory:"), call) is expected


def test_an_error_is_told_in_one_line(closed_port: int) -> None:
    with pytest.raises(StoreUnavailable) as told:
        asyncio.run(s3(closed_port).get("a"))
    assert "\n" not in str(told.value)
    assert str(closed_port) in str(told.value)
