"""The simulated deployment: the contract, and what only a simulation promises."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deployment_contract import (
    DeploymentContract,
    asks_broker,
    asks_control_plane,
    asks_store,
    begun,
    stalls,
)

from harness.deployments.deployment import (
    CONTROL_PLANE,
    OBJECT_STORE,
    ClientLost,
    Deployment,
    urgency,
)
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment, open_sim
from harness.errors import LabBroken, UsageError
from harness.history import Run
from harness.levers import has_acted
from reference_impl.decisions import in_force

pytestmark = pytest.mark.sim

QUICK = {"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "300"}
WHOLE = DeploymentPlan(properties=QUICK, control_plane="memory", object_store="memory")
BARE = DeploymentPlan(brokers=0, control_plane="memory")


def run_in(folder: Path) -> Run:
    return Run.create(folder, run="1", sut="reference", world="sim", seed=1)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with open_sim(run_in(tmp_path_factory.mktemp("sim") / "run"), WHOLE, seed=7) as made:
        yield made


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[SimDeployment]:
    with open_sim(run_in(tmp_path / "run"), BARE, seed=7) as made:
        yield made


class TestSimDeployment(DeploymentContract):
    """The contract in a simulation."""


def topics(system: SimDeployment) -> list[object]:
    return [row["topic"] for row in system.run(system.probe("control_plane"))]


# The same again.


def played(folder: Path, seed: int) -> bytes:
    run = run_in(folder)
    with open_sim(run, WHOLE, seed=seed, records_effects=True) as system:

        async def play() -> None:
            client = await system.client("a")
            down = await system.levers.kill("broker-2")
            await asks_broker(client, system)
            await asks_control_plane(client)
            await asks_store(client)
            await down.release()
            for what in sorted(system.probes):
                system.recorder.probe(what, await system.probe(what))

        system.run(play())
    run.seal()
    return (run.folder / "history.jsonl").read_bytes()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first, again, other = (
        played(tmp_path / name, seed) for name, seed in (("1", 3), ("2", 3), ("3", 4))
    )
    assert first == again
    assert first != other


def test_clients_have_numbers_that_no_broker_has(tmp_path: Path) -> None:
    assert b'"node":10001,"effect":1' in played(tmp_path / "run", 3)


# Clients.


def test_what_has_left_a_killed_client_is_carried_out(bare: SimDeployment) -> None:
    async def play() -> None:
        client = await bare.client("a")
        slow = await bare.levers.slow(CONTROL_PLANE, 5)
        asking = begun(asks_control_plane(client))
        await slow.acted()
        await bare.levers.kill("client-a")
        with pytest.raises(ClientLost):
            await asking
        await asyncio.sleep(6)

    bare.run(play())
    assert topics(bare) == ["t"]


def test_a_lever_on_a_client_spares_what_its_former_life_sent(bare: SimDeployment) -> None:
    async def play() -> None:
        client = await bare.client("a")
        asking = begun(asks_control_plane(client))
        await asyncio.sleep(0.0001)
        await bare.levers.kill("client-a")
        await client.ready()
        loss = await bare.levers.drop_requests(CONTROL_PLANE, "client-a")
        with pytest.raises(ClientLost):
            await asking
        await asyncio.sleep(1)
        assert not has_acted(loss.counts)

    bare.run(play())
    assert topics(bare) == ["t"]


def test_a_killed_client_takes_along_what_a_cut_held(bare: SimDeployment) -> None:
    async def play() -> None:
        client = await bare.client("a")
        cut = await bare.levers.cut(["client-a"], [CONTROL_PLANE], both=True)
        asking = begun(asks_control_plane(client))
        await cut.acted()
        await bare.levers.kill("client-a")
        with pytest.raises(ClientLost):
            await asking
        await cut.release()
        await asyncio.sleep(1)

    bare.run(play())
    assert topics(bare) == []


def test_a_cut_of_the_way_back_keeps_the_reply_of_what_was_done(bare: SimDeployment) -> None:
    async def play() -> None:
        client = await bare.client("a")
        cut = await bare.levers.cut([CONTROL_PLANE], ["client-a"], both=False)
        asking = begun(asks_control_plane(client))
        await cut.acted()
        assert [row["topic"] for row in await bare.probe("control_plane")] == ["t"]
        assert not asking.done()
        await cut.release()
        assert await asking

    bare.run(play())


@pytest.mark.parametrize(
    ("sources", "targets", "done"),
    [(["client-a"], [CONTROL_PLANE], []), ([CONTROL_PLANE], ["client-a"], ["t"])],
    ids=["way there", "way back"],
)
def test_a_client_gives_up_on_a_link_that_stays_cut(
    bare: SimDeployment, sources: list[str], targets: list[str], done: list[str]
) -> None:
    async def play() -> None:
        client = await bare.client("a")
        cut = await bare.levers.cut(sources, targets, both=False)
        assert not await asks_control_plane(client)
        await cut.release()

    bare.run(play())
    assert bare.now_ns() > 60_000_000_000
    assert topics(bare) == done


def test_a_call_that_one_lever_held_does_not_wait_for_one_that_is_over(
    bare: SimDeployment,
) -> None:
    async def play() -> None:
        client = await bare.client("a")
        hold = await bare.levers.hold(CONTROL_PLANE, "client-a")
        cut = await bare.levers.cut(["client-a"], [CONTROL_PLANE], both=True)
        asking = begun(asks_control_plane(client))
        await hold.acted()
        await cut.release()
        await hold.release()
        assert await asking

    bare.run(play())


def test_a_service_that_is_killed_takes_along_the_replies_under_way(bare: SimDeployment) -> None:
    async def play() -> None:
        client = await bare.client("a")
        asking = begun(asks_control_plane(client))
        while not await bare.probe("control_plane"):
            await asyncio.sleep(0.00001)
        down = await bare.levers.kill_service(CONTROL_PLANE)
        assert not has_acted(down.counts)
        assert not await asking
        assert not await asks_control_plane(client)
        assert down.counts == {"calls_broken": 2}
        await down.release()
        assert await asks_control_plane(client)

    bare.run(play())


def carried_out(system: SimDeployment, *, urged: bool) -> int:
    """How long a call takes that was begun, in microseconds."""

    async def play() -> int:
        client = await system.client("a")
        began, hurry = system.now_ns(), asyncio.Event()
        urgency.set(hurry)
        if urged:
            hurry.set()
        assert await asks_control_plane(client)
        return (system.now_ns() - began) // 1000

    return system.run(play())


def test_a_client_that_is_not_urged_takes_its_time(bare: SimDeployment) -> None:
    slow = [carried_out(bare, urged=False) for _ in range(20)]
    quick = [carried_out(bare, urged=True) for _ in range(20)]

    assert max(quick) <= 2000 < max(slow)


def test_what_work_of_a_client_raises_is_raised_where_it_was_asked(bare: SimDeployment) -> None:
    async def falls(_: object) -> None:
        raise LookupError("no such thing")

    async def play() -> None:
        client = await bare.client("a")
        with pytest.raises(LookupError):
            await client.kafka(falls)

    bare.run(play())


def test_work_that_is_not_waited_for_any_more_ends(bare: SimDeployment) -> None:
    ended = []

    async def waits(_: object) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(bare.now_ns())

    async def play() -> None:
        client = await bare.client("a")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await client.kafka(waits)
        await asyncio.sleep(1)

    bare.run(play())
    assert len(ended) == 1


# Levers that only a simulation has.


@pytest.mark.parametrize(
    ("lever", "arguments", "count"),
    [
        ("disk_full", {}, "writes_without_room"),
        ("disk_slow", {"seconds": 0.01}, "calls_delayed"),
        ("disk_failing", {}, "calls_failed"),
        ("sync_failing", {"times": 1}, "syncs_failed"),
    ],
)
def test_a_lever_on_a_disk_counts(
    tmp_path: Path, lever: str, arguments: dict[str, Any], count: str
) -> None:
    with open_sim(run_in(tmp_path / "run"), WHOLE, seed=7, forgiving=True) as system:

        async def play() -> None:
            client = await system.client("a")
            pulled = await getattr(system.levers, lever)("controller", **arguments)
            assert not has_acted(pulled.counts)
            down = await system.levers.kill("broker-3")  # which the controller writes down
            await pulled.acted()
            assert pulled.counts[count] > 0
            await pulled.release()
            await (await system.levers.kill("controller")).release()
            await down.release()
            assert await asks_broker(client, system, 3)

        system.run(play())


def test_a_shifted_clock_counts_who_reads_it(system: SimDeployment) -> None:
    async def play() -> None:
        shift = await system.levers.shift_clock("broker-1", 60_000)
        await shift.acted()
        assert shift.counts["clock_reads"] > 0
        await shift.release()

    system.run(play())


# What a plan says.


def test_a_stop_is_no_exit_of_its_own(system: SimDeployment) -> None:
    async def play() -> list[dict[str, object]]:
        await (await system.levers.stop("broker-2")).release()
        return await system.probe("nodes")

    rows = system.run(play())
    assert [row["node"] for row in rows if row["state"] == "ended"] == []


def test_a_deployment_without_a_service_offers_no_levers_on_it(bare: SimDeployment) -> None:
    assert "damage" not in bare.levers.offered
    assert bare.probes == {"nodes", "files", "control_plane"}
    with pytest.raises(LabBroken, match="no object-store"):
        bare.run(bare.levers.refuse(OBJECT_STORE))
    with pytest.raises(LabBroken, match="no brokers"):
        bare.address(1)


def test_mutants_are_in_force_while_it_is_open(tmp_path: Path) -> None:
    mutant = "conformance.mutants.boundary:nobody-is-fenced"
    plan = DeploymentPlan(brokers=0, control_plane="memory", mutants=(mutant,))
    with open_sim(run_in(tmp_path / "run"), plan, seed=1):
        assert len(in_force()) == 1
    assert in_force() == ()


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (DeploymentPlan(brokers=0, control_plane="memory", schema_upto=2), "an old schema"),
        (DeploymentPlan(brokers=0, mutants=("no.such:mutant",)), "no.such"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    tmp_path: Path, plan: DeploymentPlan, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem), open_sim(run_in(tmp_path / "run"), plan, seed=1):
        pass


def test_a_run_that_failed_is_incomplete(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run")
    with pytest.raises(LookupError), open_sim(run, BARE, seed=1):
        raise LookupError
    run.seal()
    assert b'"complete":false' in (run.folder / "history.jsonl").read_bytes()


# On PostgreSQL.


def test_a_real_database_fails_and_is_upgraded(tmp_path: Path) -> None:
    plan = DeploymentPlan(brokers=0, control_plane="postgres", schema_upto=2)
    with open_sim(run_in(tmp_path / "run"), plan, seed=7) as system:

        async def play() -> None:
            await system.upgrade([("old", 0)])
            client = await system.client("a")
            failing = await system.levers.fail(CONTROL_PLANE)
            assert not await asks_control_plane(client)
            assert failing.counts == {"errors_answered": 1}
            await failing.release()
            assert await asks_control_plane(client)
            await stalls(await system.levers.pause("client-a"), asks_control_plane(client))

        system.run(play())
        assert topics(system) == ["old", "t"]
