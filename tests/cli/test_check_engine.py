"""Which engine `check` takes when nobody names one: by the size of what it judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import check
from harness.cli.check import Asked, engine_for
from harness.history import Run
from harness.history.sources import Source, find_sources


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "SMALL_BYTES", 100)


def files(folder: Path, *sizes: int) -> list[Source]:
    found = []
    for number, size in enumerate(sizes):
        path = folder / f"{number}.edn"
        path.write_bytes(b" " * size)
        found += find_sources(str(path))
    return found


def test_a_small_history_is_judged_inline_and_a_large_one_on_spark(tmp_path: Path) -> None:
    assert engine_for(files(tmp_path, 100), Asked()) == "inline"
    assert engine_for(files(tmp_path, 101), Asked()) == "spark"


def test_many_small_ones_are_large_together(tmp_path: Path) -> None:
    assert engine_for(files(tmp_path, 40, 60), Asked()) == "inline"
    assert engine_for(files(tmp_path, 40, 61), Asked()) == "spark"


def test_the_size_of_a_run_is_that_of_its_lines(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="r", sut="s", world="sim")
    assert engine_for(find_sources(str(run.folder)), Asked()) == "inline"

    (run.folder / "shards" / "a.jsonl").write_bytes(b" " * 101)
    assert engine_for(find_sources(str(run.folder)), Asked()) == "spark"


def test_who_names_an_engine_or_a_cluster_gets_it(tmp_path: Path) -> None:
    small, large = files(tmp_path, 1), files(tmp_path, 101)
    assert engine_for(small, Asked(engine="spark")) == "spark"
    assert engine_for(large, Asked(engine="inline")) == "inline"
    assert engine_for(small, Asked(master="spark://there:7077")) == "spark"


def test_what_is_not_on_this_disk_may_be_large() -> None:
    assert engine_for([Source(name="far", address="s3://there", key="k")], Asked()) == "spark"
