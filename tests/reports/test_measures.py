"""What is aggregated adds up to what was recorded."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from harness.history import open_run
from reports.measures import load as load_module
from reports.measures.clocks import clocks_of
from reports.measures.lines import lines_at
from reports.measures.load import load_of


def test_buckets_and_lanes_count_every_operation_once(
    failing_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "MOST_LANES", 1)
    tables = open_run(failing_run).tables
    ops = tables["ops"]

    loads = load_of(tables, clocks_of(tables), failing_run / "history.jsonl")

    for clock, load in loads.items():
        count = int((ops.clock == clock).sum())
        assert sum(n for cell in load.rates.values() for n in cell.values()) == count
        for lanes in (load.brokers, load.clients):
            cells = [cell for lane in lanes for cell in lane.cells.values()]
            assert sum(n for cell in cells for n in cell.values()) == count
        assert len(load.clients) <= 2


def test_a_lane_is_called_as_the_client_is_and_clients_are_no_brokers(failing_run: Path) -> None:
    tables = open_run(failing_run).tables
    loads = load_of(tables, clocks_of(tables), failing_run / "history.jsonl")

    names = [(clock, lane.name) for clock, load in loads.items() for lane in load.clients]
    assert len(names) == len(set(names))
    named = {name for _, name in names}
    lines = (failing_run / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert named == {one["client"] for one in map(json.loads, lines) if "client" in one}
    assert not [lane for load in loads.values() for lane in load.brokers if "1000" in lane.name]


def test_a_client_has_one_lane_under_whatever_numbers_it_goes_on(
    campaign_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = open_run(campaign_run).tables
    lines = (campaign_run / "history.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [one for one in map(json.loads, lines) if one.get("type") == "invoke"]
    counts = Counter(one["client"] for one in asked)
    numbers = {one["client"]: set[int]() for one in asked}
    for one in asked:
        numbers[one["client"]].add(one["process"])
    assert any(len(several) > 1 for several in numbers.values())
    monkeypatch.setattr(load_module, "MOST_LANES", 5)

    (load,) = load_of(tables, clocks_of(tables), campaign_run / "history.jsonl").values()

    lanes = {
        lane.name: sum(n for cell in lane.cells.values() for n in cell.values())
        for lane in load.clients
    }
    others = lanes.pop("other clients")
    assert {name: counts[name] for name in lanes} == lanes
    assert sorted(lanes.values()) == sorted(counts.values())[-5:]
    assert others == sum(counts.values()) - sum(lanes.values())
    assert load.merged_clients == len(counts) - 5


def test_percentiles_lie_within_five_percent_of_the_exact_ones(failing_run: Path) -> None:
    tables = open_run(failing_run).tables
    ops = tables["ops"]
    ops["took_ms"] = (ops.completed_ns - ops.invoked_ns).astype("float64") / 1e6

    loads = load_of(tables, clocks_of(tables), failing_run / "history.jsonl")
    for clock, load in loads.items():
        exact = ops[ops.clock == clock].took_ms.max()
        highest = max(told[-1] for told in load.latencies_ms.values())
        assert highest == pytest.approx(exact, rel=0.05)


def test_lines_are_found_by_their_index(failing_run: Path) -> None:
    found = lines_at(failing_run / "history.jsonl", [21, 2])

    assert [found[index]["index"] for index in (2, 21)] == [2, 21]
    assert lines_at(failing_run / "history.jsonl", [10**6]) == {}
