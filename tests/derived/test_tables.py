"""Constant tables made wrong row by row, for one decision alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

import pytest

from conformance.derived import derived_mutants
from conformance.derived.python import derive
from conformance.derived.tables import table_edits, tables_of
from reference_impl.decisions import Decision


class Colour(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


AFTER: Mapping[Colour, Colour] = MappingProxyType({Colour.RED: Colour.GREEN})
WARM = frozenset({Colour.RED})
NAMES = {"a": "one", "b": "two", "c": "two"}


def goes_on(colour: Colour, warm: bool) -> Colour | None:
    return AFTER.get(colour) if not warm or colour in WARM else None


def named(key: str) -> str:
    return NAMES[key]


def changed(table: object) -> dict[str, object]:
    """Tables by what they come from."""
    return {
        f"{one.operator} {one.old} {one.new}".strip(): one.table for one in table_edits("T", table)
    }


@pytest.mark.parametrize(
    ("table", "made"),
    [
        (
            AFTER,
            {
                "row-dropped T: Colour.RED → Colour.GREEN": {},
                "row-moved T: Colour.RED → Colour.GREEN T: Colour.RED → Colour.BLUE": {
                    Colour.RED: Colour.BLUE
                },
            },
        ),
        (
            {"a": (Colour.RED, Colour.GREEN)},
            {
                "row-dropped T: 'a' → Colour.RED": {"a": (Colour.GREEN,)},
                "row-dropped T: 'a' → Colour.GREEN": {"a": (Colour.RED,)},
                "row-moved T: 'a' → Colour.GREEN T: 'a' → Colour.BLUE": {
                    "a": (Colour.RED, Colour.BLUE)
                },
            },
        ),
        (
            WARM,
            {
                "row-dropped T: Colour.RED": frozenset(),
                "row-moved T: Colour.RED T: Colour.GREEN": frozenset({Colour.GREEN}),
            },
        ),
        (("08", "40"), {"row-dropped T: '08'": ("40",), "row-dropped T: '40'": ("08",)}),
        ({-3: 7}, {"row-dropped T: -3 → 7": {}, "row-moved T: -3 → 7 T: -3 → 8": {-3: 8}}),
    ],
)
def test_a_row_is_left_out_or_moved(table: object, made: dict[str, object]) -> None:
    assert changed(table) == made


def test_a_mutant_reads_its_own_table_and_the_original_does_not() -> None:
    assert set(tables_of(goes_on)) == {"AFTER", "WARM"}
    decision = Decision(name="goes-on", function=goes_on, rules=(), kind="python")
    (lost,) = [one for one in derive(decision) if one.why.startswith("`AFTER") and "out" in one.why]
    assert lost.replace(Colour.RED, False) is None
    assert goes_on(Colour.RED, False) is Colour.GREEN


def test_a_row_that_answers_as_before_or_cannot_be_missed_is_no_mutant() -> None:
    decision = Decision(name="named", function=named, rules=(), kind="python")
    (moved,) = [one for one in derive(decision) if "/row-" in one.name]
    assert moved.replace("a") == "two"  # b and c have the same, and without a row nothing goes on


def test_every_transition_of_a_life_cycle_has_mutants() -> None:
    rows = [one for one in derived_mutants().values() if one.decision == "next-follow-state"]
    assert sum("/row-dropped" in one.name for one in rows) == 31
    assert sum("/row-moved" in one.name for one in rows) == 31
