"""The programs that show mutants of the cluster: complete, and playable in both worlds."""

from __future__ import annotations

import json

import pytest

from conformance.catalogue import CATALOGUE
from conformance.classic.programs import FILE, MUTANTS, recorded_programs, verdicts_of, written
from conformance.classic.programs_in_processes import Played, verdicts_in_processes
from conformance.machines.scripted import KINDS, Appends, ScriptedMachine
from conformance.mutants import ONLY_SIMULATED
from conformance.profiles import built_in_mutants
from conformance.proofs import recorded_statuses
from harness.rules import Judged, Status, Verdict
from harness.steps.program import Step

PROGRAMS = recorded_programs()
SHORT = "checksums-are-not-checked"


def failed(judged: list[Judged]) -> set[str]:
    return {one.rule.id for one in judged if one.verdict is Verdict.FAIL}


def test_every_mutant_of_the_cluster_has_a_program() -> None:
    assert set(MUTANTS) == set(PROGRAMS)


def test_every_mutant_with_a_program_names_the_rules_that_see_it() -> None:
    assert [name for name in PROGRAMS if not MUTANTS[name].rules] == []


def test_every_rule_that_the_profile_classic_plays_is_proven() -> None:
    statuses = recorded_statuses()
    played = [rule.id for rule in CATALOGUE.of_profiles(("classic",)).played()]
    assert {rule: statuses[rule] for rule in played} == dict.fromkeys(played, Status.PROVEN)


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - set(ONLY_SIMULATED)))
def test_a_program_uses_steps_that_both_worlds_know(name: str) -> None:
    used = {step.name for step in PROGRAMS[name]}
    assert {one for one in used if not hasattr(ScriptedMachine, one)} == set()
    assert {one for one in used if not hasattr(Played, one)} == set()


def test_processes_are_spared_what_only_the_simulation_shows() -> None:
    names = {mutant.name for mutant in built_in_mutants("process").values()}
    assert names & set(PROGRAMS) == set(PROGRAMS) - set(ONLY_SIMULATED)


def test_the_file_of_programs_is_written_as_it_is_read() -> None:
    text = FILE.read_text("utf-8")
    assert written(json.loads(text)) == text


def test_nobody_appends_what_has_no_name() -> None:
    with pytest.raises(ValueError, match=r"'gold'; there are plain"):
        Appends(None, 1).make("gold")  # type: ignore[arg-type, unused-coroutine]
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.sim
def test_a_program_shows_its_mutant_and_nothing_without_it() -> None:
    program = PROGRAMS[SHORT]
    assert failed([*verdicts_of(program)]) == set()
    assert failed([*verdicts_of(program, MUTANTS[SHORT])]) >= set(MUTANTS[SHORT].rules)


@pytest.mark.process
def test_a_program_shows_its_mutant_on_processes_and_nothing_without_it() -> None:
    cut = Step(
        "cut", {"here": "broker-1", "there": "broker-2", "both": True, "lasts": None, "ms": 0}, {}
    )
    programs = [PROGRAMS[SHORT], [*PROGRAMS[SHORT], cut, Step("wait", {"ms": 100}, {})]]
    assert failed([*verdicts_in_processes(programs)]) == set()
    mutant = f"conformance.mutants.admission:{SHORT}"
    assert failed([*verdicts_in_processes(programs[:1], (mutant,))]) >= set(MUTANTS[SHORT].rules)
