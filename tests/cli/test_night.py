"""A night of campaigns: bounded, resumed, summed up. What plays a campaign is played here."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import night
from harness.cli.certify import Options
from harness.cli.progress import Stage
from harness.errors import LabBroken, Stopped, UsageError

TEXT = "name = 'x'\nprofiles = ['classic']\nsteps = 'lab create'\n"
SIZE = 10_000
Play = Callable[[Path, Options, Stage], int]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two campaigns, and runs kept elsewhere."""
    monkeypatch.setattr(night, "RUNS", tmp_path / "runs")
    campaigns = tmp_path / "campaigns"
    campaigns.mkdir()
    for name in ("a", "b"):
        (campaigns / f"{name}.toml").write_text(TEXT)
    return campaigns


def plays(codes: dict[tuple[str, int], int]) -> Play:
    """Ends as told for a campaign and a seed, and leaves a run behind."""

    def play(file: Path, options: Options, stage: Stage) -> int:
        code = codes.get((file.stem, options.seed), 0)
        if code == night.BROKEN:
            raise LabBroken("the lab gave up\nwith details")
        assert options.out is not None
        options.out.mkdir()
        rules = [{"id": "KFK-005", "verdict": "fail" if code == 1 else "pass"}]
        told = {"headline": "X", "rules": rules, "events": 7, "faults": {"landed": {"kill": 2}}}
        (options.out / "verdict.json").write_text(json.dumps(told))
        (options.out / "history").write_text("." * SIZE)
        return code

    return play


def lines(folder: Path) -> list[tuple[str, int, int]]:
    told = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [(one["campaign"], one["seed"], one["exit_code"]) for one in told]


