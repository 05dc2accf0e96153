"""Cases of a rule, and which of them are judged.

A case that touches a window in which an assumption of the rule is broken is left out; so is one
whose evidence lies on both sides of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from tests.naive.logs import Log, Timed, Window


@dataclass(slots=True)
class Case:
    """One thing a rule is about: the operation to blame, whether it holds, what it rests on."""

    op: int
    holds: bool
    over: tuple[Timed, ...]


Check = Callable[[Log], Iterable[Case]]


@dataclass(slots=True)
class Found:
    """What a rule found in a history: how many cases, and the operations that break it."""

    exercised: int = 0
    violating: list[int] = field(default_factory=list)


def excused(case: Case, windows: list[Window], assumes: Collection[str]) -> bool:
    """Whether a window that breaks an assumption touches the time the case spans."""
    if not case.over:
        return False
    began = min(one.began for one in case.over)
    ends = [one.ended for one in case.over if one.ended is not None]
    for window in windows:
        if window.assumption is None or window.assumption not in assumes:
            continue
        if window.clock == case.over[0].clock:
            over_before = bool(ends) and max(ends) < window.since
            begun_after = window.until is not None and began > window.until
            if not over_before and not begun_after:
                return True
    return False


def judged(check: Check, logs: Iterable[Log], assumes: Collection[str]) -> Found:
    """Every case of a rule in every partition."""
    found = Found()
    for log in logs:
        for case in check(log):
            if excused(case, log.windows, assumes):
                continue
            found.exercised += 1
            if not case.holds and case.op not in found.violating:
                found.violating.append(case.op)
    found.violating.sort()
    return found
