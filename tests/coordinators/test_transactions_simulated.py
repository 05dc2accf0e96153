"""Transactions on a simulated cluster: all of one, or nothing of it, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.deployments.plan import broker_name
from harness.simulation.simulation import Simulation
from reference_impl.coordinators.placement import TRANSACTION_STATE, coordinated_by
from reference_impl.kafka import apis
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from tests.coordinators.transaction_bench import Cluster, Producer

Make = Callable[..., Cluster]


@pytest.fixture
def cluster() -> Iterator[Make]:
    sims: list[Simulation] = []

    def make() -> Cluster:
        sim = Simulation(seed=1)
        sim.__enter__()
        sims.append(sim)
        return Cluster(sim)

    yield make
    for sim in sims:
        sim.__exit__(None, None, None)


def begun(cluster: Cluster, name: str = "x", *, protocol: int = 2) -> Producer:
    producer = Producer(cluster, name, protocol=protocol)
    producer.init()
    return producer


@pytest.mark.parametrize("protocol", [1, 2])
def test_readers_of_committed_data_see_all_of_a_commit_and_nothing_of_an_abort(
    cluster: Make, protocol: int
) -> None:
    made = cluster()
    producer = begun(made, protocol=protocol)
    for commit, value in ((True, "a"), (False, "b"), (True, "c")):
        if protocol == 1:
            assert producer.add(0, 1) == "none"
        assert producer.send(0, f"{value}0") == "none"
        assert producer.send(1, f"{value}1") == "none"
        assert value + "0" not in made.read(0)
        assert producer.end(commit=commit) == "none"
        made.sim.advance(1)
    assert made.read(0) == ["a0", "c0"]
    assert made.read(1) == ["a1", "c1"]
    assert made.read(0, committed=False) == ["a0", "b0", "c0"]


def test_every_end_takes_an_epoch_of_its_own(cluster: Make) -> None:
    made = cluster()
    producer = begun(made)
    first = producer.epoch
    producer.send(0, "a")
    producer.end(commit=True)
    made.sim.advance(1)
    assert producer.epoch == first + 1


def test_an_old_producer_has_to_say_where_it_writes(cluster: Make) -> None:
    made = cluster()
    producer = begun(made, protocol=1)
    assert producer.send(0, "a") == "invalid_txn_state"
    assert producer.add(0) == "none"
    assert producer.send(0, "a") == "none"
    assert producer.send(1, "a") == "invalid_txn_state"


@pytest.mark.parametrize("protocol", [1, 2])
def test_a_successor_aborts_and_fences_its_predecessor(cluster: Make, protocol: int) -> None:
    made = cluster()
    old = begun(made, protocol=protocol)
    if protocol == 1:
        old.add(0)
    assert old.send(0, "old") == "none"
    young = begun(made, protocol=protocol)
    made.sim.advance(1)
    assert young.epoch > old.epoch
    assert old.send(0, "late") == "invalid_producer_epoch"
    assert old.end(commit=True) == "producer_fenced"
    if protocol == 1:
        young.add(0)
    assert young.send(0, "young") == "none"
    assert young.end(commit=True) == "none"
    made.sim.advance(1)
    assert made.read(0) == ["young"]


def test_a_transaction_that_takes_too_long_is_aborted(cluster: Make) -> None:
    made = cluster()
    producer = Producer(made, "x")
    producer.init(timeout_ms=2000)
    assert producer.send(0, "slow") == "none"
    plain = Producer(made, "y")
    plain.init()
    assert plain.send(0, "after") == "none"
    assert plain.end(commit=True) == "none"
    made.sim.advance(1)
    assert made.read(0) == []
    made.sim.advance(5)
    assert made.read(0) == ["after"]
    assert producer.send(0, "late") == "invalid_producer_epoch"


@pytest.mark.parametrize("protocol", [1, 2])
def test_a_decision_survives_its_coordinator(cluster: Make, protocol: int) -> None:
    made = cluster()
    producer = begun(made, protocol=protocol)
    if protocol == 1:
        producer.add(0, 1)
    assert producer.send(0, "a") == "none"
    assert producer.send(1, "a") == "none"
    assert producer.end(commit=True) == "none"
    made.kill(made.coordinator("x"))
    made.sim.advance(5)
    assert made.read(0) == made.read(1) == ["a"]


def test_an_open_transaction_goes_on_at_the_next_coordinator(cluster: Make) -> None:
    made = cluster()
    producer = begun(made)
    assert producer.send(0, "before") == "none"
    made.kill(made.coordinator("x"))
    assert producer.send(0, "after") == "none"
    assert producer.end(commit=True) == "none"
    made.sim.advance(3)
    assert made.read(0) == ["before", "after"]


def test_an_aborted_transaction_stays_so_after_its_leader_dies(cluster: Make) -> None:
    made = cluster()
    producer = begun(made)
    producer.send(0, "gone")
    producer.end(commit=False)
    producer.send(0, "kept")
    producer.end(commit=True)
    made.sim.advance(1)
    made.kill(made.leader(0))
    assert made.read(0) == ["kept"]


def test_transactions_can_be_looked_at(cluster: Make) -> None:
    made = cluster()
    producer = begun(made)
    producer.send(0, "a")
    request = apis.DESCRIBE_TRANSACTIONS.request(transactional_ids=["x", "nothing"])
    at = made.coordinator("x")
    known, unknown = made.ask(at, apis.DESCRIBE_TRANSACTIONS, 0, request).transaction_states
    assert (known.transaction_state, known.producer_id) == ("Ongoing", producer.producer_id)
    assert [(one.topic, one.partitions) for one in known.topics] == [("t", [0])]
    assert ErrorCode(unknown.error_code) in (
        ErrorCode.transactional_id_not_found,
        ErrorCode.not_coordinator,
    )
    request = apis.LIST_TRANSACTIONS.request(state_filters=["Ongoing", "Strange"])
    listed = made.ask(at, apis.LIST_TRANSACTIONS, 0, request)
    assert [one.transactional_id for one in listed.transaction_states] == ["x"]
    assert listed.unknown_state_filters == ["Strange"]


@pytest.mark.parametrize(
    ("timeout_ms", "code"),
    [(0, "invalid_transaction_timeout"), (900_001, "invalid_transaction_timeout")],
)
def test_a_time_out_out_of_range_is_refused(cluster: Make, timeout_ms: int, code: str) -> None:
    producer = Producer(cluster(), "x")
    assert ErrorCode(producer.init_once(timeout_ms=timeout_ms).error_code).name == code


def test_a_coordinator_acts_on_a_decision_once_no_successor_can_miss_it(cluster: Make) -> None:
    """Of a commit in its log that another replica may not have, no client may hear:
    that one may come to lead, and would abort what was committed elsewhere."""
    made = cluster()
    producer = begun(made)
    assert producer.send(0, "a") == "none"
    asked = apis.METADATA.request
    request = asked(topics=[asked.MetadataRequestTopic(name=TRANSACTION_STATE)])
    index = coordinated_by("x", 3)
    partitions = made.ask(1, apis.METADATA, 9, request).topics[0].partitions
    first, second, last = next(
        one.replica_nodes for one in partitions if one.partition_index == index
    )
    assert made.coordinator("x") == first
    cut = made.sim.levers.cut(broker_name(last), [broker_name(one) for one in (first, second)])
    end = apis.END_TXN.request(
        transactional_id="x",
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        committed=True,
    )
    peer = Peer(made.sim.lab, made.cluster.address(first), "test")
    asking = made.sim.spawn(peer.ask(apis.END_TXN, 5, end, timeout_s=30.0))
    made.sim.advance(0.7)
    made.sim.kill(broker_name(first))
    described = apis.DESCRIBE_TRANSACTIONS.request(transactional_ids=["x"])
    told = []
    while not told or told[-1] == "not_coordinator":
        made.sim.advance(0.1)
        answer = made.ask(second, apis.DESCRIBE_TRANSACTIONS, 0, described)
        told.append(ErrorCode(answer.transaction_states[0].error_code).name)
    assert told[-1] == "coordinator_load_in_progress"
    assert isinstance(asking.exception(), ConnectionError)
    cut.release()
    made.sim.advance(5)
    assert made.read(0) == ["a"]
