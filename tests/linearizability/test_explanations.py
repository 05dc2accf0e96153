from __future__ import annotations

from text_histories import history

from spark_checkers.linearizability import model_named, search

STALE_READ = """
    0..1    a  write 1
    2..3    a  write 2
    4..5    b  read 2
    6..7    b  read 2
    8..9    b  read 2
    10..11  b  read 2
    12..19  c  write 3
    12..19  d  write 4
    13..?   e  write 5
    14..15  b  read 1
    16..17  b  read 1
"""

STALE_READ_EXPLAINED = """\
operation 9 has no place in any legal order of the 11 operations:
  operation 9, process b, from 14 to 15: read 1
wherever it could stand,
  the register holds 2: it would return 2
  the register holds 3: it would return 3
  the register holds 4: it would return 4
  the register holds 5: it would return 5
a legal order up to there ends with:
  (3 earlier)
  operation 3, process b, from 6 to 7: read 2
  operation 4, process b, from 8 to 9: read 2
  operation 5, process b, from 10 to 11: read 2
  operation 7, process d, from 12 to 19: write 4
  operation 6, process c, from 12 to 19: write 3
also open at that time:
  operation 8, process e, from 13 outcome unknown: write 5"""


def test_a_stale_read_is_explained_by_what_the_register_holds_wherever_it_could_stand() -> None:
    outcome = search(history(STALE_READ), model_named("register"))
    assert outcome.explanation == STALE_READ_EXPLAINED


def test_a_refused_acquisition_is_explained_by_the_lock() -> None:
    outcome = search(history("0..1 a acquire\n 2..3 b acquire"), model_named("mutex"))
    assert "  the lock is held: it would have to wait" in outcome.explanation.splitlines()


def test_an_operation_that_can_have_nothing_before_it_says_so() -> None:
    outcome = search(history("0..1 a read 1"), model_named("register"))
    assert outcome.explanation.endswith("nothing can stand before it.")


def test_long_lists_of_states_are_cut_short() -> None:
    writers = "\n".join(f"0..9 w{n} write {n}" for n in range(20))
    outcome = search(history(f"{writers}\n 1..2 r read 99"), model_named("register"))
    assert "  or one of 15 more states" in outcome.explanation.splitlines()


def test_a_legal_history_is_said_to_have_an_order() -> None:
    outcome = search(history("0..1 a write 1\n 2..3 a read 1"), model_named("register"))
    assert outcome.explanation == "2 operations have a legal order."
