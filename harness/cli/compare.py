"""The body of `compare`: rules down, runs across, the verdict as a symbol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.cli.hashes import altered
from harness.cli.progress import printable
from harness.cli.runs import find_run, judged_document, mutants_told
from harness.rules import Verdict
from harness.sut import UsageError
from reports.terminal import SYMBOL, WORD


def run(names: Sequence[str]) -> int:
    """Print the matrix; rules on which the runs differ come first."""
    if len(names) < 2:
        raise UsageError("compare needs at least two runs; `./tidemark runs` lists them")
    folders = [find_run(name) for name in names]
    documents = [judged_document(folder) for folder in folders]
    columns = [
        {str(rule["id"]): Verdict(rule["verdict"]) for rule in doc["rules"]} for doc in documents
    ]
    for number, (folder, document) in enumerate(zip(folders, documents, strict=True), start=1):
        changed = "".join(f" · tampered: {one}" for one in altered(folder)[:1])
        print(printable(f"{number}  run {names[number - 1]}: {_title(document)}{changed}"))
    print()
    rules = sorted({rule for column in columns for rule in column})
    differing = [rule for rule in rules if len({column.get(rule) for column in columns}) > 1]
    print("         " + " ".join(str(number) for number in range(1, len(columns) + 1)))
    for rule in differing:
        marks = [SYMBOL[v] if (v := column.get(rule)) is not None else " " for column in columns]
        words = " → ".join(_word(column.get(rule)) for column in columns)
        print(printable(f"{rule}  {' '.join(marks)}  {words}"))
    print(f"\n{len(rules)} rules: {len(rules) - len(differing)} alike, {len(differing)} differ")
    return 0


def _title(document: dict[str, Any]) -> str:
    told = {name: document.get(name) for name in ("sut", "sut_version", "world", "seed", "verdict")}
    what = f"{told['sut']} {told['sut_version']} in {told['world']}, seed {told['seed']}"
    return f"{what}{mutants_told(document)}: {told['verdict']}"


def _word(verdict: Verdict | None) -> str:
    return "not judged" if verdict is None else WORD[verdict]
