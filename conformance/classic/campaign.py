"""The campaign of the profile `classic` as steps: load, one fault after the other, the last reads.

After each fault the cluster is given time to come to rest and its clients to make progress; whether
that was enough the rules say. A cluster that does not recover is hurt no more: what follows of the
nemesis is skipped, and the history says so.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.deployments.plan import QUICK_TO_NOTICE, DeploymentPlan
from harness.history.plan import Part
from harness.steps.step import LAB, LOAD, NEMESIS, Step
from nemesis.schedule import Strike

CLASSIC = "classic"  # the campaign and its topic
LASTS_S = 3.0
BETWEEN_S = 1.0
QUIET_S = 2.5  # before the first fault and after the last: what holds only in peace is judged there


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

# Without these a cluster is not certified: every cluster meets them sooner or later.
PROMISED = frozenset({"pause-leader", "kill-leader", "reimage-follower"})
# One that does not land is reported, and voids nothing: others have shown the same already.
OPTIONAL = frozenset({"silence-leader", "kill-controller"})
# Rules about what follows a change of leader, and the faults that bring one about.
OF_NEW_LEADERS = ("KFK-070", "KFK-073")
NEW_LEADER = ("pause-leader", "kill-leader", "cut-off-leader", "silence-leader")
# Nodes that the lab watches because it started them, and the rule about how they end.
NODES = "nodes"
OF_NODES = ("KFK-095", "KFK-097")


# Programs of the ways in which replication is known to go wrong (`races.py`).
RACES = (
    "leader-alone-commits",
    "fastest-follower-commits",
    "nothing-is-cut",
    "cut-to-the-high-watermark",
    "anybody-leads",
    "end-always-known",
    "epochs-stay",
    "whoever-asks-last",
    "what-was-proposed-is-so",
    "preferred-leader-alone",
    "joins-when-it-fetches",
    "joins-with-the-high-watermark",
    "joins-once-confirmed",
    "cuts-where-the-leader-says",
    "everybody-keeps-up",
    "fenced-brokers-join",
    "what-was-copied-is-committed",
    "leaders-log-start-is-enough",
    "deleted-when-asked",
    "only-the-end-counts",
    "serves-before-it-knows",
    "producers-outlive-a-cut",
)
RULES_OF_RACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "everybody-keeps-up": ("KFK-167",),
        "only-the-end-counts": ("KFK-169",),
    }
)


def race_name(race: str) -> str:
    """What the plan calls a race."""
    return f"races/{race}"


def race_parts() -> tuple[Part, ...]:
    """The races as parts of a plan; where a fault of one does not land, nothing is void."""
    return tuple(
        Part(
            name=race_name(one),
            profile=CLASSIC,
            rules=RULES_OF_RACES.get(one, ()),
            required=False,
        )
        for one in RACES
    )


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that the campaign plays on, where the lab starts it."""
    return DeploymentPlan(
        brokers=3, racks=("a", "b", "c"), properties=QUICK_TO_NOTICE, mutants=mutants
    )


def part_name(fault: str) -> str:
    """What the plan calls a fault of the campaign."""
    return f"{CLASSIC}/{fault}"


def planned_parts() -> tuple[Part, ...]:
    """The faults of the campaign as parts of a plan, and the look at nodes."""
    nodes = Part(name=part_name(NODES), profile=CLASSIC, rules=OF_NODES)
    return nodes, *(
        Part(
            name=part_name(fault),
            profile=CLASSIC,
            rules=OF_NEW_LEADERS if fault in NEW_LEADER else (),
            faults=(strike.fault,),
            required=fault not in OPTIONAL,
            promised=fault in PROMISED,
            scope="profile",
        )
        for fault, strike in FAULTS.items()
    )


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
