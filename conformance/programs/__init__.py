"""The programs that show what is wrong with each mutant of the cluster, played in any deployment.

`NAME.steps` is the program of the mutant of that name: a step a line, written by hand or found by a
search and made as small as it gets. Nothing happens but what a program says, in between its
beginning (a topic, a cluster at rest) and its ending (all healed, rest, progress, the last reads).
Played on the mutant it makes the rules fail that the mutant names; on the sound cluster none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from conformance.driver import Driver
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan
from harness.history import Run
from harness.steps.step import ADMIN, Step, read_steps
from harness.sut import reference_sut

FOLDER = Path(__file__).parent
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
}
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
        with deploy(sut, plan_of(world, mutants), run=run, world=world, seed=seed) as on:
            for place, program in enumerate(some):
                play_program(on, program, number=place)
        run.seal()
        runs.append(run.folder)
    return runs


def play_program(on: Deployment, program: Sequence[Step], *, number: int = 0) -> None:
    """Play a program from its beginning to its ending; `number` says which it is in its run."""
    topic = TOPIC if number == 0 else f"{TOPIC}{number}"
    bound_s = REST_S if on.world == "sim" else LIVE_REST_S
    with Driver(on, topic=topic, bound_s=bound_s, number=number) as driver:
        driver.play([*BEGINNING, *(_on_topic(step, topic) for step in program), *ENDING])


def plan_of(world: str, mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that programs play on: three brokers, with longer patience as processes."""
    slowed = {} if world == "sim" else {one: str(2 * int(PROPERTIES[one])) for one in SLOWED}
    return DeploymentPlan(brokers=3, properties={**PROPERTIES, **slowed}, mutants=mutants)


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
