"""From counts to words: verdicts held against the plan, and what the run comes to.

Everything here is a function of what stands in the history. A fault that was required and did not
land leaves no proof; what could not be run cannot be observed; a waiver excuses and never
certifies; a certificate needs the faults that the profile promises to survive.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from harness.history.plan import DetectionRate, Part, RunPlan, Skip
from harness.rules import Brokers, Catalogue, FaultsSeen, Judged, Judgement, Rule, Verdict

_SEEN = (Verdict.PASS, Verdict.FAIL, Verdict.WEAK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """A fault of the history: its name, the part that asked for it, whether it landed."""

    fault: str
    part: str | None
    landed: bool


def rules_hash(rules: Iterable[Rule]) -> str:
    """A hash over the text and the judges of the rules, in order of id."""
    text = json.dumps([asdict(rule) for rule in rules], default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def faults_seen(plan: RunPlan, skips: Iterable[Skip], windows: Sequence[Landed]) -> FaultsSeen:
    """Which faults landed, which did not, and which could not be tried."""
    counts: dict[str, int] = {}
    for window in windows:
        if window.landed:
            counts[window.fault] = counts.get(window.fault, 0) + 1
    skipped = {skip.name: skip.reason for skip in skips if skip.what == "part"}
    with_faults = [part for part in plan.parts if part.faults]
    return FaultsSeen(
        landed=dict(sorted(counts.items())),
        missed=tuple(
            part.name
            for part in with_faults
            if part.name not in skipped and missing_fault(part, windows) is not None
        ),
        not_tried={part.name: skipped[part.name] for part in with_faults if part.name in skipped},
    )


def unsaid(
    plan: RunPlan, skips: Iterable[Skip], windows: Iterable[Landed], brokers: Collection[int]
) -> tuple[str, ...]:
    """What the history leaves open about its own plan."""
    tried = {window.part for window in windows}
    both = [skip.name for skip in skips if skip.what == "part" and skip.name in tried]
    told = [f"it skips {name}, and has faults of it" for name in dict.fromkeys(both)]
    if plan.brokers and not brokers:
        told.append(f"it does not say which of {plan.brokers} brokers were found")
    return tuple(told)


def not_examined(plan: RunPlan, skips: Iterable[Skip]) -> dict[str, str]:
    """Profiles that are claimed and were not examined, with the reason."""
    reasons = {skip.name: skip.reason for skip in skips if skip.what == "profile"}
    left = [name for name in plan.claimed if name not in plan.examined]
    return {name: reasons.get(name, "no reason is given") for name in left}


def missing_fault(part: Part, windows: Iterable[Landed]) -> str | None:
    """The first fault of a part that did not land in it."""
    landed = {window.fault for window in windows if window.landed and window.part == part.name}
    return next((fault for fault in part.faults if fault not in landed), None)


def held_against_plan(
    judged: Iterable[Judged], plan: RunPlan, skips: Iterable[Skip], windows: Sequence[Landed]
) -> tuple[Judged, ...]:
    """The verdicts as they stand once it is known what was run and which faults landed."""
    judged, skips = tuple(judged), tuple(skips)
    skipped = {skip.name: skip.reason for skip in skips if skip.what == "part"}
    unproven: dict[str, str] = {}
    for part in plan.parts:
        fault = missing_fault(part, windows)
        if fault is not None and part.required and part.name not in skipped:
            of_profile = [j.rule.id for j in judged if j.rule.profile == part.profile]
            void = part.rules if part.scope == "rules" else of_profile
            unproven |= dict.fromkeys(void, f"the fault {fault} did not land")
    unseen = _unseen(plan.parts, skipped) | _unasked(judged, skips)
    return tuple(_corrected(one, unproven, unseen) for one in judged)


def _unseen(parts: Iterable[Part], skipped: Mapping[str, str]) -> dict[str, str]:
    """Rules all of whose parts were skipped, with the reason of the last one."""
    run = {rule for part in parts if part.name not in skipped for rule in part.rules}
    return {
        rule: skipped[part.name]
        for part in parts
        if part.name in skipped
        for rule in part.rules
        if rule not in run
    }


def _unasked(judged: Iterable[Judged], skips: Iterable[Skip]) -> dict[str, str]:
    """Rules that need a request which the system does not offer, with the reason."""
    lacking = {skip.name: skip.reason for skip in skips if skip.what == "request"}
    return {
        one.rule.id: lacking[request]
        for one in judged
        for request in one.rule.requests
        if request in lacking
    }


def _corrected(judged: Judged, unproven: Mapping[str, str], unseen: Mapping[str, str]) -> Judged:
    rule = judged.rule.id
    if rule in unproven and judged.verdict in (Verdict.PASS, Verdict.WEAK):
        return replace(judged, verdict=Verdict.NO_PROOF, reason=unproven[rule])
    silent = judged.verdict is Verdict.NO_PROOF and not judged.result.exercised
    if rule in unseen and silent:
        return replace(judged, verdict=Verdict.NOT_OBSERVABLE, reason=unseen[rule])
    return judged


def depths(judgement: Judgement, plan: RunPlan, catalogue: Catalogue) -> dict[str, dict[str, int]]:
    """Per depth: how many rules the examined profiles have for such a system, how many of them
    were judged. What binds the reference alone counts for nothing else."""
    seen = {one.rule.id for one in judgement.judged if one.verdict in _SEEN}
    table: dict[str, dict[str, int]] = {}
    for rule in catalogue.of_profiles(plan.examined).played():
        if rule.judge_for(reference=plan.reference) is not None:
            row = table.setdefault(rule.depth.value, {"rules": 0, "judged": 0})
            row["rules"] += 1
            row["judged"] += rule.id in seen
    return table


def detection(
    plan: RunPlan, world: str | None, levers: Mapping[str, str]
) -> tuple[DetectionRate, ...]:
    """What a run like this is known to detect, one rate a profile: that of its set of levers,
    measured in its own world if it was, else in a simulation."""
    if not plan.whole:
        return ()
    found = []
    for profile in plan.examined:
        fitting = {
            one.world: one
            for one in plan.rates
            if one.profile == profile and one.levers == levers.get(profile)
        }
        rate = fitting.get(world or "") or fitting.get("sim")
        found += [] if rate is None else [rate]
    return tuple(found)


def waivers(plan: RunPlan, judgement: Judgement) -> tuple[dict[str, str], tuple[str, ...]]:
    """Rules excused for now, and waivers that have outlived their reason."""
    verdicts = {one.rule.id: one.verdict for one in judgement.judged}
    waived: dict[str, str] = {}
    stale: list[str] = []
    for waiver in plan.waivers:
        verdict = verdicts.get(waiver.rule)
        if plan.day is None or _day(plan.day) > _day(waiver.until):
            stale.append(f"{waiver.rule}: waived until {waiver.until}, which has passed")
        elif verdict is Verdict.PASS:
            stale.append(f"{waiver.rule}: passes, so the waiver is no longer needed")
        elif verdict is not None:
            waived[waiver.rule] = f"until {waiver.until}: {waiver.reason}"
    return waived, tuple(stale)


def _day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What decides over the headline."""

    plan: RunPlan
    judgement: Judgement
    faults: FaultsSeen
    brokers: Brokers
    waived: Mapping[str, str]
    stale: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict that no waiver excuses; a run that is not whole never passes, and one
        that is damaged accuses of nothing."""
        if self.judgement.damaged:
            return Verdict.NO_PROOF
        if self.stale:
            return Verdict.FAIL
        judged = self.judgement.judged
        unexcused = [one.verdict for one in judged if not self._excused(one)]
        worst = Verdict.worst(unexcused) if unexcused or not judged else Verdict.PASS
        whole = self.judgement.complete or worst is Verdict.FAIL
        return worst if whole else Verdict.worst((worst, Verdict.NO_PROOF))

    def _excused(self, judged: Judged) -> bool:
        """Whether a waiver excuses it: what is known to fail, and nothing else."""
        return judged.rule.id in self.waived and judged.verdict in (Verdict.FAIL, Verdict.WEAK)

    @property
    def survived(self) -> bool:
        """Whether each examined profile was hurt in every way that it promises to survive."""
        promised = [part for part in self.plan.parts if part.promised and part.faults]
        hurt = {part.profile for part in promised}
        missing = {*self.faults.missed, *self.faults.not_tried}
        whole = hurt.issuperset(self.plan.examined)
        return whole and bool(hurt) and not any(part.name in missing for part in promised)

    @property
    def certified(self) -> bool:
        """Whether a certificate may be issued; a waiver never buys one."""
        sound = self.verdict in (Verdict.PASS, Verdict.WEAK) and self.judgement.complete
        asked = self.plan.whole and not self.plan.mutants and not self.lacks
        return sound and asked and self.survived and not self.waived and not self.brokers.missing

    @property
    def headline(self) -> str:
        """The last line of a run, without where it is."""
        judgement = self.judgement
        if judgement.damaged:
            return f"DAMAGED  {judgement.problems[0]}"
        fails = [one for one in judgement.judged if one.verdict is Verdict.FAIL]
        broken = sum(not self._excused(one) for one in fails)
        reasons = [f"{broken} must broken"] if broken else []
        reasons += ["stale waiver"] if self.stale else []
        if reasons:
            return f"NOT CONFORMANT  {', '.join(reasons)}"
        if self.verdict is Verdict.BROKEN:
            return f"LAB BROKEN  {_rules(judgement.count(Verdict.BROKEN))} not judged"
        if self.verdict is Verdict.NO_PROOF:
            count = judgement.count(Verdict.NO_PROOF)
            nothing = "no rule was judged" if judgement.complete else "the run is incomplete"
            return f"NO PROOF  {f'for {_rules(count)}' if count else nothing}"
        return self._conformant

    @property
    def _conformant(self) -> str:
        if self.waived:
            return f"CONFORMANT EXCEPT WAIVED  {', '.join(self.waived)} · no certificate"
        if self.certified:
            return "CERTIFIED"
        if self.brokers.missing:
            told = f"{self.brokers.missing} of {self.brokers.expected} brokers missing"
            return f"CONFORMANT  {told} · no certificate"
        whole = self.plan.whole and not self.plan.mutants and not self.lacks
        return "CONFORMANT WITHOUT FAULTS" if whole else "CONFORMANT"


def _rules(count: int) -> str:
    return "1 rule" if count == 1 else f"{count} rules"
