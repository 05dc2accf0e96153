"""What is handed on: JUnit, Markdown, badge, bundle, index, comparison, one moment."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.cli import runs as run_folders
from harness.cli.compare import is_good_before
from harness.cli.runs import runs_of_night
from reports.html.index import index_page
from reports.markdown import plain
from tests.reports.conftest import MUTANT, tidemark


@pytest.fixture
def here(failing_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder from which the runs are found by the setting."""
    monkeypatch.chdir(tmp_path)
    for module in ("runs", "certify", "campaign", "check"):
        monkeypatch.setattr(f"harness.cli.{module}.RUNS", failing_run.parent, raising=False)
    return tmp_path


def test_the_junit_file_counts_the_broken_rule_as_a_failure(failing_run: Path) -> None:
    (suite,) = ElementTree.parse(failing_run / "junit.xml").getroot()

    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "./tidemark replay 1 --rule MIG-003" in (failure.text or "")


def test_the_summary_ends_with_the_command_that_repeats_the_run(failing_run: Path) -> None:
    lines = (failing_run / "summary.md").read_text(encoding="utf-8").splitlines()

    assert lines[0] == "## × NOT CONFORMANT  1 must broken"
    assert lines[-1] == "repeat: `./tidemark replay 1`"


def test_markdown_of_a_system_neither_formats_nor_links() -> None:
    assert plain("[x](http://e) <b> `c` | @all") == (r"\[x\]\(http://e\) \<b\> \`c\` \| \@all")


def test_the_badge_says_how_many_musts_are_broken(failing_run: Path) -> None:
    root = ElementTree.parse(failing_run / "badge.svg").getroot()

    assert root.get("aria-label") == "migration 2026.1: 1 must broken"


