"""Whatever a correct cluster shows its clients, no rule about logs objects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from medleys import RULES, WIRE_RULES, judged, medley, violations
from shapes import MICRO_SHAPES, SEEDS, shapes

from harness.history import collect_tables, read_history
from harness.rules import Level
from spark_checkers.synthetic import MicroShape, Shape, simulate, simulate_micro

EVERYTHING = Shape(
    idempotent=2,
    plain=2,
    transactional=1,
    acks=(-1, 1, 0),
    readers=3,
    committed_readers=True,
    from_followers=True,
    shared_requests=True,
    group_members=2,
    listings=12,
    deletions=4,
    epoch_questions=3,
    elections=2,
    kills=1,
    cut_offs=1,
    retention=1,
    loss=0.1,
    old_records=6,
    log_start=10,
    tombstones=True,
)
BINDING = {rule.id for rule in RULES if rule.level is not Level.MAY}
# Several histories an example: judging one costs as much as judging ten. Without shrinking: what
# fails is one of them, which the message names by seed and shape.
SEVERAL = settings(max_examples=4, phases=(Phase.explicit, Phase.generate))


@SEVERAL
@given(st.lists(st.tuples(SEEDS, shapes()), min_size=10, max_size=14))
def test_no_rule_objects_to_a_correct_log(cases: list[tuple[int, Shape]]) -> None:
    found = violations([simulate(seed, shape) for seed, shape in cases])

    assert [one for one in zip(cases, found, strict=True) if one[1]] == []


@SEVERAL
@given(st.lists(st.tuples(SEEDS, MICRO_SHAPES), min_size=10, max_size=14))
def test_no_anomaly_is_seen_in_correct_sends_and_polls(cases: list[tuple[int, MicroShape]]) -> None:
    found = violations([simulate_micro(seed, shape) for seed, shape in cases], world="sim")

    seen = [{rule for rule in one if rule in BINDING} for one in found]
    assert [one for one in zip(cases, seen, strict=True) if one[1]] == []


@settings(SEVERAL, max_examples=2)
@given(st.lists(SEEDS, min_size=8, max_size=10))
def test_a_consumer_that_is_moved_by_its_group_is_no_anomaly(seeds: list[int]) -> None:
    shape = MicroShape(subscribe=True, transactions=True, loss=0.1)
    mixed = medley([simulate_micro(seed, shape) for seed in seeds])

    results = judged(mixed.events, world="sim", under=("subscribe",))

    levels = {rule.id: rule.level_under(("subscribe",)) for rule in RULES}
    assert [r for r in results if r.violations and levels[r.rule] is not Level.MAY] == []


@settings(max_examples=5)
@given(SEEDS, shapes())
def test_the_same_seed_gives_the_same_history(seed: int, shape: Shape) -> None:
    assert simulate(seed, shape).lines == simulate(seed, shape).lines


def test_a_history_survives_recording_and_sealing(tmp_path: Path) -> None:
    simulated = simulate(3, EVERYTHING)

    history = read_history(simulated.write(tmp_path / "run"))

    assert list(history.events) == simulated.events
    assert history.complete


def test_every_line_of_a_history_finds_its_tables() -> None:
    assert collect_tables(simulate(5, EVERYTHING).history()).problems == []
    assert collect_tables(simulate_micro(5, MicroShape(loss=0.3)).history()).problems == []


def test_a_few_histories_show_what_can_happen_to_a_request() -> None:
    """Without these the good histories would be good for little."""
    outcomes = Counter(
        (event["f"], event["type"], event.get("error"))
        for seed in range(8)
        for event in simulate(seed, EVERYTHING).events
        if event["kind"] == "op"
    )

    for f, type_, error in (
        ("produce", "ok", "NONE"),
        ("produce", "ok", None),
        ("produce", "info", None),
        ("produce", "info", "NOT_LEADER_OR_FOLLOWER"),
        ("produce", "fail", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        ("produce", "fail", "MESSAGE_TOO_LARGE"),
        ("fetch", "fail", "FENCED_LEADER_EPOCH"),
        ("fetch", "fail", "OFFSET_OUT_OF_RANGE"),
        ("fetch", "fail", "UNKNOWN_LEADER_EPOCH"),
        ("delete_records", "ok", "NONE"),
        ("offset_for_leader_epoch", "ok", "NONE"),
        ("offset_commit", "info", None),
        ("end_txn", "ok", "NONE"),
    ):
        assert outcomes[f, type_, error], (f, type_, error)


def test_every_rule_about_the_wire_is_exercised() -> None:
    mixed = medley([simulate(seed, EVERYTHING) for seed in range(8)])

    results = {result.rule: result.exercised for result in judged(mixed.events)}

    assert [rule.id for rule in WIRE_RULES if not results[rule.id]] == []
