"""Histories are found where they lie, in folders and on S3, and no key of a store is ever shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from good_histories import GOOD, HEADER, ours

from harness.history import HistoryUnreadable, Run
from harness.history.sources import find_sources
from harness.processes.s3_server import SeaweedServer
from reference_impl.live.object_store import open_object_store

FIELDS = {name: value for name, value in HEADER.items() if name not in ("kind", "format")}


def make_run(folder: Path) -> Run:
    run = Run.create(folder, **FIELDS)
    run.history.write_bytes(ours())
    return run


def found(where: str) -> list[str]:
    return [source.name for source in find_sources(where)]


def test_a_file_is_one_history(tmp_path: Path) -> None:
    path = tmp_path / "etcd.log"
    path.write_bytes(GOOD["console"])
    assert found(str(path)) == [str(path)]


def test_a_run_folder_is_one_history(tmp_path: Path) -> None:
    make_run(tmp_path / "7")
    assert found(str(tmp_path / "7")) == [str(tmp_path / "7")]


def test_a_folder_of_runs_is_as_many_histories_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", "deeper/c"):
        make_run(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no run")
    assert found(str(tmp_path)) == [str(tmp_path / name) for name in ("a", "b", "deeper/c")]


def test_what_lies_inside_a_run_is_not_a_run_of_its_own(tmp_path: Path) -> None:
    make_run(tmp_path / "7")
    make_run(tmp_path / "7" / "smaller")
    assert found(str(tmp_path)) == [str(tmp_path / "7")]


def test_a_history_without_its_run_header_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "history.jsonl").write_bytes(ours())
    (source,) = find_sources(str(tmp_path))
    with source.opened(tmp_path) as history:
        assert history.complete


def test_a_run_that_was_cut_short_is_sealed_as_incomplete(tmp_path: Path) -> None:
    Run.create(tmp_path / "7", **FIELDS)
    (source,) = find_sources(str(tmp_path))
    with source.opened(tmp_path) as history:
        assert not history.complete


@pytest.mark.parametrize("where", ["nowhere", "s3://", "ftp://host/runs"])
def test_what_is_nowhere_is_said_in_a_sentence(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HistoryUnreadable, match=where.partition(":")[0]):
        find_sources(where)


def test_an_empty_folder_holds_no_run(tmp_path: Path) -> None:
    with pytest.raises(HistoryUnreadable, match="holds no run"):
        find_sources(str(tmp_path))


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket with two runs, one that was never sealed, and a file of somebody else."""

    async def fill(url: str) -> None:
        store = open_object_store(url)
        for name in ("runs/a/history.jsonl", "runs/b/history.jsonl"):
            await store.put(name, ours())
        await store.put("runs/a/header.json", b"{}")
        await store.put("runs/a/tables/history.jsonl", b"a copy inside a run")
        await store.put("runs/cut/header.json", b"{}")
        await store.put("logs/etcd.log", GOOD["console"])

    with SeaweedServer() as server:
        url = server.url("histories")
        asyncio.run(fill(url))
        yield url


def at(bucket: str, prefix: str) -> str:
    return bucket.replace("s3://histories", f"s3://histories{prefix}")


@pytest.mark.process
def test_runs_on_s3_are_found_below_a_prefix(bucket: str) -> None:
    names = [f"s3://histories/runs/{name}" for name in ("a", "b", "cut")]
    assert found(at(bucket, "/runs")) == names
    assert found(bucket) == names


@pytest.mark.process
def test_a_run_on_s3_is_fetched_read_and_removed(bucket: str, tmp_path: Path) -> None:
    (source,) = find_sources(at(bucket, "/runs/a"))
    with source.opened(tmp_path) as history:
        assert history.complete
        assert history.name == "s3://histories/runs/a"
        assert len(list(history.events)) == 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_a_file_on_s3_is_a_history_in_its_own_form(bucket: str, tmp_path: Path) -> None:
    (source,) = find_sources(at(bucket, "/logs/etcd.log"))
    with source.opened(tmp_path) as history:
        assert history.header["imported_from"] == "jepsen-console"
        assert len(list(history.events)) == 4


@pytest.mark.process
def test_a_run_on_s3_that_was_never_sealed_is_called_so(bucket: str, tmp_path: Path) -> None:
    source = find_sources(at(bucket, "/runs"))[2]
    with pytest.raises(HistoryUnreadable, match="was not sealed"), source.opened(tmp_path):
        pass


@pytest.mark.process
def test_a_prefix_without_runs_is_said_in_a_sentence(bucket: str) -> None:
    with pytest.raises(HistoryUnreadable, match="s3://histories/nothing holds no run"):
        find_sources(at(bucket, "/nothing"))


@pytest.mark.process
def test_wrong_keys_are_said_in_a_sentence_that_does_not_show_them(bucket: str) -> None:
    with pytest.raises(HistoryUnreadable, match="cannot list s3://histories") as said:
        find_sources(bucket.replace("secret_access_key=", "secret_access_key=wrong"))
    assert "wrong" not in str(said.value)
