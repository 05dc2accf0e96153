from __future__ import annotations

import pytest
from text_histories import history

from spark_checkers.linearizability import (
    MODELS,
    UnknownModel,
    UnusableHistory,
    Verdict,
    model_named,
    search,
)

GOOD, BAD = Verdict.LINEARIZABLE, Verdict.NOT_LINEARIZABLE


def verdict(table: str, model: str, *, initial: object = None) -> Verdict:
    return search(history(table), model_named(model, initial=initial)).verdict


def test_a_register_must_not_go_back_to_a_value_that_was_overwritten() -> None:
    stale = """
        0..1  a  write 1
        2..3  a  write 2
        4..5  b  read 1
    """
    while_writing = """
        0..1  a  write 1
        2..5  a  write 2
        4..5  b  read 1
    """
    assert verdict(stale, "register") is BAD
    assert verdict(while_writing, "register") is GOOD


def test_two_readers_must_not_see_two_writes_in_opposite_orders() -> None:
    opposite = """
        0..9  a  write 1
        0..9  b  write 2
        1..2  c  read 1
        3..4  c  read 2
        5..6  d  read 1
    """
    same = """
        0..9  a  write 1
        0..9  b  write 2
        1..2  c  read 1
        3..4  c  read 2
        5..6  d  read 2
    """
    assert verdict(opposite, "register") is BAD
    assert verdict(same, "register") is GOOD


def test_a_register_starts_with_its_initial_value() -> None:
    assert verdict("0..1 a read 7", "register", initial=7) is GOOD
    assert verdict("0..1 a read 7", "register", initial=8) is BAD
    assert verdict("0..1 a read nil", "register") is GOOD


def test_a_read_of_nil_is_a_value_only_where_the_register_starts_with_nil() -> None:
    table = """
        0..1  a  write 1
        2..3  b  read nil
    """
    assert verdict(table, "register") is BAD
    assert verdict(table, "register", initial=0) is GOOD


def test_of_two_swaps_from_the_same_value_only_one_can_succeed() -> None:
    both = """
        0..1  a  write 1
        2..5  b  cas 1 2
        2..5  c  cas 1 3
    """
    one_after_the_other = """
        0..1  a  write 1
        2..5  b  cas 1 2
        2..5  c  cas 2 3
    """
    assert verdict(both, "cas-register") is BAD
    assert verdict(one_after_the_other, "cas-register") is GOOD


def test_a_swap_of_unknown_outcome_may_be_the_one_that_made_the_next_possible() -> None:
    possible = """
        0..1  a  write 1
        2..?  b  cas 1 2
        4..5  c  cas 2 3
    """
    impossible = """
        0..1  a  write 1
        6..?  b  cas 1 2
        4..5  c  cas 2 3
    """
    assert verdict(possible, "cas-register") is GOOD
    assert verdict(impossible, "cas-register") is BAD


def test_a_key_keeps_its_appends_in_one_order() -> None:
    lost = """
        0..9  a  append 'x'
        0..9  b  append 'y'
        10..11 c get 'x'
    """
    kept = """
        0..9  a  append 'x'
        0..9  b  append 'y'
        10..11 c get 'yx'
    """
    assert verdict(lost, "kv") is BAD
    assert verdict(kept, "kv") is GOOD


def test_a_put_replaces_what_was_appended() -> None:
    kept = """
        0..1  a  append 'x'
        2..3  b  put 'y'
        4..5  c  get 'xy'
    """
    replaced = """
        0..1  a  append 'x'
        2..3  b  put 'y'
        4..5  c  get 'y'
    """
    assert verdict(kept, "kv") is BAD
    assert verdict(replaced, "kv") is GOOD


def test_what_a_put_will_replace_still_matters_to_whoever_reads_before_it() -> None:
    table = """
        5..9    a  put 'a'
        6..15   b  append 'a'
        7..7    c  append 'b'
        15..30  d  put 'b'
        16..31  e  get 'b'
        16..30  f  get 'aba'
    """
    assert verdict(table, "kv") is GOOD


def test_a_lock_is_not_acquired_twice_without_a_release() -> None:
    twice = """
        0..1  a  acquire
        2..3  b  acquire
        4..5  a  release
    """
    released_meanwhile = """
        0..1  a  acquire
        2..5  b  acquire
        4..5  a  release
    """
    assert verdict(twice, "mutex") is BAD
    assert verdict(released_meanwhile, "mutex") is GOOD


def test_a_release_of_unknown_outcome_may_free_the_lock() -> None:
    table = """
        0..1  a  acquire
        2..?  a  release
        8..9  b  acquire
    """
    assert verdict(table, "mutex") is GOOD


def test_every_model_is_found_by_its_name() -> None:
    assert [model_named(name).name for name in MODELS] == list(MODELS)


def test_a_misspelt_model_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UnknownModel, match="Did you mean cas-register"):
        model_named("cas_register")


def test_a_lock_has_no_initial_value() -> None:
    with pytest.raises(UnknownModel, match="mutex has no initial value"):
        model_named("mutex", initial=1)


def test_a_swap_without_a_pair_is_refused_by_name() -> None:
    with pytest.raises(UnusableHistory, match="operation 0: cas needs a pair"):
        verdict("0..1 a cas 1", "cas-register")


def test_an_operation_cannot_end_before_it_began() -> None:
    with pytest.raises(UnusableHistory, match="operation 0 ended at 1, before it began at 4"):
        history("4..1 a read 1")
