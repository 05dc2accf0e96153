"""The stage `edges` of the profile `classic`: clients at every bound of logs, on a small cluster.

Producers come back with batches, sequence numbers and epochs of every kind; readers begin and end
at every bound; retention, rolled segments and forgotten producers at tiny settings; a follower that
lags one batch, too few replicas in sync, brokers that restart, are killed and lose power while
several partitions of several topics are written to. What a deployment does not offer is left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from conformance.catalogue.kafka import edges
from conformance.classic import edge_situations as situations
from conformance.classic.edge_faults import ALONE, FAULTS, NEEDS, PLAYED, part_name, resumed
from conformance.classic.edge_topics import (
    EDGES,
    RACKS,
    RETAINED,
    SETTINGS,
    TOPICS,
    TURNS,
    edge,
    step,
)
from harness.deployments.plan import DeploymentPlan
from harness.history.plan import Part
from harness.steps.step import LAB, Step

__all__ = ["EDGES", "FAULTS", "RETAINED", "TOPICS", "edge_steps", "part_name", "plan_of"]

PROFILE = "classic"
LASTS_S = 2.5
BOUNDS, RETENTION, EXPIRY, NEAREST = "bounds", "retention", "expiry", "racks"
OF_RETENTION = ("KFK-163", "KFK-164")
OF_EXPIRY = ("KFK-155",)
OF_RACKS = ("KFK-190", "KFK-191")


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that the stage plays on, where the lab starts it."""
    return DeploymentPlan(brokers=3, racks=RACKS, properties=SETTINGS, mutants=mutants)


def planned_parts() -> tuple[Part, ...]:
    """All of it, and what needs levers, or settings of a cluster that the lab has started."""
    elsewhere = (*OF_RETENTION, *OF_EXPIRY, *OF_RACKS)
    bounds = tuple(rule.id for rule in edges.RULES if rule.id not in elsewhere)
    return (
        Part(name=part_name(BOUNDS), profile=PROFILE, rules=bounds, required=False),
        Part(name=part_name(RETENTION), profile=PROFILE, rules=OF_RETENTION),
        Part(name=part_name(EXPIRY), profile=PROFILE, rules=OF_EXPIRY),
        Part(name=part_name(NEAREST), profile=PROFILE, rules=OF_RACKS),
        *(
            Part(
                name=part_name(fault),
                profile=PROFILE,
                rules=(),
                faults=(strike.fault,),
                required=False,
                promised=False,
                scope="profile",
            )
            for fault, strike in FAULTS.items()
        ),
    )


def edge_steps(
    seed: int,
    faults: Sequence[str] = tuple(FAULTS),
    *,
    settled: bool = True,
    bound_ms: int,
    pace: float = 1.0,
    lasts_s: float = LASTS_S,
) -> list[Step]:
    """The stage as steps; `settled`: the cluster has the settings of this stage.

    A fault lasts so many seconds of the world whose pace is given.
    """
    chance = random.Random(f"{seed}/edges")
    topics = {**TOPICS, **(RETAINED if settled else {})}
    told = [step(LAB, "create"), *_recovers(), edge("settings")]
    told += [
        edge("create", topic=topic, partitions=partitions, configs=configs)
        for topic, (partitions, configs) in topics.items()
    ]
    told += [edge("settle"), *situations.producers(chance), *situations.stamps(chance), *resumed()]
    told.append(edge("near", log=f"{TURNS}-*"))
    if settled:
        told += [
            *situations.retention(bound_ms),
            *situations.other_limits(bound_ms),
            *situations.expiry(bound_ms),
        ]
    lasting = step(LAB, "wait", ms=int(1000 * lasts_s / pace))
    others = [one for one in faults if one != ALONE]
    order = [one for one in others if one in PLAYED and NEEDS.get(one, one) in others]
    chance.shuffle(order)
    if ALONE in faults:  # after any loss of power, which would take records that no other has
        order.append(ALONE)
    for fault in order:
        told += [step(LAB, "nodes"), *PLAYED[fault](chance, lasting), *_recovers()]
    return [
        *told,
        edge("epochs", log="*"),
        edge("read-all"),
        *_recovers(),
        step(LAB, "nodes"),
    ]


def _recovers() -> list[Step]:
    return [step(LAB, "converge"), step(LAB, "progress")]
