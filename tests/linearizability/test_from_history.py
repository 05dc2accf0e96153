from __future__ import annotations

from ast import literal_eval
from typing import Any

import pytest

from spark_checkers.linearizability import (
    Operation,
    UnusableHistory,
    Verdict,
    Walking,
    model_named,
    operations_by_key,
    search,
)
from spark_checkers.linearizability.operation import frozen

CAS = model_named("cas-register")
KV = model_named("kv")
Event = dict[str, Any]


def events(table: str) -> list[Event]:
    """Lines of: process, type, f, and the value or nothing."""
    found = []
    for index, line in enumerate(table.strip().splitlines()):
        process, kind, f, *value = line.split(maxsplit=3)
        number: Any = int(process) if process.isdigit() else process
        event = {"kind": "op", "index": index, "process": number, "type": kind, "f": f}
        found.append({**event, "value": literal_eval(value[0]) if value else None})
    return found


def on_register(table: str) -> list[Operation]:
    return operations_by_key(events(table), CAS).get(None, [])


def test_an_invoke_and_its_completion_are_one_operation() -> None:
    first, second = on_register("""
        0 invoke write 3
        1 invoke read
        0 ok write 3
        1 ok read 3
    """)
    assert (first.op, first.f, first.arguments, first.began, first.ended) == (0, "write", 3, 0, 2)
    assert (second.op, second.f, second.result, second.began, second.ended) == (1, "read", 3, 1, 3)


def test_what_failed_did_not_happen() -> None:
    assert on_register("0 invoke cas [1, 2]\n 0 fail cas [1, 2]") == []


def test_what_timed_out_or_never_came_back_is_unknown() -> None:
    told, untold = on_register("""
        0 invoke cas [1, 2]
        1 invoke write 5
        0 info cas [1, 2]
    """)
    assert (told.arguments, told.ended) == ((1, 2), None)
    assert (untold.arguments, untold.ended) == (5, None)


def test_a_process_that_begins_anew_leaves_its_last_operation_unknown() -> None:
    first, second = on_register("""
        0 invoke write 1
        0 invoke write 2
        0 ok write 2
    """)
    assert (first.arguments, first.unknown) == (1, True)
    assert (second.arguments, second.unknown) == (2, False)


def test_what_the_nemesis_notes_down_is_no_operation() -> None:
    (write,) = on_register("""
        nemesis info start 'partition'
        0 invoke write 1
        nemesis info start 'cut off'
        0 ok write 1
    """)
    assert write.arguments == 1


def test_lines_of_other_kinds_are_passed_over() -> None:
    lines = [{"kind": "header"}, *events("0 invoke write 1\n 0 ok write 1"), {"kind": "fault"}]
    assert len(operations_by_key(lines, CAS)[None]) == 1


def test_each_key_has_its_own_operations() -> None:
    lines = events("""
        0 invoke append 'x'
        1 invoke get
        0 ok append 'x'
        1 ok get
    """)
    for line in lines:
        line["key"] = "a" if line["process"] == 0 else "b"
    found = operations_by_key(lines, KV)
    assert [o.arguments for o in found["a"]] == ["x"]
    assert [o.result for o in found["b"]] == [""]


LOOK_ALIKES = [
    (True, 1),
    (False, 0),
    (1, 1.0),
    (True, "true"),
    (1.0, "1.0"),
    ({"a": 1}, [["a", 1]]),
    ({"a": 1}, {"a": True}),
    ([1, [0]], [1, [False]]),
]


@pytest.mark.parametrize("walking", [Walking.PYTHON, Walking.COMPILED])
@pytest.mark.parametrize(("one", "other"), LOOK_ALIKES)
def test_a_value_is_not_taken_for_one_that_looks_like_it(
    one: object, other: object, walking: Walking
) -> None:
    def verdict(f: str, written: object, asked: object, told: object) -> Verdict:
        lines = events(f"0 invoke write\n 0 ok write\n 0 invoke {f}\n 0 ok {f}")
        for line, value in zip(lines, (written, written, asked, told), strict=True):
            line["value"] = value
        return search(operations_by_key(lines, CAS)[None], CAS, walking=walking).verdict

    for written, seen in ((one, other), (other, one)):
        assert verdict("read", written, None, seen) is Verdict.NOT_LINEARIZABLE
        assert verdict("read", written, None, written) is Verdict.LINEARIZABLE
        assert verdict("cas", written, [seen, 7], [seen, 7]) is Verdict.NOT_LINEARIZABLE
        assert verdict("cas", written, [written, 7], [written, 7]) is Verdict.LINEARIZABLE


@pytest.mark.parametrize(
    ("one", "other"),
    [({"a": 1, "b": [2]}, {"b": (2,), "a": 1}), (0.0, -0.0), (float("nan"), float("nan"))],
)
def test_a_value_written_differently_is_the_same_value(one: object, other: object) -> None:
    assert frozen(one) == frozen(other)
    assert hash(frozen(one)) == hash(frozen(other))


def test_a_register_that_starts_with_true_does_not_start_with_one() -> None:
    (read,) = on_register("0 invoke read\n 0 ok read True")
    starts_true, starts_one = (model_named("register", initial=value) for value in (True, 1))
    assert search([read], starts_true).verdict is Verdict.LINEARIZABLE
    assert search([read], starts_one).verdict is Verdict.NOT_LINEARIZABLE
    assert "the register holds 1: it would return 1" in search([read], starts_one).explanation
    assert "read true" in search([read], starts_one).explanation


def test_a_client_that_does_what_the_model_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(UnusableHistory, match="event 0: process 0 does 'txn', which the model cas"):
        on_register("0 invoke txn 1")


def test_an_answer_to_nothing_is_refused_by_name() -> None:
    with pytest.raises(UnusableHistory, match="event 0: process 0 completes a read that it never"):
        on_register("0 ok read 1")
