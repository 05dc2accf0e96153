"""Judge histories on a master, in a process of its own: `judge_on.py MASTER JAVA FOLDER HISTORY…`.

One rule is a search, which runs in Python on the workers; the others are SQL. Prints results as
JSON, one line a rule and history.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.catalogue import CATALOGUE
from harness.cli.grounds import ground_of
from harness.history.sources import Source
from harness.rules import Rule, Search
from spark_checkers.engine import open_engine
from spark_checkers.many import judge_many
from spark_checkers.side_by_side import JudgingProfile

RULES = ("MIG-001", "MIG-021", "MIG-022")


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
    sources = [Source(name=path, address=path) for path in histories]
    scratch = Path(folder) / name
    for outcome in judge_many(sources, ground_of, rules_of, engine, scratch, workers=1):
        assert outcome.judgement is not None, outcome
        for judged in outcome.judgement.judged:
            result = dataclasses.asdict(judged.result)
            print(json.dumps([outcome.source.name, judged.verdict.value, result]))


if __name__ == "__main__":
    main(*sys.argv[1:])
