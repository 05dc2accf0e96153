"""`check` on recorded histories of other projects: the verdict those projects gave, never none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import main

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
ABSENT = pytest.mark.skip("no public histories: ../shared/corpus is not beside the project")
OPTIONS = {
    "etcd-register": ["--model", "cas-register"],
    "knossos-register": ["--model", "cas-register", "--initial", "0"],
    "kv": ["--model", "kv"],
    "kafka": [],
}


def cases() -> list[Any]:
    if not CORPUS.is_dir():
        return [pytest.param("corpus", {}, marks=ABSENT)]
    expected = json.loads((CORPUS / "expected.json").read_text())
    return [(name, case["verdict"]) for name, case in expected.items()]


@pytest.mark.skipif(not CORPUS.is_dir(), reason=str(ABSENT.args[0]))
def test_every_history_has_an_expected_verdict() -> None:
    expected = json.loads((CORPUS / "expected.json").read_text())
    files = {str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*")}
    assert files == set(expected)


@pytest.mark.parametrize(("name", "verdict"), cases())
def test_check_gives_the_verdict_its_project_gave(
    name: str,
    verdict: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = [*OPTIONS[name.split("/")[0]], "--engine", "inline", "--json"]
    monkeypatch.setattr("sys.argv", ["tidemark", "check", str(CORPUS / name), *options])
    with pytest.raises(SystemExit) as left:
        main()
    found = json.loads(capsys.readouterr().out)

    if isinstance(verdict, str):
        assert found["valid"] is (verdict == "linearizable")
        assert left.value.code == (0 if found["valid"] else 1)
    else:
        assert shown(found, verdict) == verdict
        bad = [anomaly for anomaly, all_ in verdict.items() if all_ and anomaly != "unseen-series"]
        assert not (bad and found["valid"])


def shown(found: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """What was found of the anomalies asked for; the first case of each is shown by itself too."""
    anomalies = {one["type"]: one for one in found["anomalies"]}
    assert all(one["first"] == one["all"][0] for one in anomalies.values())
    told = {name: one["all"] for name, one in anomalies.items()}
    told["unseen-series"] = found["unseen-series"]
    return {name: told.get(name) for name in asked}
