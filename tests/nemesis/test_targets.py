"""Targets by name, and by what a node is; what is found can be asked for again."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from fake_deployment import FakeDeployment

from harness.clients.admin import Leadership
from harness.clients.transactions import GROUP, TRANSACTION
from harness.deployments.deployment import Role
from nemesis import targets
from nemesis.faults import FAULTS
from nemesis.offered import not_offered
from nemesis.targets import Finder, NoTarget, Takes

TOLD = {
    1: Leadership(1, 4, (1, 2, 3), (2, 1, 3)),
    2: Leadership(2, 5, (2, 3), (2, 1, 3)),
    3: None,
}


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> FakeDeployment:
    async def told(on: Any, broker: int, tp: Any) -> Leadership | None:
        assert (tp.topic, tp.partition) == ("t", 0)
        return TOLD[broker]

    async def racks(client: Any) -> dict[int, str]:
        return {1: "a", 2: "b", 3: "a", 9: "a"}  # the run has no broker 9

    monkeypatch.setattr(targets, "who_leads", told)
    monkeypatch.setattr(targets, "racks_known", racks)
    return FakeDeployment()


def found(on: FakeDeployment, text: str, takes: Takes, service: str = "", seed: int = 0) -> str:
    chance = random.Random(seed) if seed else None
    finder = Finder(on, chance)  # type: ignore[arg-type]
    return asyncio.run(finder.find(text, takes, service)).label


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("broker-1", "broker-1"),
        ("controller", "controller"),
        ("client a", "client-a"),
        ("client-a", "client-a"),
        ("broker-2, broker-1", "broker-2,broker-1"),
        ("all brokers", "broker-1,broker-2,broker-3"),
        ("all clients", "client-a"),
        ("everything but broker-1", "controller,broker-2,broker-3"),
        ("leader of t-0", "broker-2"),
        ("follower of t-0", "broker-1"),
        ("followers of t-0", "broker-1,broker-3"),
        ("rack a", "broker-1,broker-3"),
        ("rack b, controller", "broker-2,controller"),
        ("leader of t-0 with 1 follower behind", "broker-2"),
        ("everything but leader of t-0", "controller,broker-1,broker-3"),
    ],
)
def test_nodes(on: FakeDeployment, text: str, nodes: str) -> None:
    assert found(on, text, Takes.NODES) == nodes


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("broker-1 -> broker-2", "broker-1 → broker-2"),
        ("broker-1<->controller", "broker-1 ↔ controller"),
        ("leader of t-0", "broker-2 ↔ controller,broker-1,broker-3"),
        ("leader of t-0 -> everything else", "broker-2 → controller,broker-1,broker-3"),
        ("everything else -> broker-1", "controller,broker-2,broker-3 → broker-1"),
        ("client a <-> all brokers", "client-a ↔ broker-1,broker-2,broker-3"),
        ("broker-1 -> object-store", "broker-1 → object-store"),
        ("ring", "controller ↔ broker-2; broker-1 ↔ broker-3"),
        ("bridge over broker-2", "controller ↔ broker-1,broker-3"),
    ],
)
def test_links_and_what_was_found_names_the_same_again(
    on: FakeDeployment, text: str, links: str
) -> None:
    assert found(on, text, Takes.LINKS) == links
    assert found(on, links, Takes.LINKS) == links


@pytest.mark.parametrize(
    "text", ["broker-1", "broker-1 -> control-plane", "broker-1 → control-plane"]
)
def test_calls_are_of_all_or_of_one_caller(on: FakeDeployment, text: str) -> None:
    assert found(on, "", Takes.CALLS, "control-plane") == "control-plane"
    assert found(on, "control-plane", Takes.CALLS, "control-plane") == "control-plane"
    assert found(on, text, Takes.CALLER, "control-plane") == "broker-1 → control-plane"


def test_an_object_is_named_or_the_first_that_is_there(on: FakeDeployment) -> None:
    assert found(on, "object wal/2", Takes.OBJECT) == "wal/2"
    assert found(on, "an object", Takes.OBJECT) == "wal/1"


def test_a_leader_is_no_target_while_fewer_followers_are_behind(on: FakeDeployment) -> None:
    with pytest.raises(NoTarget, match="1 followers of t-0 are behind, not 2"):
        found(on, "leader of t-0 with 2 followers behind", Takes.NODES)


def test_a_coordinator_is_of_a_transactional_id_or_of_a_group(
    on: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def coordinates(client: Any, key: str, kind: int) -> int:
        return {("a", TRANSACTION): 1, ("g", GROUP): 3}[key, kind]

    monkeypatch.setattr(targets, "find_coordinator", coordinates)

    assert found(on, "coordinator of a", Takes.NODES) == "broker-1"
    assert found(on, "coordinator of group g", Takes.NODES) == "broker-3"
    assert found(on, "coordinator of group g", Takes.LINKS) == (
        "broker-3 ↔ controller,broker-1,broker-2"
    )


def test_what_a_target_leaves_open_is_drawn_from_a_seed(on: FakeDeployment) -> None:
    drawn = [found(on, "follower of t-0", Takes.NODES, seed=seed) for seed in range(1, 9)]

    assert set(drawn) == {"broker-1", "broker-3"}
    assert drawn == [found(on, "follower of t-0", Takes.NODES, seed=s) for s in range(1, 9)]


@pytest.mark.parametrize(
    ("text", "takes", "service"),
    [
        ("broker-9", Takes.NODES, ""),
        ("client b", Takes.NODES, ""),
        ("leader of t", Takes.NODES, ""),
        ("broker-1 -> broker-1", Takes.LINKS, ""),
        ("broker-1 -> broker-2 -> broker-3", Takes.LINKS, ""),
        ("all brokers", Takes.CALLS, "control-plane"),
        ("", Takes.CALLER, "control-plane"),
        ("object wal/9", Takes.OBJECT, ""),
    ],
)
def test_what_is_not_there_is_not_found(
    on: FakeDeployment, text: str, takes: Takes, service: str
) -> None:
    with pytest.raises(NoTarget):
        found(on, text, takes, service)


def test_without_a_leader_objects_or_services_there_is_no_target(
    on: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOLD, 1, None)
    monkeypatch.setitem(TOLD, 2, Leadership(-1, 6))
    on.objects = []
    with pytest.raises(NoTarget, match="no broker names a leader"):
        found(on, "leader of t-0", Takes.NODES)
    with pytest.raises(NoTarget, match="no objects"):
        found(on, "an object", Takes.OBJECT)
    on.without = (Role.OBJECT_STORE,)
    with pytest.raises(NoTarget, match="no object-store"):
        found(on, "broker-1 -> object-store", Takes.LINKS)


@pytest.mark.parametrize(
    ("fault", "target", "reason"),
    [
        ("kill", "leader of t-0", None),
        ("kill", "controller", "which node is its controller is not known"),
        ("cut", "broker-1 -> object-store", "it has no object store"),
        ("object-torn", None, "it has no object store"),
        ("delay", "broker-1", "nothing here can delay"),
        ("pause", "client a", None),
        ("pause", "broker-1", "nothing here can pause"),
    ],
)
def test_why_a_fault_cannot_be_done_somewhere(
    on: FakeDeployment, fault: str, target: str | None, reason: str | None
) -> None:
    on.without = (Role.CONTROLLER, Role.OBJECT_STORE)
    on.levers.offered -= {"delay", "pause"}

    assert not_offered(on, FAULTS[fault], target) == reason  # type: ignore[arg-type]


def test_two_brokers_are_too_few_to_lose_one_but_not_for_a_client(on: FakeDeployment) -> None:
    on.brokers = (1, 2)  # type: ignore[assignment]
    fault = FAULTS["kill"]

    assert not_offered(on, fault, "broker-1") == "it has fewer than 3 brokers"  # type: ignore[arg-type]
    assert not_offered(on, fault, "client a") is None  # type: ignore[arg-type]
