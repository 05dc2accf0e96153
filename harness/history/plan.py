"""What a run set out to do, and what of it was not run: the `plan` line and the `skip` lines.

The verdict is a function of the run folder, so whatever decides over it stands in the history:
which profiles were claimed and examined, by which rules, in which parts, which faults had to land
in each part, and which waivers were in force on which day. The lab writes these lines into a shard
of its own, whose clock only counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final, TypeAlias

from .lines import Event
from .run import Run

Planned: TypeAlias = "Part | PlannedWaiver | DetectionRate"
LAB: Final = "lab"
"""Name of the lab's own shard, and of its clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A scenario, or a fault of a campaign. Fault lines name the part that asked for them.

    If all parts that exercise one of the `rules` are skipped, that rule cannot be observed. If one
    of the `faults` of a `required` part does not land, its `scope` is left without proof: its own
    rules, or all rules of the profile. No certificate is issued unless every `promised` part
    landed.
    """

    name: str
    profile: str
    rules: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    required: bool = True
    promised: bool = False
    scope: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWaiver:
    """A rule that is known to fail, why, and until which day."""

    rule: str
    reason: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRate:
    """Of `of` known breakages of a profile, a default run with these levers detects so many.

    It was measured before the run, in a world that may be another. Of a `population` of breakages,
    some of which turned out to break nothing, a `sample` was drawn, or all were tried (0).
    """

    profile: str
    world: str
    levers: str
    detected: int
    of: int
    population: int = 0  # 0: not told
    sample: int = 0

    @property
    def percent(self) -> int:
        """Rounded down: it never says more than was seen."""
        return 100 * self.detected // self.of if self.of else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Everything about the intention of a run that its verdict depends on."""

    rules: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    claimed: tuple[str, ...] = ()
    examined: tuple[str, ...] = ()
    whole: bool = True
    reference: bool = False
    mutants: tuple[str, ...] = ()
    brokers: int | None = None
    day: str | None = None
    waivers: tuple[PlannedWaiver, ...] = ()
    rates: tuple[DetectionRate, ...] = ()

    def line(self) -> Event:
        """The plan as an event, without its place."""
        return {"kind": "plan", **asdict(self)}

    @classmethod
    def read(cls, event: Mapping[str, Any]) -> RunPlan:
        """The plan in an event whose top level keeps to the schema; ValueError if the rest of it
        does not, or if a day is no day."""
        given = {name: event[name] for name in cls.__slots__ if name in event}
        for name in ("rules", "claimed", "examined", "mutants"):
            given[name] = _texts(given.get(name, ()))
        given["parts"] = tuple(_part(one) for one in given.get("parts", ()))
        given["waivers"] = tuple(_waiver(one) for one in given.get("waivers", ()))
        given["rates"] = tuple(_rate(one) for one in given.get("rates", ()))
        if given.get("day") is not None:
            date.fromisoformat(given["day"])
        return cls(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A part of the plan or a claimed profile that was not run, or a request that was not made."""

    what: str
    name: str
    reason: str


class LabShard:
    """Writes what the lab itself has to say: plan, skips, and what it found before it began."""

    def __init__(self, run: Run) -> None:
        self._writer = run.shard(LAB, LAB)

    def plan(self, plan: RunPlan) -> None:
        """What the run sets out to do."""
        self._write(plan.line())

    def skip(self, skip: Skip) -> None:
        """Something of it that is not run."""
        self._write({"kind": "skip", **asdict(skip)})

    def found(self, what: str, rows: Iterable[Mapping[str, object]]) -> None:
        """A look at the system from outside."""
        self._write({"kind": "probe", "what": what, "rows": [dict(row) for row in rows]})

    def close(self, *, at: str | None = None) -> None:
        """The run is over; `at` is the time of day."""
        self._writer.close(at=at)

    def abandon(self) -> None:
        """The run broke off."""
        self._writer.abandon()

    def _write(self, event: Event) -> None:
        self._writer.write({**event, "time": self._writer.lines, "clock": LAB})


def _part(given: object) -> Part:
    told = _fields(given, Part, needed=("name", "profile"))
    for name in ("rules", "faults"):
        told[name] = _texts(told.get(name, ()))
    flags = [told[name] for name in ("required", "promised") if name in told]
    if not all(isinstance(flag, bool) for flag in flags):
        raise ValueError(f"part {told['name']}: required and promised are true or false")
    if told.get("scope", "rules") not in ("rules", "profile"):
        raise ValueError(f"part {told['name']}: there is no scope {str(told['scope'])[:40]!r}")
    return Part(**told)


def _waiver(given: object) -> PlannedWaiver:
    told = _fields(given, PlannedWaiver, needed=("rule", "reason", "until"))
    date.fromisoformat(told["until"])
    return PlannedWaiver(**told)


def _rate(given: object) -> DetectionRate:
    told = _fields(given, DetectionRate, needed=("profile", "world", "levers"))
    counts = [told.get(name, 0) for name in ("population", "sample")]
    counts = [told.get("detected"), told.get("of"), *counts]
    if not all(type(one) is int and one >= 0 for one in counts):
        raise ValueError(f"a rate has counts, not {str(counts)[:80]}")
    return DetectionRate(**told)


def _fields(given: object, of: type[Planned], needed: Sequence[str]) -> dict[str, Any]:
    """What an object says of a part or a waiver; texts are needed, other fields are left out."""
    if not isinstance(given, Mapping):
        raise ValueError(f"an object is needed, not {str(given)[:80]}")
    for name in needed:
        if not isinstance(given.get(name), str):
            raise ValueError(f"{name} must be a text, not {str(given.get(name))[:80]}")
    return {name: given[name] for name in of.__slots__ if name in given}


def _texts(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        raise ValueError(f"a list of texts is needed, not {str(given)[:80]}")
    return tuple(given)
