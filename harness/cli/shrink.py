"""The body of `shrink`: of one history the least that still shows a finding, as a history again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from conformance.catalogue.kafka import jepsen
from harness.cli.check import find_history, refuse_unknown_model
from harness.cli.check_one import Asked, Found, check_one, initial_value, rules_of
from harness.cli.grounds import KAFKA, called_for, profile_models
from harness.cli.hidden import hiding_secrets_of
from harness.cli.progress import Stage, plural, print_document
from harness.cli.runs import judged_document
from harness.history import History, ShardWriter
from harness.history.errors import HistoryError
from harness.history.seal import seal_shards
from harness.rules import Verdict
from harness.scratch import ScratchFolder
from harness.sut import UsageError
from reports import terminal
from spark_checkers.circumstances import WW_DEPS
from spark_checkers.engine import Engine, InlineEngine
from spark_checkers.shrink import WAS, Shrunk, shrink
from spark_checkers.shrink_findings import (
    excuses_of,
    findings_of,
    kinds_found,
    shows_finding,
    shows_unplaceable,
)

MOST_EVENTS = 200_000
_SHOWN = 60
_HEAD = ("kind", "index", "time", "clock", "process", "type", "f", WAS)


def run(
    where: str, asked: Asked, *, finding: str | None, budget: int, out: Path | None, as_json: bool
) -> int:
    """0: it is written; a history without a finding is a usage error."""
    refuse_unknown_model(asked)
    source = find_history(where)
    target = out or Path(f"{Path(source.name).stem}.shrunk.jsonl")
    if target.exists() and target.resolve() == Path(source.address).resolve():
        raise UsageError(f"{target} is the history itself: choose another --out")
    stage = Stage.for_people(as_json=as_json)
    with ScratchFolder("shrink") as scratch:
        engine = InlineEngine()
        try:
            found = check_one(source, asked, engine, scratch)
            anomaly = _chosen(found, finding, source.name, _failed(Path(source.address)))
            with source.opened(scratch) as history, stage("shrink") as line:
                _refuse_if_too_long(history)
                shrunk = _shrink(history, found, anomaly, asked, engine, scratch, budget, line)
                line.done(_told(shrunk))
                header = {**history.header, "shrunk_from": source.name}
            _write(header, shrunk, scratch, target)
        finally:
            engine.close()
    repeat = _repeat(target, asked, found["model"])
    with hiding_secrets_of([Path(source.address)]):
        for text in [*_lines(shrunk, anomaly["type"]), f"repeat  {repeat}"]:
            stage.say(text)
        if as_json:
            print_document(_document(shrunk, anomaly, target, repeat))
    return 0


def _failed(folder: Path) -> list[str]:
    """The rules that a judged run failed; nothing for any other history."""
    with suppress(HistoryError, UsageError, OSError):
        told = judged_document(folder)["rules"]
        return [one["id"] for one in told if one["verdict"] == Verdict.FAIL.value]
    return []


def _chosen(
    found: Found, finding: str | None, name: str, failed: Collection[str]
) -> dict[str, Any]:
    """The anomaly asked for by its name or rule; else what the run failed; else the first bad."""
    shown = [one for one in found["anomalies"] if one["type"] != "search-budget-exhausted"]
    if finding is None and (own := [one for one in shown if one.get("rule") in failed]):
        return dict(own[0])
    for one in shown:
        if finding in (one["type"], one.get("rule")) or (finding is None and one.get("bad", True)):
            return dict(one)
    known = ", ".join(dict.fromkeys(one["type"] for one in shown)) or "nothing"
    asked = "no bad finding" if finding is None else f"no finding {finding}"
    raise UsageError(f"{name} shows {asked} that could be shrunk; what it shows: {known}")


def _refuse_if_too_long(history: History) -> None:
    events = sum(1 for _ in history.events)
    if events > MOST_EVENTS:
        raise UsageError(
            f"{history.name} has {events} events; shrinking holds a history in memory and tries "
            f"parts of it over and over, so it takes at most {MOST_EVENTS}. Cut it first"
        )


def _shrink(
    history: History,
    found: Found,
    anomaly: Mapping[str, Any],
    asked: Asked,
    engine: Engine,
    scratch: Path,
    budget: int,
    line: Any,
) -> Shrunk:
    if "rule" not in anomaly:
        shows = shows_unplaceable(
            anomaly["first"]["op"], found["model"], initial_value(asked.initial)
        )
        return shrink(history, shows, budget=budget, progress=line.progress)
    rule = CATALOGUE[anomaly["rule"]]
    under = (WW_DEPS,) if asked.ww_deps else ()
    called = asked.model or called_for(history)
    rules = jepsen.RULES if called == KAFKA else rules_of(_profiles(called))
    first = findings_of(history, rule, engine, scratch, under)[0]
    return shrink(
        history,
        shows_finding(rule, first, engine, scratch, under),
        budget=budget,
        stays=excuses_of(rule),
        kinds=lambda part: kinds_found(part, rules, engine, scratch, under),
        progress=line.progress,
    )


def _profiles(called: str | Sequence[str]) -> Sequence[str]:
    return profile_models()[called] if isinstance(called, str) else called


def _write(header: dict[str, Any], shrunk: Shrunk, scratch: Path, target: Path) -> None:
    """One shard keeps its order; sealing makes a whole history of it."""
    shards = scratch / "shards"
    shards.mkdir()
    with ShardWriter(shards / "shrunk.jsonl", clock="shrunk") as shard:
        for event in shrunk.events:
            shard.write({name: value for name, value in event.items() if name != "index"})
    seal_shards(shards, header, target)


def _told(shrunk: Shrunk) -> str:
    operations = f"{shrunk.operations} of {plural(shrunk.operations_before, 'operation')}"
    return f"{operations} left after {plural(shrunk.trials, 'trial')}"


def _lines(shrunk: Shrunk, finding: str) -> Iterator[str]:
    for event in shrunk.events[:_SHOWN]:
        yield from terminal.wrapped(f"{event[WAS]:>8}  ", _event(event))
    if len(shrunk.events) > _SHOWN:
        yield f"          and {plural(len(shrunk.events) - _SHOWN, 'more event')}"
    end = "nothing of it can be left out" if shrunk.minimal else "the budget ran out: try --budget"
    yield f"SHRUNK  {finding} in {plural(shrunk.operations, 'operation')}; {end}"


def _event(event: Mapping[str, Any]) -> str:
    """An event in a line: who, what, and all that it says beside."""
    said = {name: value for name, value in event.items() if name not in _HEAD}
    if event["kind"] != "op":
        return f"{event['kind']} {_json(said)}"
    value = _json(said.pop("value")) if "value" in said else ""
    more = _json(said) if said else ""
    return " ".join(filter(None, (str(event["process"]), event["type"], event["f"], value, more)))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _repeat(target: Path, asked: Asked, model: str) -> str:
    words = [terminal.called_as(), "check", str(target)]
    if asked.model is not None:
        words += ["--model", model]
    if asked.initial != "nil":
        words += ["--initial", asked.initial]
    return shlex.join([*words, *(["--ww-deps"] if asked.ww_deps else [])])


def _document(
    shrunk: Shrunk, anomaly: Mapping[str, Any], target: Path, repeat: str
) -> dict[str, Any]:
    return {
        "finding": anomaly["type"],
        "rule": anomaly.get("rule"),
        "operations": shrunk.operations,
        "operations_before": shrunk.operations_before,
        "trials": shrunk.trials,
        "minimal": shrunk.minimal,
        "file": str(target),
        "events": list(shrunk.events),
        "repeat": repeat,
    }
