from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from brute_force import (
    first_return_without_order,
    has_legal_order,
    is_legal_order,
    states_before_return,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from text_histories import history

from spark_checkers.linearizability import (
    Operation,
    Outcome,
    Verdict,
    Walking,
    model_named,
    search,
)
from spark_checkers.linearizability.models import Model
from spark_checkers.linearizability.recorded import (
    recorded_appends,
    recorded_register,
    with_bad_read,
)

REGISTER = model_named("register")
NUMBERS = (1, 2, 3)
CALLS = {
    "register": [("read", v) for v in NUMBERS] + [("write", v) for v in NUMBERS],
    "cas-register": [("read", v) for v in NUMBERS]
    + [("write", v) for v in (1, 2)]
    + [("cas", (a, b)) for a in NUMBERS for b in NUMBERS],
    "kv": [("get", v) for v in ("", "a", "b", "aa", "ab", "ba")]
    + [(f, v) for f in ("put", "append") for v in ("a", "b")],
    "mutex": [("acquire", None), ("release", None)],
}
MODELS = {
    "register": model_named("register", initial=1),
    "cas-register": model_named("cas-register", initial=1),
    "kv": model_named("kv"),
    "mutex": model_named("mutex"),
}
COMPILED = ("register", "cas-register", "mutex")


@st.composite
def histories(draw: st.DrawFn, name: str) -> list[Operation]:
    """Up to eight operations anywhere in time, answered any way."""
    instants = draw(st.sampled_from((3, 8, 20)))
    spans = st.tuples(st.integers(0, instants), st.integers(0, instants), st.booleans())
    calls = draw(st.lists(st.tuples(st.sampled_from(CALLS[name]), spans), max_size=8))
    found = []
    for op, ((f, value), (began, length, settled)) in enumerate(calls):
        unknown = not settled and length % 2 == 0
        reads = f in ("read", "get")
        found.append(
            Operation(
                op=op,
                process=op,
                f=f,
                arguments=None if reads else value,
                result=value if reads and not unknown else None,
                began=began,
                ended=None if unknown else began + length,
            )
        )
    return found


def placed(outcome: Outcome, operations: Sequence[Operation]) -> list[Operation]:
    by_op = {operation.op: operation for operation in operations}
    return [by_op[op] for op in outcome.longest_prefix]


def by_both_walks(operations: list[Operation], model: Model, **budget: int) -> Outcome:
    outcome = search(operations, model, walking=Walking.PYTHON, **budget)
    if model.name in COMPILED:
        assert search(operations, model, walking=Walking.COMPILED, **budget) == outcome
    return outcome


def agree(operations: list[Operation], model: Model) -> None:
    outcome = by_both_walks(operations, model)
    good = has_legal_order(operations, model)
    assert outcome.verdict is (Verdict.LINEARIZABLE if good else Verdict.NOT_LINEARIZABLE)
    assert is_legal_order(placed(outcome, operations), model)
    assert outcome.first_unplaceable == first_return_without_order(operations, model)
    if outcome.first_unplaceable is None:
        assert {o.op for o in operations if not o.unknown} <= set(outcome.longest_prefix)
    else:
        there = states_before_return(outcome.first_unplaceable, operations, model)
        assert set(outcome.states_there) == there


@pytest.mark.parametrize("name", MODELS)
def test_the_search_says_what_trying_every_order_says(name: str) -> None:
    @settings(max_examples=2 * settings().max_examples, deadline=None)
    @given(histories(name))
    def compare(operations: list[Operation]) -> None:
        agree(operations, MODELS[name])

    compare()


@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(st.integers(0, 2**32))
def test_crowds_of_writers_hide_each_other_as_trying_every_order_says(seed: int) -> None:
    chance = random.Random(seed)
    operations = []
    for op in range(chance.randint(6, 9)):
        began, reads = chance.randint(0, 20), chance.random() < 0.4
        value = chance.randint(1, 4)
        operations.append(
            Operation(
                op=op,
                process=op,
                f="read" if reads else "write",
                arguments=None if reads else value,
                result=value if reads else None,
                began=began,
                ended=began + chance.randint(0, 15),
            )
        )
    agree(operations, REGISTER)


@settings(max_examples=3 * settings().max_examples // 2, deadline=None)
@given(st.integers(0, 2**32))
def test_crowds_of_appenders_leave_the_strings_that_trying_every_order_allows(seed: int) -> None:
    chance, held, operations = random.Random(seed), "", []
    calls = [(chance.uniform(0, 20), op) for op in range(chance.randint(5, 9))]
    for instant, op in sorted(calls):
        f = chance.choice(("get", "get", "append", "append", "put"))
        letter, unknown = chance.choice("abc"), chance.random() < 0.15
        if f != "get" and not (unknown and chance.random() < 0.5):
            held = letter if f == "put" else held + letter
        seen = chance.choice((held, held, held, held, held[:-1], held + "a"))
        operations.append(
            Operation(
                op=op,
                process=op,
                f=f,
                arguments=None if f == "get" else letter,
                result=seen if f == "get" and not unknown else None,
                began=int(instant - chance.uniform(0, 8)),
                ended=None if unknown else int(instant + chance.uniform(0, 8)),
            )
        )
    agree(operations, MODELS["kv"])


@pytest.mark.parametrize("name", MODELS)
def test_a_small_budget_gives_no_verdict_or_the_right_one(name: str) -> None:
    @settings(max_examples=settings().max_examples, deadline=None)
    @given(histories(name), st.integers(0, 12))
    def compare(operations: list[Operation], budget: int) -> None:
        hurried = by_both_walks(operations, MODELS[name], budget_states=budget)
        patient = by_both_walks(operations, MODELS[name])
        assert hurried.verdict in (Verdict.UNKNOWN, patient.verdict)
        if hurried.first_unplaceable is not None and patient.first_unplaceable is not None:
            ended = {operation.op: operation.ended or 0 for operation in operations}
            assert ended[hurried.first_unplaceable] >= ended[patient.first_unplaceable]

    compare()


@settings(max_examples=100, deadline=None)
@given(histories("cas-register"), st.randoms())
def test_the_order_in_which_operations_are_handed_in_does_not_matter(
    operations: list[Operation], chance: random.Random
) -> None:
    shuffled = list(operations)
    chance.shuffle(shuffled)
    model = MODELS["cas-register"]
    assert search(shuffled, model) == search(operations, model)


def test_an_empty_history_is_linearizable() -> None:
    assert search([], REGISTER).verdict is Verdict.LINEARIZABLE


def test_an_operation_that_begins_as_another_ends_is_concurrent_with_it() -> None:
    touching = "0..3 a write 1\n 3..4 b read nil"
    apart = "0..3 a write 1\n 4..5 b read nil"
    assert search(history(touching), REGISTER).verdict is Verdict.LINEARIZABLE
    assert search(history(apart), REGISTER).verdict is Verdict.NOT_LINEARIZABLE


def test_an_unknown_write_need_not_have_happened() -> None:
    table = """
        0..1  a  write 1
        2..?  b  write 2
        5..6  a  read 1
        7..8  c  read 1
    """
    outcome = search(history(table), REGISTER)
    assert outcome.verdict is Verdict.LINEARIZABLE
    assert outcome.longest_prefix == (0, 2, 3)


def test_an_unknown_write_may_take_effect_long_after_it_was_sent() -> None:
    table = """
        0..?  b  write 2
        1..2  a  write 1
        3..4  a  read 1
        5..6  c  read 2
    """
    assert search(history(table), REGISTER).verdict is Verdict.LINEARIZABLE


def test_an_unknown_write_takes_effect_only_once() -> None:
    table = """
        0..?  b  write 2
        1..2  c  read 2
        3..4  a  write 1
        5..6  c  read 2
    """
    outcome = search(history(table), REGISTER)
    assert outcome.verdict is Verdict.NOT_LINEARIZABLE
    assert outcome.first_unplaceable == 3


def test_an_unknown_write_cannot_be_seen_before_it_was_sent() -> None:
    table = """
        0..1  a  read 2
        2..?  b  write 2
    """
    assert search(history(table), REGISTER).verdict is Verdict.NOT_LINEARIZABLE


def test_the_first_operation_without_a_place_is_named_and_not_a_later_one() -> None:
    table = """
        0..1  a  write 0
        2..4  b  read 3
        3..5  c  write 4
        6..7  d  read 4
    """
    outcome = search(history(table), REGISTER)
    assert outcome.first_unplaceable == 1
    assert set(outcome.states_there) == {0, 4}


def test_a_spent_budget_is_no_verdict() -> None:
    table = """
        0..9  a  write 1
        0..9  b  write 2
        0..9  c  write 3
        10..11 d read 1
        12..13 d read 2
    """
    outcome = search(history(table), REGISTER, budget_states=2)
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.first_unplaceable is None
    assert outcome.states_there == ()
    assert "budget of 2 configurations is spent" in outcome.explanation


def test_a_long_history_of_few_clients_costs_less_than_one_configuration_per_operation() -> None:
    outcome = search(recorded_register(5_000, clients=5), model_named("register", initial=0))
    assert outcome.verdict is Verdict.LINEARIZABLE
    assert outcome.explored < 5_000


def test_lost_replies_cost_little_however_many() -> None:
    operations = recorded_register(5_000, clients=5, lost=0.1)
    assert sum(operation.unknown for operation in operations) > 400
    outcome = search(operations, model_named("register", initial=0))
    assert outcome.verdict is Verdict.LINEARIZABLE
    assert outcome.explored < 10_000


def test_twenty_clients_on_one_register_are_within_reach() -> None:
    outcome = search(recorded_register(1_000, clients=20), model_named("register", initial=0))
    assert outcome.verdict is Verdict.LINEARIZABLE
    assert outcome.explored < 5_000


def test_ten_clients_that_append_to_one_key_are_within_reach() -> None:
    outcome = search(recorded_appends(500, clients=10), model_named("kv"))
    assert outcome.verdict is Verdict.LINEARIZABLE
    assert outcome.explored < 10_000


@pytest.mark.parametrize(("appends", "states"), [(4, 24), (8, 0)])
def test_a_violation_after_many_appends_is_shown_with_few_of_the_states_they_leave(
    appends: int, states: int
) -> None:
    crowd = "\n".join(f"0..9 {name} append '{name}'" for name in "abcdefgh"[:appends])
    outcome = search(history(f"{crowd}\n10..11 i get 'z'"), model_named("kv"))
    assert outcome.verdict is Verdict.NOT_LINEARIZABLE
    assert outcome.first_unplaceable == appends
    assert len(outcome.states_there) == states
    assert outcome.explored < 6_000
    assert ("not all were looked at" in outcome.explanation) is (states == 0)
    assert outcome.explanation.count("the key holds") == 6


def test_a_bad_read_late_in_a_long_history_is_found() -> None:
    operations, late = with_bad_read(recorded_register(2_000, clients=5), 99)
    outcome = search(operations, model_named("register", initial=0))
    assert outcome.verdict is Verdict.NOT_LINEARIZABLE
    assert outcome.first_unplaceable == late
    assert outcome.explored < 20_000
