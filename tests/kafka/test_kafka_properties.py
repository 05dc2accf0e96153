"""The checker and a second one, written as plain loops, say the same about any history."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from micro_histories import asked, checked, event
from naive_checker import Dependencies, Naive, lags

KEY = st.sampled_from(["x", "x", "x", "y"])
OFFSETS = st.integers(0, 6) | st.none()
# Mostly one value for each offset, as in a sound log; else there is nothing but conflicts.
PAIRS = st.integers(0, 6).map(lambda n: [n, n]) | st.tuples(OFFSETS, st.integers(0, 8)).map(list)


@st.composite
def micro_operation(draw: st.DrawFn) -> list[Any]:
    if draw(st.booleans()):
        offset, value = draw(PAIRS)
        return ["send", draw(KEY), value if offset is None else [offset, value]]
    polled = draw(st.dictionaries(KEY, st.lists(PAIRS, max_size=3)))
    return ["poll", polled] if draw(st.integers(0, 9)) else ["poll"]


@st.composite
def operation(draw: st.DrawFn) -> tuple[str, str, list[Any]]:
    outcome = draw(st.sampled_from(["ok", "ok", "ok", "info", "fail"]))
    if not draw(st.integers(0, 3)):
        f = draw(st.sampled_from(["assign", "subscribe"]))
        return outcome, f, draw(st.lists(KEY, unique=True))
    return outcome, "txn", draw(st.lists(micro_operation(), min_size=1, max_size=3))


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to three processes at work at the same time; each beginning and end in its turn."""
    turns = draw(st.lists(st.sampled_from([0, 0, 0, 1, 1, 2]), min_size=16, max_size=60))
    found: list[dict[str, Any]] = []
    open_: dict[int, tuple[str, str, list[Any]]] = {}
    for process in turns:
        if process in open_:
            outcome, f, value = open_.pop(process)
            told = event(process, outcome, f, value)
            if f == "txn" and draw(st.integers(0, 7)) == 0:
                told["rebalanced"] = [draw(KEY)]
            found.append(told)
        else:
            outcome, f, value = open_[process] = draw(operation())
            found.append(event(process, "invoke", f, asked(f, value)))
    return [one | {"index": at, "time": 10 * at} for at, one in enumerate(found)]


def canonical(cases: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(case, sort_keys=True) for case in cases)


@settings(max_examples=20)
@given(told=histories())
def test_the_anomalies_of_a_log_are_those_that_plain_loops_find(told: list[dict[str, Any]]) -> None:
    naive = Naive(told)
    found = checked(told)
    cases = {one["type"]: one["all"] for one in found["anomalies"] if "cycle" not in one["first"]}
    counts = {one["type"]: one["count"] for one in found["anomalies"]}
    cases.pop("empty-transaction-graph", None)
    unseen = cases.pop("unseen", [])

    left = [{"values": sum(case["unseen"].values())} for case in unseen]
    assert left == naive.found.pop("unseen", [])
    expected = {name: canonical(listed) for name, listed in naive.found.items()}
    assert {name: counts[name] for name in cases} == {n: len(c) for n, c in expected.items()}
    for name, listed in cases.items():
        assert set(canonical(listed)) <= set(expected[name])
        assert len(listed) == min(len(expected[name]), 32)


@settings(max_examples=20)
@given(told=histories())
def test_what_was_unseen_and_how_far_polls_lagged_is_what_plain_loops_find(
    told: list[dict[str, Any]],
) -> None:
    found = checked(told)

    shown = [{"time": p["time"], "unseen": p["unseen"]} for p in found["unseen-series"]]
    assert shown == Naive(told).series
    assert found["realtime-lag"] == lags(told)


KINDS = {
    "G0": ({"ww"}, {"ww"}, ()),
    "G1c": ({"ww", "wr"}, {"wr"}, ("G0",)),
    "G0-process": ({"ww", "process"}, {"process"}, ("G0",)),
    "G1c-process": ({"ww", "wr", "process"}, {"wr", "process"}, ("G0", "G1c", "G0-process")),
    "G0-realtime": ({"ww", "realtime"}, {"realtime"}, ("G0",)),
    "G1c-realtime": ({"ww", "wr", "realtime"}, {"wr", "realtime"}, ("G0", "G1c", "G0-realtime")),
}


@settings(max_examples=20)
@given(told=histories(), ww=st.booleans())
def test_the_cycles_of_a_history_exist_and_none_is_missed(
    told: list[dict[str, Any]], ww: bool
) -> None:
    dependencies = Dependencies(Naive(told), ww=ww)
    found = {one["type"]: one["all"] for one in checked(told, ww_deps=ww)["anomalies"]}

    for kind, (walks, needed, stronger) in KINDS.items():
        shortest = dependencies.shortest(walks, needed)
        cycles = found.get(kind, [])
        for case in cycles:
            steps = zip(case["steps"], case["cycle"], case["cycle"][1:], strict=False)
            assert {(s["type"], a, b) for s, a, b in steps} <= dependencies.edges
            assert needed <= {step["type"] for step in case["steps"]}
            assert len(set(case["cycle"])) == len(case["steps"])
        if not any(name in found for name in stronger):
            assert bool(cycles) == (shortest is not None)
            assert min((len(c["steps"]) for c in cycles), default=None) == shortest
