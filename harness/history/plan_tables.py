"""Tables of what a run set out to do, and of what it left out."""

from __future__ import annotations

from typing import Final

from .lines import Event, canonical
from .sends import Row

PLAN_TABLES: Final[dict[str, tuple[str, str]]] = {
    "plans": (
        "plan line: what the run set out to do",
        """
index   bigint  index of the line
clock   string  the time domain
happened  bigint  when, in order units
time    bigint  when, by the clock
detail  string  the whole line as JSON text
""",
    ),
    "skips": (
        "skip line: something planned or claimed that was not run",
        """
index   bigint  index of the line
clock   string  the time domain
happened  bigint  when, in order units
time    bigint  when, by the clock
what    string  part or profile
skipped string  its name
reason  string  why it was not run
""",
    ),
}


def plan_row(event: Event) -> Row:
    """A plan line; it is read whole by the judge."""
    return {"index": event["index"], "detail": canonical(event)}


def skip_row(event: Event) -> Row:
    """A skip line."""
    told = {"what": event["what"], "skipped": event["name"], "reason": event["reason"]}
    return {"index": event["index"], **told}
