"""The body of `report`: a judged run once more, from its verdict file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.progress import plural
from harness.cli.runs import find_run, judged_document
from harness.history import HistoryError, read_history
from harness.rules import Verdict, exit_code
from reports.terminal import wrapped


def run(name: str) -> int:
    """Print the verdict of a run; the exit code is the run's own."""
    folder = find_run(name)
    document = judged_document(folder)
    print(
        f"{document['sut']} {document['sut_version']} · {', '.join(document['profiles'])}"
        f" {document['suite']} · {document['world']} · seed {document['seed']}"
        f" · {document['started']}"
    )
    for rule in document["rules"]:
        for line in _rule(rule):
            print(line)
    counts = ", ".join(f"{count} {word}" for word, count in document["counts"].items())
    print(f"\n{plural(len(document['rules']), 'rule')}: {counts}")
    if not _untouched(folder, document):
        print(f"DAMAGED  {folder}/history.jsonl is not the history that was judged")
        return exit_code(Verdict.NO_PROOF)
    print(f"{document['headline']}  {folder}/")
    return int(document["exit"])


def _untouched(folder: Path, document: dict[str, Any]) -> bool:
    """Whether the history is still the one the verdict speaks of."""
    try:
        history = read_history(folder / "history.jsonl")
        footer = history.footer or {}
    except HistoryError:
        return False
    same = footer.get("sha256", "") == document["history_sha256"]
    return bool(same and history.complete == document["complete"])


def _rule(rule: dict[str, Any]) -> list[str]:
    exercised = f"×{rule['exercised']}"
    lines = wrapped(f"  {rule['id']}  {rule['verdict']:<14} {exercised:>6}  ", rule["sentence"])
    for finding in rule["findings"][:3]:
        lines += wrapped("           ", f"op {finding['op']}: {finding['seen']}")
    return lines
