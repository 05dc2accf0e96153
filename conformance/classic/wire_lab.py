"""The stage `wire`: a system is asked what Apache Kafka was asked, and its answers are recorded.

Systems that the lab starts are asked on a cluster of one broker and on one of three, as Kafka was.
A cluster that is found as it is (`harness/differential/by_address.py`) is asked what fits it, and
no topic stays behind. Sequences for one broker do not see each other, so several are played at a
time where waiting costs something; those that touch more than their topics come last, alone.

A system that does not get on is not waited for again and again: after a few sequences of a family
that did not end in time the rest of the family is left out. Its rule fails by then.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.catalogue.kafka.sequences import FAMILIES
from conformance.classic.campaign import plan_of
from conformance.classic.wire import WIRE
from harness.clients.admin import versions_offered
from harness.clients.messages import API_KEYS
from harness.clients.raw import RawClient
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment
from harness.differential.allowed import read_allowed
from harness.differential.answers import Recording, read_recordings
from harness.differential.by_address import ALLOWED, CHANGES_THE_CLUSTER, CONFIGS, left_out
from harness.differential.player import PlayContext
from harness.differential.recorded_play import RecordedPlay
from harness.errors import LabBroken
from harness.history import Run
from harness.sut import Sut, reference_sut
from reference_impl.decisions import in_force
from reference_impl.ports import Address

SEED = 1
RACKS = ("a", "b", "c")
OTHERS = 3
MOST_LATE = 2  # sequences of a family that did not end in time
Versions = Mapping[int, tuple[int, int]]


@dataclass(slots=True, kw_only=True)
class Asked:
    """How many sequences were played, the brokers found, why families were left out."""

    played: Counter[str] = field(default_factory=Counter)
    brokers: tuple[int, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    first_is_enough: bool = False
    """Whether nothing more is asked once an answer is not Kafka's."""
    differs: bool = False

    @property
    def enough(self) -> bool:
        """Whether no more is to be asked."""
        return self.first_is_enough and self.differs

    @property
    def not_played(self) -> dict[str, str]:
        """The families of which nothing was played, and why not."""
        return {
            family: self.reasons.get(family, "no sequence of it fits this cluster")
            for family in FAMILIES
            if not self.played[family]
        }


def record_sequences(
    folder: Path,
    families: Collection[str],
    *,
    world: str,
    seed: int = SEED,
    mutants: tuple[str, ...] = (),
) -> Path:
    """A run of the reference with those mutants that plays some families alone; its folder."""
    run = Run.create(folder / "run", run="sequences", sut="reference", world=world, seed=seed)
    sut = reference_sut(mutants=mutants)
    record_wire(run, world=world, seed=seed, sut=sut, families=families)
    run.seal()
    return run.folder


def record_wire(
    run: Run,
    *,
    world: str,
    seed: int,
    sut: Sut,
    families: Collection[str] = tuple(FAMILIES),
    first_is_enough: bool = False,
) -> Asked:
    """Play every sequence of these families that a system can be asked, or until one differs."""
    asked = Asked(first_is_enough=first_is_enough)
    recordings = [one for one in read_recordings() if _family(one) in families]
    if not sut.started:
        plan = plan_of(sut.mutants)
        with deploy(sut, plan, run=run, world=world, seed=seed, shard=WIRE) as on:
            tag = str(run.header.get("topic_tag") or "")
            play_recordings(on, sut, seed, recordings, asked, tag)
        return asked
    for size in sorted({one.sequence.brokers for one in recordings}):
        if asked.enough:
            break
        plan = DeploymentPlan(
            brokers=size, racks=RACKS[:size], mutants=sut.mutants, properties=coordinators(size)
        )
        shard = f"{WIRE}-{size}"
        with deploy(sut, plan, run=run, world=world, seed=seed, shard=shard) as on:
            fitting = [one for one in recordings if one.sequence.brokers == size]
            play_recordings(on, sut, seed, fitting, asked)
    return asked


def coordinators(brokers: int) -> dict[str, str]:
    """Topics of coordinators that fit the cluster, as they did when Kafka was asked."""
    return {
        "offsets.topic.replication.factor": str(brokers),
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.replication.factor": str(brokers),
        "transaction.state.log.min.isr": "1" if brokers == 1 else "2",
        "transaction.state.log.num.partitions": "5",
    }


