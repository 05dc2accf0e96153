"""The commands say the same on Spark and inline."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import main
from spark_checkers.engine import SparkEngine

BROKEN = (
    "certify --profile migration --world sim --rounds 0 --json"
    " --mutant conformance.mutants.boundary:higher-epoch-moves-the-boundary"
)
STALE = """\
{:process 0, :type :invoke, :f :write, :key "a", :value 1}
{:process 0, :type :ok, :f :write, :key "a", :value 1}
{:process 1, :type :invoke, :f :read, :key "a", :value nil}
{:process 1, :type :ok, :f :read, :key "a", :value nil}
{:process 1, :type :invoke, :f :read, :key "b", :value nil}
{:process 1, :type :ok, :f :read, :key "b", :value nil}
"""


@pytest.mark.spark
@pytest.mark.parametrize("command", [BROKEN, "check stale.edn --json"], ids=["certify", "check"])
def test_spark_and_inline_give_the_same_document(
    spark: SparkEngine,
    command: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stale.edn").write_text(STALE, encoding="utf-8")

    def document(engine: str) -> dict[str, Any]:
        words = shlex.split(f"{command} --engine {engine} --master local[2]")
        monkeypatch.setattr("sys.argv", ["tidemark", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        found: dict[str, Any] = json.loads(capfd.readouterr().out)
        changing = ("run", "started", "ended", "seconds", "history_sha256", "engine")
        kept = {name: value for name, value in found.items() if name not in changing}
        return {**kept, "code": stopped.value.code}

    inline = document("inline")

    assert document("spark") == inline
    assert inline["code"] == 1