def test_a_folder_is_played_once_and_ends_with_its_worst_run(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(night.campaign, "run", plays({("b", 1): 1}))

    code = night.run(folder, Options(), night.Bounds())

    made = tmp_path / "runs" / "night-1"
    assert code == 1
    assert lines(made) == [("a", 1, 0), ("b", 1, 1)]
    told = json.loads((made / "summary.json").read_text())
    assert (told["runs"], told["found"], told["faults"], told["findings"]) == (
        2,
        1,
        4,
        {"KFK-005": 1},
    )
    assert 'failures="1"' in (made / "junit.xml").read_text()
    said = capsys.readouterr().out
    assert "run 2 seed 1 b: KFK-005" in said


def test_a_night_goes_on_seed_after_seed_until_a_run_would_not_fit(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    play = plays({})

    def takes_a_minute(file: Path, options: Options, stage: Stage) -> int:
        now[0] += 60
        return play(file, options, stage)

    monkeypatch.setattr(night.campaign, "run", takes_a_minute)
    monkeypatch.setattr(night.time, "monotonic", lambda: now[0])

    assert night.run(folder, Options(seed=4), night.Bounds(seconds=200)) == 0

    assert lines(tmp_path / "runs" / "night-1") == [("a", 4, 0), ("b", 4, 0), ("a", 5, 0)]


def test_a_night_that_was_killed_is_resumed_where_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []
    play = plays({})

    def dies_once(file: Path, options: Options, stage: Stage) -> int:
        played.append(file.stem)
        if played == ["a", "b"]:
            assert options.out is not None
            options.out.mkdir()  # half a run
            raise KeyboardInterrupt
        return play(file, options, stage)

    monkeypatch.setattr(night.campaign, "run", dies_once)
    with pytest.raises(Stopped) as stop:
        night.run(folder, Options(), night.Bounds())
    assert f"`./tidemark campaign {folder} --resume`" in str(stop.value)
    with pytest.raises(UsageError, match="asked the same"):
        night.run(folder, Options(seed=2), night.Bounds(), resume=True)

    assert night.run(folder, Options(), night.Bounds(), resume=True) == 0

    assert played == ["a", "b", "b"]
    assert lines(tmp_path / "runs" / "night-1") == [("a", 1, 0), ("b", 1, 0)]
    with pytest.raises(UsageError, match="begin one without --resume"):
        night.run(folder, Options(), night.Bounds(), resume=True)


def test_runs_that_found_nothing_make_room_and_findings_are_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night.campaign, "run", plays({("a", 1): 1, ("b", 1): 0, ("b", 2): 1}))
    now = [0.0]
    monkeypatch.setattr(night.time, "monotonic", lambda: now.append(now[-1] + 1) or now[-1])

    night.run(folder, Options(), night.Bounds(seconds=1000, disk_bytes=int(2.5 * SIZE)))

    made = tmp_path / "runs" / "night-1"
    kept = [one.name for one in sorted(made.iterdir()) if one.is_dir()]
    assert kept == ["0001-a", "0004-b", "0005-a"]
    assert lines(made)[:4] == [("a", 1, 1), ("b", 1, 0), ("a", 2, 0), ("b", 2, 1)]
    assert len(lines(made)) == 5  # findings alone would fill it


def test_a_lab_that_breaks_is_not_the_systems_fault_and_ends_the_night(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {(name, seed): night.BROKEN for name in ("a", "b") for seed in range(9)}
    monkeypatch.setattr(night.campaign, "run", plays(broken))

    assert night.run(folder, Options(), night.Bounds(seconds=1e5)) == night.BROKEN

    told = json.loads((tmp_path / "runs" / "night-1" / "summary.json").read_text())
    assert told["runs"] == night.BROKEN_IN_A_ROW
    assert told["all"][0]["headline"] == "the lab gave up"


def test_a_stopped_night_is_resumed_by_a_command_that_asks_the_same() -> None:
    asked = Options(sut="my sut.toml", world="process", seed=7, engine="inline", out=Path("n"))
    bounds = night.Bounds(seconds=night.seconds_of("1.5h"), disk_bytes=1 << 29)

    assert night.resumed_by(Path("nemesis/campaigns"), asked, bounds) == (
        "./tidemark campaign nemesis/campaigns --sut 'my sut.toml' --world process --seed 7"
        " --engine inline --out n --for 5400s --disk-gb 0.5 --resume"
    )


def test_the_summary_shows_the_nights_before_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(night.campaign, "run", plays({("b", 1): 1}))
    night.run(folder, Options(), night.Bounds())
    monkeypatch.setattr(night.campaign, "run", plays({}))
    capsys.readouterr()

    night.run(folder, Options(), night.Bounds())

    trend = capsys.readouterr().out.partition("\nnight ")[2].splitlines()[1:3]
    assert [row.split()[2:4] for row in trend] == [["2", "1"], ["2", "0"]]


@pytest.mark.parametrize("out", [None, "kept"], ids=["numbered", "named"])
def test_the_trend_grows_where_the_folders_of_past_nights_are_gone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str | None
) -> None:
    asked = Options(out=None if out is None else tmp_path / "runs" / out)
    began = iter((1_000_000, 2_000_000, 3_000_000))

    def play(file: Path, options: Options, stage: Stage) -> int:
        if file.stem == "a":
            assert options.out is not None
            os.utime(options.out.parent / night.ASKED, (then := next(began), then))
        return plays({})(file, options, stage)

    monkeypatch.setattr(night.campaign, "run", play)
    for _ in range(3):  # as on a CI service, which keeps nothing but the trend
        night.run(folder, asked, night.Bounds())
        for made in (tmp_path / "runs").glob(f"{out or 'night-*'}"):
            shutil.rmtree(made)

    trend = (tmp_path / "runs" / night.NIGHTS).read_text().splitlines()
    assert len({json.loads(line)["began"] for line in trend}) == 3


def test_a_night_is_numbered_after_the_greatest_when_an_older_one_was_deleted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night.campaign, "run", plays({}))
    night.run(folder, Options(), night.Bounds())
    night.run(folder, Options(), night.Bounds())
    shutil.rmtree(tmp_path / "runs" / "night-1")

    night.run(folder, Options(), night.Bounds())

    assert (tmp_path / "runs" / "night-3" / night.SUMMARY).is_file()


@pytest.mark.parametrize("text", ["8", "h", "0h", "9d", "-1h", "eight hours"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--for"):
        night.seconds_of(text)


def test_half_an_hour() -> None:
    assert (night.seconds_of("30m"), night.seconds_of("1.5h")) == (1800, 5400)
