"""Jepsen's console: operations among the chatter of a run.

    INFO  jepsen.util - 0	:invoke	:read	nil
    12:00:00,000{GMT}	INFO	[worker 3] jepsen.util: 3	:info	:cas	[1 2]	:timed-out

An operation is `process :type :f value`, with an optional error behind, at the end of a line; tabs
or spaces are between them, and the value is EDN. Lines without that shape are not operations: they
are counted (`History.ignored`) and nothing else. One with that shape whose value cannot be read is
a problem; so is a last line without its end that might have become an operation.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import HistoryUnreadable
from ..files import open_regular
from ..history import History, Pass
from ..lines import MAX_LINE_BYTES, BadLine, Event, LineFeed
from .edn import read_form, skip
from .neutral import Neutral, header

_CUT = re.compile(r"\s(?:\d++|:\S++)[\t ]++:[a-z]*+(?:[\t ]++(?::\S*+)?)?$")
_OP = re.compile(
    r"(?:^|\s)(\d++|:\S++)[\t ]++:(invoke|ok|fail|info)[\t ]++:(\S++)[\t ]++(\S.*)$", re.DOTALL
)


def looks_like_operation(line: str) -> bool:
    """Whether a line has the shape of an operation, whatever its value."""
    return _OP.search(line) is not None


def import_jepsen_console(path: Path) -> History:
    """The history in a console log."""

    def source(passed: Pass) -> Iterator[Event]:
        try:
            with open_regular(path, buffering=0) as file:
                yield from _events(LineFeed(file), passed)
        except OSError as cause:
            raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause

    return History(name=str(path), header=header(path.stem, "jepsen-console"), source=source)


def _events(feed: LineFeed, passed: Pass) -> Iterator[Event]:
    neutral = Neutral()
    operations = 0
    for number, (raw, _, whole) in enumerate(feed, start=1):
        if len(raw) > MAX_LINE_BYTES:
            passed.log.add(number, f"longer than {MAX_LINE_BYTES} bytes")
            continue
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        text = raw.decode("utf-8", "surrogateescape").rstrip("\r")
        found = _OP.search(text)
        if found is None:
            if not whole and _CUT.search(text):
                passed.log.add(number, "the file was cut inside an operation")
            passed.ignored += 1
            continue
        operations += 1
        try:
            yield neutral.event(_operation(*found.groups()))
        except BadLine as cause:
            passed.log.add(number, str(cause))
    if not operations:
        passed.log.add(0, "no line of the file is an operation")
    passed.ended = True


def _operation(process: str, kind: str, f: str, rest: str) -> dict[str, Any]:
    op: dict[str, Any] = {"type": kind, "f": read_form(f, 0)[0]}
    op["process"] = read_form(process, 0)[0]
    op["value"], end = read_form(rest, 0)
    end = skip(rest, end)
    if end < len(rest):
        op["error"], _ = read_form(rest, end)
    return op
