"""The smallest sub-history that still shows a finding.

A history is a bag of *units*, each of which can be left out: an operation with its completion, a
fault from its begin to its end, one effect, one probe. What is left out never happened. Delta
debugging (Zeller's ddmin) takes units away as long as the finding stays: first everything that is
no operation, then whole keys, then whole processes, then operations one by one. The order of what
is left never changes.

A value that is read keeps the operations that may have written it. Otherwise every stale read would
shrink to a read of something nobody wrote, which is another finding. One poll of sixty values would
so keep sixty sends: last, a value goes from every answer together with its sender. That changes
what operations were told, so it counts only if the history shows no kind of anomaly that it did not
show before.

What is promised: the finding is still there, and no single unit, and no value with its sender, can
be left out without losing it, unless the budget of trials ran out first. That is not the least
possible history, which would take a search over all subsets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.history import History, history_of
from harness.minimise import minimise
from spark_checkers.shrink_sources import Writers, Written, untold

Event = dict[str, Any]
Unit = tuple[Event, ...]

WAS = "was"  # the field that keeps the index an event had in the whole history


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What is left of a history, how much there was, and what it took."""

    events: tuple[Event, ...]
    operations: int
    operations_before: int
    trials: int
    minimal: bool  # False if the budget ran out before every unit was tried


class _BudgetSpent(Exception):
    """No more trials."""


def shrink(
    history: History,
    shows: Callable[[History], bool],
    *,
    budget: int = 2000,
    stays: Callable[[Event], bool] = lambda event: False,
    kinds: Callable[[History], Collection[str]] | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Shrunk:
    """Take away whatever the finding does not need; `shows` says whether a history has it.

    Events keep their index while it is asked. Units with an event that `stays` are not taken away.
    `kinds` tells which anomalies a history shows; without it answers stay as they are.
    """
    units = units_of(history.events)
    trial = _Trial(units, dict(history.header), shows, budget, stays, progress)
    places, minimal = [*range(len(units))], True
    try:
        for grouped in (_all_but_operations, _by_key, _by_process, _singly):
            places = trial.without_groups(places, grouped)
        if kinds is not None and trial.without_values(places, kinds):
            places = trial.without_groups(trial.smallest, _singly)
    except _BudgetSpent:
        places, minimal = trial.go_back(), False
    return Shrunk(
        events=tuple(
            {**event, "index": place, WAS: event["index"]}
            for place, event in enumerate(trial.events(places))
        ),
        operations=trial.operations(places),
        operations_before=trial.operations(range(len(units))),
        trials=trial.count,
        minimal=minimal,
    )


def units_of(events: Iterable[Event]) -> list[Unit]:
    """Events as units, in the order in which the units began."""
    units: list[list[Event]] = []
    open_: dict[Hashable, list[Event]] = {}
    for event in events:
        key = _continues(event)
        if key is not None and key in open_ and not _begins(event):
            open_[key].append(event)
            continue
        unit = [dict(event)]
        units.append(unit)
        if key is not None:
            open_[key] = unit
    return [tuple(unit) for unit in units]


class _Trial:
    """Tries some of the units, and remembers the fewest that still show the finding."""

    def __init__(
        self,
        units: Sequence[Unit],
        header: Event,
        shows: Callable[[History], bool],
        budget: int,
        stays: Callable[[Event], bool],
        progress: Callable[[str], None],
    ) -> None:
        self.count = 0
        self.smallest = [*range(len(units))]
        self._units = units
        self._writers = Writers(units)
        self._header = header
        self._shows = shows
        self._budget = budget
        self._stays = stays
        self._progress = progress
        self._dropped: frozenset[Written] = frozenset()  # of what is tried
        self._untold: frozenset[Written] = frozenset()  # of the smallest

    def go_back(self) -> list[int]:
        """To the smallest, from whatever was tried last."""
        self._dropped = self._untold
        return self.smallest

    def without_groups(
        self, places: Sequence[int], grouped: Callable[[Unit], Hashable]
    ) -> list[int]:
        """Leave out whole groups of units; a group of None is kept."""
        groups: dict[Hashable, list[int]] = {}
        for place in places:
            unit = self._units[place]
            name = None if any(map(self._stays, unit)) else grouped(unit)
            groups.setdefault(name, []).append(place)
        kept_anyway = groups.pop(None, [])

        def chosen(parts: list[list[int]]) -> list[int]:
            kept = {*kept_anyway, *(place for part in parts for place in part)}
            return sorted(self._writers.with_sources(kept, self._dropped))

        return chosen(minimise([*groups.values()], lambda parts: self._still(chosen(parts))))

    def without_values(
        self, places: Sequence[int], kinds: Callable[[History], Collection[str]]
    ) -> bool:
        """Leave values out of what was read, each with those that wrote it; whether any went."""
        read = self._writers.read(places)
        before = {*kinds(self._history(places))} if read else set()

        def tried(kept: list[Written]) -> bool:
            self._dropped = frozenset(read) - frozenset(kept)
            left = [one for one in places if not self._writers.only_wrote(one, self._dropped)]
            gone = not any(self._writers.wrote(one, self._dropped) for one in left)
            held = gone and self._still(left, lambda: {*kinds(self._history(left))} <= before)
            self._dropped = self._untold
            return held

        minimise(read, tried)
        return bool(self._untold)

    def events(self, places: Iterable[int]) -> list[Event]:
        """The events of some units in their old order, without the values that were left out."""
        found = [
            self._told(event, unit)
            for unit in map(self._units.__getitem__, places)
            for event in unit
        ]
        return sorted(found, key=lambda event: int(event["index"]))

    def _told(self, event: Event, unit: Unit) -> Event:
        if not self._dropped or event is unit[0]:
            return event
        return untold(event, unit[0], self._dropped)

    def _history(self, places: Iterable[int]) -> History:
        return history_of(self.events(places), header=self._header)

    def operations(self, places: Iterable[int]) -> int:
        """How many of them are operations."""
        return sum(self._units[place][0]["kind"] == "op" for place in places)

    def _still(self, places: list[int], no_more_than: Callable[[], bool] = lambda: True) -> bool:
        if self.count >= self._budget:
            raise _BudgetSpent
        self.count += 1
        self._progress(f"trial {self.count}, {len(self.smallest)} units left")
        found = self._shows(self._history(places)) and no_more_than()
        smaller = len(places) < len(self.smallest) or len(self._dropped) > len(self._untold)
        if found and smaller:
            self.smallest, self._untold = places, self._dropped
        return found


def _all_but_operations(unit: Unit) -> Hashable:
    event = unit[0]
    return None if event["kind"] == "op" else (event["kind"], event.get("what"))


def _by_key(unit: Unit) -> Hashable:
    event = unit[0]
    if event["kind"] != "op":
        return None
    return repr((event.get("topic"), event.get("partition"), event.get("key")))


def _by_process(unit: Unit) -> Hashable:
    return ("process", unit[0]["process"]) if unit[0]["kind"] == "op" else None


def _singly(unit: Unit) -> Hashable:
    return int(unit[0]["index"])


def _continues(event: Event) -> Hashable:
    """What lines of one unit have in common."""
    if event["kind"] == "op":
        return ("op", event["process"])
    if event["kind"] == "fault":
        return ("fault", event["name"], event["target"])
    return None


def _begins(event: Event) -> bool:
    return event.get("type") == "invoke" or event.get("phase") in ("begin", "noted")
