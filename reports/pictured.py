"""Everything the pictures of a run need, measured once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.history.frames import Frames, open_run
from harness.history.run import HISTORY_FILE
from harness.rules import LEGAL_PREFIX, Conclusion, Finding, Verdict
from reports.measures.around import Slice, Surroundings, slice_around, slices_around
from reports.measures.clocks import Clock, clocks_of
from reports.measures.events import FaultWindow, LeaderChange, fault_windows, leader_changes
from reports.measures.load import ClockLoad, load_of
from reports.measures.offsets import PartitionOffsets, busiest_partitions, offsets_of
from reports.pictures.overview import Mark
from reports.terminal import called_as
from reports.view import RunView

OPEN = (Verdict.FAIL, Verdict.BROKEN, Verdict.NO_PROOF, Verdict.WEAK)
"""What is told in full, worst first; everything else is folded."""
SHOWN_PER_RULE = 3
MOST_SLICES = 60
"""A page of a megabyte or two. The first finding of each rule comes before any second one."""
WHOLE_OPERATIONS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictured:
    """A run, measured. `slices` are by the operation of a finding.

    `there` are the operations of findings that are in the run: `around` shows them, drawn or not.
    """

    clocks: Mapping[str, Clock]
    loads: Mapping[str, ClockLoad]
    faults: tuple[FaultWindow, ...]
    leaders: tuple[LeaderChange, ...]
    marks: Mapping[str, tuple[Mark, ...]]
    offsets: Mapping[str, PartitionOffsets]
    slices: Mapping[int, Slice]
    everything: tuple[Slice, ...]
    there: frozenset[int]
    around: str


def surroundings_of(view: RunView, tables: Frames) -> Surroundings:
    """The run as slices need it."""
    return Surroundings(
        tables=tables,
        history=view.folder / HISTORY_FILE,
        clocks=clocks_of(tables),
        faults=fault_windows(tables),
        leaders=leader_changes(tables),
    )


def pictured(view: RunView) -> Pictured:
    """Measure the tables of a run folder."""
    tables = open_run(view.folder).tables
    run = surroundings_of(view, tables)
    findings = shown_findings(view.conclusion)
    slices = slices_of(run, view.conclusion)
    whole = sum(clock.operations for clock in run.clocks.values()) <= WHOLE_OPERATIONS
    everything = tuple(_everything(run)) if whole else ()
    return Pictured(
        clocks=run.clocks,
        loads=load_of(tables, run.clocks, run.history),
        faults=tuple(run.faults),
        leaders=tuple(run.leaders),
        marks=_marks(tables, findings, _drawn((*slices.values(), *everything))),
        offsets=_offsets(run, findings, slices),
        slices=slices,
        everything=everything,
        there=_there(tables, findings),
        around=f"{called_as()} report {view.called} --around",
    )


def shown_findings(conclusion: Conclusion) -> list[Finding]:
    """The findings that are shown: the first of each rule that did not pass."""
    return [
        finding
        for one in conclusion.judgement.judged
        if one.verdict in OPEN
        for finding in one.result.findings[:SHOWN_PER_RULE]
    ]


def slices_of(run: Surroundings, conclusion: Conclusion) -> dict[int, Slice]:
    """The slices around the findings that are shown; of very many those that are open at first."""
    wanted: dict[int, list[int]] = {}
    places = dict[str, int]()
    order = []
    for finding in shown_findings(conclusion):
        places[finding.rule] = places.get(finding.rule, -1) + 1
        order.append((places[finding.rule], finding))
    for _, finding in sorted(order, key=lambda one: one[0]):
        if finding.op in wanted or len(wanted) < MOST_SLICES:
            prefix = finding.shown.get(LEGAL_PREFIX)
            also = wanted.setdefault(finding.op, [])
            also += [int(op) for op in prefix] if isinstance(prefix, list) else []
    return slices_around(run, wanted)


def _drawn(slices: Iterable[Slice]) -> frozenset[int]:
    return frozenset(operation.op for one in slices for operation in one.operations)


def _there(tables: Frames, findings: Iterable[Finding]) -> frozenset[int]:
    wanted = [one.op for one in findings]
    if not wanted:
        return frozenset()
    return frozenset(map(int, tables.read("ops", ["op"], [("op", "in", wanted)]).op))


def _marks(
    tables: Frames, findings: Iterable[Finding], drawn: frozenset[int]
) -> dict[str, tuple[Mark, ...]]:
    """Where findings stand in the pictures of their clocks."""
    listed = [one for one in findings if one.at_s is not None]
    wanted = [one.op for one in listed]
    if not wanted:
        return {}
    clocks = tables.read("ops", ["op", "clock"], [("op", "in", wanted)])
    clock_of = {int(op): str(clock) for op, clock in zip(clocks.op, clocks.clock, strict=True)}
    marks: dict[str, tuple[Mark, ...]] = {}
    for one in listed:
        anchor = f"op-{one.op}" if one.op in drawn else f"rule-{one.rule}"
        mark = Mark(at_s=float(one.at_s or 0), rule=one.rule, op=one.op, anchor=anchor)
        if (clock := clock_of.get(one.op)) is not None:
            marks[clock] = (*marks.get(clock, ()), mark)
    return marks


def _offsets(
    run: Surroundings, findings: Iterable[Finding], slices: Mapping[int, Slice]
) -> dict[str, PartitionOffsets]:
    """Of each clock one partition: that of its first finding, else the busiest."""
    chosen: dict[str, tuple[str, int]] = {}
    for finding in findings:
        if finding.op in slices and finding.topic is not None and finding.partition is not None:
            place = (finding.topic, finding.partition)
            chosen.setdefault(slices[finding.op].clock.name, place)
    chosen = {**busiest_partitions(run.tables), **chosen}
    return {
        name: offsets_of(run.tables, run.clocks[name], topic, partition)
        for name, (topic, partition) in chosen.items()
        if name in run.clocks
    }


def _everything(run: Surroundings) -> Iterable[Slice]:
    """The whole of a small run, a slice a clock."""
    for name, clock in run.clocks.items():
        first = run.tables.read("ops", ["op"], [("clock", "==", name)]).op.min()
        made = slice_around(run, int(first), partition_only=False, before=0, after=clock.operations)
        if made is not None:
            yield made
