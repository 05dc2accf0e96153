"""The reference as processes: the contract, and what only real servers can lose."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from itertools import count
from typing import Any, TypeVar

import pytest
from deployment_contract import DeploymentContract

from harness.clients.admin import versions_offered
from harness.clients.raw import RawClient
from harness.deployments.deployment import CONTROL_PLANE, OBJECT_STORE, ClientLost, Role
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process import ProcessDeployment, open_process
from harness.deployments.process_client import ProcessClient
from harness.errors import LabBroken, UsageError
from harness.history import Run
from harness.levers import Lever
from reference_impl.ports import Network
from reference_impl.ports.object_store import StoreUnavailable

pytestmark = pytest.mark.process

Pulled = TypeVar("Pulled", bound=Lever)
PLAN = DeploymentPlan(
    control_plane="postgres",
    object_store="s3",
    own_database=True,
    properties={"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"},
)
TIMED_OUT, FAILED = "REQUEST_TIMED_OUT", "KAFKA_STORAGE_ERROR"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("process") / "run"
    return Run.create(folder, run="1", sut="reference", world="process")


@pytest.fixture(scope="module")
def system(run: Run) -> Iterator[ProcessDeployment]:
    with open_process(run, PLAN) as deployed:
        yield deployed


@pytest.fixture(scope="module")
def a(system: ProcessDeployment) -> Client:
    return Client(system, "a")


@pytest.fixture(scope="module")
def b(system: ProcessDeployment) -> Client:
    return Client(system, "b")


Pull = Callable[[Coroutine[Any, Any, Pulled]], Pulled]


@pytest.fixture
def pull(system: ProcessDeployment) -> Iterator[Pull[Any]]:
    """Pulls a lever that is released at the end of a test, whatever became of it."""
    pulled: list[Lever] = []

    def pull(lever: Coroutine[Any, Any, Pulled]) -> Pulled:
        pulled.append(system.run(lever))
        return pulled[-1]  # type: ignore[return-value]

    yield pull
    for lever in pulled:
        system.run(lever.release())


class Client:
    """A client from outside the loop; what it did to the control plane it did to one log."""

    def __init__(self, system: ProcessDeployment, name: str) -> None:
        self._system = system
        self.inner: ProcessClient = system.run(system.client(name))  # type: ignore[assignment]
        self.ask("create_log")
        assert self.ask("set_diskless_log_start_offset", boundary=0, leader_epoch=1) == "NONE"
        self._keys = count()

    @property
    def node(self) -> str:
        return self.inner.node

    def begin(self, f: str, **arguments: object) -> asyncio.Task[Any]:
        asked = {"topic": self.node, "partition": 0, **arguments}

        async def begin() -> asyncio.Task[Any]:
            return asyncio.ensure_future(self.inner.control_plane(f, asked))

        return self._system.run(begin())

    def ask(self, f: str, **arguments: object) -> str:
        return self.answer(self.begin(f, **arguments)).error

    def answer(self, task: asyncio.Task[Any]) -> Any:
        async def wait() -> Any:
            return await task

        return self._system.run(wait())

    def commit(self) -> str:
        return self.ask("commit_batch", record_count=1)

    def committed(self) -> int:
        """As the tables say."""
        rows = self._system.run(self._system.probe("control_plane"))
        [row] = [row for row in rows if row["topic"] == self.node]
        assert isinstance(row["batches"], list)
        return len(row["batches"])

    def put(self) -> str:
        key = f"{self.node}/{next(self._keys)}"
        self._system.run(self.inner.store(lambda store: store.put(key, b"0123456789")))
        return key

    def get(self, key: str) -> bytes:
        return self._system.run(self.inner.store(lambda store: store.get(key)))

    def versions(self) -> object:
        """What the broker offers, asked over Kafka."""

        async def ask(network: Network) -> object:
            return await versions_offered(RawClient(network, self._system.address(1)), timeout_s=20)

        return self._system.run(self.inner.kafka(ask))


def release(system: ProcessDeployment, lever: Lever) -> dict[str, int]:
    """What it had done when it was released."""
    system.run(asyncio.wait_for(lever.acted(), 20))
    system.run(lever.release())
    return dict(lever.counts)


class TestProcessDeployment(DeploymentContract):
    """As every deployment."""


# ── the control plane ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("lever", "count", "error", "committed"),
    [
        ("refuse", "refusals", TIMED_OUT, 0),
        ("fail", "errors_answered", FAILED, 0),
        ("drop_requests", "requests_dropped", TIMED_OUT, 0),
        ("lose_replies", "replies_dropped", TIMED_OUT, 1),
    ],
)
def test_a_lever_on_the_control_plane_counts_what_it_did_to_one_caller(
    system: ProcessDeployment,
    pull: Pull[Any],
    a: Client,
    b: Client,
    lever: str,
    count: str,
    error: str,
    committed: int,
) -> None:
    before = a.committed()
    pulled = pull(getattr(system.levers, lever)(CONTROL_PLANE, a.node))
    assert a.commit() == error
    assert b.commit() == "NONE"
    assert release(system, pulled) == {count: 1}
    assert a.committed() == before + committed
    assert a.commit() == "NONE"


def test_a_cut_client_reaches_neither_service_nor_broker(
    system: ProcessDeployment, pull: Pull[Any], a: Client, b: Client
) -> None:
    key = a.put()
    services = [CONTROL_PLANE, OBJECT_STORE, "broker-1"]
    lever = pull(system.levers.cut([a.node], services, both=True))
    calls = [a.begin("commit_batch", record_count=1)]
    works: list[Callable[[], Awaitable[object]]] = [
        lambda: a.inner.store(lambda store: store.get(key)),
        lambda: a.inner.kafka(lambda network: network.connect(system.address(1))),
    ]

    async def begin() -> list[asyncio.Task[Any]]:
        return [asyncio.ensure_future(work()) for work in works]

    calls += system.run(begin())
    assert b.commit() == "NONE"
    assert not any(call.done() for call in calls[:2])
    assert release(system, lever)["deliveries_held"] >= 1
    assert a.answer(calls[0]).error == "NONE"
    assert a.answer(calls[1]) == b"0123456789"
    a.answer(calls[2]).abort()
    assert a.versions()


def test_a_database_killed_between_two_commits_loses_nothing(
    system: ProcessDeployment, pull: Pull[Any], a: Client, b: Client
) -> None:
    before = a.committed()
    assert a.commit() == "NONE"
    lever = pull(system.levers.kill_service(CONTROL_PLANE))
    assert (a.commit(), b.commit()) == (TIMED_OUT, TIMED_OUT)
    assert release(system, lever)["processes_ended"] > 1  # the postmaster and its backends
    assert a.committed() == before + 1
    assert a.commit() == "NONE"
    assert a.committed() == before + 2


# ── the object store ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("lever", "count", "stored"),
    [
        ("refuse", "refusals", 0),
        ("fail", "errors_answered", 0),
        ("drop_requests", "requests_dropped", 0),
        ("lose_replies", "replies_dropped", 1),
    ],
)
def test_a_lever_on_the_object_store_counts_what_it_did_to_one_caller(
    system: ProcessDeployment,
    pull: Pull[Any],
    a: Client,
    b: Client,
    lever: str,
    count: str,
    stored: int,
) -> None:
    before = len(system.run(system.probe("objects")))
    pulled = pull(getattr(system.levers, lever)(OBJECT_STORE, a.node))
    with pytest.raises(StoreUnavailable):
        a.put()
    b.put()
    assert release(system, pulled) == {count: 1}
    assert len(system.run(system.probe("objects"))) == before + stored + 1
    assert a.get(a.put()) == b"0123456789"


def test_an_s3_server_that_is_killed_loses_no_acknowledged_object(
    system: ProcessDeployment, pull: Pull[Any], a: Client
) -> None:
    keys = [a.put() for _ in range(10)]
    lever = pull(system.levers.kill_service(OBJECT_STORE))
    with pytest.raises(StoreUnavailable):
        a.put()
    assert release(system, lever) == {"processes_ended": 1}
    assert {a.get(key) for key in keys} == {b"0123456789"}
    rows = system.run(system.probe("objects"))
    assert {row["key"] for row in rows} >= set(keys)


# ── clients ──────────────────────────────────────────────────────────────────────────────────────


def test_what_a_killed_client_has_sent_is_carried_out(
    system: ProcessDeployment, pull: Pull[Any], a: Client, b: Client
) -> None:
    before = a.committed()
    slow = pull(system.levers.slow(CONTROL_PLANE, 3600, a.node))
    call = a.begin("commit_batch", record_count=1)
    system.run(slow.acted())
    lever = pull(system.levers.kill(a.node))
    with pytest.raises(ClientLost):
        a.answer(call)
    system.run(slow.release())
    system.run(lever.release())
    # One connection after the other: the database has seen the first before it answers the second.
    assert a.commit() == "NONE"
    assert a.committed() == before + 2


# ── nodes and probes ─────────────────────────────────────────────────────────────────────────────


def test_probes_look_at_nodes_files_and_log_lines(system: ProcessDeployment) -> None:
    looks = {"nodes", "files", "log_lines", "metrics", "control_plane", "objects"}
    assert system.probes == looks
    states = {row["node"]: row["state"] for row in system.run(system.probe("nodes"))}
    assert states == dict.fromkeys(PLAN.node_names, "running")
    files = system.run(system.probe("files"))
    assert {row["node"] for row in files} == set(PLAN.node_names)
    lines = [row["line"] for row in system.run(system.probe("log_lines"))]
    assert any("broker unfenced: broker=1 " in line for line in lines)
    values = {
        (row["node"], row["name"]): row["value"] for row in system.run(system.probe("metrics"))
    }
    assert (
        values["controller", "kafka_controller_kafkacontroller_activebrokercount"] == PLAN.brokers
    )
    leaders = "kafka_server_replicamanager_leadercount"
    assert {node for node, name in values if name == leaders} == set(PLAN.names)
    assert system.nodes(Role.CONTROL_PLANE) == (CONTROL_PLANE,)
    assert system.nodes(Role.OBJECT_STORE) == (OBJECT_STORE,)


def test_agents_trace_their_transactions_into_shards_of_their_own(
    run: Run, system: ProcessDeployment, a: Client
) -> None:
    number = system.recorder.node("a")
    shards = list((run.folder / "shards").glob(f"process-0-agent-{number}-*.jsonl"))
    assert len(shards) >= 1
    assert any('"commit_batch"' in shard.read_text() for shard in shards)


def test_only_what_a_plan_asks_for_is_there(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("small") / "run"
    run = Run.create(folder, run="1", sut="reference", world="process")
    plan = DeploymentPlan(brokers=0, control_plane="postgres", schema_upto=2)
    with open_process(run, plan) as small:
        assert small.probes == {"control_plane"}
        assert "kill_service" not in small.levers.offered  # the server is shared
        assert "damage" not in small.levers.offered
        small.run(small.upgrade([("old", 0)]))
        client = small.run(small.client("a"))
        found = small.run(
            client.control_plane("get_diskless_log_start_offset", {"topic": "old", "partition": 0})
        )
        assert found.stored["boundary"] == 0
        with pytest.raises(LabBroken, match="no object store"):
            small.run(client.store(lambda store: store.list()))
        with pytest.raises(LabBroken, match="kill_service is not offered"):
            small.run(small.levers.kill_service(CONTROL_PLANE))
    assert run.seal().complete


@pytest.mark.parametrize(
    "plan",
    [
        DeploymentPlan(brokers=0, control_plane="memory"),
        DeploymentPlan(brokers=0, object_store="folder"),
        DeploymentPlan(brokers=0, mutants=("nowhere:x",)),
    ],
)
def test_an_impossible_plan_is_a_usage_error(run: Run, plan: DeploymentPlan) -> None:
    with pytest.raises(UsageError), open_process(run, plan):
        raise AssertionError
