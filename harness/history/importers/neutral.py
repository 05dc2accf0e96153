"""What every importer makes of a foreign operation.

    {"kind":"op","index":3,"time":3,"clock":"import","process":0,"type":"ok","f":"read","value":4}

`key` and `error` are kept where the source has them (an error that is not text or a number becomes
JSON text); of a rebalance log the keys it names are kept, as `rebalanced`. `time` is the source's
own where every number of it makes sense, else the index; either way the order of an imported
history is its index (see `history.INDEX_ORDERED_WORLDS`), because that is what its recorder
ordered. `index` is the source's own while it increases, else counted on.

Operations of the nemesis (a process that is not a number) are kept as faults of phase `noted`:
foreign recorders do not tell injecting from landing from healing, so they open no fault window.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..lines import INT64_MAX, INT64_MIN, BadLine, Event, canonical
from ..schema import FORMAT

TYPES: Final = frozenset({"invoke", "ok", "fail", "info"})
CLOCK: Final = "import"


def header(name: str, form: str, **more: Any) -> Event:
    """The header of an imported history: no seed, no profile, the world `import`."""
    return {
        "kind": "header",
        "format": FORMAT,
        "run": name,
        "sut": "unknown",
        "world": "import",
        "imported_from": form,
        **more,
    }


def _rebalanced(log: object) -> list[Any]:
    try:
        assert isinstance(log, list)
        return [key for change in log for key in change.get("keys") or ()]
    except (AssertionError, AttributeError, TypeError):
        raise BadLine(
            f":rebalance-log is a list of maps with :keys, not {repr(log)[:40]}"
        ) from None


class Neutral:
    """Numbers the operations of one source and brings them into our form."""

    def __init__(self) -> None:
        """Counting starts at 0 for every pass over the source."""
        self._next = 0

    def event(self, op: Mapping[str, Any]) -> Event:
        """Our event for one foreign operation; `BadLine` says why it is none."""
        f, kind, process = op.get("f"), op.get("type"), op.get("process")
        if type(f) is not str or not f:
            raise BadLine("an operation needs :f, the name of what was asked")
        if kind not in TYPES:
            raise BadLine(f":type is invoke, ok, fail or info, not {repr(kind)[:40]}")
        if process is None or type(process) in (bool, float):
            raise BadLine("an operation needs :process, a number or the name of a nemesis")
        place = self._place(op)
        if type(process) is not int:
            return {
                "kind": "fault",
                **place,
                "name": f,
                "target": process if type(process) is str and process else canonical(process),
                "phase": "noted",
                "evidence": {"type": kind, "value": op.get("value")},
            }
        if process < 0:
            raise BadLine(f":process is not negative, as {process} is")
        event = {"kind": "op", **place, "process": process, "type": kind, "f": f}
        event["value"] = op.get("value")
        if "key" in op:
            event["key"] = op["key"]
        if op.get("error") is not None:
            error = op["error"]
            event["error"] = error if type(error) in (str, int) else canonical(error)
        if op.get("rebalance-log"):
            event["rebalanced"] = _rebalanced(op["rebalance-log"])
        return event

    def _place(self, op: Mapping[str, Any]) -> Event:
        own_index, own_time = op.get("index"), op.get("time")
        index = own_index if type(own_index) is int and own_index >= self._next else self._next
        if index > INT64_MAX // 2:
            raise BadLine(f"the index {index} is out of range")
        self._next = index + 1
        fits = type(own_time) is int and INT64_MIN <= own_time <= INT64_MAX
        return {"index": index, "time": own_time if fits else index, "clock": CLOCK}
