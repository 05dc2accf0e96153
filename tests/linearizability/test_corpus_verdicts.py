"""Recorded histories of other projects, with the verdicts those projects gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.history import import_history
from spark_checkers.linearizability import Verdict, model_named, operations_by_key, search

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
MODELS = {
    "etcd-register": model_named("cas-register"),
    "knossos-register": model_named("cas-register", initial=0),
    "kv": model_named("kv"),
}


ABSENT = pytest.mark.skip("no public histories: ../shared/corpus is not beside the project")


def cases() -> list[object]:
    if not CORPUS.is_dir():
        return [pytest.param("corpus", "any", marks=ABSENT)]
    expected = json.loads((CORPUS / "expected.json").read_text())
    return [(n, case["verdict"]) for n, case in expected.items() if n.split("/")[0] in MODELS]


@pytest.mark.parametrize(("name", "verdict"), cases())
def test_a_recorded_history_gets_the_verdict_its_project_gave(name: str, verdict: str) -> None:
    model = MODELS[name.split("/")[0]]
    events = import_history(CORPUS / name).events
    outcomes = [search(found, model) for found in operations_by_key(events, model).values()]
    bad = [o for o in outcomes if o.verdict is Verdict.NOT_LINEARIZABLE]
    assert not any(o.verdict is Verdict.UNKNOWN for o in outcomes)
    assert ("not-linearizable" if bad else "linearizable") == verdict
