"""Allure results of a run: statuses, labels, attachments; and a site that needs no network."""

from __future__ import annotations

import base64
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.allure import generate, program, without_third_parties, write_results
from harness.cli.progress import Stage
from harness.cli.report import judge_folder
from harness.cli.views import view_of
from harness.errors import UsageError
from reports.allure import CATEGORIES, results


@pytest.fixture
def written(failing_run: Path, tmp_path: Path) -> Path:
    with (tmp_path / "said").open("w") as said:
        conclusion = judge_folder(failing_run, Stage(said))
    write_results(view_of(failing_run, conclusion), tmp_path / "results")
    return tmp_path / "results"


def test_a_broken_rule_is_a_failed_test_with_its_evidence(written: Path) -> None:
    (result,) = [json.loads(path.read_text()) for path in written.glob("*-result.json")]

    labels = {label["name"]: label["value"] for label in result["labels"]}
    assert result["status"] == "failed"
    assert (labels["epic"], labels["feature"]) == ("migration", "State model")
    assert labels["severity"] == "critical"
    assert result["links"][0]["url"].endswith("MIGRATION_TIERED_TO_DISKLESS.md?plain=1#L59")
    names = {one["name"]: written / one["source"] for one in result["attachments"]}
    assert "--rule MIG-003" in names["repeat.txt"].read_text()
    events = [json.loads(x) for x in names["history around op 21.jsonl"].read_text().splitlines()]
    assert 21 in [event["index"] for event in events]


def test_categories_keep_product_proof_and_lab_apart(written: Path) -> None:
    kept = json.loads((written / "categories.json").read_text())

    assert [one["matchedStatuses"] for one in kept[:3]] == [["failed"], ["unknown"], ["broken"]]
    assert len(kept) == len(CATEGORIES)


@pytest.mark.parametrize(
    "tag",
    [
        '<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>',
        "<script>window.dataLayer=[];function gtag(){} gtag('js', new Date());</script>",
        '<link rel="stylesheet" href="https://fonts.example/x.css">',
    ],
)
def test_tags_of_third_parties_are_taken_out(tag: str) -> None:
    own = '<script src="data:text/javascript,1"></script><script>let x = 1;</script>'

    assert without_third_parties(f"<head>{own}{tag}</head>") == f"<head>{own}</head>"


def test_what_came_of_a_run_does_not_break_its_trend(written: Path) -> None:
    (result,) = [json.loads(path.read_text()) for path in written.glob("*-result.json")]

    telling = {one["name"] for one in result["parameters"] if not one.get("excluded")}
    assert telling == {"world", "campaign", "seed", "mutants"}


def test_a_round_of_a_night_is_the_same_case_whatever_the_seed(failing_run: Path) -> None:
    with Path(os.devnull).open("w") as said:
        conclusion = judge_folder(failing_run, Stage(said))

    told = []
    for seed, round_ in ((7, 1), (70, 1), (8, 2)):
        header = {**conclusion.header, "seed": seed}
        view = view_of(failing_run, replace(conclusion, header=header))
        (result,) = [json.loads(text) for name, text in results(view, round_) if "-result" in name]
        telling = {p["name"]: p["value"] for p in result["parameters"] if not p.get("excluded")}
        told.append((result["testCaseId"], tuple(telling.items())))

    assert told[0] == told[1] != told[2]


def test_another_system_world_or_campaign_is_another_case(
    failing_run: Path, tmp_path: Path
) -> None:
    with (tmp_path / "said").open("w") as said:
        conclusion = judge_folder(failing_run, Stage(said))
    asked = {"campaign": "nemesis/campaigns/stale-leader.toml"}
    others = ({}, {"sut": "acme"}, {"world": "process"}, {"options": asked}, {"suite": "9"})

    cases = set()
    for other in others:
        header = {**conclusion.header, **other}
        view = view_of(failing_run, replace(conclusion, header=header))
        (result,) = [json.loads(text) for name, text in results(view) if "-result" in name]
        cases.add(result["testCaseId"])

    assert len(cases) == len(others) - 1


@pytest.mark.slow
def test_a_site_of_several_folders_has_categories_and_a_trend(
    written: Path, tmp_path: Path
) -> None:
    """Allure itself, from npm; it says in its data what it shows."""
    try:
        program()
    except UsageError as missing:
        pytest.skip(str(missing))
    tests, history = tmp_path / "tests", tmp_path / "history.jsonl"
    tests.mkdir()
    of_pytest = {"uuid": "1", "fullName": "tests.x", "name": "x", "status": "unknown"}
    (tests / "1-result.json").write_text(json.dumps(of_pytest))

    generate((written, tests), tmp_path / "first.html", history)
    site = generate((written, tests), tmp_path / "second.html", history)

    told = {
        name: json.loads(base64.b64decode(text))
        for name, text in re.findall(r'd\("([^"]+\.json)"\s*,\s*"([^"]*)"\)', site.read_text())
    }
    nodes = told["widgets/categories.json"]["nodes"].values()
    named = {one["name"] for one in nodes if one["type"] == "category"}
    assert named == {"A promise of the product is broken", "No proof: not shown either way"}
    first, second = map(json.loads, history.read_text().splitlines())
    assert len(first["testResults"]) == 2
    assert set(first["testResults"]) == set(second["testResults"])
    assert any(name.startswith("data/history/") for name in told)