def play_recordings(
    on: Deployment,
    sut: Sut,
    seed: int,
    recordings: Sequence[Recording],
    asked: Asked,
    tag: str = "",
) -> None:
    """Play those that a deployment can be asked; what that was, `asked` says then."""
    asked.brokers = max(asked.brokers, on.known, key=len)
    asked.lacks = on.lacks
    players = _Players(on=on, found=not sut.started, seed=seed, tag=tag, asked=asked)
    on.run(players.play(recordings))
    if isinstance(on, SimDeployment) and on.sim.uncaught and not (sut.mutants or in_force()):
        raise LabBroken(f"a node of the reference left an error uncaught: {on.sim.uncaught[0]}")


@dataclass(slots=True, kw_only=True)
class _Players:
    """Plays sequences on one deployment, several at a time."""

    on: Deployment
    found: bool
    """Whether the cluster is as it was found, and has to stay so."""
    seed: int
    tag: str
    asked: Asked
    late: Counter[str] = field(default_factory=Counter)

    async def play(self, recordings: Sequence[Recording]) -> None:
        """All that fit, then a look at the nodes."""
        fitting = await self._fitting(recordings)
        together = [one for one in fitting if self._beside_others(one)]
        queues = [iter(together)]
        if self.on.world != "sim":
            one_by_one = iter([one for one in together if _verified(one)])
            queues = [one_by_one, *[iter([one for one in together if not _verified(one)])] * OTHERS]
        players = (self._player(f"wire-{n}", waiting) for n, waiting in enumerate(queues))
        await asyncio.gather(*players)
        await self._player("wire-0", iter([one for one in fitting if one not in together]))
        if "nodes" in self.on.probes:
            self.on.recorder.probe("nodes", await self.on.probe("nodes"))

    def _beside_others(self, recording: Recording) -> bool:
        name = recording.sequence.name
        return recording.sequence.brokers == 1 and name not in CHANGES_THE_CLUSTER

    async def _fitting(self, recordings: Sequence[Recording]) -> list[Recording]:
        """Those that this cluster can be asked."""
        if not self.found:
            return list(recordings)
        offered = await versions_offered(RawClient(self.on.network, self._first))
        fitting = []
        for one in recordings:
            why = left_out(one) or self._does_not_fit(one) or _not_offered(one, offered)
            if why is None:
                fitting.append(one)
            else:
                self.asked.reasons.setdefault(_family(one), why)
        return fitting

    def _does_not_fit(self, recording: Recording) -> str | None:
        wanted, there = recording.sequence.brokers, len(self.on.known)
        if wanted in (1, there) and (wanted == 1 or len(self.on.brokers) == there):
            return None
        return f"it needs a cluster of {wanted} brokers; this one has {there}"

    @property
    def _first(self) -> Address:
        return self.on.address(self.on.brokers[0])

    async def _player(self, client: str, waiting: Iterator[Recording]) -> None:
        """One client, which plays what is next."""
        allowed = [*read_allowed(), *ALLOWED] if self.found else read_allowed()
        compares = self.asked.first_is_enough
        play = RecordedPlay(self.on.recorder, client, allowed, compares=compares)
        node = self.on.brokers[0]
        for recording in waiting:
            family = _family(recording)
            if self.late[family] >= MOST_LATE or self.asked.enough:
                continue
            self.asked.played[family] += 1
            in_time = await play.play(recording, self._context(recording), node)
            self.late[family] += not in_time
            self.asked.differs = self.asked.differs or play.differs or not in_time

    def _context(self, recording: Recording) -> PlayContext:
        alone = self.found and recording.sequence.brokers == 1
        return PlayContext(
            network=self.on.network,
            bootstrap=self._first,
            now_ms=self.on.now_ms(),
            seed=self.seed,
            tag=self.tag,
            alone=self.on.brokers[0] if alone else None,
            configs=CONFIGS if self.found else {},
        )


def _verified(recording: Recording) -> bool:
    """Whether a coordinator is asked about its producers. Apache Kafka 4.3.1 asks about several of
    them at once, and tells each what the version of the first may be told."""
    return any(
        step.api == "txn_offset_commit" or step.fields.get("transactional_id") is not None
        for step in recording.sequence.steps
        if step.api in ("produce", "txn_offset_commit")
    )


def _family(recording: Recording) -> str:
    return recording.sequence.name.partition("/")[0]


def _not_offered(recording: Recording, offered: Versions) -> str | None:
    """What a system would have to offer besides, by its own word.

    A version that Kafka has not is there to be refused, and needs no offer.
    """
    for step, answer in zip(recording.sequence.steps, recording.answers, strict=True):
        first, last = offered.get(API_KEYS[step.api], (0, -1))
        refused = answer is not None and ("connection" in answer or "undecodable" in answer)
        if step.api != "api_versions" and not refused and not first <= step.version <= last:
            return f"it does not offer {step.api} in version {step.version}"
    return None
