"""The body of `check`: judge recorded histories, one or many, ours or somebody else's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from harness.cli.certify import open_chosen_engine
from harness.cli.check_many import check_many, lines_of_many
from harness.cli.check_one import Asked, Found, check_one, verdict_word
from harness.cli.check_run import check_run, is_run
from harness.cli.grounds import KAFKA, profile_models
from harness.cli.hidden import hiding_secrets_of
from harness.cli.progress import Stage, plural, print_document
from harness.cli.report import LOCAL, SMALL_BYTES
from harness.cli.runs import RUNS, find_run
from harness.errors import Stopped
from harness.history.sources import Source, find_sources
from harness.scratch import ScratchFolder
from harness.sut import UsageError
from reports import terminal
from spark_checkers.search_history import SEARCHED

__all__ = ["MODELS", "Asked", "engine_for", "find_history", "refuse_unknown_model", "run"]

MODELS = (*profile_models(), KAFKA, *SEARCHED)


def run(where: str, asked: Asked, *, as_json: bool) -> int:
    """0 valid, 1 not valid, 2 no verdict, 3 the lab is broken; of several histories the worst."""
    try:
        return _run(where, asked, as_json=as_json)
    except KeyboardInterrupt as stop:
        raise Stopped(
            f"stopped; what is recorded at {where} is as it was\n"
            f"`{terminal.called_as()} check {' '.join([where, *_options(asked)])}` begins again"
        ) from stop


def _options(asked: Asked) -> list[str]:
    """What was asked for, as it is written on the command line."""
    named = {"--model": asked.model, "--engine": asked.engine, "--master": asked.master}
    given = [word for name, value in named.items() if value is not None for word in (name, value)]
    given += ["--initial", asked.initial] if asked.initial != Asked().initial else []
    return [*map(quote, given), *(["--ww-deps"] if asked.ww_deps else [])]


def _run(where: str, asked: Asked, *, as_json: bool) -> int:
    started = time.monotonic()
    refuse_unknown_model(asked)
    place = _found_at(where)
    stage = Stage.for_people(as_json=as_json)
    if asked.model is None and not asked.ww_deps and is_run(place):
        return _run_folder(place, asked, stage, started, as_json=as_json)
    sources = find_sources(place)
    with ScratchFolder("check") as scratch:
        log = scratch / "spark.log"
        name = engine_for(sources, asked)
        engine = open_chosen_engine(name, master=asked.master or LOCAL, log=log)
        try:
            if not _is_one(sources, place):
                found = check_many(sources, asked, engine, scratch, stage)
            else:
                with stage.watched("judge") as progress:
                    found = check_one(
                        sources[0], asked, engine, scratch, say=stage.say, progress=progress
                    )
        finally:
            engine.close()
    found["engine"] = name
    found["seconds"] = round(time.monotonic() - started, 3)
    if as_json:
        print_document(found)
    for line in lines_of_many(found) if "histories" in found else _lines(found):
        stage.say(line)
    broken = any(each.get("broken") for each in found.get("histories", ()))
    return {True: 0, False: 1, None: 3 if broken else 2}[found["valid"]]


def _run_folder(place: str, asked: Asked, stage: Stage, started: float, *, as_json: bool) -> int:
    """A run of ours is judged as `certify` judged it, with the same exit code."""
    with hiding_secrets_of([Path(place)]):
        conclusion, found = check_run(place, stage, engine=asked.engine, master=asked.master)
        if as_json:
            found["seconds"] = round(time.monotonic() - started, 3)
            print_document(found)
    return conclusion.exit_code


def refuse_unknown_model(asked: Asked) -> None:
    """A model that nobody knows is a wrong option."""
    if asked.model is not None and asked.model not in MODELS:
        known = ", ".join(MODELS)
        raise UsageError(f"there is no model {asked.model!r} to check with; known: {known}")


def engine_for(sources: Sequence[Source], asked: Asked) -> str:
    """Both engines find the same; Spark takes seconds to begin, and then takes anything."""
    if asked.engine is not None:
        return asked.engine
    size = _bytes_of(sources)
    small = size is not None and size <= SMALL_BYTES
    return "inline" if small and asked.master is None else "spark"


def _bytes_of(sources: Sequence[Source]) -> int | None:
    """How much there is to judge, if all of it is on disk."""
    sizes = [source.bytes_on_disk for source in sources]
    return None if None in sizes else sum(size or 0 for size in sizes)


def find_history(where: str) -> Source:
    """The one history there; a folder of several is a wrong argument."""
    place = _found_at(where)
    sources = find_sources(place)
    if not _is_one(sources, place):
        names = ", ".join(source.name for source in sources[:3])
        raise UsageError(f"{where} is no history but a place that holds some: choose from {names}")
    return sources[0]


def _is_one(sources: Sequence[Source], place: str) -> bool:
    """Whether the place is a history itself, and no folder of them."""
    return len(sources) == 1 and sources[0].name == place.partition("?")[0].rstrip("/")


def _found_at(where: str) -> str:
    """Where it is: an address as it stands, a path, else a run by its number."""
    if "://" in where:
        return where
    if Path(where).exists():
        return str(Path(where))
    if not (RUNS / where).is_dir():
        raise UsageError(f"there is no history and no run at {where}")
    return str(find_run(where))


def _lines(found: Found) -> list[str]:
    lines = []
    for anomaly in () if "rules" in found else found["anomalies"]:
        first = anomaly["first"]
        where = f", first at op {first['op']}" if "why" in first else f"  {anomaly['rule']}"
        mark = "?" if found["damaged"] else "×" if anomaly.get("bad", True) else "·"
        allowed = "" if anomaly.get("bad", True) else ", allowed in this history"
        seen = ", seen in a damaged history" if found["damaged"] else allowed
        lines.append(f"{mark} {anomaly['type']} ×{anomaly['count']}{where}{seen}")
        for line in str(first.get("why", anomaly.get("why"))).splitlines():
            lines += terminal.wrapped("    ", line)
    for problem in found["problems"]:
        lines += terminal.wrapped("damaged    " if found["damaged"] else "incomplete ", problem)
    if found.get("unproven"):
        lines += terminal.wrapped("no proof   ", " ".join(found["unproven"]))
    if found["ignored"]:
        lines.append(f"ignored    {plural(found['ignored'], 'line')} without an operation")
    how = f"model {found['model']}, {found['engine']} · {found['seconds']} s"
    what = f"{plural(found['ops'], 'operation')}, {_judged_by(found)}"
    return [*lines, f"{verdict_word(found)}  {what}, {how}"]


def _judged_by(found: Found) -> str:
    """How much a history was held to: keys, or so many of the rules that it calls for."""
    if "rules" not in found:
        return plural(found["keys"], "key")
    unproven = len(found["unproven"])
    told = f"{found['rules'] - unproven} of {plural(found['rules'], 'rule')}"
    return f"{told} (no proof of {unproven})" if unproven else told
