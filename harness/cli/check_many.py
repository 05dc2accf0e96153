"""`check` on a folder of runs, or on a prefix of an object store: every history gets its line.

Histories of ours are judged together (`spark_checkers.many`); runs of `certify` with their plans,
histories of others, and all of them if a model is asked for, one after the other on the same
engine. One that cannot be judged gets no verdict and keeps no other from one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.cli.check_one import (
    Asked,
    Found,
    check_one,
    found_by_rules,
    listed,
    rules_of,
    verdict_word,
)
from harness.cli.check_run import found_in_run, is_run
from harness.cli.grounds import ground_of
from harness.cli.judged_run import judge_again
from harness.cli.progress import Stage, plural
from harness.history import HistoryError
from harness.history.errors import no_room
from harness.history.sources import Source
from harness.rules import Rule
from harness.sut import LabError, UsageError
from reports import terminal
from spark_checkers.engine import Engine
from spark_checkers.evaluate import Progress
from spark_checkers.linearizability import LinearizabilityError
from spark_checkers.many import Outcome, judge_many
from spark_checkers.side_by_side import JudgingProfile

_MARKS = {False: "×", None: "?", True: "✓"}
_NAMED = 6


def check_many(
    sources: Sequence[Source], asked: Asked, engine: Engine, scratch: Path, stage: Stage
) -> Found:
    """What each history shows, under `histories`; `valid` is that of the worst."""
    histories: list[Found] = []
    with stage("judge") as line:
        for outcome in _outcomes(sources, asked, engine, scratch, line.progress):
            found = _found(outcome, asked, engine, scratch)
            histories.append({"name": outcome.source.name, **found})
        line.done(f"{_counted(histories)} on {engine.name}")
    valids = [found["valid"] for found in histories]
    return {"valid": next(valid for valid in _MARKS if valid in valids), "histories": histories}


def _outcomes(
    sources: Sequence[Source], asked: Asked, engine: Engine, scratch: Path, progress: Progress
) -> Iterator[Outcome]:
    if asked.model is not None or asked.ww_deps:
        return (Outcome(source=source) for source in sources)
    others = [source for source in sources if not _is_run(source)]
    judged = judge_many(others, ground_of, _rules_of, engine, scratch, progress=progress)
    return (Outcome(source=one) if _is_run(one) else next(judged) for one in sources)


def _is_run(source: Source) -> bool:
    """Whether it is a folder that `certify` made: then its plan and its hashes count."""
    try:
        return source.key is None and is_run(source.address)
    except HistoryError:
        return False


def _rules_of(ground: JudgingProfile) -> list[Rule]:
    return list(rules_of(ground.profiles))


def _found(outcome: Outcome, asked: Asked, engine: Engine, scratch: Path) -> Found:
    try:
        if outcome.unreadable:
            return _nothing(outcome.unreadable)
        if asked.model is None and not asked.ww_deps and _is_run(outcome.source):
            folder = Path(outcome.source.address)
            return found_in_run(judge_again(folder, engine))
        if outcome.judgement is None or outcome.ground is None:
            return check_one(outcome.source, asked, engine, scratch)
        profiles, operations = outcome.ground.profiles, outcome.operations
        found = found_by_rules(outcome.judgement, profiles, operations)
        return found | {"problems": listed([*outcome.notes, *found["problems"]])}
    except (HistoryError, LinearizabilityError, UsageError) as cause:
        if no_room(cause):
            raise
        return _nothing(str(cause))
    except LabError as cause:
        return _nothing(str(cause)) | {"broken": True}


def _nothing(reason: str) -> Found:
    return {
        "valid": None,
        "model": None,
        "ops": 0,
        "keys": 0,
        "anomalies": [],
        "problems": [reason],
        "damaged": False,
    }


def lines_of_many(found: Found) -> Iterator[str]:
    """A line for each history, all of them in one, and the command that shows more of the worst."""
    histories = found["histories"]
    for each in histories:
        told = f"{each['name']}  {verdict_word(each)}  {_told(each)}"
        yield from terminal.wrapped(f"{_MARKS[each['valid']]} ", told)
    how = f"{found['engine']} · {found['seconds']} s"
    yield f"{verdict_word(found)}  {_counted(histories)}, {how}"
    worst = next(each for each in histories if each["valid"] is found["valid"])
    if found["valid"] is not True:
        yield f"see {terminal.called_as()} check {worst['name']}"


def _told(found: Found) -> str:
    bad = [f"{a['type']} ×{a['count']}" for a in found["anomalies"] if a.get("bad", True)]
    more = [f"and {len(bad) - _NAMED} more"] if len(bad) > _NAMED else []
    open_ = found["unproven"] if found.get("unproven") and found["valid"] else ()
    unproven = [f"no proof of {len(open_)} of {plural(found['rules'], 'rule')}"] if open_ else []
    told = ", ".join([*bad[:_NAMED], *more, *unproven, *found["problems"][:1]])
    operations = plural(found["ops"], "operation")
    return f"{operations} · {told}" if told else operations


def _counted(histories: Sequence[Found]) -> str:
    counts = Counter(verdict_word(found).lower() for found in histories)
    kinds = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    return f"{len(histories)} histories: {kinds}"
