"""The terminal: as wide as it is, told once what many have in common; files never depend on it."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from harness.cli.check_one import found_by_rules
from harness.cli.progress import Stage
from harness.history.plan import DetectionRate, RunPlan
from harness.rules import Conclusion, Judged, Judgement, RuleResult, Verdict
from reports.plain import hiding
from reports.terminal import (
    Where,
    closing,
    details,
    paragraph_text,
    pieces,
    rate_told,
    width,
    wrapped,
)
from spark_checkers.pace import Pace

WHERE = Where(evidence="runs/1/history.jsonl", repeat="./tidemark replay 1 --rule")
GOLDEN = Path(__file__).resolve().parents[1] / "cli" / "golden"
WORDS = "word " * 60


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


def unproven(rules: Iterable[str], reason: str) -> list[Judged]:
    return [
        Judged(
            rule=CATALOGUE[name],
            verdict=Verdict.NO_PROOF,
            reason=reason,
            result=RuleResult(rule=name, exercised=0, violations=0, findings=()),
        )
        for name in rules
    ]


def told(judged: list[Judged]) -> str:
    judgement = Judgement(judged=tuple(judged), complete=False, events=0, sha256="")
    return "\n".join(details(judgement, WHERE))


def test_lines_have_80_columns_where_there_is_no_terminal() -> None:
    assert width() == 80
    assert max(map(len, wrapped("seen  ", WORDS))) <= 80


def test_a_violation_whose_rows_could_not_be_told_is_shown_with_the_reason() -> None:
    broken = Judged(
        rule=CATALOGUE["KFK-001"],
        verdict=Verdict.FAIL,
        reason="1 of 1 cases contradict it",
        result=RuleResult(rule="KFK-001", exercised=1, violations=1, broken="no such column"),
    )
    judgement = Judgement(judged=(broken,), complete=True, events=2, sha256="")
    (anomaly,) = found_by_rules(judgement, ["classic"], 1)["anomalies"]

    assert "seen      no such column" in told([broken])
    assert (anomaly["why"], anomaly["first"]) == ("no such column", {})


def test_a_rate_says_from_how_many_breakages_a_sample_was_drawn() -> None:
    told = {"profile": "classic", "world": "sim", "levers": "process-hook-and-cuts"}
    rate = DetectionRate(**told, detected=1570, of=1830, population=2380, sample=2040)
    assert rate_told(rate) == (
        "classic: 85 % of 1,830 known breakages, drawn from 2,380,"
        " with a process hook and cuts (sim)"
    )
    assert "drawn" not in rate_told(replace(rate, sample=0))
    assert max(map(len, wrapped("detects    ", rate_told(rate)))) <= 80


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize(("columns", "used"), [(60, 60), (120, 120), (400, 140), (5, 40)])
def test_lines_are_as_long_as_the_terminal_is_wide(
    columns: int, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "shutil.get_terminal_size", lambda fallback: os.terminal_size((columns, 24))
    )
    assert width() == used
    assert used - 5 <= max(map(len, wrapped("seen  ", WORDS))) <= used


@pytest.mark.usefixtures("at_a_terminal")
def test_what_goes_into_a_file_is_the_same_from_every_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (one,) = unproven(["MIG-001"], WORDS)
    monkeypatch.setenv("COLUMNS", "140")
    assert max(map(len, paragraph_text(one, WHERE).splitlines())) <= 80


def test_the_last_line_of_three_profiles_is_wrapped_between_its_parts() -> None:
    profiles = ("classic", "migration", "tiered")
    depth = {name: {"rules": 200, "judged": 199} for name in ("wire", "hooks", "trace")}
    conclusion = Conclusion(
        header={"sut": "reference", "suite": "2026.1"},
        plan=RunPlan(rules=(), examined=profiles, claimed=profiles),
        judgement=Judgement(judged=(), complete=True, events=0, sha256=""),
        verdict=Verdict.PASS,
        headline="CERTIFIED",
        certified=True,
        rules_sha256="",
        depth=depth,
    )

    last = [*closing(conclusion, "runs/1", "1")][-2:]

    assert last == [
        "CERTIFIED  classic, migration, tiered 2026.1 · depth wire 199/200",
        "           hooks 199/200 · trace 199/200 · runs/1/",
    ]


def test_a_path_is_not_broken_however_long() -> None:
    path = "/somewhere/" + "deep/" * 30

    assert [*pieces("CERTIFIED  ", ["classic", path])] == [
        "CERTIFIED  classic",
        f"{' ' * 11}{path}",
    ]


def test_frozen_output_has_80_columns_except_where_a_command_or_address_is_longer() -> None:
    long = [
        f"{path.name}: {line}"
        for path in sorted(GOLDEN.glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if len(line) > 80 and not re.match(r"\$ |repeat: |  published http", line)
    ]
    assert long == []


def test_many_rules_without_proof_for_one_reason_are_told_once() -> None:
    names = [rule.id for rule in CATALOGUE if rule.profile == "migration"][:6]
    text = told([*unproven(names, "the run is incomplete"), *unproven(["KFK-001"], "no fault")])
    assert "? 6 rules  no proof: the run is incomplete" in text
    assert text.count("the run is incomplete") == 1
    assert all(name in text for name in names)
    assert "? KFK-001  no proof" in text


def test_a_few_without_proof_are_told_one_by_one() -> None:
    text = told(unproven(["MIG-001", "MIG-002"], "the run is incomplete"))
    assert text.count("because   the run is incomplete") == 2


def test_secrets_are_hidden_on_the_terminal_too() -> None:
    stream = io.StringIO()
    with hiding(["correct-horse"]):
        Stage(stream).say("SASL failed: user x correct-horse, password=letmein")
    assert stream.getvalue() == "SASL failed: user x [hidden], password=[hidden]\n"


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TTY_INTERACTIVE", "1")


@pytest.mark.usefixtures("watched")
def test_who_waits_sees_a_bar_once_it_is_known_how_much_there_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Stage.for_people(as_json=False).watched("judge") as progress:
        progress("building tables")
    assert "━" not in capfd.readouterr().err
    with Stage.for_people(as_json=False).watched("judge") as progress:
        Pace(progress, "ranges laid out")(3, 8)
    told = capfd.readouterr()

    assert "━" in told.err
    assert "3 of 8 ranges laid out" in told.err
    assert told.out == ""


@pytest.mark.usefixtures("watched")
def test_a_program_that_reads_json_is_told_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    stage = Stage.for_people(as_json=True)
    with stage.watched("judge") as progress:
        Pace(progress, "ranges laid out")(3, 8)
    with stage("record") as line:
        line.done("all")
    stage.say("VALID")

    assert capfd.readouterr() == ("", "")


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_stages_that_are_played_side_by_side_tell_one_line_what_they_do() -> None:
    with Stage(None)("record") as line, ThreadPoolExecutor(8) as pool:
        told = [pool.submit(line.progress, f"race {number} of 4000") for number in range(4000)]
    assert [one.exception() for one in told if one.exception()] == []
