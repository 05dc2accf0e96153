"""The campaign of the profile `classic`: sound where it should be, the same again, seen to bite."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import CATALOGUE
from conformance.classic.campaign import (
    CLASSIC,
    FAULTS,
    NEW_LEADER,
    OF_NEW_LEADERS,
    PROMISED,
    campaign_steps,
    plan_of,
)
from conformance.classic.lab import record_classic
from conformance.driver import Driver
from harness.deployments.sim import SimDeployment, open_sim
from harness.history import Run
from harness.history.plan import LabShard, Part, RunPlan
from harness.history.recorder import Recorder
from harness.history.run_slot import take_slot
from harness.levers import Lever
from harness.rules import Judgement, Verdict
from harness.steps.step import read_steps, step_line
from harness.sut import UsageError, reference_sut
from reference_impl.decisions import Mutant, mutated
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge
from spark_checkers.judge_history import judge_run
from tests.classic.campaign_rules import is_of_campaign

LANDED = {"cut": 2, "kill": 2, "pause": 1, "reimage": 1}
RULES = [one for one in CATALOGUE.of_profiles(("classic",)).played() if is_of_campaign(one.id)]


def recorded(
    folder: Path, world: str, *mutants: str, seed: int = 1, faults: tuple[str, ...] = tuple(FAULTS)
) -> list[dict[str, Any]]:
    run = Run.create(
        folder, run=folder.name, sut="reference", world=world, profiles=["classic"], seed=seed
    )
    try:
        sut = reference_sut(mutants=mutants)
        record_classic(run, world=world, seed=seed, sut=sut, faults=faults)
    finally:
        run.seal()
    return [json.loads(line) for line in run.history.read_text("utf-8").splitlines()]


def judged(folder: Path) -> Judgement:
    return judge_run(folder, RULES, InlineEngine(), reference=True)


def landed(events: list[dict[str, Any]]) -> Counter[str]:
    faults = [event for event in events if event["kind"] == "fault"]
    return Counter(event["name"] for event in faults if event["phase"] == "landed")


@pytest.mark.sim
def test_the_cluster_keeps_its_promises_in_the_simulation(tmp_path: Path) -> None:
    events = recorded(tmp_path / "run", "sim")
    assert landed(events) == LANDED
    verdicts = {one.rule.id: one.verdict for one in judged(tmp_path / "run").judged}
    assert verdicts == dict.fromkeys(verdicts, Verdict.PASS)
    assert set(verdicts) == {rule.id for rule in RULES}


@pytest.mark.sim
def test_an_answer_that_cannot_be_read_is_a_finding_and_no_defect_of_the_lab(
    tmp_path: Path,
) -> None:
    broken = Mutant(
        name="no-tags",
        decision="response-has-tags",
        replace=lambda api, flexible: flexible and api != "CreateTopics",
    )
    with mutated(broken):
        recorded(tmp_path / "run", "sim")
    failed = [one for one in judged(tmp_path / "run").judged if one.verdict is Verdict.FAIL]
    assert [one.rule.id for one in failed] == ["KFK-096"]
    assert "no CreateTopicsResponse of version 7" in failed[0].result.findings[0].seen


@pytest.mark.sim
def test_without_faults_nothing_is_left_out_but_what_needs_one(tmp_path: Path) -> None:
    recorded(tmp_path / "run", "sim", faults=())
    unseen = {one.rule.id for one in judged(tmp_path / "run").judged if not one.result.exercised}
    assert unseen == set(OF_NEW_LEADERS)


@pytest.mark.sim
def test_the_same_seed_records_the_same_history(tmp_path: Path) -> None:
    fault = ("kill-leader",)
    first = recorded(tmp_path / "run" / "first", "sim", seed=5, faults=fault)
    second = recorded(tmp_path / "run" / "second", "sim", seed=5, faults=fault)
    assert first[1:-1] == second[1:-1]


@pytest.mark.sim
@pytest.mark.parametrize(
    "mutant",
    ["acknowledged-at-once", pytest.param("leader-alone-commits", marks=pytest.mark.slow)],
)
def test_a_mutant_of_the_cluster_is_seen(tmp_path: Path, mutant: str) -> None:
    reference = f"conformance.mutants.replication:{mutant}"
    recorded(tmp_path / "run", "sim", reference, faults=("cut-off-leader",))
    verdicts = [one.verdict for one in judged(tmp_path / "run").judged]
    assert Verdict.FAIL in verdicts


@pytest.mark.process
def test_the_cluster_keeps_its_promises_as_processes(tmp_path: Path) -> None:
    events = recorded(tmp_path / "run", "process")
    assert landed(events) == LANDED
    assert {one.verdict for one in judged(tmp_path / "run").judged} == {Verdict.PASS}


def test_a_fault_that_did_not_land_leaves_no_proof(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="run", sut="reference", world="sim", seed=1)
    slot = take_slot(run, world="sim", clock="sim", part=0, shard=None)
    recorder = Recorder(slot, now=lambda: 0)
    seen = recorder.invoke("a", "fetch", {"topic": "t", "partition": 0, "node": 1, "offset": 0})
    told = {"high_watermark": 0, "last_stable_offset": 0, "log_start_offset": 0, "records": []}
    recorder.finish(seen, "ok", {"error": 0, **told})
    for part_of_plan in ("another", "t/cut"):
        recorder.plan_part = part_of_plan
        fault = recorder.begin_fault("cut", "broker-1")
        if part_of_plan == "another":
            recorder.landed(fault, {"deliveries_held": 1})
        recorder.end_fault(fault, {})
    slot.writer.close()
    part = Part(name="t/cut", profile="classic", faults=("cut",), scope="profile")
    lab = LabShard(run)
    lab.plan(RunPlan(rules=("KFK-053",), parts=(part,), reference=True))
    lab.close()
    run.seal()
    engine = InlineEngine()
    (one,) = judge(run.folder, CATALOGUE, engine).judgement.judged
    engine.close()
    assert (one.verdict, one.result.exercised) == (Verdict.NO_PROOF, 1)
    assert one.reason == "the fault cut did not land"


def test_a_campaign_is_text_that_gives_the_same_steps_back() -> None:
    steps = campaign_steps(3)
    assert read_steps("\n".join(step_line(step) for step in steps)) == steps
    assert steps == campaign_steps(3) != campaign_steps(4)


def test_the_promised_faults_show_all_that_needs_one() -> None:
    assert set(FAULTS) >= PROMISED
    assert PROMISED & set(NEW_LEADER)


def test_a_world_in_which_it_cannot_be_played_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reference is started by the lab"):
        recorded(tmp_path / "run", "external")


def never_healed(on: SimDeployment) -> None:
    """What was ended is started again, and ends again."""
    pull = on.levers.kill

    async def kill(node: str) -> Lever:
        lever = await pull(node)
        release = lever.release

        async def released() -> None:
            await release()
            on.sim.kill(node)

        lever.release = released  # type: ignore[method-assign]
        return lever

    on.levers.kill = kill  # type: ignore[method-assign]


@pytest.mark.sim
def test_a_cluster_that_finds_no_rest_breaks_a_rule_and_not_the_lab(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="run", sut="reference", world="sim", seed=1)
    with open_sim(run, plan_of(), seed=1, forgiving=True) as on:
        never_healed(on)
        driver = Driver(on, topic=CLASSIC, bound_s=10.0)
        driver.play(campaign_steps(1, ("kill-leader", "kill-leader"), rests=50.0))
    run.seal()
    lines = [json.loads(line) for line in run.history.read_text("utf-8").splitlines()]
    found = {one.rule.id: one for one in judged(tmp_path / "run").judged}
    failed = [rule for rule, one in found.items() if one.verdict is Verdict.FAIL]
    assert set(failed) >= {"KFK-090", "KFK-093"}
    assert "broker 1 does not answer" in found["KFK-090"].result.findings[0].seen
    assert landed(lines) == {"kill": 1}  # it is hurt no more
    second = [one for one in lines if one["kind"] == "step" and one["verb"] == "kill"][1]
    assert second["resolved"] == {"skipped": "the cluster did not recover before"}
    assert [one["name"] for one in lines if one["kind"] == "phase"][-1] == "final-reads"


@pytest.mark.sim
def test_a_cluster_that_refuses_every_acks_all_fails(tmp_path: Path) -> None:
    refusing = "conformance.mutants.recovery:spare-replicas-wanted"
    recorded(tmp_path / "run", "sim", refusing, faults=())
    failed = {one.rule.id for one in judged(tmp_path / "run").judged if one.verdict is Verdict.FAIL}
    # And a reader waits at the end of the log for an append that does not come.
    assert failed == {"KFK-092", "KFK-093", "KFK-094"}
