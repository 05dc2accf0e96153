"""The two documents of a judged run, drawn from its conclusion.

`verdict.json` has every rule with its findings. `certificate.json` is what a system is shown to
others with: what was claimed and examined, how deep one could look, which faults landed and which
were not tried, on which brokers, when, by which suite, and the hashes by which all of it can be
recomputed from the run folder. It is issued only where the conclusion says so. Neither names where
it was judged: the same folder gives the same bytes anywhere.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from harness.rules import Conclusion, Verdict

FORMAT = 2


def verdict_document(conclusion: Conclusion) -> dict[str, Any]:
    """Everything a machine wants to know about a judged run."""
    judgement = conclusion.judgement
    return {
        "format": FORMAT,
        "verdict": conclusion.verdict.value,
        "headline": conclusion.headline,
        "exit": conclusion.exit_code,
        "certified": conclusion.certified,
        **_run(conclusion),
        "complete": judgement.complete,
        "waived": dict(conclusion.waived),
        "stale_waivers": list(conclusion.stale),
        "lacks": list(conclusion.lacks),
        "rules": [
            {
                "id": one.rule.id,
                "sentence": one.rule.sentence,
                "profile": one.rule.profile,
                "depth": one.rule.depth.value,
                "verdict": one.verdict.value,
                "exercised": one.result.exercised,
                "violations": one.result.violations,
                "reason": one.reason,
                "findings": [asdict(finding) for finding in one.result.findings],
            }
            for one in judgement.judged
        ],
    }


def certificate_document(conclusion: Conclusion) -> dict[str, Any]:
    """What is certified, and what it rests on."""
    passed = [one for one in conclusion.judgement.judged if one.verdict is Verdict.PASS]
    return {
        "format": FORMAT,
        "certificate": conclusion.headline,
        **_run(conclusion),
        "exercised": {one.rule.id: one.result.exercised for one in passed},
    }


def _run(conclusion: Conclusion) -> dict[str, Any]:
    """What both say: the system, the run, and the hashes of rules and history."""
    header, plan, judgement = conclusion.header, conclusion.plan, conclusion.judgement
    faults = conclusion.faults
    return {
        "run": header.get("run"),
        "sut": header.get("sut"),
        "sut_version": header.get("sut_version"),
        "world": header.get("world"),
        "seed": header.get("seed"),
        "suite": header.get("suite"),
        "commit": header.get("commit"),
        "started": header.get("started"),
        "ended": conclusion.ended,
        "engine": header.get("engine"),
        "host": header.get("host"),
        "claimed": list(plan.claimed),
        "profiles": list(plan.examined),
        "not_examined": dict(conclusion.not_examined),
        "whole": plan.whole,
        "mutants": list(plan.mutants),
        "brokers": {
            "expected": conclusion.brokers.expected,
            "found": list(conclusion.brokers.found),
        },
        "faults": {
            "landed": dict(faults.landed),
            "not_landed": list(faults.missed),
            "not_tried": dict(faults.not_tried),
        },
        "detection": [{**asdict(one), "percent": one.percent} for one in conclusion.detection],
        "depth": {name: dict(counts) for name, counts in conclusion.depth.items()},
        "counts": {v.value: judgement.count(v) for v in Verdict if judgement.count(v)},
        "events": judgement.events,
        "history_sha256": judgement.sha256,
        "rules_sha256": conclusion.rules_sha256,
    }


def as_text(document: dict[str, Any]) -> str:
    """A document as it stands in its file."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
