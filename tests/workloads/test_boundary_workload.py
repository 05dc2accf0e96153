"""Generated workloads: legal, reproducible, and regularly where it hurts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from recording import Line, read_shard

from conformance.register import open_register
from harness.history import Run
from harness.steps.order import ALL_VERBS, LAB
from harness.sut import UsageError, reference_sut
from harness.workloads import BoundarySteps, check_order, generate
from harness.workloads.boundary_text import partitions_of

SEEDS = 12
EXTERNAL_VERBS = frozenset({"call", "begin", "end", "kill", "pause", "resume", "lose"})


def test_the_same_seed_gives_the_same_steps_and_another_one_others() -> None:
    assert generate(5, operations=80) == generate(5, operations=80)
    assert generate(5, operations=80) != generate(6, operations=80)


@pytest.mark.parametrize("verbs", [ALL_VERBS, EXTERNAL_VERBS, frozenset({"call"})], ids=len)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_workload_is_legal_and_uses_only_the_verbs_it_may(
    seed: int, verbs: frozenset[str]
) -> None:
    steps = generate(seed, clients=4, partitions=2, operations=120, verbs=verbs)
    check_order(steps, BoundarySteps)
    assert {step.verb for step in steps} <= verbs - {"upgrade"}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_workload_leaves_nothing_open(seed: int) -> None:
    steps = generate(seed, clients=4, partitions=2, operations=120)
    verbs = Counter(step.verb for step in steps if step.actor != LAB)
    assert verbs["begin"] >= verbs["end"] > 0
    paused = {step.actor: step.verb for step in steps if step.verb in ("pause", "resume", "kill")}
    assert "pause" not in paused.values()
    outages = Counter(step.verb for step in steps if step.actor == LAB)
    assert outages["refuse"] == outages["heal"]
    assert outages["break"] == outages["mend"]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_partition_is_created_first_and_looked_at_last(seed: int) -> None:
    steps = generate(seed, clients=3, partitions=3, operations=40)
    created = [step.arguments["partition"] for step in steps if step.f == "create_log"][:3]
    assert created == [0, 1, 2]
    looked = [step.f for step in steps if step.f][-6:]
    assert looked == ["get_diskless_log_start_offset", "describe_producers"] * 3


def test_the_number_of_operations_is_what_was_asked_for() -> None:
    for operations in (0, 1, 50, 200):
        steps = generate(1, partitions=2, operations=operations)
        asked = sum(len(partitions_of(step)) for step in steps if step.f) - 2 - 4
        assert operations <= asked <= operations + 8  # a plot is played to its end


@pytest.mark.parametrize("seed", range(SEEDS))
def test_some_calls_ask_several_partitions_each_with_arguments_of_its_own(seed: int) -> None:
    steps = generate(seed, clients=3, partitions=3, operations=100)
    several = [partitions_of(step) for step in steps if len(partitions_of(step)) > 1]
    assert several
    for partitions in several:
        assert len({one["partition"] for one in partitions}) == len(partitions)


def test_calls_over_several_spare_the_partitions_that_are_spared_unknown_outcomes() -> None:
    for seed in range(SEEDS):
        open_calls: dict[str, list[object]] = {}
        for step in generate(seed, clients=4, partitions=2, operations=100):
            if step.f is not None:
                open_calls[step.actor] = [one["partition"] for one in partitions_of(step)]
            if step.verb in ("lose", "drop", "kill"):
                assert 1 not in open_calls[step.actor]


def test_unknown_outcomes_are_bounded_per_partition() -> None:
    steps = generate(3, clients=6, partitions=1, operations=600, unknowns=5)
    unknown = sum(step.verb in ("lose", "drop", "kill") for step in steps)
    assert 0 < unknown <= 5


@pytest.mark.parametrize("arguments", [{"clients": 0}, {"partitions": 0}, {"verbs": {"begin"}}])
def test_an_impossible_workload_is_a_usage_error(arguments) -> None:
    with pytest.raises(UsageError, match="a workload needs"):
        generate(1, **arguments)


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """In how many of the seeds each situation came up, on the reference."""
    counts: Counter[str] = Counter()
    for seed in range(SEEDS):
        folder = tmp_path_factory.mktemp("seed") / "run"
        run = Run.create(folder, run="1", sut="reference", world="sim", seed=seed)
        with open_register("sim", run=run, sut=reference_sut(), seed=seed) as register:
            register.play(
                generate(seed, clients=4, partitions=2, operations=100, verbs=register.supports)
            )
        counts.update(situations(read_shard(folder / "shards" / "sim-0.jsonl")))
    return counts


def situations(lines: list[Line]) -> set[str]:
    asked: dict[int, Line] = {}
    found = {f"landed {line['name']}" for line in lines if line.get("phase") == "landed"}
    for line in lines:
        if line["kind"] != "op":
            continue
        if line["type"] == "invoke":
            asked[line["process"]] = line
            continue
        ask, stored = asked[line["process"]], line.get("stored", {})
        name, error = line["f"].split("_")[0], line["error"]
        found.add(f"{name} {error}")
        if name == "initialize" and stored:
            epoch = ask["leader_epoch"]
            if error == "BOUNDARY_MISMATCH" and epoch >= stored["epoch"]:
                found.add("conflict at a higher epoch")
            if stored["reset_epoch"] >= 0 and error == "NONE":
                found.add("initialized again after a reset")
            if stored["boundary"] == -1 and stored["reset_epoch"] == epoch:
                found.add("equal epoch after a reset")
        if name == "set" and ask["boundary"] == -1:
            found.add(f"reset {error}")
    return found


@pytest.mark.parametrize(
    ("situation", "at_least"),
    [
        ("conflict at a higher epoch", 10),
        ("initialize FENCED_LEADER_EPOCH", 10),
        ("initialized again after a reset", 8),
        ("equal epoch after a reset", 5),
        ("reset NONE", 8),
        ("reset SUFFIX_NOT_EMPTY", 7),
        ("reset FENCED_LEADER_EPOCH", 5),
        ("initialize PRODUCER_STATE_MISMATCH", 4),
        ("seed PRODUCER_STATE_MISMATCH", 6),
        ("set BOUNDARY_MISMATCH", 6),
        ("register FENCED_LEADER_EPOCH", 5),
        ("commit NONE", 8),
        ("commit BOUNDARY_UNSET", 2),
        ("landed hold-request", 10),
        ("landed split-request", 6),
        ("landed lose-reply", 8),
        ("landed drop-request", 6),
        ("landed kill", 5),
        ("landed pause", 8),
        ("landed control-plane-refused", 3),
        ("landed control-plane-broken", 3),
        ("landed control-plane-disturbed", 2),
    ],
)
def test_the_situations_that_matter_come_up_regularly(
    reached: Counter[str], situation: str, at_least: int
) -> None:
    assert reached[situation] >= at_least


def test_a_deposed_leaders_request_arrives_late(tmp_path: Path) -> None:
    late = 0
    for seed in range(SEEDS):
        steps = generate(seed, clients=4, partitions=2, operations=100)
        held: dict[str, int] = {}
        newest: dict[object, int] = {}
        for step in steps:
            epoch = step.arguments.get("leader_epoch")
            if len(partitions_of(step)) > 1:
                continue
            if step.verb == "hold" and step.f == "initialize_diskless_migration":
                held[step.actor] = step.arguments["partition"], epoch
            elif step.verb == "release" and step.actor in held:
                partition, was = held.pop(step.actor)
                late += was < newest.get(partition, -1)
            elif isinstance(epoch, int) and step.f == "register_leader_epoch":
                partition = step.arguments["partition"]
                newest[partition] = max(epoch, newest.get(partition, -1))
    assert late >= SEEDS / 2
