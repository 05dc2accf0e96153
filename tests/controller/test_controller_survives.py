"""What the controller has answered survives it, wherever it is struck."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from one_controller import NAME, Lab, add_controller

from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from harness.simulation.sweep import sweep
from reference_impl.kafka import apis
from reference_impl.metadata.image import Image

Step = tuple[Callable[[Lab], Coroutine[Any, Any, Any]], Callable[[Image], bool]]


def _config(value: str) -> Any:
    request = apis.INCREMENTAL_ALTER_CONFIGS.request
    config = request.AlterableConfig(name="retention.ms", config_operation=0, value=value)
    return request.AlterConfigsResource(resource_type=2, resource_name="a", configs=[config])


async def _more_partitions(lab: Lab) -> Any:
    wanted = apis.CREATE_PARTITIONS.request.CreatePartitionsTopic(
        name="a", count=2, assignments=None
    )
    answer = await lab.ask(apis.CREATE_PARTITIONS, topics=[wanted], timeout_ms=1000)
    return answer.results[0]


async def _delete(lab: Lab) -> Any:
    named = apis.DELETE_TOPICS.request.DeleteTopicState(name="b")
    answer = await lab.ask(apis.DELETE_TOPICS, topics=[named], timeout_ms=1000)
    return answer.responses[0]


async def _alter(lab: Lab) -> Any:
    answer = await lab.ask(apis.INCREMENTAL_ALTER_CONFIGS, resources=[_config("5")])
    return answer.responses[0]


async def _ids(lab: Lab) -> Any:
    return await lab.ask(apis.ALLOCATE_PRODUCER_IDS, broker_id=1, broker_epoch=lab.epochs[1])


# Each change, and how to see in an image that it has happened.
STEPS: list[Step] = [
    (lambda lab: lab.register(1), lambda image: 1 in image.brokers),
    (lambda lab: lab.beat(1), lambda image: not image.brokers[1].fenced),
    (lambda lab: lab.create("a", (1,)), lambda image: "a" in image.topics),
    (lambda lab: lab.create("b", (1,)), lambda image: "b" not in image.topics),
    (_alter, lambda image: image.config(2, "a") == {"retention.ms": "5"}),
    (_more_partitions, lambda image: len(image.topics["a"].partitions) == 2),
    (_delete, lambda image: "b" not in image.topics),
    (_ids, lambda image: image.next_producer_id >= 1000),
]


class Noting(Simulation):
    """A simulation with a place for the changes that were acknowledged, and for what was left."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.acknowledged: list[Callable[[Image], bool]] = []
        self.left: Image | None = None


async def _try(lab: Lab, step: Callable[[Lab], Coroutine[Any, Any, Any]]) -> bool:
    """Whether the change was acknowledged; whoever got no answer knows nothing."""
    try:
        answer = await step(lab)
    except (ConnectionError, KeyError):
        return False
    return not answer.error_code


async def _image(lab: Lab) -> Image | None:
    try:
        return await lab.image()
    except ConnectionError:
        return None


def whole_image(sim: Simulation, lab: Lab) -> Image:
    """What brokers can read, of a controller that is started again if it died."""
    for _ in range(3):
        if not sim.nodes[NAME].up:
            sim.start(NAME)
        image = sim.run(_image(lab))
        if image is not None:
            sim.run(lab.peer.close())
            return image
    raise AssertionError("the controller cannot be read")


def changes(sim: Noting, *, at_the_end: Callable[[Noting], object] | None = None) -> None:
    """One change after the other; a controller that died is started again."""
    add_controller(sim)
    lab = Lab(sim)
    for step, happened in STEPS:
        if sim.run(_try(lab, step)):
            sim.acknowledged.append(happened)
        if not sim.nodes[NAME].up:
            sim.start(NAME)
    if at_the_end is not None:
        at_the_end(sim)
    sim.left = whole_image(sim, lab)


def what_is_missing(sim: Noting) -> str | None:
    assert sim.left is not None
    if "b" in sim.left.topics:  # it was created; its deletion was not acknowledged
        sim.acknowledged = [h for h in sim.acknowledged if h not in (STEPS[3][1], STEPS[6][1])]
    gone = [STEPS[[h for _, h in STEPS].index(h)] for h in sim.acknowledged if not h(sim.left)]
    return f"{len(gone)} acknowledged changes are gone" if gone else None


def test_everything_is_acknowledged_when_nothing_happens() -> None:
    with Noting(1) as sim:
        changes(sim)
        assert len(sim.acknowledged) == len(STEPS)
        assert what_is_missing(sim) is None


@pytest.mark.parametrize("act", [Act.KILL, Act.KILL_AFTER])
def test_a_controller_killed_at_any_effect_loses_no_acknowledged_change(act: Act) -> None:
    swept = sweep(changes, what_is_missing, make=Noting, acts=(act,), nodes=(NAME,))

    assert swept.effects[NAME] > 3 * len(STEPS)
    assert (swept.found, swept.missed) == ([], [])


@pytest.mark.parametrize("lose", ["some", "all"])
@pytest.mark.parametrize("seed", range(3))
def test_a_loss_of_power_takes_no_acknowledged_change(seed: int, lose: Any) -> None:
    with Noting(seed) as sim:
        changes(sim, at_the_end=lambda sim: sim.lose_power(NAME, lose=lose))
        assert len(sim.acknowledged) == len(STEPS)
        assert what_is_missing(sim) is None


def test_a_change_that_could_not_be_synced_never_happened() -> None:
    with Noting(1) as sim:
        add_controller(sim)
        lab = Lab(sim)
        sim.run(lab.up(1))
        failing = sim.levers.sync_failing(NAME, times=1)
        assert not sim.run(_try(lab, lambda lab: lab.create("lost", (1,))))
        failing.release()
        assert sim.run(_try(lab, lambda lab: lab.create("kept", (1,))))
        assert list(sim.run(lab.image()).topics) == ["kept"]

        sim.kill(NAME)
        sim.start(NAME)
        assert list(whole_image(sim, lab).topics) == ["kept"]


def test_a_restart_changes_nothing_that_brokers_see() -> None:
    with Simulation(5) as sim:
        add_controller(sim)
        lab = Lab(sim)

        async def before() -> Image:
            await lab.up(1, 2, 3, racks={1: "a", 2: "b", 3: "c"})
            await lab.create("t", (1, 2, 3), (2, 3, 1), retention_ms="7")
            await lab.beat(2, leave=True)
            return await lab.image()

        was = sim.run(before())
        sim.kill(NAME)
        sim.start(NAME)
        now = whole_image(sim, lab)

        assert (now.offset, now.brokers, now.topics) == (was.offset, was.brokers, was.topics)
        assert now.config(2, "t") == {"retention.ms": "7"}


def test_a_restarted_controller_gives_brokers_a_whole_session_to_speak() -> None:
    with Simulation(5) as sim:
        add_controller(sim)
        lab = Lab(sim)
        sim.run(lab.up(1))
        sim.advance(8)
        sim.kill(NAME)
        sim.start(NAME)
        sim.advance(8)
        assert not whole_image(sim, lab).brokers[1].fenced
        sim.advance(3)
        assert whole_image(sim, lab).brokers[1].fenced
