"""The certificate: what was claimed, how deep one could look, and hashes of rules and history.

It is issued only for a run that is complete, in which no MUST is broken, nothing is left without
proof and no waiver is in force. Anybody can recompute it from the run folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a judged run comes to; text, exit code and documents are all drawn from here.

    `waived` maps excused rules to the words beside them, `stale` says what is wrong with waivers
    that outlived their reason. A run of selected rules or of a mutant is not `whole`.
    """

    judgement: Judgement
    waived: Mapping[str, str] = field(default_factory=dict)
    stale: tuple[str, ...] = ()
    whole: bool = True

    @property
    def verdict(self) -> Verdict:
        """The worst verdict that no waiver excuses; nothing left to judge is no proof."""
        if self.stale:
            return Verdict.FAIL
        rules = self.judgement.judged
        unexcused = [j.verdict for j in rules if j.rule.id not in self.waived]
        return Verdict.worst(unexcused) if unexcused else Verdict.PASS

    @property
    def certified(self) -> bool:
        """Whether a certificate may be issued; a waiver never buys one."""
        sound = self.verdict in (Verdict.PASS, Verdict.WEAK) and self.judgement.complete
        return sound and self.whole and not self.waived and not self.stale

    @property
    def headline(self) -> str:
        """The last line of a run, without where it is."""
        fails = [j for j in self.judgement.judged if j.verdict is Verdict.FAIL]
        broken = sum(j.rule.id not in self.waived for j in fails)
        reasons = [f"{broken} must broken"] if broken else []
        reasons += ["stale waiver"] if self.stale else []
        if reasons:
            return f"NOT CONFORMANT  {', '.join(reasons)}"
        if self.verdict is Verdict.BROKEN:
            return f"LAB BROKEN  {self.judgement.count(Verdict.BROKEN)} rules not judged"
        if self.verdict is Verdict.NO_PROOF:
            return f"NO PROOF  for {self.judgement.count(Verdict.NO_PROOF)} rules"
        if self.waived:
            return f"CONFORMANT EXCEPT WAIVED  {', '.join(self.waived)} · no certificate"
        return "CERTIFIED" if self.certified else "CONFORMANT"


def verdict_document(header: Mapping[str, Any], conclusion: Conclusion) -> dict[str, Any]:
    """Everything a machine wants to know about a judged run; the base of the certificate."""
    judgement = conclusion.judgement
    return {
        "format": FORMAT,
        "verdict": conclusion.verdict.value,
        "headline": conclusion.headline,
        "exit": exit_code(conclusion.verdict),
        "certified": conclusion.certified,
        "run": header["run"],
        "suite": header["suite"],
        "sut": header["sut"],
        "sut_version": header.get("sut_version"),
        "world": header["world"],
        "profiles": header["profiles"],
        "seed": header["seed"],
        "started": header["started"],
        "selected_rules": header["options"]["rules"],
        "mutants": header["options"]["mutants"],
        "rounds": header["options"]["rounds"],
        "depth": depths(judgement),
        "counts": {v.value: judgement.count(v) for v in Verdict if judgement.count(v)},
        "waived": dict(conclusion.waived),
        "stale_waivers": list(conclusion.stale),
        "complete": judgement.complete,
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
