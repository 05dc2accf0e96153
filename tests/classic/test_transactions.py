"""The stage `transactions`: what it exercises, what a sound cluster makes of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.catalogue.kafka import fencing, transactions
from conformance.classic.edge_topics import step
from conformance.classic.playing import play_steps
from conformance.classic.stages import StageRun
from conformance.classic.transactions import (
    LINGERS_MS,
    MINUTE,
    TOPICS,
    TRANSACTIONS,
    does,
    plan_of,
    planned_parts,
    transaction_steps,
)
from conformance.classic.transactions_lab import record_transactions
from conformance.driver import VOCABULARIES
from harness.deployments.deploy import deploy
from harness.history import Run
from harness.rules import Verdict
from harness.steps.step import LAB, step_line
from harness.steps.text import parse
from harness.sut import reference_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run


@pytest.mark.sim
def test_a_sound_cluster_keeps_every_rule_of_transactions(tmp_path: Path) -> None:
    run = Run.create(
        tmp_path / "run", run="1", sut="reference", world="sim", profiles=["classic"], seed=1
    )
    given = StageRun(run=run, world="sim", seed=1, sut=reference_sut())
    record_transactions(given, faults=())
    run.seal()

    rules = CATALOGUE.of_profiles(("classic",)).played()
    judged = judge_run(run.folder, rules, InlineEngine(), reference=True).judged

    unseen = {one.rule.id for one in judged if not one.result.exercised}
    about = {rule.id for rule in (*transactions.RULES, *fencing.RULES)}
    assert unseen & {*about, "KFK-003", "KFK-005", "KFK-018", "KFK-080", "KFK-082"} == set()
    assert [one.rule.id for one in judged if one.verdict is Verdict.FAIL] == []


PUT_OFF = """
from reference_impl.coordinators.transactions import TransactionState
from reference_impl.decisions import Mutant

MUTANTS = (
    Mutant(
        name="put-off",
        decision="transaction-timed-out",
        replace=lambda known, now_ms: known.state is TransactionState.ONGOING
        and known.updated_ms + known.timeout_ms < now_ms,
    ),
)
"""


@pytest.mark.sim
@pytest.mark.parametrize("wrong", [False, True], ids=["sound", "put-off"])
def test_a_time_out_that_every_new_partition_puts_off_is_noticed(
    tmp_path: Path, wrong: bool
) -> None:
    file = tmp_path / "put_off.py"
    file.write_text(PUT_OFF, "utf-8")
    sut = reference_sut(mutants=(f"{file}:put-off",) if wrong else ())
    run = Run.create(
        tmp_path / "run", run="1", sut="reference", world="sim", profiles=["classic"], seed=1
    )
    steps = [
        step(LAB, "create"),
        step(LAB, "converge"),
        *(does("create", topic=topic, partitions=count) for topic, count in TOPICS.items()),
        does("settle"),
        does("linger", log="*", timeout=LINGERS_MS),
        does("rest", bound=10_000),
        does("finish"),
    ]
    with deploy(sut, plan_of(sut.mutants), run=run, world="sim", seed=1, shard=TRANSACTIONS) as on:
        topics = [TRANSACTIONS, *TOPICS]
        play_steps(on, sut, steps, topics=topics, bound_s=10.0, chance=random.Random(1))
    run.seal()

    rules = [CATALOGUE["KFK-230"]]
    (judged,) = judge_run(run.folder, rules, InlineEngine(), reference=True).judged

    assert judged.verdict is (Verdict.FAIL if wrong else Verdict.PASS)


def test_the_stage_is_a_program_like_any_other() -> None:
    steps = transaction_steps(7, bound_ms=1000)

    assert parse("\n".join(map(step_line, steps)), *VOCABULARIES) == steps


def test_a_seed_changes_what_is_done_and_the_order_of_the_faults() -> None:
    assert transaction_steps(1, bound_ms=1000) == transaction_steps(1, bound_ms=1000)
    assert transaction_steps(1, bound_ms=1000) != transaction_steps(2, bound_ms=1000)


def test_clients_that_send_and_poll_are_at_work_through_every_fault() -> None:
    said = [step_line(one) for one in transaction_steps(1, bound_ms=1000)]
    begun = next(n for n, line in enumerate(said) if f"topic={MINUTE} most=" in line)
    waited_for = [n for n, line in enumerate(said) if line == "transactions finish"]
    struck = [n for n, line in enumerate(said) if line.startswith("nemesis")]
    rests = [n for n, line in enumerate(said) if "transactions rest" in line]

    assert rests[0] < begun < struck[0]
    assert [one for one in waited_for if begun < one < struck[-1]] == []
    assert [one for one in rests if begun < one < waited_for[-1]] == []


def test_no_fault_of_the_stage_is_needed_for_a_certificate() -> None:
    assert [part for part in planned_parts() if part.required or part.promised] == []
