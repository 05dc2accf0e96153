"""The certificate: what was claimed, how deep one could look, and hashes of rules and history.

It is issued only for a run that is complete, in which no MUST is broken, nothing is left without
proof and no waiver is in force. Anybody can recompute it from the run folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.rules import Depth, Judgement, Rule, Verdict, exit_code

FORMAT = 1


def rules_hash(rules: Sequence[Rule]) -> str:
    """A hash over the text and the judges of the rules, in order of id."""
    text = json.dumps([asdict(rule) for rule in rules], default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def depths(judgement: Judgement) -> dict[str, dict[str, int]]:
    """Per depth: how many rules there are, and how many of them this run could judge."""
    table = {}
    for depth in Depth:
        members = [j for j in judgement.judged if j.rule.depth is depth]
        seen = [j for j in members if j.verdict is not Verdict.NOT_OBSERVABLE]
        if members:
            table[depth.value] = {"rules": len(members), "judged": len(seen)}
    return table


def verdict_document(
    header: Mapping[str, Any], judgement: Judgement, *, waived: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything a machine wants to know about a judged run; the base of the certificate."""
    return {
        "format": FORMAT,
        "verdict": judgement.verdict.value,
        "exit": exit_code(judgement.verdict),
        "certified": certifiable(judgement, waived=waived),
        "run": header["run"],
        "suite": header["suite"],
        "sut": header["sut"],
        "sut_version": header.get("sut_version"),
        "world": header["world"],
        "profiles": header["profiles"],
        "seed": header["seed"],
        "started": header["started"],
        "depth": depths(judgement),
        "counts": {v.value: judgement.count(v) for v in Verdict if judgement.count(v)},
        "waived": list(waived),
        "events": judgement.events,
        "history_sha256": judgement.sha256,
        "rules_sha256": rules_hash([j.rule for j in judgement.judged]),
        "rules": [
            {
                "id": j.rule.id,
                "sentence": j.rule.sentence,
                "verdict": j.verdict.value,
                "exercised": j.result.exercised,
                "violations": j.result.violations,
                "reason": j.reason,
                "findings": [asdict(f) for f in j.result.findings],
            }
            for j in judgement.judged
        ],
    }


def certifiable(judgement: Judgement, *, waived: Sequence[str]) -> bool:
    """Whether a certificate may be issued; a waiver never buys one."""
    sound = judgement.verdict in (Verdict.PASS, Verdict.WEAK)
    return sound and judgement.complete and not waived
