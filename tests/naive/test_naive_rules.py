"""The naive checker by itself: what it flags, what it must not, and that it knows every rule."""

from __future__ import annotations

import pytest

from conformance.catalogue import CATALOGUE
from harness.history import History, history_of
from harness.rules import Holds
from tests.naive.contested import HISTORIES as CONTESTED
from tests.naive.rules import CHECKS, naive_verdicts
from tests.spark_checkers import liveness_histories, log_breaches, log_histories, log_legal
from tests.spark_checkers.log_lines import events_of

HISTORIES = {**log_histories.HISTORIES, **liveness_histories.HISTORIES}
ALSO_BAD = {**log_breaches.ALSO_BAD, **liveness_histories.ALSO_BAD}
LEGAL = {**log_legal.LEGAL, **liveness_histories.LEGAL}

RULES = [rule for rule in CATALOGUE if rule.id in CHECKS]
HEADER = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": "process"}


def written(text: str) -> History:
    return history_of(events_of(text), header=HEADER)


def broken(text: str) -> set[str]:
    found = naive_verdicts(written(text), RULES)
    return {rule for rule, one in found.items() if one.violating}


def test_it_knows_every_rule_of_the_log_and_of_the_boundary() -> None:
    judged = {rule.id for rule in CATALOGUE if type(rule.judge) is Holds}
    log = {rule for rule in judged if "KFK-030" <= rule <= "KFK-097"}
    boundary = {rule for rule in judged if "MIG-001" <= rule <= "MIG-028"}
    assert log | boundary == set(CHECKS)


@pytest.mark.parametrize("rule", sorted(set(HISTORIES) & set(CHECKS)))
def test_a_rule_is_broken_where_it_must_be_and_not_next_to_it(rule: str) -> None:
    bad, good = HISTORIES[rule]
    assert rule in broken(bad)
    assert rule not in broken(good)


def test_each_further_bad_history_breaks_its_rule() -> None:
    assert not [name for name, (rule, text) in ALSO_BAD.items() if rule not in broken(text)]


def test_a_legal_history_breaks_nothing() -> None:
    assert not {name: rules for name, text in LEGAL.items() if (rules := broken(text))}


def test_a_contested_history_breaks_what_the_sentences_say() -> None:
    assert {name: broken(text) for name, (text, _) in CONTESTED.items()} == {
        name: rules for name, (_, rules) in CONTESTED.items()
    }
