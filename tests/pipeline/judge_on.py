"""Judge histories on a master, in a process of its own: `judge_on.py MASTER JAVA FOLDER HISTORY…`.

One rule is a search, which runs in Python on the workers; the others are SQL. Prints results as
JSON, one line a rule and history. A large one is laid out in ranges, and judged by rules about
logs.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.catalogue import CATALOGUE
from harness.cli.grounds import ground_of
from harness.history import read_history
from harness.history.silver import BULK_BYTES
from harness.history.sources import Source
from harness.rules import Judged, Rule, Search
from spark_checkers.engine import open_engine
from spark_checkers.judge_history import judge_history
from spark_checkers.many import judge_many
from spark_checkers.side_by_side import JudgingProfile

RULES = ("MIG-001", "MIG-021", "MIG-022")
LOG_RULES = [CATALOGUE[name] for name in ("KFK-030", "KFK-031", "KFK-042")]


def rules_of(ground: JudgingProfile) -> Sequence[Rule]:
    """A search, and two views of which one stands on others."""
    rules = [CATALOGUE[name] for name in RULES]
    assert any(isinstance(rule.judge, Search) for rule in rules)
    return rules


def main(master: str, java_home: str, folder: str, *histories: str) -> None:
    """Judge and print."""
    name = "inline" if master == "inline" else "spark"
    log = Path(folder) / "driver.log"
    engine = open_engine(name, master=master, java_home=java_home, log=log)
    scratch = Path(folder) / name
    large = [path for path in histories if Path(path).stat().st_size >= BULK_BYTES]
    for path in large:
        judgement = judge_history(
            read_history(path), scratch / "tables", LOG_RULES, engine, reference=False
        )
        for judged in judgement.judged:
            _print(path, judged)
    sources = [Source(name=path, address=path) for path in histories if path not in large]
    for outcome in judge_many(sources, ground_of, rules_of, engine, scratch, workers=1):
        assert outcome.judgement is not None, outcome
        for judged in outcome.judgement.judged:
            _print(outcome.source.name, judged)


def _print(history: str, judged: Judged) -> None:
    result = dataclasses.asdict(judged.result)
    print(json.dumps([history, judged.verdict.value, result]))


if __name__ == "__main__":
    main(*sys.argv[1:])
