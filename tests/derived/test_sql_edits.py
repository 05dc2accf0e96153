"""The ways to make a SQL function wrong, each shown on a function as small as can be."""

from __future__ import annotations

import psycopg
import pytest

from conformance.derived.sql import derive
from conformance.derived.sql_edits import edits
from conformance.derived.sql_tokens import meaning, tokens
from harness.processes.database import Database
from reference_impl.control_plane.migrations import edited
from reference_impl.decisions import SqlMutant, decisions

HEADER = "CREATE OR REPLACE FUNCTION f(p_old bigint, p_new bigint)\nRETURNS text LANGUAGE "


def of(body: str, language: str = "sql IMMUTABLE") -> set[str]:
    """Every edit of a body, as the operator and the body that comes of it."""
    passage = f"{HEADER}{language} AS $$ {body} $$;"
    begin, end = passage.index("$$") + 2, passage.rindex("$$")
    found = set()
    for one in edits(passage):
        made = passage[: one.start] + one.new + passage[one.end :]
        inside = made[begin : len(made) - (len(passage) - end)]
        found.add(f"{one.operator}: {' '.join(inside.split())}")
    return found


@pytest.mark.parametrize(
    ("body", "some"),
    [
        ("SELECT a < b", {"shifted: SELECT a <= b", "negated: SELECT a >= b"}),
        ("SELECT a <> b", {"negated: SELECT a = b", "shifted: SELECT a > b"}),
        ("SELECT a IS NULL", {"negated: SELECT a IS NOT NULL"}),
        ("SELECT a IS NOT NULL", {"negated: SELECT a IS NULL"}),
        (
            "SELECT coalesce(a, -1)",
            {"plus-one: SELECT coalesce(a, 0)", "dropped: SELECT coalesce(a)"},
        ),
        ("SELECT a - 1", {"minus-one: SELECT a - 0", "swapped: SELECT a + 1"}),
        ("SELECT greatest(a, b)", {"swapped: SELECT LEAST(a, b)", "dropped: SELECT greatest( b)"}),
        (
            "SELECT FROM t WHERE a = p_old AND b = 2 FOR UPDATE",
            {
                "dropped: SELECT FROM t WHERE b = 2 FOR UPDATE",
                "dropped: SELECT FROM t WHERE a = p_old FOR UPDATE",
                "swapped: SELECT FROM t WHERE a = p_old OR b = 2 FOR UPDATE",
                "unlocked: SELECT FROM t WHERE a = p_old AND b = 2",
                "weaker: SELECT FROM t WHERE a = p_old AND b = 2 FOR SHARE",
                "mixed-up: SELECT FROM t WHERE a = p_new AND b = 2 FOR UPDATE",
            },
        ),
        ("SELECT a FROM t WHERE b = c", {"dropped: SELECT a FROM t"}),
        ("SELECT a FROM t ORDER BY a", {"reversed: SELECT a FROM t ORDER BY a DESC"}),
        (
            "SELECT CASE WHEN a THEN 'NONE' END",
            {
                "always: SELECT CASE WHEN true THEN 'NONE' END",
                "negated: SELECT CASE WHEN NOT (a) THEN 'NONE' END",
                "neighbour: SELECT CASE WHEN a THEN 'FENCED_LEADER_EPOCH' END",
            },
        ),
        (
            "SELECT first_refusal(f(a), g(b, c))",
            {"swapped: SELECT first_refusal(g(b, c), f(a))", "dropped: SELECT first_refusal(f(a))"},
        ),
        ("UPDATE t SET a = 1, b = 2 RETURNING *", {"dropped: UPDATE t SET b = 2 RETURNING *"}),
        ("DELETE FROM t; INSERT INTO t SELECT 1;", {"skipped: INSERT INTO t SELECT 1;"}),
    ],
)
def test_an_operator_is_applied_wherever_it_can_be(body: str, some: set[str]) -> None:
    assert some <= of(body)


def test_statements_are_skipped_and_an_end_comes_early() -> None:
    found = of(
        "DECLARE a t := f(1); BEGIN IF b THEN PERFORM g(a); END IF; RETURN a; END", "plpgsql"
    )
    assert {
        "skipped: DECLARE a t ; BEGIN IF b THEN PERFORM g(a); END IF; RETURN a; END",
        "skipped: DECLARE a t := f(1); BEGIN IF b THEN NULL; END IF; RETURN a; END",
        "early: DECLARE a t := f(1); BEGIN RETURN a; IF b THEN PERFORM g(a); END IF; RETURN a; END",
        "never: DECLARE a t := f(1); BEGIN IF false THEN PERFORM g(a); END IF; RETURN a; END",
    } <= found


def test_what_is_assigned_is_not_compared() -> None:
    assert not {one for one in of("UPDATE t SET a = b") if one.startswith("negated")}


def test_comments_and_strings_are_left_alone() -> None:
    assert of("SELECT 'a < 1' -- b < 2\n /* c < 3 */") == set()
    assert [one.text for one in tokens("a->>'x''y' <= -1 -- no\n")] == [
        "a",
        "->>",
        "'x''y'",
        "<=",
        "-",
        "1",
    ]
    assert meaning("SELECT  a -- b") == meaning("select A")


def test_a_mutant_is_the_occurrence_that_was_edited() -> None:
    passage = edited(SqlMutant(name="m", decision="sql:lock_log", old=" = ", new=" <> ", nth=2))
    assert "topic_id = p_topic_id AND partition <> p_partition" in passage


def test_postgresql_creates_every_one_of_them() -> None:
    functions = [
        mutant
        for one in decisions().values()
        if one.kind == "sql" and not one.name.startswith("sql:migration")
        for mutant in derive(one)
    ]
    assert len({one.name for one in functions}) == len(functions)
    database = Database(schema_upto=None, mutants=())
    try:
        with psycopg.connect(database.dsn) as connection:
            for mutant in functions:
                with connection.transaction(force_rollback=True):
                    connection.execute(edited(mutant).encode())
    finally:
        database.close()
