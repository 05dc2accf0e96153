"""The campaign of the profile `classic` as steps: load, one fault after the other, the last reads.

After each fault the cluster is given time to come to rest and its clients to make progress; whether
that was enough the rules say. A cluster that does not recover is hurt no more: what follows of the
nemesis is skipped, and the history says so.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from harness.steps.step import LAB, LOAD, NEMESIS, Step

CLASSIC = "classic"  # the campaign and its topic
LASTS_S = 3.0
BETWEEN_S = 1.0
QUIET_S = 2.5  # before the first fault and after the last: what holds only in peace is judged there


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault of the campaign: which one, and whom it hits."""

    fault: str
    target: str


FAULTS: Mapping[str, Strike] = MappingProxyType(
    {
        "pause-leader": Strike("pause", "leader of classic-0"),
        "kill-leader": Strike("kill", "leader of classic-0"),
        "cut-off-leader": Strike("cut", "leader of classic-0 <-> everything else"),
        "silence-leader": Strike("cut", "leader of classic-0 -> everything else"),
        "kill-controller": Strike("kill", "controller"),
        "reimage-follower": Strike("reimage", "follower of classic-0"),
    }
)


def part_name(fault: str) -> str:
    """What the plan calls a fault of the campaign."""
    return f"{CLASSIC}/{fault}"


def campaign_steps(
    seed: int,
    faults: Sequence[str] = tuple(FAULTS),
    *,
    lasts_s: float = LASTS_S,
    rests: float = 1.0,
    pace: float = 1.0,
) -> list[Step]:
    """A campaign: faults in the order that the seed gives, clients that rest so much longer.

    Seconds are those of the world whose pace is given: its brokers have their own patience.
    """

    def wait(seconds: float) -> Step:
        return _step(LAB, "wait", ms=int(1000 * seconds / pace))

    order = list(faults)
    random.Random(f"{seed}/campaign").shuffle(order)
    return [
        _step(LAB, "create"),
        *_recovers(),
        _step(LOAD, "begin", mix="many", seed=seed, pace=rests),
        wait(QUIET_S),
        *(one for fault in order for one in _strike(fault, wait(lasts_s), wait(BETWEEN_S))),
        wait(QUIET_S),
        _step(LOAD, "end"),
        *_recovers(),
        _step(LAB, "read-all"),
    ]


def _strike(fault: str, lasting: Step, between: Step) -> list[Step]:
    strike = FAULTS[fault]
    return [
        _step(LAB, "nodes"),
        _step(NEMESIS, strike.fault, target=strike.target, part=part_name(fault)),
        lasting,
        _step(NEMESIS, "end", fault=strike.fault),
        *_recovers(),
        between,
    ]


def _recovers() -> list[Step]:
    return [_step(LAB, "converge"), _step(LAB, "progress")]


def _step(actor: str, verb: str, **arguments: Any) -> Step:
    return Step(actor=actor, verb=verb, arguments=MappingProxyType(arguments))
