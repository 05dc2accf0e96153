"""The programs that show what is wrong with each mutant of the cluster, played in any deployment.

`NAME.steps` is the program of the mutant of that name: a step a line, written by hand or found by a
search and made as small as it gets. Nothing happens but what a program says, in between its
beginning (a topic, a cluster at rest) and its ending (all healed, rest, progress, the last reads).
Played on the mutant it makes the rules fail that the mutant names; on the sound cluster none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from conformance.driver import Driver
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan, broker_name
from harness.errors import DidNotStart
from harness.history import Run
from harness.history.plan import LabShard
from harness.steps.step import ADMIN, Step, read_steps
from harness.sut import reference_sut

FOLDER = Path(__file__).parent
BROKER = re.compile(r"broker-([1-3])\b")
ID = re.compile(r"[1-3]")
SEED = 1
TOPIC = "t"
REST_S = 10.0  # of simulated time, in which a cluster without faults has to come to rest
LIVE_REST_S = 30.0
BEGINNING = read_steps("lab create\nlab converge")
ENDING = read_steps(
    """
    nemesis heal-all
    load end
    lab idle
    lab converge
    lab progress
    lab read-all
    """
)
# Nothing happens in between, so nothing is lost by asking less often; what is in a hurry is woken.
PROPERTIES = {
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "700",
    "replica.fetch.wait.max.ms": "400",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "1000",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "log.retention.check.interval.ms": "1000",
    "producer.id.expiration.ms": "3600000",
    "producer.id.expiration.check.interval.ms": "1000",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "400",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}
RACKS = ("a", "b", "c")
_TOPICS = ("name", "topic")  # what steps call the topic that they are about
# A process that is not given the processor must not look dead.
SLOWED = ("broker.session.timeout.ms", "replica.lag.time.max.ms", "replica.socket.timeout.ms")


def recorded_programs() -> Mapping[str, Sequence[Step]]:
    """The program of each mutant that has one."""
    return {path.stem: read_program(path) for path in sorted(FOLDER.glob("*.steps"))}


def read_program(path: Path) -> list[Step]:
    """The steps of a file."""
    return read_steps(path.read_text("utf-8"))


def record_programs(
    folder: Path,
    programs: Sequence[Sequence[Step]],
    *,
    world: str = "sim",
    seed: int = SEED,
    mutants: tuple[str, ...] = (),
) -> list[Path]:
    """Play programs on the cluster with those mutants; the run folders.

    A simulation is for one program each. Starting processes takes long: there all of them are
    played on one cluster, one after the other, each on a topic of its own.
    """
    together = [[one] for one in programs] if world == "sim" else [programs]
    sut = reference_sut()
    runs = []
    for number, some in enumerate(together):
        run = Run.create(
            folder / str(number), run="programs", sut="reference", world=world, seed=seed
        )
        try:
            with deploy(sut, plan_of(world, mutants), run=run, world=world, seed=seed) as on:
                for place, program in enumerate(some):
                    play_program(on, program, topic=f"{TOPIC}{place}" if place else TOPIC)
        except DidNotStart as failure:
            lab = LabShard(run)
            lab.found("nodes", failure.nodes)
            lab.close()
        run.seal()
        runs.append(run.folder)
    return runs


def play_program(on: Deployment, program: Sequence[Step], *, topic: str = TOPIC) -> bool:
    """Play a program from its beginning to its ending; whether the cluster recovered.

    Each that is played on a deployment has a topic of its own.
    """
    bound_s = REST_S if on.world == "sim" else LIVE_REST_S
    with Driver(on, topic=topic, bound_s=bound_s) as driver:
        placed = [_on_brokers(_on_topic(step, topic), on.brokers) for step in program]
        driver.play([*BEGINNING, *placed, *ENDING])
        return driver.recovered


def plan_of(world: str, mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that programs play on: three brokers, with longer patience as processes."""
    slowed = {} if world == "sim" else {one: str(2 * int(PROPERTIES[one])) for one in SLOWED}
    return DeploymentPlan(
        brokers=3, racks=RACKS, properties={**PROPERTIES, **slowed}, mutants=mutants
    )


def _on_brokers(step: Step, brokers: Sequence[int]) -> Step:
    """The step with the brokers of a cluster in the place of 1, 2 and 3."""
    if tuple(brokers[:3]) == (1, 2, 3):
        return step
    given = dict(step.arguments)
    for name in ("target", "ask", "at"):
        if isinstance(given.get(name), str):
            given[name] = BROKER.sub(
                lambda found: broker_name(brokers[int(found[1]) - 1]), given[name]
            )
    if isinstance(given.get("on"), str):
        given["on"] = ID.sub(lambda found: str(brokers[int(found[0]) - 1]), given["on"])
    return replace(step, arguments=MappingProxyType(given))


def _on_topic(step: Step, topic: str) -> Step:
    """The step with symbolic targets of that topic, and with topics of its own."""
    if step.actor == ADMIN:
        own = {
            name: f"{topic}-{step.arguments[name]}" for name in _TOPICS if name in step.arguments
        }
        return replace(step, arguments=MappingProxyType({**step.arguments, **own}))
    target = step.arguments.get("target")
    if not isinstance(target, str) or topic == TOPIC:
        return step
    renamed = target.replace(f"of {TOPIC}-0", f"of {topic}-0")
    return replace(step, arguments=MappingProxyType({**step.arguments, "target": renamed}))
