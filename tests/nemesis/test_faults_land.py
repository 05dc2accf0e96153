"""Every fault lands when it is met, and does not when nothing meets it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sim_bench import CLUSTER, SMALL, Bench, Meet, bench

from harness.deployments.deployment import Client
from harness.deployments.offers import OFFERS
from harness.simulation import process
from harness.simulation.disk import SimDisk
from nemesis.fault import State
from nemesis.faults import FAULTS
from nemesis.table import where_possible


async def ask(client: Client) -> object:
    return await client.control_plane(
        "get_diskless_log_start_offset", {"topic": "t", "partition": 0}
    )


async def get(client: Client) -> object:
    return await client.store(lambda store: store.get("key"))


async def put(client: Client) -> object:
    return await client.store(lambda store: store.put("another", b"x"))


# What is done to the control plane, the store, or a client, and what meets it.
OF_CLIENTS: dict[str, tuple[str, Meet]] = {
    "pause": ("client a", ask),
    "cut": ("client a -> control-plane", ask),
    "delay": ("client a -> object-store", get),
    "object-store-refused": ("", get),
    "object-store-slow": ("object-store", get),
    "object-store-broken": ("client a", get),
    "object-store-reply-lost": ("", get),
    "object-store-killed": ("", get),
    "object-store-half-writes": ("", put),
    "object-vanished": ("an object", get),
    "object-torn": ("object key", get),
    "object-corrupt": ("key", get),
    "control-plane-refused": ("", ask),
    "control-plane-slow": ("control-plane", ask),
    "control-plane-broken": ("client a -> control-plane", ask),
    "control-plane-killed": ("", ask),
    "control-plane-disturbed": ("", ask),
    "lose-reply": ("client a", ask),
    "drop-request": ("client a", ask),
    "hold-request": ("client a", ask),
    "effect-lose-reply": ("client a", ask),
    "effect-fail": ("client a", ask),
}
# What acts at once, or on what a cluster always does.
OF_BROKERS = {
    "kill": "leader of t-0",
    "restart": "controller",
    "rolling-restart": "all brokers",
    "zombie": "leader of t-0",
    "reimage": "follower of t-0",
    "lose-power": "follower of t-0",
    "clock-shift": "leader of t-0",
    "clock-drift": "follower of t-0",
    "effect-kill": "follower of t-0",
    "effect-kill-after": "leader of t-0",
    "disk-slow": "follower of t-0",
}
# A broker ends itself.
FAILING_DISKS = ("disk-full", "disk-failing", "sync-failing")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with bench(tmp_path_factory.mktemp("cluster"), CLUSTER) as made:
        yield made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with bench(tmp_path_factory.mktemp("small"), SMALL) as made:
        yield made


def test_every_fault_of_the_simulation_is_tried_here() -> None:
    offer = OFFERS["sim", "reference"]
    possible = {fault.name for fault in FAULTS.values() if where_possible(fault, offer) == "yes"}

    assert {*OF_CLIENTS, *OF_BROKERS, *FAILING_DISKS, "split-request"} == possible


def test_the_simulation_offers_what_the_table_says(cluster: Bench) -> None:
    assert cluster.system.levers.offered == OFFERS["sim", "reference"].levers


@pytest.mark.parametrize("name", OF_CLIENTS)
def test_a_fault_lands_when_a_client_meets_it(small: Bench, name: str) -> None:
    before = len(small.lines())
    target, meet = OF_CLIENTS[name]

    small.suffer(name, target, meet)

    assert small.phases(name, before) == ["begin", "landed", "end"]


@pytest.mark.parametrize("name", [*OF_CLIENTS, "clock-shift", "clock-drift", "effect-kill"])
def test_a_fault_that_no_client_meets_does_not_land(small: Bench, name: str) -> None:
    before = len(small.lines())
    target, _ = OF_CLIENTS.get(name, ("client a", ask))

    small.suffer(name, target)

    assert small.phases(name, before) == ["begin", "end"]


@pytest.mark.parametrize("name", OF_BROKERS)
def test_a_fault_of_brokers_lands(cluster: Bench, name: str) -> None:
    before = len(cluster.lines())

    active = cluster.suffer(name, OF_BROKERS[name])

    assert not active.out_of_place
    assert cluster.phases(name, before) == ["begin", "landed", "end"]
    if FAULTS[name].state is State.DOWN:
        assert all(cluster.system.sim.nodes[node].up for node in active.target.nodes)


@pytest.mark.parametrize("name", [*FAILING_DISKS, "disk-slow"])
def test_a_fault_of_a_disk_that_is_not_written_does_not_land(cluster: Bench, name: str) -> None:
    before = len(cluster.lines())

    cluster.suffer(name, "controller")

    assert cluster.phases(name, before) == ["begin", "end"]


@pytest.mark.parametrize("name", FAILING_DISKS)
def test_a_disk_that_fails_lands_where_it_is_written(tmp_path: Path, name: str) -> None:
    with bench(tmp_path, CLUSTER) as cluster:
        cluster.suffer(name, "follower of t-0")

        assert cluster.phases(name) == ["begin", "landed", "end"]


def test_a_zombie_stood_still_until_another_led(cluster: Bench) -> None:
    before = len(cluster.lines())

    active = cluster.suffer("zombie", "leader of t-0")

    landed = next(line for line in cluster.lines(before) if line["phase"] == "landed")
    assert landed["target"] == active.target.label
    assert landed["evidence"]["callbacks_stalled"] > 0
    assert landed["evidence"]["others_lead"] == 2


def test_a_leader_that_is_paused_too_shortly_is_no_zombie(cluster: Bench) -> None:
    before = len(cluster.lines())

    cluster.suffer("zombie", "leader of t-0", within_s=0)

    assert cluster.phases("zombie", before) == ["begin", "end"]


def test_one_transaction_passes_and_a_hold_without_a_request_passes_none(small: Bench) -> None:
    async def split(*, asked: bool) -> None:
        client = await small.system.client("a")
        hold = await small.nemesis.begin("hold-request", "client a")
        work = asyncio.ensure_future(ask(client)) if asked else None
        await asyncio.sleep(1)
        await small.nemesis.begin("split-request", "client a")
        await small.nemesis.end(hold)
        if work is not None:
            await work

    small.system.run(split(asked=False))
    assert small.phases("split-request") == ["begin", "end"]

    small.system.run(split(asked=True))
    assert small.phases("split-request") == ["begin", "end", "begin", "landed", "end"]


def test_the_same_seed_writes_the_same_lines(tmp_path: Path) -> None:
    def recorded(folder: Path) -> object:
        with bench(folder, CLUSTER) as cluster:
            cluster.suffer("zombie", "leader of t-0")
            cluster.suffer("cut", "ring")
            return cluster.lines()

    assert recorded(tmp_path / "a") == recorded(tmp_path / "b")


def test_a_disk_that_was_not_emptied_was_not_reimaged(
    cluster: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(cluster.lines())
    monkeypatch.setattr(SimDisk, "wipe", lambda disk: 0)

    cluster.suffer("reimage", "follower of t-0")

    assert cluster.phases("reimage", before) == ["begin", "end"]


def test_a_process_whose_code_goes_on_was_not_killed(
    cluster: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, close = len(cluster.lines()), process._close
    left: list[asyncio.Task[object]] = []
    monkeypatch.setattr(process, "_close", left.append)

    cluster.suffer("kill", "follower of t-0")

    assert left
    assert cluster.phases("kill", before) == ["begin", "end"]
    for task in left:
        close(task)
