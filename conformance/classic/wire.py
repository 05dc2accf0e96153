"""What of the recorded sequences stands in the plan of a run: a part for each family."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.catalogue.kafka.sequences import FAMILIES
from conformance.classic.campaign import CLASSIC
from harness.history.plan import Part

WIRE = "wire"


def part_name(family: str) -> str:
    """What the plan calls a family of sequences."""
    return f"{WIRE}/{family}"


def planned_parts() -> tuple[Part, ...]:
    """A part for each family."""
    return tuple(
        Part(name=part_name(family), profile=CLASSIC, rules=(told[0],))
        for family, told in FAMILIES.items()
    )


def families_of(rules: Iterable[str] | None = None) -> tuple[str, ...]:
    """The families that these rules are about; all of them unless told."""
    return tuple(name for name, told in FAMILIES.items() if rules is None or told[0] in rules)
