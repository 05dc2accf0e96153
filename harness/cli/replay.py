"""The body of `replay`: a run once more.

What `certify` recorded is repeated as its header says. What a trial recorded is played
again step by step, and must give the same history byte for byte as long as the code is the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from harness.cli import campaign, certify
from harness.cli.progress import plural, print_document, printable
from harness.cli.runs import find_run
from harness.errors import UsageError
from harness.history.run import Run
from harness.steps.program import program_of
from harness.steps.replay import Replayed, replay
from reports.terminal import called_as, wrapped

_SHOWN = 8


def run(
    name: str,
    *,
    rules: Sequence[str],
    engine: str | None,
    until_op: int | None,
    as_json: bool,
) -> int:
    """The exit code of the run; of a machine's: 0 clean now, 1 found again, 2 stopped before."""
    folder = find_run(name)
    header = Run.open(folder).header
    if "machine" in header:
        if rules or engine:
            raise UsageError(
                f"run {name} was judged by its trial; --rule and --engine mean nothing"
            )
        return _step_by_step(
            folder, header, until_op, sys.stderr if as_json else sys.stdout, as_json
        )
    if until_op is not None:
        raise UsageError("only a run of a trial can be stopped with --until-op")
    if campaign.CAMPAIGN in (header.get("options") or {}):
        return campaign.replay(header, engine=engine, as_json=as_json)
    return certify.replay(name, header, rules=rules, engine=engine, as_json=as_json)


def _step_by_step(
    folder: Path, header: dict[str, Any], until_op: int | None, out: TextIO, as_json: bool
) -> int:
    replayed = replay(folder, until_op=until_op)
    lines = [
        f"{header['machine']} · seed {header['seed']}{_mutants(header)}",
        *(f"    {line}" for line in program_of(folder)),
        *(_stopped(replayed) if replayed.waiting else _ended(replayed, folder)),
    ]
    for line in "\n".join(lines).split("\n"):
        print(printable(line), file=out)
    if as_json:
        print_document(_told(replayed))
    return 2 if replayed.waiting else 0 if replayed.problem is None else 1


def _told(replayed: Replayed) -> dict[str, Any]:
    return {
        "stopped": bool(replayed.waiting),
        "same": replayed.differs_at is None,
        "findings": [*replayed.findings],
        "problem": None if replayed.problem is None else repr(replayed.problem),
    }


def _found(finding: str) -> list[str]:
    opening, *more = finding.splitlines()
    hanging = [line for text in more for line in wrapped("       ", text)]
    return [*wrapped("FOUND  ", opening), *hanging]


def _ended(replayed: Replayed, folder: Path) -> list[str]:
    if replayed.problem is None:
        return [_same(replayed), f"CLEAN  nothing is found in it any more  {folder}/"]
    found = replayed.findings or [repr(replayed.problem)]
    return [
        _same(replayed),
        *(line for one in found for line in _found(one)),
        f"repeat  {called_as()} replay {folder}",
    ]


def _mutants(header: dict[str, Any]) -> str:
    names = [str(one).rpartition(":")[2] for one in header.get("mutants") or ()]
    return "".join(f" · mutant {name!r}" for name in names)


def _stopped(replayed: Replayed) -> list[str]:
    return [*(line.decode() for line in replayed.lines[-_SHOWN:]), replayed.waiting]


def _same(replayed: Replayed) -> str:
    events = len(replayed.before) - 2
    place = replayed.differs_at
    if place is None:
        return f"SAME   {plural(events, 'event')}, byte for byte"
    was = replayed.before[place].decode() if place < len(replayed.before) else "nothing more"
    now = replayed.lines[place].decode()
    return f"OTHER  differs from event {place - 1} on\n  was {was}\n  now {now}"
