"""Every rule that the naive checker knows, and what it says about a history."""

from __future__ import annotations

from collections.abc import Iterable

from harness.history import History
from harness.rules import Rule
from tests.naive import (
    appends,
    boundary,
    fetches,
    lineage,
    liveness,
    seeds,
    transactions,
    watermarks,
)
from tests.naive.cases import Check, Found, judged
from tests.naive.reading import logs_of, run_of

CHECKS: dict[str, Check] = {
    **appends.CHECKS,
    **fetches.CHECKS,
    **watermarks.CHECKS,
    **lineage.CHECKS,
    **transactions.CHECKS,
    **liveness.CHECKS,
    **liveness.OF_THE_RUN,
    **boundary.CHECKS,
    **seeds.CHECKS,
}


def naive_verdicts(history: History, rules: Iterable[Rule]) -> dict[str, Found]:
    """By rule: how often it was exercised, and which operations break it."""
    logs, run = logs_of(history), [run_of(history)]
    return {
        rule.id: judged(
            CHECKS[rule.id], run if rule.id in liveness.OF_THE_RUN else logs, rule.assumes
        )
        for rule in rules
        if rule.id in CHECKS
    }
