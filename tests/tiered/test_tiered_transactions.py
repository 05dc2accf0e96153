"""Transactions whose records, markers and indexes are in the remote tier, or on both sides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.simulation.levers import SimLevers
from harness.simulation.simulation import Simulation
from tests.coordinators.transaction_bench import Cluster, Producer
from tests.tiered.tiered_cluster import SETTINGS, TINY_SEGMENTS

EARLIEST_LOCAL, LATEST_TIERED = -4, -5


@pytest.fixture
def made() -> Iterator[Cluster]:
    with Simulation(seed=1) as sim:
        cluster = Cluster(sim, SETTINGS, configs=TINY_SEGMENTS)
        yield cluster


def begun(cluster: Cluster, name: str) -> Producer:
    producer = Producer(cluster, name)
    producer.init()
    return producer


def transact(producer: Producer, *values: str, commit: bool) -> None:
    for value in values:
        assert producer.send(0, value) == "none"
    assert producer.end(commit=commit) == "none"


def until_local_from(cluster: Cluster, offset: int) -> None:
    """Let time pass until what is before an offset is only in the remote tier."""
    for _ in range(60):
        if cluster.listed(0, EARLIEST_LOCAL) >= offset:
            return
        cluster.sim.advance(1)
    raise AssertionError(cluster.listed(0, EARLIEST_LOCAL))


def test_aborted_records_in_the_remote_tier_stay_hidden_at_every_replica(made: Cluster) -> None:
    one, other = begun(made, "one"), begun(made, "other")
    transact(one, "a0", "a1", commit=False)
    transact(other, "c0", "c1", commit=True)
    transact(one, "a2", commit=False)
    transact(other, "c2", "c3", "c4", commit=True)
    until_local_from(made, 10)
    committed = ["c0", "c1", "c2", "c3", "c4"]
    for broker in (1, 2, 3):
        assert made.read(0, at=broker) == committed
    assert len(made.read(0, committed=False)) == 8


def test_nothing_is_copied_beyond_the_first_open_transaction(made: Cluster) -> None:
    one, other = begun(made, "one"), begun(made, "other")
    transact(other, "c0", "c1", "c2", commit=True)
    assert one.send(0, "open") == "none"
    for number in range(4):
        transact(other, f"d{number}", commit=True)
    made.sim.advance(20)
    assert made.listed(0, LATEST_TIERED) < 4
    assert made.read(0) == ["c0", "c1", "c2"]
    one.end(commit=True)
    until_local_from(made, 8)
    assert made.read(0) == ["c0", "c1", "c2", "open", "d0", "d1", "d2", "d3"]


def test_an_abort_whose_marker_is_still_local_hides_remote_records(made: Cluster) -> None:
    one, other = begun(made, "one"), begun(made, "other")
    transact(other, "c0", commit=True)
    transact(one, "gone", "gone too", commit=False)  # its marker is in the active segment
    until_local_from(made, 4)
    assert made.listed(0, EARLIEST_LOCAL) == 4
    assert made.read(0) == ["c0"]
    assert made.read(0, at=2) == ["c0"]


def test_a_replica_that_is_built_from_the_tier_knows_what_is_open_and_who_is_fenced(
    made: Cluster,
) -> None:
    one, other = begun(made, "one"), begun(made, "other")
    transact(other, "c0", "c1", "c2", commit=True)
    transact(one, "gone", commit=False)
    transact(other, "c3", "c4", commit=True)
    until_local_from(made, 6)
    levers = SimLevers(made.sim)
    emptied = levers.wipe("broker-2")
    made.sim.advance(10)
    emptied.release()
    made.sim.advance(30)
    made.kill(1)
    assert made.leader(0) in (2, 3)
    assert made.read(0) == ["c0", "c1", "c2", "c3", "c4"]
    assert other.send(0, "c5") == "none"
    assert other.end(commit=True) == "none"
    made.sim.advance(3)
    assert made.read(0)[-1] == "c5"


def test_a_reader_may_begin_anywhere_at_any_replica_before_and_after_a_leader_change(
    made: Cluster,
) -> None:
    """Also inside of an aborted transaction: its abort is told to every reader that needs it."""
    one, other = begun(made, "one"), begun(made, "other")
    assert one.send(0, "gone0") == "none"  # aborted far behind where it begins
    transact(other, "c0", "c1", commit=True)
    assert one.send(0, "gone1") == "none"
    transact(other, "gone2", commit=False)
    transact(other, "c2", commit=True)
    assert one.end(commit=False) == "none"
    transact(other, "c3", "c4", commit=True)
    until_local_from(made, 8)
    for killed in (None, made.leader(0)):
        if killed is not None:
            made.kill(killed)
        alive = [broker for broker in (1, 2, 3) if broker != killed]
        everything = made.rows(0, committed=False)
        committed = [row for row in everything if row[1].startswith("c")]
        for broker in alive:
            for start, _ in everything:
                expected = [row for row in committed if row[0] >= start]
                assert made.rows(0, at=broker, start=start) == expected


def test_a_transaction_that_is_open_while_a_replica_is_built_from_the_tier_ends_for_it_too(
    made: Cluster,
) -> None:
    one, other = begun(made, "one"), begun(made, "other")
    transact(other, "c0", "c1", "c2", commit=True)
    transact(one, "gone", commit=False)
    until_local_from(made, 4)
    assert one.send(0, "open") == "none"
    transact(other, "c3", commit=True)
    emptied = SimLevers(made.sim).wipe("broker-2")
    made.sim.advance(10)
    emptied.release()
    made.sim.advance(30)
    for broker in (1, 2, 3):
        assert made.read(0, at=broker) == ["c0", "c1", "c2"]
    made.kill(1)
    assert one.end(commit=False) == "none"
    made.sim.advance(3)
    for broker in (2, 3):
        assert made.read(0, at=broker) == ["c0", "c1", "c2", "c3"]
