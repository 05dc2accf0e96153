"""One or thousands of histories, judged together.

Histories are laid out by several processes, into one set of tables for all that are judged by the
same rules, and each rule is evaluated once for all of them. Every history gets the judgement that
it would have got alone; nothing of one can excuse, break or exercise a rule in another.

One that cannot stand beside others (`side_by_side` says which; also one in which cycles of
transactions have to be searched) is judged by itself; one that cannot be read is said to be so,
and keeps nobody else from a verdict. Tables are made, judged and removed for `AT_ONCE` histories at
a time, so neither disk nor memory grows with their number.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path

from harness.errors import UsageError
from harness.history import HistoryError
from harness.history.errors import no_room
from harness.history.sources import Source
from harness.rules import Cycles, Judgement, Rule
from spark_checkers.circumstances import circumstances_of
from spark_checkers.engine import Engine
from spark_checkers.evaluate import FINDINGS_KEPT, Progress, evaluate_each
from spark_checkers.judge_history import judge_history, judgement_of, load_tables
from spark_checkers.pace import Pace
from spark_checkers.places import HISTORY_OF_ROW
from spark_checkers.side_by_side import (
    Choose,
    JudgingProfile,
    LaidOutHistory,
    ground_folder,
    lay_out_batch,
    table_folder,
)

AT_ONCE = 2_000
_A_BATCH = 64
_SUBSCRIBED = f"SELECT DISTINCT {HISTORY_OF_ROW} AS history FROM assignments WHERE f = 'subscribe'"

RulesOf = Callable[[JudgingProfile], Sequence[Rule]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one history: a judgement, or why there is none.

    `notes` say why the history is not complete where no line of it is to blame.
    `judgement` is None for what could not be read (`unreadable`), and for what `choose` gave no
    ground: it is left to others.
    """

    source: Source
    ground: JudgingProfile | None = None
    judgement: Judgement | None = None
    operations: int = 0
    notes: tuple[str, ...] = ()
    unreadable: str = ""


def judge_many(
    sources: Sequence[Source],
    choose: Choose,
    rules_of: RulesOf,
    engine: Engine,
    scratch: Path,
    *,
    workers: int | None = None,
    kept: int = FINDINGS_KEPT,
    progress: Progress = lambda text: None,
) -> Iterator[Outcome]:
    """Judge each history by the rules of the ground that `choose` finds in it; in their order.

    `choose` is called in other processes unless there is one of the `workers` only, as many as
    there are cores unless told: it is a function of a module.
    """
    for start in range(0, len(sources), AT_ONCE):
        wave = sources[start : start + AT_ONCE]
        folder = scratch / f"together-{start}"
        folder.mkdir(parents=True)
        try:
            how = _Wave(folder, choose, rules_of, engine, kept, progress)
            yield from _judge_wave(how, wave, workers)
        finally:
            shutil.rmtree(folder)


@dataclass(frozen=True, slots=True)
class _Wave:
    """How histories are judged that are on disk at the same time, and where."""

    folder: Path
    choose: Choose
    rules_of: RulesOf
    engine: Engine
    kept: int
    progress: Progress


def _judge_wave(wave: _Wave, sources: Sequence[Source], workers: int | None) -> list[Outcome]:
    laid: list[LaidOutHistory] = []
    pace = Pace(wave.progress, "histories laid out")
    for batch in _lay_out(wave, list(enumerate(sources)), workers or os.cpu_count() or 1):
        laid += batch
        pace(len(laid), len(sources))
    grounds: dict[JudgingProfile, list[LaidOutHistory]] = {}
    outcomes: dict[int, Outcome] = {}
    for each in laid:
        if each.unreadable or each.ground is None:
            outcomes[each.number] = Outcome(source=each.source, unreadable=each.unreadable)
        else:
            grounds.setdefault(each.ground, []).append(each)
    for ground, members in sorted(grounds.items()):
        outcomes |= _judge_ground(wave, ground, members)
    return [outcomes[number] for number in sorted(outcomes)]


def _judge_ground(
    wave: _Wave, ground: JudgingProfile, members: Sequence[LaidOutHistory]
) -> dict[int, Outcome]:
    try:
        rules = wave.rules_of(ground)
    except UsageError as cause:
        return {m.number: Outcome(source=m.source, unreadable=str(cause)) for m in members}
    judges = [rule.judge_for(reference=ground.reference) for rule in rules]
    cycles = any(isinstance(judge, Cycles) for judge in judges)
    together: list[LaidOutHistory] = []
    found: dict[int, Outcome] = {}
    for each in members:
        if each.alone or (each.transacts and cycles):
            found[each.number] = _judge_alone(wave, ground, rules, each)
        else:
            together.append(each)
    for each, judgement in _judge_together(wave, ground, rules, together) if together else ():
        found[each.number] = Outcome(
            source=each.source,
            ground=ground,
            judgement=judgement,
            operations=each.operations,
            notes=each.notes,
        )
    return found


def _lay_out(
    wave: _Wave, numbered: Sequence[tuple[int, Source]], workers: int
) -> Iterator[list[LaidOutHistory]]:
    size = max(1, min(_A_BATCH, -(-len(numbered) // (2 * workers))))
    batches = [numbered[at : at + size] for at in range(0, len(numbered), size)]
    if workers == 1 or len(batches) == 1:
        for batch in batches:
            yield lay_out_batch(batch, wave.folder, wave.choose)
        return
    # Not forked: this process has threads, of the engine.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=workers, mp_context=context) as pool:
        yield from pool.map(lay_out_batch, batches, repeat(wave.folder), repeat(wave.choose))


def _judge_alone(
    wave: _Wave, ground: JudgingProfile, rules: Sequence[Rule], laid: LaidOutHistory
) -> Outcome:
    folder = wave.folder / f"alone-{laid.number}"
    try:
        with laid.source.opened(wave.folder) as history:
            judgement = judge_history(
                history,
                folder,
                rules,
                wave.engine,
                reference=ground.reference,
                kept=wave.kept,
                progress=wave.progress,
            )
    except HistoryError as cause:
        if no_room(cause):
            raise
        return Outcome(source=laid.source, unreadable=str(cause))
    wave.engine.load("ops", folder / "ops.parquet")
    operations = int(wave.engine.rows("SELECT count(*) AS ops FROM ops")[0]["ops"])
    return Outcome(
        source=laid.source,
        ground=ground,
        judgement=judgement,
        operations=operations,
        notes=tuple(history.notes),
    )


def _judge_together(
    wave: _Wave, ground: JudgingProfile, rules: Sequence[Rule], members: Sequence[LaidOutHistory]
) -> Iterator[tuple[LaidOutHistory, Judgement]]:
    engine = wave.engine
    path_of = partial(table_folder, ground_folder(wave.folder, ground))
    loaded = load_tables(engine, rules, path_of, reference=ground.reference)
    wave.progress(f"judging {len(members)} histories by {len(rules)} rules on {engine.name}")
    results = evaluate_each(
        engine,
        rules,
        [each.number for each in members],
        reference=ground.reference,
        kept=wave.kept,
        progress=wave.progress,
    )
    subscribed = engine.rows(_SUBSCRIBED) if "assignments" in loaded else []
    subscribers = {int(row["history"]) for row in subscribed}
    for each in members:
        under = circumstances_of(each.header, partial(subscribers.__contains__, each.number))
        yield (
            each,
            judgement_of(
                rules,
                results[each.number],
                circumstances=under,
                complete=each.complete,
                damaged=bool(each.problems),
                events=each.events,
                sha256=each.sha256,
                problems=each.problems,
            ),
        )
