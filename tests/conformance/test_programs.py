"""The programs that show mutants of the cluster: complete, and playable in both worlds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.mutants import CLUSTER, ONLY_SIMULATED
from conformance.profiles import built_in_mutants
from conformance.programs import FOLDER, record_programs, recorded_programs
from conformance.proofs import recorded_statuses
from conformance.trials.judging import RULES, engine
from harness.errors import UsageError
from harness.rules import Status, Verdict
from harness.steps.step import Step, read_step, read_steps, step_line
from harness.workloads.partition_phases import PhaseSteps
from harness.workloads.partition_steps import PartitionSteps
from harness.workloads.topic_steps import AdminSteps, SettleSteps
from harness.workloads.transaction_steps import TransactionSteps
from nemesis.steps import NemesisSteps
from spark_checkers.judge_history import judge_run

PROGRAMS = recorded_programs()
MUTANTS = {one.name: one for part in CLUSTER for one in part.MUTANTS}
SHORT = "checksums-are-not-checked"
REFERENCE = f"conformance.mutants.admission:{SHORT}"


def failed(
    folder: Path, programs: Sequence[Sequence[Step]], *mutants: str, world: str = "sim"
) -> set[str]:
    runs = record_programs(folder, programs, world=world, mutants=mutants)
    judged = [one for run in runs for one in judge_run(run, RULES, engine(), reference=True).judged]
    assert not [one for one in judged if one.verdict is Verdict.BROKEN]
    return {one.rule.id for one in judged if one.verdict is Verdict.FAIL}


def test_every_mutant_of_the_cluster_has_a_program() -> None:
    assert set(MUTANTS) == set(PROGRAMS)


def test_every_mutant_with_a_program_names_the_rules_that_see_it() -> None:
    assert [name for name in PROGRAMS if not MUTANTS[name].rules] == []


def test_every_rule_that_the_profile_classic_plays_is_proven() -> None:
    statuses = recorded_statuses()
    played = CATALOGUE.of_profiles(("classic",)).played()
    wanted = {one.id: Status.UNPROVEN if one.unproven else Status.PROVEN for one in played}
    assert {rule: statuses[rule] for rule in wanted} == wanted
    # Anomalies of Jepsen's checker are proven on planted histories, one by one.
    assert sum(one.unproven != "" for one in played if not one.anomaly) <= 3


def test_programs_have_verbs_of_clients_the_lab_and_the_nemesis_alone() -> None:
    of_topics = {**AdminSteps.verbs, **SettleSteps.verbs, **TransactionSteps.verbs}
    known = {**PartitionSteps.verbs, **PhaseSteps.verbs, **NemesisSteps.verbs, **of_topics}
    assert {step.verb for program in PROGRAMS.values() for step in program} <= set(known)


def test_processes_are_spared_what_only_the_simulation_shows() -> None:
    names = {mutant.name for mutant in built_in_mutants("process").values()}
    assert names & set(PROGRAMS) == set(PROGRAMS) - set(ONLY_SIMULATED)


def test_the_files_of_programs_are_written_as_they_are_read() -> None:
    for name, program in PROGRAMS.items():
        text = "".join(f"{step_line(step)}\n" for step in program)
        assert (FOLDER / f"{name}.steps").read_text("utf-8") == text


@pytest.mark.sim
def test_what_no_client_appends_and_no_client_can_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'gold'; there are plain"):
        record_programs(tmp_path / "gold", [[read_step("a append what=gold ask=broker-1")]])
    with pytest.raises(UsageError, match=r"nothing here can 'a melt'"):
        record_programs(tmp_path / "melt", [[read_step("a melt")]])


@pytest.mark.sim
def test_a_program_shows_its_mutant_and_nothing_without_it(tmp_path: Path) -> None:
    assert failed(tmp_path / "sound", [PROGRAMS[SHORT]]) == set()
    assert failed(tmp_path / "mutant", [PROGRAMS[SHORT]], REFERENCE) >= set(MUTANTS[SHORT].rules)


@pytest.mark.process
def test_a_program_shows_its_mutant_on_processes_and_nothing_without_it(tmp_path: Path) -> None:
    cut = read_steps("nemesis cut target='leader of t-0 <-> broker-2'\nlab wait ms=100")
    programs = [PROGRAMS[SHORT], [*PROGRAMS[SHORT], *cut]]
    assert failed(tmp_path / "sound", programs, world="process") == set()
    shown = failed(tmp_path / "mutant", programs[:1], REFERENCE, world="process")
    assert shown >= set(MUTANTS[SHORT].rules)
