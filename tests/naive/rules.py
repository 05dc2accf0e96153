"""Every rule that the naive checker knows, and what it says about a history."""

from __future__ import annotations

from collections.abc import Iterable

from harness.history import History
from harness.rules import Rule
from tests.naive import appends, boundary, fetches, lineage, seeds, transactions, watermarks
from tests.naive.cases import Check, Found, judged
from tests.naive.reading import logs_of

CHECKS: dict[str, Check] = {
    **appends.CHECKS,
    **fetches.CHECKS,
    **watermarks.CHECKS,
    **lineage.CHECKS,
    **transactions.CHECKS,
    **boundary.CHECKS,
    **seeds.CHECKS,
}


def naive_verdicts(history: History, rules: Iterable[Rule]) -> dict[str, Found]:
    """By rule: how often it was exercised, and which operations break it."""
    logs = logs_of(history)
    return {
        rule.id: judged(CHECKS[rule.id], logs, rule.assumes) for rule in rules if rule.id in CHECKS
    }
