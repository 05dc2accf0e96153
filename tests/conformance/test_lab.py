"""The lab: what was not exercised, or not touched by its fault, proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.lab import record, run_plan
from conformance.profiles import PROFILES
from conformance.profiles.profile import Piece, Plan, Played
from conformance.scenario import Scenario
from harness.errors import CannotConnect, LabError, NoAnswer
from harness.history import Run
from harness.history.recorder import Recorder
from harness.rules import Judged, Verdict
from harness.sut import Sut, read_sut, reference_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge

LATE = Scenario(
    name="A late request",
    rules=("MIG-016",),
    script="""
        old  call     create
        old  hold     initialize b0=100 epoch=5 seeds=A
        new  call     register epoch=6
        old  release
    """,
)
UPGRADE = Scenario(
    name="An old log",
    rules=("MIG-019",),
    older_schema=True,
    script="""
        lab  upgrade  t=t p=0
        a    call     get
    """,
)


def plan(scenarios: tuple[Scenario, ...], rounds: int) -> Plan:
    return Plan(world="sim", seed=1, profiles=("migration",), scenarios=scenarios, rounds=rounds)


def verdicts(folder: Path, *scenarios: Scenario) -> dict[str, Judged]:
    sut = reference_sut(control_plane="memory")
    run = Run.create(folder / "run", run="test", sut=sut.name, world="sim", seed=1)
    record(run, sut, plan(scenarios, rounds=0))
    engine = InlineEngine()
    judged = judge(run.folder, CATALOGUE, engine).judgement.judged
    engine.close()
    return {one.rule.id: one for one in judged}


def test_a_rule_whose_fault_landed_is_proven(tmp_path: Path) -> None:
    assert verdicts(tmp_path, LATE)["MIG-016"].verdict is Verdict.PASS


def test_a_rule_whose_fault_did_not_land_has_no_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recorder, "landed", lambda *_: None)

    judged = verdicts(tmp_path, LATE)["MIG-016"]

    assert judged.verdict is Verdict.NO_PROOF
    assert judged.reason == "the fault hold-request did not land"


def test_a_rule_that_this_world_cannot_exercise_is_not_observable(tmp_path: Path) -> None:
    judged = verdicts(tmp_path, LATE, UPGRADE)["MIG-019"]

    assert judged.verdict is Verdict.NOT_OBSERVABLE
    assert judged.reason == "an old schema needs the control plane postgres; memory has none"


def test_a_rule_that_nothing_exercised_has_no_proof(tmp_path: Path) -> None:
    assert verdicts(tmp_path, LATE)["MIG-011"].verdict is Verdict.NO_PROOF


def test_a_run_that_broke_off_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("the generator failed")

    monkeypatch.setattr("conformance.profiles.migration.generate", fail)
    sut = reference_sut(control_plane="memory")
    run = Run.create(tmp_path / "run", run="test", sut=sut.name, world="sim", seed=1)

    with pytest.raises(RuntimeError):
        record(run, sut, plan((LATE,), rounds=1))

    assert not run.seal().complete


def test_as_many_brokers_are_expected_as_addresses_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "heron.toml"
    for listed, expected in ((1, None), (5, 5)):
        addresses = ",".join(f"127.0.0.1:{9092 + number}" for number in range(listed))
        file.write_text(
            f'[sut]\nname = "heron"\nversion = "1"\nbootstrap = "{addresses}"\n'
            'profiles = ["classic"]\n',
            encoding="utf-8",
        )
        classic = Plan(world="external", seed=1, profiles=("classic",))
        assert run_plan(read_sut(file), classic).brokers == expected


@pytest.mark.parametrize("lost", [NoAnswer("it hangs up"), CannotConnect("nobody answers")])
def test_a_stranger_that_answers_no_more_is_judged_by_what_was_recorded(
    lost: LabError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []

    def first() -> Played:
        played.append("first")
        return Played(brokers=(1,))

    def dies() -> Played:
        raise lost

    def never() -> Played:
        raise AssertionError("nothing more is begun")

    pieces = [Piece(first), Piece(dies), Piece(never)]
    monkeypatch.setattr(PROFILES["classic"], "pieces", lambda *_: pieces)
    sut = Sut(name="heron", version="1", profiles=("classic",), bootstrap="127.0.0.1:1")
    run = Run.create(tmp_path / "run", run="1", sut="heron", world="external", seed=1)

    record(run, sut, Plan(world="external", seed=1, profiles=("classic",)))

    assert played == ["first"]
    assert (run.folder / "history.jsonl").is_file()
