"""Tiered storage as its clients see it: one story of a cluster, and an outage of the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.simulation.simulation import Simulation
from reference_impl.tiered.segments import SegmentState
from tests.tiered.tiered_cluster import TINY_SEGMENTS, TieredCluster

pytestmark = pytest.mark.sim
EARLIEST, LATEST, LARGEST_STAMP, EARLIEST_LOCAL = -2, -1, -3, -4
LATEST_TIERED, PENDING_UPLOAD = -5, -6
# Nothing happens for an hour but the outage: the brokers talk to each other rarely.
QUIET = {
    "replica.fetch.wait.max.ms": "5000",
    "replica.lag.time.max.ms": "15000",
    "broker.session.timeout.ms": "9000",
    "broker.heartbeat.interval.ms": "2000",
    "log.retention.check.interval.ms": "30000",
    "remote.log.manager.task.interval.ms": "30000",
    "replica.high.watermark.checkpoint.interval.ms": "60000",
    "auto.leader.rebalance.enable": "false",
}


@dataclass
class Told:
    """What the story noted, by label."""

    notes: dict[str, Any] = field(default_factory=dict)

    def note(self, label: str, cluster: TieredCluster) -> None:
        up = [one for one in (1, 2, 3) if cluster.sim.nodes[f"broker-{one}"].up]
        self.notes[label] = {
            "local starts": [cluster.log(one).local_log_start_offset for one in up],
            "log starts": [cluster.log(one).log_start_offset for one in up],
            "segments": [
                (one.start_offset, one.end_offset)
                for one in cluster.segments()
                if one.state is SegmentState.COPY_SEGMENT_FINISHED
            ],
            "others": [one for one in cluster.segments() if not one.finished],
            "scans": [cluster.scan(at=one, start=cluster.log(one).log_start_offset) for one in up],
        }
        cluster.at_rest()


def values(start: int, end: int) -> list[str]:
    return [f"m{number}" for number in range(start, end)]


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    story = Told()
    with Simulation(seed=11) as sim:
        cluster = TieredCluster(sim)
        cluster.create()
        cluster.send(9)
        sim.advance(4)
        story.note("copied", cluster)
        story.notes["listed"] = [
            cluster.listed(one) for one in (EARLIEST, EARLIEST_LOCAL, LATEST, LARGEST_STAMP)
        ]
        story.notes["listed of the tier"] = [
            cluster.special(one) for one in (LATEST_TIERED, PENDING_UPLOAD)
        ]
        sim.kill("broker-1")
        cluster.wait(lambda: cluster.leader() == 2)
        cluster.send(5)
        sim.advance(5)
        story.note("another leader", cluster)
        sim.start("broker-1")
        cluster.wait(lambda: cluster.in_sync() == (1, 2, 3), within_s=60)
        sim.advance(3)
        story.note("back", cluster)
        story.notes["deleted"] = cluster.delete_records(5)
        sim.advance(3)
        story.note("records deleted", cluster)
        story.notes["below the log start"] = cluster.read(4, at=cluster.leader())[0]
        cluster.configure(**{"retention.bytes": "500"})
        sim.advance(4)
        story.note("too much", cluster)
        cluster.configure(**{"retention.ms": "1000", "local.retention.ms": "1000"})
        sim.advance(12)
        story.note("too old", cluster)
    return story.notes


def test_finished_segments_are_copied_and_leave_all_disks(told: dict[str, Any]) -> None:
    assert told["copied"]["segments"] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert told["copied"]["local starts"] == [8, 8, 8]
    assert told["copied"]["log starts"] == [0, 0, 0]


def test_everything_is_read_back_from_the_leader_and_its_followers(told: dict[str, Any]) -> None:
    assert told["copied"]["scans"] == [values(0, 9)] * 3
    assert told["another leader"]["scans"] == [values(0, 14)] * 2
    assert told["back"]["scans"] == [values(0, 14)] * 3


def test_the_bounds_of_both_tiers_are_listed(told: dict[str, Any]) -> None:
    assert told["listed"] == [0, 8, 9, 8]
    assert told["listed of the tier"] == [(0, 7, 0), (0, 8, 0)]


def test_a_new_leader_goes_on_where_the_old_one_stopped(told: dict[str, Any]) -> None:
    ends = [end for _, end in told["another leader"]["segments"]]
    assert ends == sorted(ends)
    assert told["another leader"]["segments"][:4] == told["copied"]["segments"]
    assert ends[-1] == 11
    assert told["another leader"]["local starts"] == [12, 12]


def test_a_broker_that_was_away_finds_what_it_lacks_in_the_tier(told: dict[str, Any]) -> None:
    assert told["back"]["log starts"] == [0, 0, 0]
    assert told["back"]["local starts"] == [12, 12, 12]


def test_deleted_records_are_gone_from_both_tiers(told: dict[str, Any]) -> None:
    assert told["deleted"] == 0
    assert told["records deleted"]["log starts"] == [5, 5, 5]
    assert told["records deleted"]["segments"][0][0] == 4
    assert told["below the log start"] == 1  # OFFSET_OUT_OF_RANGE
    assert told["records deleted"]["scans"] == [values(5, 14)] * 3


def test_retention_by_size_counts_both_tiers_and_takes_the_oldest(told: dict[str, Any]) -> None:
    first = told["too much"]["segments"][0][0]
    assert told["too much"]["log starts"] == [first] * 3
    assert 5 < first < 12
    assert told["too much"]["scans"] == [values(first, 14)] * 3


def test_retention_by_time_takes_the_active_segment_too(told: dict[str, Any]) -> None:
    assert told["too old"]["log starts"] == [14, 14, 14]
    assert (told["too old"]["segments"], told["too old"]["others"]) == ([], [])


def test_an_hour_without_store_hurts_readers_of_the_tier_alone_and_loses_nothing() -> None:
    with Simulation(seed=12) as sim:
        cluster = TieredCluster(sim, QUIET)
        cluster.create()
        cluster.send(5)
        sim.advance(70)
        before = [one.segment_id for one in cluster.segments()]
        away = cluster.levers.refuse("object_store")
        cluster.send(4)
        sim.advance(1800)
        cluster.send(4)
        sim.advance(1800)
        assert cluster.read(0, at=1)[0] == 56
        assert cluster.read(4, at=1) == (0, values(4, 6))
        assert [cluster.listed(one) for one in (EARLIEST, EARLIEST_LOCAL, LATEST)] == [0, 4, 13]
        assert [cluster.log(one).local_log_start_offset for one in (1, 2, 3)] == [4, 4, 4]
        away.release()
        sim.advance(120)

        assert [one.segment_id for one in cluster.segments()][: len(before)] == before
        assert [(one.start_offset, one.end_offset) for one in cluster.segments()] == [
            (0, 1),
            (2, 3),
            (4, 5),
            (6, 7),
            (8, 9),
            (10, 11),
        ]
        assert cluster.scan(at=1) == values(0, 13)
        cluster.at_rest()


def test_a_topic_with_records_is_tiered_while_the_cluster_runs() -> None:
    with Simulation(seed=13) as sim:
        cluster = TieredCluster(sim)
        cluster.create(**{**TINY_SEGMENTS, "remote.storage.enable": "false"})
        cluster.send(7)
        sim.advance(3)
        assert not cluster.objects()
        cluster.configure(**{"remote.storage.enable": "true"})
        sim.advance(6)

        assert [(one.start_offset, one.end_offset) for one in cluster.segments()] == [
            (0, 1),
            (2, 3),
            (4, 5),
        ]
        assert [cluster.log(one).local_log_start_offset for one in (1, 2, 3)] == [6, 6, 6]
        assert [cluster.scan(at=one) for one in (1, 2, 3)] == [values(0, 7)] * 3
        cluster.at_rest()


def test_a_slow_store_delays_no_producer_and_no_local_reader() -> None:
    with Simulation(seed=14) as sim:
        cluster = TieredCluster(sim)
        cluster.create()
        slow = cluster.levers.slow("object_store", 30.0)
        cluster.send(6)
        sim.advance(5)
        began = sim.now_ms
        cluster.send(3)
        assert cluster.read(0, at=1) == (0, values(0, 2))
        assert sim.now_ms - began < 2000
        cluster.cluster.stop("broker-1")
        cluster.wait(lambda: not sim.nodes["broker-1"].up)
        slow.release()
