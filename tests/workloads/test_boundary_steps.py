"""Every verb in a simulation: what it does to the register, and that it is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import Play, read_shard, wrong

from conformance.register import open_register
from harness.history import Run
from harness.steps.order import ALL_VERBS
from harness.sut import Sut, UsageError, reference_sut
from harness.workloads import BoundarySteps, ScriptError, generate, parse
from harness.workloads.boundary_steps import FAULTS
from nemesis.faults import FAULTS as NEMESIS_FAULTS


def test_a_call_is_recorded_as_invocation_and_completion(play: Play) -> None:
    recorded = play("sim", "a call create\na call initialize b0=100 epoch=5 seeds=C")
    asked, answered = recorded.of("op")[2:]
    assert asked == {
        "kind": "op",
        "time": asked["time"],
        "clock": "sim-main",
        "process": 0,
        "type": "invoke",
        "f": "initialize_diskless_migration",
        "topic": "t",
        "partition": 0,
        "node": 1,
        "client": "a",
        "boundary": 100,
        "leader_epoch": 5,
        "entries": [[7002, 1, 10, 12, 3, 1_700_000_000_003]],
    }
    assert answered["type"] == "ok"
    assert answered["error"] == "NONE"
    assert answered["stored"] == {"boundary": 100, "epoch": 5, "reset_epoch": -1}


def test_the_example_of_the_language_plays_as_it_reads(play: Play) -> None:
    recorded = play(
        "sim",
        """
        old  call     create
        old  hold     initialize b0=100 epoch=5 seeds=A
        new  call     register epoch=6
        old  release
        new  call     get
        """,
    )
    assert recorded.story == [
        "1 create ?",
        "1 create ok NONE",
        "1 initialize ?",
        "2 register ?",
        "2 register ok NONE",
        "1 initialize fail FENCED_LEADER_EPOCH",
        "2 get ?",
        "2 get ok NONE",
    ]
    assert recorded.phases("hold-request") == ["begin", "landed", "end"]
    assert recorded.evidence("hold-request") == {"requests_held": 1, "requests_dropped": 0}


ROUND_TRIP_NS = range(400_000, 2_000_001)


@pytest.mark.parametrize("seed", range(5))
def test_a_call_takes_simulated_time_and_no_other(play: Play, seed: int) -> None:
    asked, answered = play("sim", "a call create", seed=seed).of("op")
    assert answered["time"] - asked["time"] in ROUND_TRIP_NS


OVERLAPPING = "a call create\na begin get\nb call get\na end"


def test_what_is_begun_overlaps_with_others_and_the_seed_decides_who_is_answered_first(
    play: Play,
) -> None:
    stories = [tuple(play("sim", OVERLAPPING, seed=seed).story[2:]) for seed in range(12)]
    assert {story[:2] for story in stories} == {("1 get ?", "2 get ?")}
    assert {story[2:] for story in stories} == {
        ("2 get ok NONE", "1 get ok NONE"),
        ("1 get ok NONE", "2 get ok NONE"),
    }


def test_the_seed_decides_when_something_begun_is_carried_out(play: Play) -> None:
    script = """
        a call create
        a begin initialize b0=100 epoch=1 seeds=A
        b call get
        b call get
        b call get
        a end
    """
    seen = set()
    for seed in range(60, 90):
        recorded = play("sim", script, seed=seed)
        replies = [line for line in recorded.of("op") if line.get("error") and line["node"] == 2]
        seen.add(tuple(reply["stored"]["boundary"] for reply in replies))
    # Before the first look, between two of them, or after the last.
    assert seen == {(100, 100, 100), (-1, 100, 100), (-1, -1, 100), (-1, -1, -1)}


def test_a_step_lets_one_transaction_through_and_holds_the_rest(play: Play) -> None:
    script = """
        a call     create
        a hold     initialize b0=100 epoch=1 seeds=C
        a step
        b call     producers
        a release
        b call     producers
    """
    recorded = play("sim", script, mutants=(wrong("boundary-then-seeds"),))
    assert recorded.stored(1)["boundary"] == 100
    assert recorded.stored(1)["seeds"] == []
    assert recorded.stored(3)["seeds"] != []
    assert recorded.evidence("split-request") == {"transactions_passed": 1}
    assert recorded.phases("hold-request") == ["begin", "landed", "end"]


def test_a_step_through_the_only_transaction_completes_the_operation(play: Play) -> None:
    script = "a call create\na hold initialize b0=100 epoch=1\na step\nb call get\na release"
    recorded = play("sim", script)
    assert recorded.endings[1:] == ["1 initialize ok NONE", "2 get ok NONE"]
    assert recorded.evidence("split-request") == {"transactions_passed": 1}


def test_a_lost_reply_leaves_the_effect_and_no_answer(play: Play) -> None:
    recorded = play("sim", "a call create\na lose initialize b0=100 epoch=1\nb call get")
    assert recorded.endings[1:] == ["1 initialize info REQUEST_TIMED_OUT", "2 get ok NONE"]
    assert recorded.stored(-1)["boundary"] == 100
    assert recorded.evidence("lose-reply") == {"replies_dropped": 1}


def test_the_reply_that_is_lost_is_that_of_the_next_transaction(play: Play) -> None:
    script = "a call create\na lose initialize b0=100 epoch=1 seeds=C\nb call producers"
    recorded = play("sim", script, mutants=(wrong("boundary-then-seeds"),))
    assert recorded.endings[1] == "1 initialize info REQUEST_TIMED_OUT"
    assert recorded.stored(-1)["boundary"] == 100
    assert recorded.stored(-1)["seeds"] == []


def test_a_dropped_request_leaves_neither_effect_nor_answer(play: Play) -> None:
    recorded = play("sim", "a call create\na drop initialize b0=100 epoch=1\nb call get")
    assert recorded.endings[1:] == ["1 initialize info REQUEST_TIMED_OUT", "2 get ok NONE"]
    assert recorded.stored(-1)["boundary"] == -1
    assert recorded.evidence("drop-request") == {"requests_dropped": 1}


@pytest.mark.parametrize(("verb", "boundary"), [("lose", 100), ("drop", -1)])
def test_what_is_held_can_be_lost_on_the_way(play: Play, verb: str, boundary: int) -> None:
    script = f"a call create\na hold initialize b0=100 epoch=1\na {verb}\nb call get"
    recorded = play("sim", script)
    assert recorded.endings[1] == "1 initialize info REQUEST_TIMED_OUT"
    assert recorded.stored(-1)["boundary"] == boundary
    assert recorded.phases("hold-request") == ["begin", "landed", "end"]


def test_after_an_unknown_outcome_a_client_goes_on_as_another_process(play: Play) -> None:
    recorded = play("sim", "a call create\na lose commit\na call get\nb call get\na call get")
    processes = [line["process"] for line in recorded.of("op") if line["type"] == "invoke"]
    first = processes[0]
    assert [number - first for number in processes] == [0, 0, 1, 2, 1]


def test_a_kill_takes_with_it_what_was_not_carried_out(play: Play) -> None:
    script = "a call create\na hold initialize b0=100 epoch=1\na kill\nb call get\na call get"
    recorded = play("sim", script)
    assert recorded.endings[1:] == ["1 initialize info None", "2 get ok NONE", "1 get ok NONE"]
    assert recorded.stored(-1)["boundary"] == -1
    assert recorded.evidence("kill")["processes_ended"] == 1
    assert recorded.phases("hold-request") == ["begin", "landed", "end"]


def test_a_request_under_way_is_carried_out_though_its_client_dies(play: Play) -> None:
    script = """
        a call   create
        a begin  initialize b0=100 epoch=1
        b call   get
        a kill
        b call   get
        b call   get
    """
    seen = set()
    for seed in range(60):
        recorded = play("sim", script, seed=seed)
        told = [(line.get("name"), line.get("phase"), line.get("call")) for line in recorded.lines]
        after = told[told.index(("kill", "end", None)) :]
        late = (None, None, "initialize_diskless_migration") in after
        seen.add((late, recorded.stored(-1)["boundary"]))
    # Carried out after the kill; before it; or never, because it had not left.
    assert seen == {(True, 100), (False, 100), (False, -1)}


@pytest.mark.parametrize(
    ("verb", "fault", "outcomes"),
    [
        ("hold", "hold-request", []),
        ("lose", "lose-reply", ["ok"]),
        ("drop", "drop-request", ["REQUEST_TIMED_OUT"]),
    ],
)
def test_what_is_done_to_a_request_is_not_done_to_one_of_a_former_life(
    play: Play, verb: str, fault: str, outcomes: list[str]
) -> None:
    script = f"""
        a call   create p=0
        a call   create p=1
        a begin  register epoch=1 p=0
        b call   get p=0
        a kill
        a {verb} register epoch=1 p=1
        b call   get p=0
    """
    seen = set()
    for seed in range(30):
        recorded = play("sim", script, seed=seed)
        assert "landed" in recorded.phases(fault)
        asked = [one for one in recorded.of("effect") if one["call"] == "register_leader_epoch"]
        assert [
            one["outcome"] for one in asked if one["args"]["partitions"][0]["partition"] == 1
        ] == outcomes
        seen.update(
            one["outcome"] for one in asked if one["args"]["partitions"][0]["partition"] == 0
        )
    assert seen == {"ok"}


def test_a_kill_between_two_transactions_leaves_the_first(play: Play) -> None:
    script = """
        a call  create
        a hold  initialize b0=100 epoch=1 seeds=C
        a step
        a kill
        b call  producers
    """
    recorded = play("sim", script, mutants=(wrong("boundary-then-seeds"),))
    assert recorded.stored(-1)["boundary"] == 100
    assert recorded.stored(-1)["seeds"] == []


def test_a_paused_client_asks_only_after_it_was_resumed(play: Play) -> None:
    script = """
        old call    create
        old pause
        old begin   initialize b0=100 epoch=5
        new call    register epoch=6
        new call    get
        old resume
        old end
    """
    for seed in range(5):
        recorded = play("sim", script, seed=seed)
        assert recorded.endings[1:] == [
            "2 register ok NONE",
            "2 get ok NONE",
            "1 initialize fail FENCED_LEADER_EPOCH",
        ]
        assert recorded.evidence("pause")["callbacks_stalled"] >= 1
        assert recorded.phases("pause") == ["begin", "landed", "end"]


def test_the_reply_of_a_paused_client_waits_until_it_goes_on(play: Play) -> None:
    script = """
        a call    create
        a begin   register epoch=6
        b call    get
        a pause
        b call    get
        b call    get
        a resume
        a end
    """
    seen = set()
    for seed in range(30):
        recorded = play("sim", script, seed=seed)
        if recorded.phases("pause") == ["begin", "landed", "end"]:
            assert recorded.endings[-1] == "1 register ok NONE"
            seen.add(recorded.stored(-2)["epoch"])
    assert seen == {-1, 6}  # it had not left yet, or was carried out meanwhile


def test_a_pause_that_stalls_nobody_has_not_landed(play: Play) -> None:
    recorded = play("sim", "a call create\na pause\nb call get\na resume")
    assert recorded.phases("pause") == ["begin", "end"]


@pytest.mark.parametrize(
    ("opening", "closing", "fault", "error", "count"),
    [
        ("refuse", "heal", "control-plane-refused", "REQUEST_TIMED_OUT", "refusals"),
        ("break", "mend", "control-plane-broken", "KAFKA_STORAGE_ERROR", "errors_answered"),
    ],
)
def test_an_outage_is_answered_with_its_error_until_it_is_over(
    play: Play, opening: str, closing: str, fault: str, error: str, count: str
) -> None:
    script = f"a call create\nlab {opening}\na call commit\nlab {closing}\na call get"
    recorded = play("sim", script)
    assert recorded.endings[1:] == [f"1 commit info {error}", "1 get ok NONE"]
    assert recorded.phases(fault) == ["begin", "landed", "end"]
    assert recorded.evidence(fault) == {count: 1}
    targets = {line["target"] for line in recorded.of("fault")}
    assert targets == {"control-plane"}


@pytest.mark.parametrize("first", ["refuse", "break"])
@pytest.mark.parametrize("store", ["memory", pytest.param("postgres", marks=pytest.mark.process)])
def test_what_is_refused_never_meets_what_is_broken(play: Play, store: str, first: str) -> None:
    outages = "lab refuse\nlab break" if first == "refuse" else "lab break\nlab refuse"
    script = f"a call create\n{outages}\na lose commit\nlab heal\nlab mend"
    recorded = play("sim", script, control_plane=store)
    assert recorded.endings[1:] == ["1 commit info REQUEST_TIMED_OUT"]
    assert recorded.evidence("control-plane-refused") == {"refusals": 1}
    assert recorded.phases("control-plane-broken") == ["begin", "end"]
    assert recorded.phases("lose-reply") == ["begin", "end"]  # there was none


@pytest.mark.parametrize("pair", [("refuse", "heal"), ("break", "mend")])
def test_an_outage_that_nobody_meets_has_not_landed(play: Play, pair: tuple[str, str]) -> None:
    recorded = play("sim", f"a call create\nlab {pair[0]}\nlab {pair[1]}\na call get")
    assert [line["phase"] for line in recorded.of("fault")] == ["begin", "end"]


def test_a_mutant_of_the_failure_decision_shows_in_an_outage(play: Play) -> None:
    script = "a call create\nlab refuse\na call commit\nlab heal"
    recorded = play("sim", script, mutants=(wrong("outages-are-hard"),))
    assert recorded.endings[1] == "1 commit info KAFKA_STORAGE_ERROR"


def test_a_mutant_is_in_force_only_while_its_world_plays(play: Play) -> None:
    script = "a call create\na call register epoch=6\nb call register epoch=5"
    assert play("sim", script, mutants=(wrong("nobody-is-stale"),)).endings[2] == (
        "2 register ok NONE"
    )
    assert play("sim", script).endings[2] == "2 register fail FENCED_LEADER_EPOCH"


def test_a_probe_shows_the_rows_of_the_store(play: Play) -> None:
    recorded = play(
        "sim",
        """
        a call create p=1
        a call create
        a call initialize b0=100 epoch=5 seeds=C
        a call commit count=3
        lab probe
        """,
    )
    (probe,) = recorded.of("probe")
    assert probe["what"] == "control_plane"
    assert [(row["topic"], row["partition"], row["boundary"]) for row in probe["rows"]] == [
        ("t", 0, 100),
        ("t", 1, -1),
    ]
    assert probe["rows"][0]["seeds"] == [[7002, 1, 10, 12, 3, 1_700_000_000_003]]
    assert probe["rows"][0]["high_watermark"] == 103


def test_each_transaction_is_an_effect_of_its_node(play: Play) -> None:
    recorded = play(
        "sim",
        "a call create\nb call initialize b0=100 epoch=1",
        mutants=(wrong("boundary-then-seeds"),),
    )
    effects = [(line["node"], line["effect"], line["call"]) for line in recorded.of("effect")]
    assert effects == [
        (1, 1, "create_log"),
        (2, 1, "initialize_diskless_migration"),
        (2, 2, "initialize_diskless_migration"),
    ]


def test_what_is_open_when_the_world_closes_stays_unknown(play: Play) -> None:
    recorded = play("sim", "a call create\na hold get\nlab refuse")
    assert recorded.endings[-1] == "1 get info None"
    assert recorded.phases("hold-request") == ["begin", "landed", "end"]
    assert recorded.phases("control-plane-refused") == ["begin", "end"]


def test_a_script_may_be_played_in_pieces(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim")
    with open_register("sim", run=run, sut=reference_sut(), seed=1) as register:
        for step in parse("a call create\na hold get\na release", BoundarySteps):
            register.play([step])
        with pytest.raises(ScriptError, match="a cannot release here"):
            register.play(parse("a hold get\na release", BoundarySteps)[1:])
        assert register.unanswered == 0
    assert run.seal().complete


def test_a_world_counts_what_was_not_answered(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim")
    with open_register("sim", run=run, sut=reference_sut(), seed=1) as register:
        register.play(parse("a call create\na lose get\na drop get", BoundarySteps))
        assert register.unanswered == 2


def test_worlds_in_one_run_share_neither_topics_nor_processes(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim")
    for part, shard in ((0, "smoke"), (0, None), (1, None)):
        with open_register(
            "sim", run=run, sut=reference_sut(), seed=1, part=part, shard=shard
        ) as register:
            register.play(parse("a call create\nb call get", BoundarySteps))
    shards = [read_shard(run.folder / "shards" / f"{n}.jsonl") for n in ("smoke", "sim-0", "sim-1")]
    processes = [{line["process"] for line in shard if line["kind"] == "op"} for shard in shards]
    assert not processes[0] & processes[1]
    assert not processes[1] & processes[2]
    asked = [next(line for line in shard if line["kind"] == "op") for shard in shards]
    assert [line["topic"] for line in asked] == ["t", "t", "t-1"]
    assert len({shard[0]["clock"] for shard in shards}) == 3
    assert run.seal().complete


def test_a_world_says_up_front_what_it_cannot_do(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim")
    with open_register("sim", run=run, sut=reference_sut(), seed=1) as register:
        assert register.supports == ALL_VERBS - {"upgrade"}
        with pytest.raises(UsageError, match="lab can: break, disturb, heal, look, mend, pr"):
            register.play(parse("a call create\nlab upgrade t=x", BoundarySteps))
    assert read_shard(run.folder / "shards" / "sim-0.jsonl") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sut": Sut(name="x", version="1", profiles=("classic",))}, "x cannot be asked: it has"),
        (
            {"sut": reference_sut(mutants=(wrong("sql-nobody-is-stale"),))},
            "is SQL; use the control",
        ),
        ({"sut": reference_sut(mutants=("nowhere:x",))}, "mutant 'nowhere:x': there is no module"),
        (
            {"sut": reference_sut(), "schema_upto": 2},
            "an old schema needs the control plane postgres",
        ),
    ],
)
def test_an_impossible_world_is_a_usage_error(tmp_path: Path, arguments, said: str) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="x", world="sim")
    with pytest.raises(UsageError, match=said), open_register("sim", run=run, seed=1, **arguments):
        pass


def test_a_world_that_there_is_not_is_a_usage_error(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="x", world="sim")
    with (
        pytest.raises(UsageError, match="no world 'mars'; known: sim, process"),
        open_register("mars", run=run, sut=reference_sut(), seed=1),
    ):
        pass


def test_a_failed_play_leaves_an_incomplete_run(tmp_path: Path, monkeypatch) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim")
    monkeypatch.setattr(BoundarySteps, "call", _broken)
    with (
        pytest.raises(ZeroDivisionError),
        open_register("sim", run=run, sut=reference_sut(), seed=1) as register,
    ):
        register.play(parse("a begin create\nb call get", BoundarySteps))
    (operation,) = [
        line
        for line in read_shard(run.folder / "shards" / "sim-0.jsonl")
        if line.get("type") == "info"
    ]
    assert operation["f"] == "create_log"
    assert not run.seal().complete


async def _broken(*_: object) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("lever", "gone"),
    [
        ("hold", {"hold", "step", "release"}),
        ("refuse", {"refuse", "heal"}),
        ("lose_replies", {"lose"}),
        ("kill", set()),  # clients are the lab's own
    ],
)
def test_without_a_lever_its_verbs_and_those_that_end_them_are_gone(
    tmp_path: Path, lever: str, gone: set[str]
) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim")
    with open_register("sim", run=run, sut=reference_sut(), seed=1) as register:
        before, levers = register.supports, register.deployment.levers
        levers.offered -= {lever}
        assert before - register.supports == gone


def test_every_verb_that_is_a_fault_names_one_of_the_nemesis() -> None:
    assert set(FAULTS.values()) <= set(NEMESIS_FAULTS)


@pytest.mark.parametrize("seed", range(3))
def test_a_generated_workload_plays_to_its_end(tmp_path: Path, seed: int) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim")
    with open_register("sim", run=run, sut=reference_sut(), seed=seed) as register:
        register.play(generate(seed, operations=150, verbs=register.supports))
    sealed = run.seal()
    assert sealed.complete
    assert not sealed.problems
