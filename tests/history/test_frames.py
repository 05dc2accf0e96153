"""A run in a notebook."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from harness.cli.benches.log_lines import log_lines
from harness.history import Run, open_run, read_history, write_tables


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Run.create(tmp_path / "run", run="1", sut="x", world="process")
    with made.shard("w", "host") as shard:
        for line in log_lines(40, 2):
            shard.write(line)
    made.seal()
    return made


def test_tables_are_frames_with_all_digits_and_nulls(run: Run) -> None:
    frame = open_run(run.folder).tables["records_sent"]

    assert str(frame.dtypes["record_offset"]) == "Int64"
    assert frame.timestamp.max() > 1_763_000_000_000
    assert frame.record_key.isna().all()


def test_a_run_that_was_not_judged_is_left_as_it_is(run: Run) -> None:
    opened = open_run(run.history)

    assert len(opened.tables["ops"]) == 20
    assert not (run.folder / "tables").exists()
    assert opened.header["sut"] == "x"


def test_tables_that_are_there_are_not_laid_out_again(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(read_history(run.history), run.folder / "tables")
    monkeypatch.setattr("harness.history.frames.write_tables", None)

    assert set(open_run(run.folder).tables["ops"].f) == {"produce", "fetch"}


def test_tables_stay_as_long_as_they_can_be_asked_for(run: Run) -> None:
    tables = open_run(run.folder).tables
    gc.collect()

    assert len(tables["responses"]) == 20


def test_an_unknown_table_is_told_with_those_there_are(run: Run) -> None:
    with pytest.raises(KeyError, match="there is no table opps; there are ops, "):
        open_run(run.folder).tables["opps"]
