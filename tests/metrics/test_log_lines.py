"""What nodes write down, read by the probe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clients.admin import create_topic
from harness.clients.operations import TopicPartition, produce
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment, open_sim
from harness.history import Run
from reference_impl.ports.log_lines import Lines, NodeLog, time_of_day

pytestmark = pytest.mark.sim

QUICK = {
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "1500",
}
T = TopicPartition("t", 0)
LINE = re.compile(r"\[(.{23})\] (INFO) \[([\w-]+)\] (.*) \(([\w.]+)\)")


class FrozenClock:
    def now_ms(self) -> int:
        return 1_763_460_000_042

    def monotonic_ns(self) -> int:
        return 0

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


def test_a_line_has_time_level_node_text_and_logger() -> None:
    written: list[str] = []
    NodeLog("broker-1", FrozenClock(), written.append)(Lines.TRUNCATED, partition="t-0", offset=7)

    assert written == [
        (
            "[2025-11-18 10:00:00,042] INFO [broker-1] t-0 truncated: offset=7 "
            "(org.apache.kafka.storage.internals.log.UnifiedLog)"
        )
    ]


@given(st.integers(min_value=0, max_value=253_402_300_799_999))
def test_times_are_those_of_the_calendar(ms: int) -> None:
    at = datetime.fromtimestamp(ms // 1000, UTC)
    assert time_of_day(ms) == f"{at:%Y-%m-%d %H:%M:%S},{ms % 1000:03}"


@pytest.fixture
def system(tmp_path: Path) -> Iterator[SimDeployment]:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim", seed=1)
    with open_sim(run, DeploymentPlan(properties=QUICK), seed=7) as made:
        client = RawClient(made.network, made.address(1))
        configs = {"segment.bytes": "1048576"}
        made.run(create_topic(client, "t", assignments=[[1, 2, 3]], configs=configs))
        made.sim.advance(2)
        yield made


def said(system: SimDeployment) -> list[str]:
    """Node and text of each line; a line that is none is a failure."""
    lines = [LINE.fullmatch(row["line"]) for row in system.run(system.probe("log_lines"))]
    return [f"{line[3]}: {line[4]}" for line in lines if line is not None]


def appended(system: SimDeployment, broker: int, records: int = 1) -> None:
    client = RawClient(system.network, system.address(broker))
    system.run(produce(client, T, records=[("x", 1)] * records, acks=1))
    client.abort()


def test_every_line_is_one_record(system: SimDeployment) -> None:
    rows = system.run(system.probe("log_lines"))
    assert len(said(system)) == len(rows) > 0


def test_brokers_say_when_they_are_unfenced_and_so_does_the_controller(
    system: SimDeployment,
) -> None:
    lines = said(system)
    for one in (1, 2, 3):
        assert any(re.match(f"broker-{one}: the broker is unfenced", line) for line in lines)
        assert any(re.match(f"controller: broker unfenced: broker={one} ", line) for line in lines)


def test_a_partition_says_in_which_role_it_begins_an_epoch(system: SimDeployment) -> None:
    lines = said(system)
    assert (
        "broker-1: t-0 starts as leader: leader_epoch=0 offset=0 high_watermark=0 isr=1,2,3"
    ) in lines
    for one in (2, 3):
        assert (
            f"broker-{one}: t-0 starts as follower: leader_epoch=0 leader=1 offset=0 "
            "high_watermark=0"
        ) in lines


def test_a_leader_says_whom_it_drops_and_takes_back(system: SimDeployment) -> None:
    cut = system.run(system.levers.cut(["broker-3"], ["broker-1"], both=True))
    appended(system, 1)
    system.sim.advance(5)
    system.run(cut.release())
    system.sim.advance(5)

    lines = [line for line in said(system) if " ISR " in line]
    assert lines == [
        "broker-1: t-0 ISR shrunk: from=1,2,3 to=1,2",
        "broker-1: t-0 ISR expanded: from=1,2 to=1,2,3",
    ]


def test_the_controller_says_who_is_fenced(system: SimDeployment) -> None:
    system.sim.kill("broker-3")
    system.sim.advance(5)

    assert any(line.startswith("controller: broker fenced: broker=3 ") for line in said(system))


def test_a_leader_that_was_alone_says_what_it_cuts_off(system: SimDeployment) -> None:
    cut = system.run(system.levers.cut(["broker-1"], ["broker-2", "broker-3"], both=True))
    away = system.run(system.levers.cut(["broker-1"], ["controller"], both=True))
    appended(system, 1, records=3)
    system.sim.advance(5)
    system.run(cut.release())
    system.run(away.release())
    system.sim.advance(5)

    assert "broker-1: t-0 truncated: offset=0" in said(system)


def test_a_full_segment_is_followed_by_another(system: SimDeployment) -> None:
    client = RawClient(system.network, system.address(1))
    big = "x" * 600_000
    for _ in range(2):
        system.run(produce(client, T, records=[(big, 1)], acks=1, timeout_s=30))
    client.abort()

    assert "broker-1: t-0 rolled a new log segment: offset=1" in said(system)


def test_a_broker_says_that_it_leaves(system: SimDeployment) -> None:
    system.run(system.levers.stop("broker-2"))
    system.sim.advance(10)

    assert [line for line in said(system) if "shutdown" in line] == [
        "broker-2: controlled shutdown: no partition is led from here any more",
        "broker-2: shutdown completed",
    ]
