"""A tiered log under a nemesis: leaders fall, disks are lost, the store fails; judged by `TS`.

Three brokers, one tiered topic with tiny segments, a store. A client appends, reads and deletes by
steps; copying, expiry and building of followers go on by themselves between them. At the end all is
healed, everything that is full has to be copied and to leave the disks, and the log is read from
its start to its end at every broker; then metadata topic and store are looked at, at rest.

What is judged of it: every acknowledged record above the log start is there, of the right lineage,
with its timestamp and epoch (TS-001 to 010, 033, 034, 037); no object without metadata and no
metadata without object (TS-090 to 098); and what else the rules say of such a history.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from conformance.catalogue import CATALOGUE
from conformance.driver import Driver
from conformance.programs import PROPERTIES, REST_S
from conformance.tiered.tiers import KEPT, recovers
from conformance.tiered.topics import OF_THE_REFERENCE, ROLLS, SETTINGS, step, tier
from conformance.trials.judging import JudgedTrial
from harness.clients.operations import TopicPartition
from harness.clients.remote_metadata import DOCUMENT
from harness.deployments.at_rest import is_at_rest, who_leads
from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan
from harness.errors import LabBroken
from harness.rules import Rule
from harness.steps.step import LAB, LOAD, NEMESIS, Step
from harness.steps.vocabulary import Choices, Drawn, Speaks, Vocabulary, verb
from harness.workloads.tier_looks import METADATA_TOPIC
from nemesis.nemesis import Nemesis
from nemesis.steps import A_WHILE, ISOLATED, SO_LONG, a_broker, a_replica_link

TOPIC = "kept"
LOG = f"{TOPIC}-0"
LEADER = f"leader of {LOG}"
STORE = "object-store"
BOUND_MS = 20_000
MOST_FAULTS = 2  # at a time
REBUILDS = "rebuilds"  # the actor
LEAST = 2  # of three replicas: those that have what is acknowledged, whichever one is lost
PROFILES = ("tiered",)
RULES: tuple[Rule, ...] = tuple(CATALOGUE.of_profiles(PROFILES).played())
_TIERED = f"remote.storage.enable=true,{ROLLS},local.retention.bytes=1,retention.ms=-1"


def a_node(trial: Any) -> Sequence[str]:
    """The leader, a broker, or the controller."""
    return (LEADER, *a_broker(trial), "controller")


def _leader_cut_off(trial: Any) -> Sequence[str]:
    return (ISOLATED.format(LEADER), *a_replica_link(trial))


_LASTS = {"lasts": SO_LONG, "ms": A_WHILE}
_OF_STORE = {"target": (STORE,), "lasts": (200, 1500, 4000, None), "ms": A_WHILE}
_BY_CLIENTS: Mapping[str, Mapping[str, Choices]] = {
    "write": {"log": (LOG,), "batches": ("0", "0 1", "0,5,3 1", "0 1 2 3"), "acks": (-1, 1)},
    "next": {"log": (LOG,), "producer": (9201, 9202), "count": (1, 2)},
    "again": {"log": (LOG,), "producer": (9201, 9202)},
    "locate": {"log": (LOG,)},
    "read": {"log": (LOG,)},
    "touch": {"log": (LOG,), "most": (1, 3)},
    "walk": {"log": (LOG,), "most": (6,)},
    "follow": {"log": (LOG,)},
    "search": {"log": (LOG,)},
    "epochs": {"log": (LOG,)},
    "delete": {"log": (LOG,), "at": ("middle", "start", "end")},
}
_BY_NEMESIS: Mapping[str, Mapping[str, Choices]] = {
    "kill": {"target": a_node, **_LASTS},
    "bounce": {"target": (LEADER, "broker-1", "broker-2"), "soon": (0, 20), "ms": A_WHILE},
    "pause": {"target": a_node, **_LASTS},
    "cut": {"target": _leader_cut_off, **_LASTS},
    "object-store-broken": _OF_STORE,
    "object-store-refused": _OF_STORE,
    "object-store-slow": {**_OF_STORE, "seconds": (0.3, 2.0)},
    "object-store-reply-lost": _OF_STORE,
    "object-store-half-writes": {**_OF_STORE, "like": ("*/segment.log", "*.index")},
    "heal": {"which": (0, 1), "ms": A_WHILE},
}


class Rebuilds(Vocabulary):
    """Followers lose their disks. Of a disk that is lost nothing may be acknowledged elsewhere too
    rarely: it happens when all replicas are in sync and no broker is hurt, also of metadata."""

    actors: ClassVar[Sequence[str]] = (REBUILDS,)

    def __init__(self, on: Deployment, nemesis: Nemesis, *, careful: bool) -> None:
        self._on = on
        self._nemesis = nemesis
        self._careful = careful

    @verb(target=(f"follower of {LOG}",), lasts=(200, 1500), ms=A_WHILE)
    async def reimage(self, step: Step, target: str, lasts: int, ms: int) -> None:
        """Empty a disk; the broker comes back after a while, and other faults go on."""
        if self._nemesis.active or (self._careful and not await self._all_in_sync()):
            return
        lost = await self._nemesis.begin("reimage", target)
        await asyncio.sleep(lasts / 1000)
        await self._nemesis.end(lost)
        await asyncio.sleep(ms / 1000)

    async def _all_in_sync(self) -> bool:
        on, brokers = self._on, self._on.brokers
        count = int(OF_THE_REFERENCE["rlmm.config.remote.log.metadata.topic.num.partitions"])
        metadata = (TopicPartition(METADATA_TOPIC, number) for number in range(count))
        for tp in (TopicPartition(on.recorder.topic(TOPIC), 0), *metadata):
            told = await asyncio.gather(*(who_leads(on, one, tp) for one in brokers))
            if not is_at_rest(dict(zip(brokers, told, strict=True))):
                return False
        return True


class TieredTrial(JudgedTrial):
    """A tiered log with three replicas, of which two have what is acknowledged."""

    plan = DeploymentPlan(
        brokers=3,
        racks=("a", "b", "c"),
        properties={**PROPERTIES, **SETTINGS, **OF_THE_REFERENCE},
        object_store="memory",
    )
    records_effects = False
    forgiving = True
    profiles = PROFILES
    judged_by: ClassVar[Sequence[Rule]] = RULES
    partition = LOG
    configs: ClassVar[str] = f"{_TIERED},min.insync.replicas={LEAST}"
    careful: ClassVar[bool] = True
    drawn = (
        *(Drawn(actors=("tiers",), verb=one, lists=of) for one, of in _BY_CLIENTS.items()),
        Drawn(actors=(LAB,), verb="wait", lists={"ms": (100, 700, 3000)}),
        *(Drawn(actors=(NEMESIS,), verb=one, lists=of) for one, of in _BY_NEMESIS.items()),
        *Rebuilds.drawn(),
    )

    async def build(self) -> None:
        """A cluster that is up, and a log of which most is in the remote tier alone."""
        self.driver = Driver(
            self.system,
            topic="t",
            campaign="tiered",
            bound_s=REST_S,
            most_faults=MOST_FAULTS,
        )
        self._rebuilds = Rebuilds(self.system, self.driver.nemesis, careful=self.careful)
        await self.driver.carry_out(
            [
                step(LAB, "create"),
                *recovers(),
                tier("create", topic=TOPIC, partitions=1, configs=self.configs),
                tier("settle"),
                tier("write", log=LOG, batches="0,1 2 3,4 5 6 7"),
                tier("next", log=LOG, producer=9201),
                tier("await", log=LOG, what="local", keep=KEPT, bound=BOUND_MS),
            ]
        )

    def vocabularies(self) -> Sequence[Speaks]:
        """Those of a partition, and lost disks."""
        return [*self.driver.vocabularies, self._rebuilds]

    async def finish(self) -> None:
        """Heal, wait for rest, let everything be copied, read everything, look at both sides."""
        await self.driver.carry_out(
            [
                step(NEMESIS, "heal-all"),
                step(LOAD, "end"),
                *recovers(),
                tier("settle"),
                tier("locate", log=LOG),
                tier("write", log=LOG, batches="0 1 2 3"),
                tier("await", log=LOG, what="resumed", keep=2 * KEPT, bound=BOUND_MS),
                tier("await", log=LOG, what="local", keep=2 * KEPT, bound=BOUND_MS),
                tier("epochs", log=LOG),
                tier("through", log=LOG, bound=BOUND_MS),
                tier("read-all"),
                tier("search", log=LOG),
                tier("look-at-tiers", form=DOCUMENT, bound=BOUND_MS),
            ]
        )
        if self.system.sim.uncaught and not self.mutants:
            raise LabBroken(f"a node left an error uncaught: {self.system.sim.uncaught[0]}")


class UncleanTieredTrial(TieredTrial):
    """One that any replica may lead, in sync or not, and of which any disk may be lost: records
    may be gone, and what is served is of one lineage all the same."""

    configs: ClassVar[str] = f"{_TIERED},min.insync.replicas=1,unclean.leader.election.enable=true"
    careful: ClassVar[bool] = False
