"""Allure results of a run: statuses, labels, attachments; and a site that needs no network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli.allure import without_third_parties, write_results
from harness.cli.progress import Stage
from harness.cli.report import judge_folder
from harness.cli.views import view_of
from reports.allure import CATEGORIES


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
