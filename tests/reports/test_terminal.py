"""The terminal: as wide as it is, told once what many have in common; files never depend on it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from dataclasses import replace

import pytest

from conformance.catalogue import CATALOGUE
from harness.cli.progress import Stage
from harness.history.plan import DetectionRate
from harness.rules import Judged, Judgement, RuleResult, Verdict
from reports.plain import hiding
from reports.terminal import Where, details, paragraph_text, rate_told, width, wrapped

WHERE = Where(evidence="runs/1/history.jsonl", repeat="./tidemark replay 1 --rule")
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
