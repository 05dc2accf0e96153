"""Operations that never completed: any number of them, and none may cost what nobody can see."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_search import CALLS, MODELS, agree, by_both_walks

from spark_checkers.linearizability import Operation, Outcome, Verdict, model_named, search

GOOD, BAD = Verdict.LINEARIZABLE, Verdict.NOT_LINEARIZABLE
VALUES: dict[str, Callable[[int], int]] = {
    "all equal": lambda _: 3,
    "all different": lambda number: number,
    "some of three": lambda number: (3, 5, 7)[number % 3],
    "read by nobody": lambda number: 100 + number,
}
HOLDS = {"register": ("write", "read"), "cas-register": ("write", "read"), "kv": ("put", "get")}


def call(op: int, f: str, value: object, began: int, ended: int | None = None) -> Operation:
    reads = f in ("read", "get")
    asked, told = (None, value) if reads else (value, None)
    return Operation(op=op, process=op, f=f, arguments=asked, result=told, began=began, ended=ended)


def then_read(lost: Sequence[Operation], f: str, values: Sequence[object]) -> list[Operation]:
    """Reads one after the other, when all the lost operations have begun."""
    start = 10 * len(lost) + 10
    reads = (call(start + n, f, v, start + 2 * n, start + 2 * n + 1) for n, v in enumerate(values))
    return [*lost, *reads]


@pytest.mark.parametrize("count", [18, 22, 70, 500])
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("model", HOLDS)
def test_writes_that_never_complete_do_not_multiply(model: str, values: str, count: int) -> None:
    writes, reads = HOLDS[model]
    lost = [call(n, writes, str(VALUES[values](n)), n) for n in range(count)]
    outcome = search(then_read(lost, reads, "353"), model_named(model))
    assert outcome.verdict is (GOOD if values == "some of three" else BAD)
    assert outcome.explored < 20


@pytest.mark.parametrize("count", [18, 500])
def test_a_value_can_be_read_again_as_often_as_it_was_written(count: int) -> None:
    lost = [call(n, "write", n // 2, n) for n in range(count)]
    twice = [value % (count // 2) for value in range(count)]
    assert search(then_read(lost, "read", twice), model_named("register")).verdict is GOOD
    thrice = search(then_read(lost, "read", [*twice, 0]), model_named("register"))
    assert thrice.verdict is BAD
    assert thrice.explored < 2 * count


@pytest.mark.parametrize("name", MODELS)
def test_many_lost_operations_are_judged_as_trying_every_order_does(name: str) -> None:
    @settings(max_examples=settings().max_examples, deadline=None)
    @given(st.integers(0, 2**32))
    def compare(seed: int) -> None:
        chance, operations = random.Random(seed), []
        lost, length = chance.choice((0.3, 0.6, 0.9)), chance.choice((2, 6, 15))
        for op in range(chance.randint(4, 9)):
            f, value = chance.choice(CALLS[name])
            unknown = f not in ("read", "get") and chance.random() < lost
            began = chance.randint(0, 12)
            ended = None if unknown else began + chance.randint(0, length)
            operations.append(call(op, f, value, began, ended))
        agree(operations, MODELS[name])

    compare()


def test_a_lost_write_of_what_is_there_already_hides_another() -> None:
    operations = [
        call(0, "cas", (1, 3), 0, 2),
        call(1, "write", 2, 2, 2),
        call(2, "write", 1, 1),
        call(3, "read", 3, 3, 7),
    ]
    assert by_both_walks(operations, MODELS["cas-register"]).verdict is GOOD


def test_lost_locks_and_unlocks_do_not_multiply() -> None:
    lost = [call(n, f, None, 0) for n, f in enumerate(("acquire", "release") * 200)]
    known = [call(1000 + n, "acquire", None, 2 * n + 1, 2 * n + 2) for n in range(202)]
    outcome = search([*lost, *known], model_named("mutex"))
    assert outcome.first_unplaceable == 1201
    assert outcome.explored < 1_000


def hard_cas() -> list[Operation]:
    """Lost compare-and-sets by one and by two: which of them were used to count up to 30?"""
    lost = [call(10 * n + by, "cas", (n, n + by), 0) for n in range(30) for by in (1, 2)]
    return then_read([*lost, call(1, "write", 0, 0)], "read", [30, 0, 30, 0, 30])


def hard_appends() -> list[Operation]:
    """Lost appends of even length: which of them make up an odd one?"""
    lost = [call(n, "append", "a" * (2 * n + 2), 0) for n in range(40)]
    return then_read(lost, "get", ["a" * length for length in (200, 500, 901)])


def spent_in_steps(outcome: Outcome) -> bool:
    return outcome.verdict is Verdict.UNKNOWN and "steps is spent" in outcome.explanation


def test_comparing_what_was_used_is_bounded_by_the_budget_too() -> None:
    outcome = by_both_walks(hard_cas(), MODELS["cas-register"], budget_states=4_000)
    assert spent_in_steps(outcome)
    assert outcome.explored < 4_000


def test_looking_ahead_is_bounded_by_the_budget_too() -> None:
    assert spent_in_steps(search(hard_appends(), model_named("kv"), budget_states=500))


@pytest.mark.parametrize(("length", "spent"), [(1, False), (50_000, True)])
def test_long_texts_are_bounded_by_the_budget_too(length: int, spent: bool) -> None:
    known = [call(n, "append", letter * length, 0, 9) for n, letter in enumerate("abcde")]
    outcome = search(then_read(known, "get", ["e" * length]), model_named("kv"), budget_states=999)
    assert outcome.verdict is BAD
    assert ("not all were looked at" in outcome.explanation) is spent


def test_open_operations_that_do_the_same_take_turns_as_they_return() -> None:
    crowd = [call(n, f, None, 0, 10_000) for n, f in enumerate(("acquire", "release") * 30)]
    known = [call(100 + n, "acquire", None, 2 * n + 1, 2 * n + 2) for n in range(32)]
    outcome = by_both_walks([*crowd, *known], MODELS["mutex"])
    assert outcome.first_unplaceable == 131
    assert outcome.explored < 200
