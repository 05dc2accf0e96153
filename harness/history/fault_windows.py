"""From fault lines to the time during which a fault was in force.

A window opens with `begin`, is proven by `landed`, closes with `end`; lines with the same `id`
belong together, without one those with the same name and target. Lines that do not fit are
reported. In doubt a window is kept open rather than closed, because rules are excused inside
windows and must not be blamed for a fault that was still in force. Imported lines of phase `noted`
open nothing. Memory: the open windows.
"""

from __future__ import annotations

from collections.abc import Callable

from .lines import Event, canonical
from .sends import Emit, Row

_Key = tuple[str, str | None]


class FaultWindows:
    """Feed it the fault lines in order; it emits each window when it closes."""

    def __init__(
        self,
        emit: Emit,
        order: Callable[[Event], int],
        problem: Callable[[Event, str], None],
    ) -> None:
        """`emit` takes rows of `fault_windows`."""
        self._emit = emit
        self._order = order
        self._problem = problem
        self._open: dict[_Key, Row] = {}

    def feed(self, event: Event) -> None:
        """Take one fault line into account."""
        phase = event["phase"]
        if phase == "noted":
            return
        key = _key(event)
        window = self._open.get(key)
        if window is None:
            if phase != "begin":
                self._problem(event, f"{phase} of {_named(event)}, which has not begun")
            if phase == "end":
                return
            window = self._open[key] = self._begin(event)
        elif (window["fault"], window["target"]) != (event["name"], event["target"]):
            of = f"{window['fault']} on {window['target']}"
            self._problem(event, f"{phase} of {_named(event)} under the id of {of}; left out")
            return
        elif phase == "begin":
            self._problem(event, f"{_named(event)} begins again before it ended; one window")
        if phase == "landed":
            window["landed"] = True
        if event.get("evidence") is not None:
            window["evidence"] = canonical(event["evidence"])
        window["assumption"] = window["assumption"] or event.get("assumption")
        if phase == "end":
            self._end(key, window, event)

    def finish(self) -> None:
        """Emit the windows that never closed."""
        for window in self._open.values():
            self._emit("fault_windows", window)
        self._open.clear()

    def _begin(self, event: Event) -> Row:
        return {
            "index": event["index"],
            "fault": event["name"],
            "target": event["target"],
            "fault_id": event.get("id"),
            "plan_part": event.get("plan"),
            "assumption": event.get("assumption"),
            "clock": event["clock"],
            "since": self._order(event),
            "until": None,
            "landed": False,
            "evidence": None,
        }

    def _end(self, key: _Key, window: Row, event: Event) -> None:
        if event["clock"] == window["clock"]:
            window["until"] = self._order(event)
        else:
            self._problem(event, f"{_named(event)} ends by another clock; left open")
        del self._open[key]
        self._emit("fault_windows", window)


def _key(event: Event) -> _Key:
    if (named := event.get("id")) is not None:
        return (str(named), None)
    return (event["name"], event["target"])


def _named(event: Event) -> str:
    return f"{event['name']} on {event['target']}"
