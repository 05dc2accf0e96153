"""Every verb with real processes, real sockets and a real database."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psycopg
import pytest
from recording import Play, Recording, read_shard, wrong

from conformance.register import open_register
from harness.deployments.control_program import Deadlines
from harness.history import Run, read_history
from harness.processes.database import Database
from harness.steps.order import ALL_VERBS
from harness.sut import LabBroken, Sut, UsageError, reference_sut
from harness.workloads import BoundarySteps, generate, parse

pytestmark = pytest.mark.process


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", run="1", sut="reference", world="process")


def recorded(run: Run) -> Recording:
    shard = run.folder / "shards" / "process-0.jsonl"
    return Recording(shard=shard, lines=read_shard(shard))


def test_a_late_request_of_a_deposed_leader_meets_the_fence(play: Play) -> None:
    recorded = play(
        "process",
        """
        old  call     create
        old  hold     initialize b0=100 epoch=5 seeds=A
        new  call     register epoch=6
        old  release
        new  call     get
        """,
    )
    assert recorded.endings == [
        "1 create ok NONE",
        "2 register ok NONE",
        "1 initialize fail FENCED_LEADER_EPOCH",
        "2 get ok NONE",
    ]
    assert recorded.evidence("hold-request")["requests_held"] == 1
    assert recorded.phases("hold-request") == ["begin", "landed", "end"]


def test_lines_carry_the_hosts_clock_in_the_order_in_which_they_happened(play: Play) -> None:
    recorded = play("process", "a call create\na begin get\nb call get\na end")
    times = [line["time"] for line in recorded.lines]
    assert times == sorted(times)
    assert {line["clock"] for line in recorded.lines} == {"host-main"}
    assert len(set(times)) == len(times)


def test_lost_and_dropped_differ_in_what_the_store_holds(play: Play) -> None:
    recorded = play(
        "process",
        """
        a    call   create
        a    call   create p=1
        a    lose   initialize b0=100 epoch=1
        a    drop   initialize b0=100 epoch=1 p=1
        lab  probe
        a    call   initialize b0=100 epoch=1
        a    hold   commit
        a    lose
        a    hold   commit
        a    drop
        lab  probe
        """,
    )
    assert recorded.endings[2:] == [
        "1 initialize info REQUEST_TIMED_OUT",
        "1 initialize info REQUEST_TIMED_OUT",
        "1 initialize ok NONE",
        "1 commit info REQUEST_TIMED_OUT",
        "1 commit info REQUEST_TIMED_OUT",
    ]
    before, after = recorded.of("probe")
    assert [row["boundary"] for row in before["rows"]] == [100, -1]
    assert [row["batches"] for row in after["rows"]] == [[[100, 100]], []]
    for fault, count in (("lose-reply", "replies_dropped"), ("drop-request", "requests_dropped")):
        landed = [
            line["evidence"]
            for line in recorded.of("fault")
            if line["name"] == fault and line["phase"] == "landed"
        ]
        assert [one[count] for one in landed] == [1, 1]


def test_a_crash_between_two_transactions_leaves_the_first(play: Play) -> None:
    recorded = play(
        "process",
        """
        a  call  create
        a  hold  initialize b0=100 epoch=1 seeds=C
        a  step
        b  call  producers
        a  kill
        b  call  producers
        a  call  producers
        """,
        mutants=(wrong("boundary-then-seeds"),),
    )
    for look in (1, 3, 4):
        assert recorded.stored(look)["boundary"] == 100
        assert recorded.stored(look)["seeds"] == []
    assert recorded.evidence("split-request") == {"transactions_passed": 1}
    assert recorded.evidence("kill")["processes_ended"] == 1
    assert recorded.endings[2] == "1 initialize info None"


def test_a_step_through_the_only_transaction_completes_the_operation(play: Play) -> None:
    script = "a call create\na hold initialize b0=100 epoch=1 seeds=A\na step\na release"
    recorded = play("process", script)
    assert recorded.endings[1:] == ["1 initialize ok NONE"]
    assert recorded.evidence("split-request") == {"transactions_passed": 1}


def test_a_step_still_counts_transactions_when_statements_are_prepared(play: Play) -> None:
    warm = "\n".join("a call get" for _ in range(12))
    recorded = play("process", f"a call create\n{warm}\na hold get\na step\na release")
    assert recorded.evidence("split-request") == {"transactions_passed": 1}


def test_a_zombie_leader_wakes_up_fenced(play: Play) -> None:
    recorded = play(
        "process",
        """
        old  call    create
        old  pause
        old  begin   initialize b0=100 epoch=5
        new  call    register epoch=6
        old  resume
        old  end
        """,
    )
    assert recorded.endings[1:] == ["2 register ok NONE", "1 initialize fail FENCED_LEADER_EPOCH"]
    assert recorded.evidence("pause")["threads_stopped"] >= 1
    assert recorded.phases("pause") == ["begin", "landed", "end"]


def test_a_paused_agent_can_be_killed_with_its_request(play: Play) -> None:
    recorded = play("process", "a call create\na hold get\na pause\na kill\na call get")
    assert recorded.endings[1:] == ["1 get info None", "1 get ok NONE"]
    for fault in ("hold-request", "pause", "kill"):
        assert recorded.phases(fault) == ["begin", "landed", "end"]


def test_outages_are_answered_with_their_errors_until_they_are_over(play: Play) -> None:
    recorded = play(
        "process",
        """
        a    call    create
        lab  refuse
        a    call    commit
        a    call    commit
        b    call    commit
        lab  heal
        a    call    get
        lab  break
        a    call    commit
        lab  probe
        lab  mend
        a    call    get
        b    call    get
        """,
    )
    assert recorded.endings[1:] == [
        "1 commit info REQUEST_TIMED_OUT",
        "1 commit info REQUEST_TIMED_OUT",
        "2 commit info REQUEST_TIMED_OUT",
        "1 get ok NONE",
        "1 commit info KAFKA_STORAGE_ERROR",
        "1 get ok NONE",
        "2 get ok NONE",
    ]
    assert recorded.evidence("control-plane-refused")["refusals"] >= 1
    assert recorded.evidence("control-plane-broken") == {"errors_answered": 1}
    assert [row["boundary"] for row in recorded.of("probe")[0]["rows"]] == [-1]


def test_an_outage_that_nobody_meets_has_not_landed(play: Play) -> None:
    recorded = play(
        "process", "a call create\nlab refuse\nlab heal\nlab break\nlab mend\na call get"
    )
    assert [line["phase"] for line in recorded.of("fault")] == ["begin", "end", "begin", "end"]
    assert recorded.endings[-1] == "1 get ok NONE"


def test_a_mutant_in_sql_changes_what_is_recorded(play: Play) -> None:
    script = "a call create\na call register epoch=6\na call register epoch=5"
    mutated = play("process", script, mutants=(wrong("sql-nobody-is-stale"),))
    assert mutated.endings[-1] == "1 register ok NONE"
    assert play("process", script).endings[-1] == "1 register fail FENCED_LEADER_EPOCH"


def test_a_mutant_in_python_reaches_the_agent(play: Play) -> None:
    script = "a call create\nlab refuse\na call commit\nlab heal"
    mutated = play("process", script, mutants=(wrong("outages-are-hard"),))
    assert mutated.endings[1] == "1 commit info KAFKA_STORAGE_ERROR"


@pytest.mark.parametrize("world", ["sim", "process"])
def test_logs_from_before_the_boundary_existed_are_upgraded(play: Play, world: str) -> None:
    recorded = play(
        world,
        """
        lab  upgrade t=old p=0,1
        a    call    get t=old p=1
        a    call    create
        a    call    get
        lab  probe
        """,
        control_plane="postgres",
        schema_upto=2,
    )
    upgraded = [line["partition"] for line in recorded.of("op") if line["f"] == "upgrade_schema"]
    assert upgraded == [0, 1, 0, 1]
    assert recorded.stored(2)["boundary"] == 0
    assert recorded.stored(4)["boundary"] == -1
    rows = [
        (row["topic"], row["partition"], row["boundary"]) for row in recorded.of("probe")[0]["rows"]
    ]
    assert rows == [("old", 0, 0), ("old", 1, 0), ("t", 0, -1)]


def test_agents_trace_their_transactions_into_shards_of_their_own(run: Run) -> None:
    with open_register("process", run=run, sut=reference_sut(), seed=1) as register:
        register.play(
            parse(
                "a call create\nb call register epoch=3\na begin get\na kill\na call get",
                BoundarySteps,
            )
        )
    sealed = run.seal()
    assert sealed.complete, sealed.reasons
    effects = [event for event in read_history(run.history).events if event["kind"] == "effect"]
    told = {(event["node"], event["call"], event["clock"]) for event in effects}
    assert (1, "create_log", "host") in told
    assert (2, "register_leader_epoch", "host") in told
    assert len(list((run.folder / "shards").glob("process-0-agent-*.jsonl"))) == 3


def test_a_generated_workload_plays_to_its_end(run: Run) -> None:
    with open_register("process", run=run, sut=reference_sut(), seed=1) as register:
        assert register.supports == ALL_VERBS
        register.play(generate(8, clients=3, partitions=2, operations=80, verbs=register.supports))
    sealed = run.seal()
    assert sealed.complete, sealed.reasons
    assert not sealed.problems
    landed = {line["name"] for line in recorded(run).of("fault") if line["phase"] == "landed"}
    assert len(landed) >= 5


def test_a_closed_database_is_gone_and_closing_twice_is_harmless() -> None:
    database = Database(schema_upto=None, mutants=())
    assert database.probe() == []  # and nothing of an earlier one is in it
    database.close()
    database.close()
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(database.dsn)


def test_silence_is_an_unknown_outcome_and_the_client_goes_on(run: Run) -> None:
    with open_register("process", run=run, sut=reference_sut(), seed=1) as register:
        system = register.deployment
        register.play(parse("a call create\na call initialize b0=100 epoch=1", BoundarySteps))
        system.clients["client-a"].program.deadlines = Deadlines(answer_s=0.6)
        with psycopg.connect(system._parts.database.dsn) as blocker:
            blocker.execute("LOCK TABLE logs")
            register.play(parse("a call commit", BoundarySteps))
        register.play(parse("a call get", BoundarySteps))
        assert register.unanswered == 1
    assert recorded(run).endings[2:] == ["1 commit info None", "1 get ok NONE"]


def test_an_agent_that_cannot_start_is_the_labs_fault(run: Run, monkeypatch) -> None:
    monkeypatch.setattr("harness.deployments.process.sys.executable", "/bin/false")
    with (
        pytest.raises(LabBroken, match="the agent of client-a ended by itself"),
        open_register("process", run=run, sut=reference_sut(), seed=1) as register,
    ):
        register.play(parse("a call create", BoundarySteps))
    assert not run.seal().complete


def test_an_agent_that_dies_unasked_is_the_labs_fault(run: Run) -> None:
    with open_register("process", run=run, sut=reference_sut(), seed=1) as register:
        register.play(parse("a call create", BoundarySteps))
        os.kill(register.deployment.clients["client-a"].program.pid, signal.SIGKILL)
        with pytest.raises(LabBroken, match="the agent of client-a ended by itself"):
            register.play(parse("a call get", BoundarySteps))


@pytest.mark.parametrize(
    ("sut", "said"),
    [
        (Sut(name="x", version="1", profiles=("classic",)), "of x cannot be asked: it has no hook"),
        (reference_sut(control_plane="memory"), "the control plane is postgres"),
        (reference_sut(mutants=("nowhere:x",)), "mutant 'nowhere:x'"),
    ],
)
def test_an_impossible_deployment_is_a_usage_error(run: Run, sut: Sut, said: str) -> None:
    with (
        pytest.raises(UsageError, match=said),
        open_register("process", run=run, sut=sut, seed=1),
    ):
        pass