def test_a_bundle_has_the_page_the_slice_and_no_secret(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORE_SECRET", "a-newer-leader-proposes")  # a value that the run does show

    assert tidemark("report 1 --bundle") == 1

    archive = zipfile.ZipFile(io.BytesIO((here / "tidemark-1.zip").read_bytes()))
    names = {Path(name).name for name in archive.namelist()}
    assert {"report.html", "verdict.json", "junit.xml", "repeat.sh", "header.json"} <= names
    (slice_,) = [name for name in archive.namelist() if "slices/op-21-" in name]
    events = [json.loads(line) for line in archive.read(slice_).decode().splitlines()]
    assert 21 in [event["index"] for event in events]
    for name in archive.namelist():
        assert b"a-newer-leader-proposes" not in archive.read(name)


def test_a_bundle_names_commands_and_files_as_they_are_where_it_is_read(
    here: Path, failing_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_CALLED_AS", "/home/me/tidemark")

    assert tidemark("report 1 --bundle") == 1

    archive = zipfile.ZipFile("tidemark-1.zip")
    assert archive.read("tidemark-1/repeat.sh") == b"./tidemark replay tidemark-1\n"
    for name in archive.namelist():
        assert b"/home/me" not in archive.read(name)
        assert str(failing_run).encode() not in archive.read(name)
    archive.extractall(here)
    assert tidemark("replay tidemark-1") == 1


def test_a_bundle_has_the_logs_of_nodes_and_stays_small_enough_to_attach(
    here: Path, failing_run: Path
) -> None:
    run = here / "run"
    shutil.copytree(failing_run, run)
    (run / "logs" / "process-0").mkdir(parents=True)
    for number in range(40):
        log = run / "logs" / "process-0" / f"broker-{number}.log"
        lines = [
            f"{line} {hashlib.sha1(b'%d' % line).hexdigest()}\n" for line in range(number * 200)
        ]
        log.write_text("".join(lines))

    assert tidemark(f"report {run} --bundle") == 1

    packed = here / "tidemark-run.zip"
    archive = zipfile.ZipFile(io.BytesIO(packed.read_bytes()))
    said = archive.read("tidemark-run/logs/process-0/broker-39.log").decode()
    assert said.startswith("(the last 50000 of ")
    assert said.rstrip().endswith(hashlib.sha1(b"7799").hexdigest())
    assert packed.stat().st_size < 1_500_000


@pytest.mark.usefixtures("here")
def test_a_certified_run_is_packed_with_the_page_of_its_certificate() -> None:
    words = "certify --profile migration --world sim --engine inline --rounds 1 --out run"
    assert tidemark(words) == 0
    assert tidemark("report run --bundle") == 0

    names = {Path(name).name for name in zipfile.ZipFile("tidemark-run.zip").namelist()}
    assert {"certificate.json", "certificate.html"} <= names


def test_the_events_around_an_operation_are_told_in_order(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tidemark("report 1 --around 21") == 0

    text = capsys.readouterr().out
    assert text.index("op 13 ") < text.index("▶     0.002471 s  op 21 ") < text.index("op 29 ")
    assert max(map(len, text.splitlines())) <= 80


def test_an_operation_that_is_not_there_is_a_usage_error(here: Path) -> None:
    assert tidemark("report 1 --around 999999") == 64


def test_a_run_that_was_not_judged_gets_its_views_with_its_verdict(
    failing_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(failing_run / "shards", run / "shards")
    shutil.copy(failing_run / "header.json", run)

    assert tidemark(f"report {run}") == 1

    assert {one.name for one in run.iterdir()} >= {"report.html", "summary.md", "junit.xml"}


def test_the_index_links_each_run_to_its_page_and_its_findings(here: Path) -> None:
    assert tidemark("runs --html index.html") == 0

    text = (here / "index.html").read_text(encoding="utf-8")
    assert "report.html#rule-MIG-003" in text
    assert "data-sortable" in text


def test_a_comparison_leaves_out_what_one_run_was_not_asked(
    here: Path, failing_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = here / "other"
    words = "certify --rule MIG-003 --rule MIG-001 --world sim --engine inline --rounds 0 --out"
    tidemark(f"{words} {other}")
    capsys.readouterr()

    assert tidemark(f"compare 1 {other} --json") == 0

    told = json.loads(capsys.readouterr().out)
    assert told["differ"] == {"MIG-003": ["fail", "pass"]}
    assert told["not_compared"] == ["MIG-001"]


def test_the_last_good_run_is_the_newest_before_it_that_was_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "certify --rule MIG-003 --world sim --engine inline --rounds 0"
    for number in range(3):
        assert tidemark(f"{words} --seed {number}") == 0
    assert tidemark(f"{words} --mutant {MUTANT}") == 1
    with (tmp_path / "runs" / "3" / "history.jsonl").open("a") as touched:
        touched.write("\n")
    header = tmp_path / "runs" / "1" / "header.json"
    os.utime(header)  # as a copy has it: the newest file is not the newest run
    capsys.readouterr()

    assert tidemark("compare 4 --last-good --json") == 0

    told = json.loads(capsys.readouterr().out)
    assert [one["run"] for one in told["runs"]] == ["2", "4"]


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({}, True),
        ({"exit": 2}, False),
        ({"mutants": ["m"]}, False),
        ({"started": "2026-11-03T00:00:00Z"}, False),
        ({"sut": "acme"}, False),
        ({"world": "process"}, False),
        ({"profiles": ["tiered"]}, False),
        ({"whole": False}, False),
        ({"rules": []}, False),
    ],
    ids=lambda told: ",".join(told) or "the same" if isinstance(told, dict) else "",
)
def test_a_good_run_was_asked_all_that_the_later_one_was(
    change: dict[str, object], good: bool
) -> None:
    asked = {
        "sut": "reference",
        "world": "sim",
        "profiles": ["classic"],
        "whole": True,
        "rules": [{"id": "KFK-030"}],
        "exit": 0,
        "mutants": [],
    }
    one = {**asked, "exit": 1, "started": "2026-11-02T00:00:00Z"}

    assert is_good_before({**asked, "started": "2026-11-01T00:00:00Z"} | change, one) is good


@pytest.mark.parametrize("command", ["runs", "compare 1 1"])
def test_what_shows_many_runs_shows_no_secret(
    here: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    name = MUTANT.rpartition(":")[2]
    assert tidemark(f"{command} --html open.html") == 0
    monkeypatch.setenv("STORE_SECRET", name)  # a value that both do show

    assert tidemark(f"{command} --html page.html") == 0

    assert name in (here / "open.html").read_text(encoding="utf-8")
    assert name not in (here / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("runs", MUTANT.rpartition(":")[2]),
        ("compare 1 1", MUTANT.rpartition(":")[2]),
        ("report 1", MUTANT.rpartition(":")[2]),
        ("report 1 --around 21", "initialize_diskless_migration"),
        ("explain MIG-003", "set_proven=100"),
        ("check RUN", "set_proven=100"),
    ],
)
@pytest.mark.usefixtures("here")
def test_documents_for_programs_show_no_secret(
    failing_run: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    name: str,
) -> None:
    command = command.replace("RUN", str(failing_run))
    tidemark(f"{command} --json")
    told = capsys.readouterr().out
    monkeypatch.setenv("STORE_SECRET", name)  # a value that it does show

    tidemark(f"{command} --json")
    hidden = capsys.readouterr().out

    assert name in told
    assert name not in hidden
    assert type(json.loads(hidden)) is type(json.loads(told))


@pytest.mark.parametrize("command", ["runs", "compare 1 1", "report 1"])
def test_a_page_for_a_folder_that_is_not_there_is_wrong_usage(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert tidemark(f"{command} --html nowhere/page.html") == 64
    assert "there is no folder nowhere/" in capsys.readouterr().err


def test_a_run_whose_page_was_never_drawn_gets_it(failing_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(failing_run, run)
    (run / "report.html").unlink()

    assert tidemark(f"report {run}") == 1

    assert (run / "report.html").is_file()


def test_runs_of_a_night_are_found_listed_and_shown_by_night_and_name(
    failing_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(failing_run, tmp_path / "runs" / "night-1" / "0001-stale-leader")
    monkeypatch.setattr("harness.cli.runs.RUNS", Path("runs"))
    monkeypatch.chdir(tmp_path)

    assert tidemark("runs --html index.html") == 0
    assert 'href="runs/night-1/0001-stale-leader/report.html' in Path("index.html").read_text()
    assert tidemark("report night-1/0001-stale-leader") == 1
    assert "replay night-1/0001-stale-leader" in capsys.readouterr().out
    assert runs_of_night("night-1") == [Path("runs/night-1/0001-stale-leader")]
    assert runs_of_night("1") == []


def test_numbers_of_the_index_sort_as_numbers() -> None:
    told = {
        "run": "1",
        "folder": "runs/1",
        "state": "pass",
        "started": "2026-11-01T00:00:00Z",
        "ended": "2026-11-01T00:16:40Z",
        "events": 1_234,
        "faults": 1_000,
        "findings": ["KFK-030", "KFK-031"],
    }

    text = index_page([told], at=Path())

    for key, said in (("1000000", "1,000 s"), ("1234", "1,234"), ("1000", "1,000")):
        assert f'<td data-key="{key}">{said}</td>' in text
    assert '<td data-key="2">' in text


def test_a_run_is_under_way_while_its_process_lives(tmp_path: Path) -> None:
    with run_folders.under_way(tmp_path):
        assert run_folders.is_under_way(tmp_path)
    assert not run_folders.is_under_way(tmp_path)
    (tmp_path / run_folders.UNDER_WAY).write_text(f"{2**22 + os.getpid()}")
    assert not run_folders.is_under_way(tmp_path)


def test_who_stops_a_run_is_told_what_is_kept_and_how_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(run_folders.Stopped) as stop, run_folders.under_way(tmp_path):
        raise KeyboardInterrupt

    assert f"is kept in {tmp_path}/" in str(stop.value)
    assert f"./tidemark report {tmp_path}" in str(stop.value)
