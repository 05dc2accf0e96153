"""Each operator on a small function: what becomes of it."""

from __future__ import annotations

import ast
from enum import Enum
from inspect import getsource
from textwrap import dedent

import pytest

from conformance.derived.edits import edits


class Colour(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


LIMIT = 5


def of_any_number(*values: int) -> int:
    return sum(values)


def made(source: str) -> dict[str, set[str]]:
    """By operator, the bodies that come of a function in one line each."""
    (tree,) = ast.parse(dedent(source)).body
    assert isinstance(tree, ast.FunctionDef)
    found: dict[str, set[str]] = {}
    for edit in edits(tree, globals()):
        text = " ; ".join(ast.unparse(edit.tree).split("\n")[1:])
        found.setdefault(edit.operator, set()).add(" ".join(text.split()))
    return found


CASES = {
    "def f(a: int, b: int): return a < b": {
        "shifted": {"return a <= b"},
        "negated": {"return a >= b"},
    },
    "def f(a, b): return a == b": {"negated": {"return a != b"}},
    "def f(a, b): return a in b": {"negated": {"return a not in b"}},
    "def f(a): return 0 <= a <= LIMIT": {
        "shifted": {"return 0 < a <= LIMIT", "return 0 <= a < LIMIT"},
        "negated": {"return 0 > a <= LIMIT", "return 0 <= a > LIMIT"},
        "dropped": {"return a <= LIMIT", "return 0 <= a"},
        "plus-one": {"return 1 <= a <= LIMIT", "return 0 <= a <= LIMIT + 1"},
        "minus-one": {"return -1 <= a <= LIMIT", "return 0 <= a <= LIMIT - 1"},
    },
    "def f(a, b, c): return a and b and c": {
        "dropped": {"return b and c", "return a and c", "return a and b"},
        "swapped": {"return a or b or c"},
    },
    "def f(a): return not a": {"negated": {"return a"}},
    "def f(a): return -1": {"plus-one": {"return 0"}, "minus-one": {"return -2"}},
    "def f(a): return True": {"flipped": {"return False"}},
    "def f(a, b): return a if b else 0": {
        "always": {"return a if True else 0"},
        "never": {"return a if False else 0"},
        "plus-one": {"return a if b else 1"},
        "minus-one": {"return a if b else -1"},
    },
    "def f(a): return Colour.BLUE": {"neighbour": {"return Colour.RED"}},
    "def f(a, b): return max(a, b)": {
        "swapped": {"return min(a, b)"},
        "dropped": {"return b", "return a"},
    },
    "def f(a, b): return of_any_number(a, b)": {
        "dropped": {"return of_any_number(b)", "return of_any_number(a)"},
        "swapped": {"return of_any_number(b, a)"},
    },
    "def f(a): return [one for one in a if one]": {
        "dropped": {"return [one for one in a]"},
        "negated": {"return [one for one in a if not one]"},
    },
    "def f(a): return a[0]": {"last": {"return a[-1]"}},
    "def f(a): return a[-1]": {"first": {"return a[0]"}},
    "def f(a): return list(reversed(a))": {"forwards": {"return list(a)"}},
    "def f(a, b): return a + b": {"swapped": {"return a - b"}},
    "def f(a): return (*a, 'x')": {"dropped": {"return ('x',)", "return (*a,)"}},
    "def f(): return ('seed', 'persist')": {
        "skipped": {"return ('persist',)", "return ('seed',)"},
        "repeated": {"return ('seed', 'seed', 'persist')", "return ('seed', 'persist', 'persist')"},
        "swapped": {"return ('persist', 'seed')"},
    },
    "def f(a, b) -> bool: return a": {"answers": {"return True", "return False"}},
    "def f(a: int, b: str) -> int: return a + len(b)": {
        "answers": {"return a"},
        "swapped": {"return a - len(b)"},
    },
    "def f(a) -> int | None: return a": {"answers": {"return None"}},
    "def f(a) -> tuple[int, ...]: return a": {"answers": {"return ()"}},
}


def test_a_case_of_a_match_is_left_out_and_one_of_its_alternatives() -> None:
    found = made(
        """
        def f(a):
            match a:
                case Colour.RED | Colour.BLUE: return a
                case _: return None
        """
    )
    assert found["dropped"] == {
        "match a: ; case _: ; return None",
        "match a: ; case Colour.RED | Colour.BLUE: ; return a",
        "match a: ; case Colour.BLUE: ; return a ; case _: ; return None",
        "match a: ; case Colour.RED: ; return a ; case _: ; return None",
    }


@pytest.mark.parametrize("source", CASES)
def test_an_operator_changes_one_thing(source: str) -> None:
    assert made(source) == CASES[source]


def test_a_statement_is_skipped_where_the_name_stays_bound() -> None:
    found = made(
        """
        def f(a):
            kept = 0
            kept = a
            kept += 1
            return kept
        """
    )
    assert "pass ; kept = a ; kept += 1 ; return kept" in found["skipped"]
    assert "kept = 0 ; kept = a ; pass ; return kept" in found["skipped"]


def test_types_are_no_part_of_what_is_changed() -> None:
    (tree,) = ast.parse(dedent(getsource(of_any_number))).body
    assert isinstance(tree, ast.FunctionDef)
    assert all("int" in ast.unparse(edit.tree).split("\n")[0] for edit in edits(tree, globals()))
