"""The stage `wire`: the reference answers as Apache Kafka did, and what does not is told so."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.catalogue.kafka.sequences import FAMILIES
from conformance.catalogue.kip_405 import sequences as tiered
from conformance.classic.stages import STAGES
from conformance.classic.wire import WIRE, families_of
from conformance.classic.wire_lab import record_sequences, record_wire
from conformance.mutants.wire import MUTANTS
from conformance.profiles import PROFILES
from conformance.trials.judging import engine
from harness.differential.answers import read_recordings
from harness.differential.by_address import CHANGES_THE_CLUSTER, RESTS_ON_SETTINGS, left_out
from harness.history import Run, read_history
from harness.rules import Judged, Verdict
from harness.sut import reference_sut
from reference_impl.decisions import Mutant
from spark_checkers.judge_history import judge_run

RULES = [CATALOGUE[told[0]] for told in FAMILIES.values()]
RECORDINGS = list(read_recordings())
UNSERVED = """
from reference_impl.decisions import Mutant
from reference_impl.kafka.errors import ErrorCode

def refuse(asked, current):
    return ErrorCode.fenced_leader_epoch

MUTANTS = (Mutant(name="unserved", decision="check-leader-epoch", replace=refuse),)
"""


def judged(folder: Path) -> dict[str, Judged]:
    found = judge_run(folder, RULES, engine(), reference=True)
    assert found.problems == ()
    return {one.rule.id: one for one in found.judged}


def verdicts(folder: Path) -> dict[str, Verdict]:
    return {rule: one.verdict for rule, one in judged(folder).items()}


def test_every_recording_is_of_a_family_with_a_rule() -> None:
    known = {*FAMILIES, tiered.FAMILY}
    assert {one.sequence.name.partition("/")[0] for one in RECORDINGS} == known


@pytest.mark.sim
def test_the_reference_answers_as_kafka_did(tmp_path: Path) -> None:
    found = judged(record_sequences(tmp_path, families_of(), world="sim", seed=3))

    asked = [one for one in RECORDINGS if one.sequence.name.partition("/")[0] in FAMILIES]
    compared = sum(step.compared for one in asked for step in one.sequence.steps)
    told = [(one.rule.id, one.result.findings[:1]) for one in found.values()]
    assert {one.verdict for one in found.values()} == {Verdict.PASS}, told
    assert sum(one.result.exercised for one in found.values()) == compared


@pytest.mark.process
def test_the_reference_answers_as_kafka_did_on_real_sockets_and_disks(tmp_path: Path) -> None:
    families = ("malformed", "fetch_sessions", "replicated")

    found = verdicts(record_sequences(tmp_path, families, world="process"))

    assert {rule for rule, verdict in found.items() if verdict is Verdict.PASS} == {
        FAMILIES[family][0] for family in families
    }


@pytest.mark.sim
def test_the_same_seed_gives_the_same_history(tmp_path: Path) -> None:
    one, other = (
        record_sequences(tmp_path / name, ("malformed", "replicated"), world="sim")
        for name in ("one", "other")
    )

    assert (one / "history.jsonl").read_bytes() == (other / "history.jsonl").read_bytes()


@pytest.mark.sim
def test_a_cluster_that_is_found_is_asked_what_fits_it_and_keeps_no_topic(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="x", world="sim", seed=1)
    families = ("idempotence", "malformed")
    asked = record_wire(
        run, world="sim", seed=1, sut=reference_sut(levers="address"), families=families
    )
    run.seal()

    assert set(asked.not_played) == set(FAMILIES) - set(families)
    assert asked.brokers == (1, 2, 3)
    found = verdicts(run.folder)
    assert {rule for rule, verdict in found.items() if verdict is Verdict.PASS} == {
        FAMILIES[family][0] for family in families
    }


def test_what_is_left_out_by_address_is_named_with_its_reason() -> None:
    names = {one.sequence.name for one in RECORDINGS}
    assert {*CHANGES_THE_CLUSTER, *RESTS_ON_SETTINGS} <= names
    assert sum(left_out(one) is None for one in RECORDINGS) == 319


@pytest.mark.sim
def test_a_cluster_that_never_serves_a_topic_fails_in_a_sentence(tmp_path: Path) -> None:
    mutants = tmp_path / "mutants.py"
    mutants.write_text(UNSERVED, encoding="utf-8")

    folder = record_sequences(
        tmp_path, ("idempotence",), world="sim", mutants=(f"{mutants}:unserved",)
    )

    one = judged(folder)[FAMILIES["idempotence"][0]]
    assert one.verdict is Verdict.FAIL
    assert "not every leader serves" in one.result.findings[0].seen
    played = {event["sequence"] for event in read_history(folder).events if "sequence" in event}
    assert len(played) == 2


@pytest.mark.sim
@pytest.mark.parametrize("mutant", [one for one in MUTANTS if len(one.rules) == 1][:2])
def test_a_mutant_is_seen_by_the_sequences_of_its_rule(tmp_path: Path, mutant: Mutant) -> None:
    reference = f"conformance.mutants.wire:{mutant.name}"

    (folder,) = PROFILES["classic"].shown(reference, "sim", tmp_path) or ()

    assert [rule for rule, one in verdicts(folder).items() if one is Verdict.FAIL] == [
        *mutant.rules
    ]


def test_the_stage_has_a_part_for_each_family() -> None:
    (stage,) = [one for one in STAGES if one.name == WIRE]

    assert [part.rules for part in stage.parts()] == [(rule.id,) for rule in RULES]
