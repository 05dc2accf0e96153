"""What makes a rule fit for the catalogue; every finding is a sentence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from harness.rules.catalogue import Catalogue
from harness.rules.rule import Holds, Rule, Search

_ID = re.compile(r"(MIG|RF|TS|ARC|PE|KFK)-\d{3}")
_DECISION = re.compile(r"(CON|GAP|C|G|AMB)-\d{2}")
_MODAL = re.compile(r"\b(should|must|shall|may|test|verify|ensure)\b", re.IGNORECASE)
SENTENCE_LIMIT = 100


class Breaker(Protocol):
    """A mutant, as far as the lint cares."""

    @property
    def name(self) -> str: ...
    @property
    def decision(self) -> str: ...
    @property
    def rules(self) -> tuple[str, ...]: ...


def lint(
    catalogue: Catalogue,
    *,
    mutants: Iterable[Breaker],
    exercised_by: Mapping[str, Collection[str]],
    decisions: Mapping[str, tuple[str, ...]],
) -> list[str]:
    """Everything that is wrong, in order of rule id.

    `exercised_by` maps rule ids to scenario names; `decisions` maps decision names to the rules
    they say they obey.
    """
    mutants = list(mutants)
    broken_by = {rule_id for mutant in mutants for rule_id in mutant.rules}
    problems = [problem for rule in catalogue for problem in _lint_rule(rule)]
    for rule in catalogue:
        if rule.judge is not None and not rule.unproven:
            if rule.id not in broken_by:
                problems.append(f"{rule.id} has a judge but no mutant that breaks it")
            if not exercised_by.get(rule.id):
                problems.append(f"{rule.id} has a judge but no scenario that exercises it")
    for mutant in mutants:
        problems += [
            f"mutant {mutant.name} names {rule_id}, which does not exist"
            for rule_id in mutant.rules
            if rule_id not in catalogue
        ]
        if mutant.decision not in decisions:
            problems.append(
                f"mutant {mutant.name} replaces {mutant.decision}, which is no decision"
            )
    for name, rule_ids in decisions.items():
        problems += [
            f"decision {name} names {rule_id}, which does not exist"
            for rule_id in rule_ids
            if rule_id not in catalogue
        ]
    return problems


def _lint_rule(rule: Rule) -> Iterator[str]:
    if not _ID.fullmatch(rule.id):
        yield f"{rule.id} is not an id like MIG-001"
    if not rule.section or not (rule.lines or rule.source):
        yield f"{rule.id} names no section or no lines of its document"
    if bool(rule.source) is not rule.id.startswith("KFK"):
        yield f"{rule.id} cites a design by lines, or what Kafka says by its source: one of both"
    if list(rule.lines) != sorted(set(rule.lines)):
        yield f"{rule.id} lists its lines out of order or twice"
    if len(rule.sentence) > SENTENCE_LIMIT or not rule.sentence.endswith("."):
        yield f"{rule.id} is not one sentence of at most {SENTENCE_LIMIT} characters"
    if found := _MODAL.search(rule.sentence):
        yield f"{rule.id} says {found.group()!r}; a rule states a fact in the present tense"
    for decision in rule.decisions:
        if not _DECISION.fullmatch(decision):
            yield f"{rule.id} cites {decision!r}, which is no decision like CON-09"
    yield from _lint_judge(rule)


def _lint_judge(rule: Rule) -> Iterator[str]:
    reasons = [bool(rule.judge), bool(rule.planned), bool(rule.unprovable)]
    if sum(reasons) != 1:
        yield f"{rule.id} needs exactly one of a judge, a plan, or an argument why none can exist"
    for judge in (rule.judge, rule.tolerant):
        if isinstance(judge, Holds) and not (judge.when and judge.holds and judge.show):
            yield f"{rule.id} has a judge without condition, claim or evidence to show"
        if isinstance(judge, Search) and not judge.key:
            yield f"{rule.id} has a search without a key"
    if rule.unproven and not rule.judge:
        yield f"{rule.id} says why it is unproven, and has no judge that could be proven"
    if rule.judge and not rule.hint:
        yield f"{rule.id} has no hint for the engineer whose system breaks it"
