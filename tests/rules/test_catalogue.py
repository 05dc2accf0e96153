"""The catalogue is fit for use, and the lint notices when a rule is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.profiles import built_in_mutants
from conformance.proofs import LINE_MAP
from conformance.scenarios import SCENARIOS
from harness.rules import Catalogue, CatalogueError, Rule
from harness.rules.linemap import LineMapError, check_documents, compact, expand, load_line_map
from harness.rules.lint import lint
from reference_impl.decisions import decisions

GOOD = CATALOGUE["MIG-001"]
KAFKA = CATALOGUE["KFK-030"]
DESIGNS = Path(__file__).resolve().parents[3] / "shared" / "design"


def problems_of(*rules: Rule) -> list[str]:
    catalogue = Catalogue(rules)
    covered = {rule.id: ["a scenario"] for rule in rules}
    mutants = [m for m in built_in_mutants("sim").values() if m.name == "zero-counts-as-unset"]
    known = [replace(m, rules=tuple(rule.id for rule in rules)) for m in mutants]
    return lint(catalogue, mutants=known, exercised_by=covered, decisions={"is-set": ()})


def test_the_catalogue_has_no_flaw() -> None:
    exercised: dict[str, list[str]] = {}
    for scenario in SCENARIOS:
        for rule in scenario.rules:
            exercised.setdefault(rule, []).append(scenario.name)
    for name in ("classic", "tiered"):
        for played in CATALOGUE.of_profiles((name,)).played():
            exercised.setdefault(played.id, []).append(f"the stages of {name}")

    found = lint(
        CATALOGUE,
        mutants=[*built_in_mutants("sim").values(), *built_in_mutants("process").values()],
        exercised_by=exercised,
        decisions={name: decision.rules for name, decision in decisions().items()},
    )

    assert found == []


def test_a_sound_rule_passes_the_lint() -> None:
    assert problems_of(GOOD) == []


@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        ({"id": "MIG-1"}, "not an id"),
        ({"lines": ()}, "no section or no lines"),
        ({"lines": (9, 3)}, "out of order"),
        ({"sentence": "It should be immutable."}, "'should'"),
        ({"sentence": "Immutable"}, "not one sentence"),
        ({"decisions": ("CON9",)}, "no decision"),
        ({"judge": None}, "exactly one"),
        ({"hint": ""}, "no hint"),
        ({"planned": "later"}, "exactly one"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else next(iter(value)),
)
def test_the_lint_names_the_flaw(flaw: dict[str, object], words: str) -> None:
    assert words in " ".join(problems_of(replace(GOOD, **flaw)))  # type: ignore[arg-type]


def test_what_kafka_promises_names_a_source_instead_of_lines() -> None:
    assert problems_of(KAFKA) == []
    assert "no lines" in " ".join(problems_of(replace(KAFKA, source="")))
    assert "one of both" in " ".join(problems_of(replace(GOOD, source="KIP-405")))


def test_a_rule_without_a_mutant_or_a_scenario_is_refused() -> None:
    found = lint(Catalogue([GOOD]), mutants=[], exercised_by={}, decisions={})

    assert [text.split(" but ")[1] for text in found] == [
        "no mutant that breaks it",
        "no scenario that exercises it",
    ]


def test_an_unknown_rule_is_answered_with_the_nearest() -> None:
    with pytest.raises(CatalogueError, match="Did you mean MIG-0"):
        CATALOGUE["mig-0O1"]


def test_declaring_a_rule_twice_is_refused() -> None:
    with pytest.raises(CatalogueError, match="declared twice"):
        Catalogue([GOOD, GOOD])


def test_every_line_is_a_rule_or_descriptive_or_open_and_never_two() -> None:
    for document in load_line_map(LINE_MAP, CATALOGUE).values():
        parts = [*document.rules, *document.descriptive, *document.open_lines]
        assert sorted(parts) == list(range(1, document.lines + 1))


def test_a_line_beyond_the_document_is_refused() -> None:
    with pytest.raises(LineMapError, match="does not exist"):
        load_line_map(LINE_MAP, [replace(GOOD, lines=(9999,))])


def test_a_line_cannot_carry_a_rule_and_be_descriptive() -> None:
    with pytest.raises(LineMapError, match="called descriptive"):
        load_line_map(LINE_MAP, [replace(GOOD, lines=(1,))])


def test_ranges_expand_and_compact() -> None:
    assert list(expand("2, 4-6")) == [2, 4, 5, 6]
    assert compact([6, 4, 2, 5]) == "2,4-6"


def test_the_line_map_fits_the_documents() -> None:
    if not DESIGNS.is_dir():
        pytest.skip("the design documents are not beside the project")

    assert check_documents(DESIGNS, load_line_map(LINE_MAP, CATALOGUE)) == []


def test_a_changed_document_is_noticed(tmp_path: Path) -> None:
    documents = load_line_map(LINE_MAP, CATALOGUE)
    (tmp_path / "migration.md").write_text("another text\n", encoding="utf-8")

    found = check_documents(tmp_path, {"migration": documents["migration"]})

    assert found == [
        "migration.md changed since its lines were mapped",
        "migration.md has 1 lines, not 634",
    ]
