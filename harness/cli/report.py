"""The body of `report`: a judged run once more, from its verdict file."""

from __future__ import annotations

from typing import Any

from harness.cli.runs import find_run, judged_document
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
    print(f"\n{len(document['rules'])} rules: {counts}")
    print(f"{'CERTIFIED' if document['certified'] else document['verdict'].upper()}  {folder}/")
    return int(document["exit"])


def _rule(rule: dict[str, Any]) -> list[str]:
    exercised = f"×{rule['exercised']}"
    lines = wrapped(f"  {rule['id']}  {rule['verdict']:<14} {exercised:>6}  ", rule["sentence"])
    for finding in rule["findings"][:3]:
        lines += wrapped("           ", f"op {finding['op']}: {finding['seen']}")
    return lines
