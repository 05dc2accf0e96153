"""What every deployment promises of its levers, probes and clients; worlds give the fixture."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest

from harness.clients.admin import create_topic, versions_offered
from harness.clients.raw import RawClient
from harness.deployments.deployment import (
    CONTROL_PLANE,
    OBJECT_STORE,
    Client,
    ClientLost,
    Deployment,
    Role,
)
from harness.levers import Lever, has_acted
from reference_impl.ports import Network, ObjectStore
from reference_impl.ports.object_store import ObjectNotFound, StoreError, StoreUnavailable

Result = TypeVar("Result")
ACTS_AT_ONCE = ("kill", "stop", "wipe")

# Lever, what it counts, and whether a call is answered while it is in force.
ON_SERVICES = [
    ("refuse", "refusals", False),
    ("fail", "errors_answered", False),
    ("lose_replies", "replies_dropped", False),
    ("drop_requests", "requests_dropped", False),
    ("slow", "calls_delayed", True),
]


async def asks_broker(client: Client, system: Deployment, broker: int = 1) -> bool:
    """Whether a broker answers a client."""

    async def ask(network: Network) -> bool:
        raw = RawClient(network, system.address(broker))
        return bool(await versions_offered(raw, timeout_s=60))

    return await client.kafka(ask)


async def asks_control_plane(client: Client) -> bool:
    """Whether the control plane says what it did."""
    answer = await client.control_plane("create_log", {"topic": "t", "partition": 0})
    return answer is not None and answer.definite


async def asks_store(client: Client) -> bool:
    """Whether the object store says what it did."""

    async def put(store: ObjectStore) -> bool:
        try:
            await store.put("contract/key", b"value")
        except StoreUnavailable:
            return False
        return True

    return await client.store(put)


ASKS: dict[str, Callable[[Client], Awaitable[bool]]] = {
    CONTROL_PLANE: asks_control_plane,
    OBJECT_STORE: asks_store,
}


async def pulled(system: Deployment, lever: str, service: str, caller: str | None) -> Lever:
    """A lever on a service."""
    seconds = (0.2 * system.pace,) if lever == "slow" else ()
    made: Lever = await getattr(system.levers, lever)(service, *seconds, caller)
    return made


def begun(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Work that goes on beside what follows."""
    return asyncio.get_running_loop().create_task(work)


async def stalls(
    lever: Lever, work: Coroutine[Any, Any, bool], *, acts_at_once: bool = False
) -> None:
    """A lever keeps work waiting, and lets it go; before it is met it counts nothing, unless the
    kernel counts."""
    assert acts_at_once or not has_acted(lever.counts)
    waiting = begun(work)
    await lever.acted()
    assert not waiting.done()
    await lever.release()
    assert await waiting


class DeploymentContract:
    """Tests for a module that has a fixture `system`: three brokers, both services."""

    between_brokers = "deliveries_held"  # what a cut counts there

    def test_levers_and_probes_that_are_offered_are_there(self, system: Deployment) -> None:
        async def look() -> None:
            assert all(callable(getattr(system.levers, name)) for name in system.levers.offered)
            for what in sorted(system.probes):
                assert isinstance(await system.probe(what), list)

        system.run(look())

    def test_a_client_is_a_node_that_reaches_everything(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("a")
            assert await system.client("a") is client
            assert client.node == "client-a" in system.nodes(Role.CLIENT)
            for broker in system.brokers:
                assert await asks_broker(client, system, broker)
            assert await asks_control_plane(client)
            assert await asks_store(client)
            rows = await system.probe("objects")
            assert {"key": "contract/key", "size": 5} in rows
            assert "t" in [row["topic"] for row in await system.probe("control_plane")]

        system.run(play())

    @pytest.mark.parametrize("service", [CONTROL_PLANE, OBJECT_STORE])
    @pytest.mark.parametrize(("lever", "count", "answered"), ON_SERVICES)
    def test_a_lever_on_a_service_counts_the_calls_that_meet_it(
        self, system: Deployment, service: str, lever: str, count: str, answered: bool
    ) -> None:
        async def play() -> None:
            client = await system.client("a")
            outage = await pulled(system, lever, service, None)
            assert not has_acted(outage.counts)

            assert await ASKS[service](client) is answered
            await outage.acted()
            assert outage.counts[count] > 0
            await outage.release()
            assert await ASKS[service](client)

        system.run(play())

    def test_a_lever_on_the_calls_of_one_node_spares_the_others(self, system: Deployment) -> None:
        async def play() -> None:
            a, b = await system.client("a"), await system.client("b")
            outage = await pulled(system, "refuse", CONTROL_PLANE, "client-a")
            assert await asks_control_plane(b)
            assert not has_acted(outage.counts)
            assert not await asks_control_plane(a)
            await outage.release()

        system.run(play())

    def test_at_most_so_many_replies_are_lost(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("a")
            loss = await system.levers.lose_replies(CONTROL_PLANE, "client-a", times=1)
            assert [await asks_control_plane(client) for _ in range(2)] == [False, True]
            assert loss.counts["replies_dropped"] == 1
            await loss.release()

        system.run(play())

    def test_held_calls_pass_one_by_one_or_are_dropped(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("a")
            hold = await system.levers.hold(CONTROL_PLANE, "client-a")
            assert not has_acted(hold.counts)
            first = begun(asks_control_plane(client))
            await hold.acted()
            assert not first.done()
            assert await hold.pass_one() == 1
            assert await first
            assert await hold.pass_one() == 0
            await hold.drop()
            assert await asks_control_plane(client)

        system.run(play())

    def test_what_is_dropped_never_arrives(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("a")
            hold = await system.levers.hold(CONTROL_PLANE, "client-a")
            asking = begun(client.control_plane("create_log", {"topic": "never", "partition": 0}))
            await hold.acted()
            await hold.drop()
            answer = await asking
            assert answer is None or not answer.definite
            assert "never" not in [row["topic"] for row in await system.probe("control_plane")]

        system.run(play())

    @pytest.mark.parametrize("how", ["vanished", "torn", "corrupt"])
    def test_a_damaged_object_is_whole_again_once_released(
        self, system: Deployment, how: str
    ) -> None:
        async def get(store: ObjectStore) -> bytes:
            try:
                return await store.get("contract/key")
            except (ObjectNotFound, StoreError):
                return b""

        async def play() -> None:
            client = await system.client("a")
            assert await asks_store(client)
            damage = await system.levers.damage(how, "contract/key")
            assert not has_acted(damage.counts)
            assert await client.store(get) != b"value"
            await damage.acted()
            await damage.release()
            assert await client.store(get) == b"value"

        system.run(play())

    # Nodes.

    @pytest.mark.parametrize("lever", ACTS_AT_ONCE)
    def test_a_broker_that_was_ended_runs_again(self, system: Deployment, lever: str) -> None:
        async def play() -> None:
            client = await system.client("a")
            down = await getattr(system.levers, lever)("broker-3")
            assert down.counts["processes_ended"] == 1
            rows = {row["node"]: row["state"] for row in await system.probe("nodes")}
            assert rows["broker-3"] == "ended"
            with pytest.raises((ConnectionError, TimeoutError)):
                await asks_broker(client, system, 3)
            await down.release()
            assert await asks_broker(client, system, 3)

        system.run(play())

    def test_a_paused_broker_answers_once_it_goes_on(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("a")
            pause = await system.levers.pause("broker-3")
            asking = begun(asks_broker(client, system, 3))
            await pause.acted()
            assert not asking.done()
            await pause.release()
            assert await asking

        system.run(play())

    def test_what_a_killed_client_had_under_way_is_lost(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("victim")
            hold = await system.levers.hold(CONTROL_PLANE, "client-victim")
            asking = begun(client.control_plane("create_log", {"topic": "held", "partition": 0}))
            await hold.acted()
            kill = await system.levers.kill("client-victim")
            assert has_acted(kill.counts)
            with pytest.raises(ClientLost):
                await asking
            await hold.release()
            assert "held" not in [row["topic"] for row in await system.probe("control_plane")]
            with pytest.raises(ClientLost):
                await asks_control_plane(client)
            await client.ready()
            assert await asks_control_plane(client)
            await kill.release()

        system.run(play())

    def test_a_paused_client_hears_nothing_until_it_goes_on(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("a")
            for work in (asks_control_plane(client), asks_broker(client, system)):
                pause = await system.levers.pause("client-a")
                await stalls(pause, work, acts_at_once="threads_stopped" in pause.counts)

        system.run(play())

    # Links. A link that nothing was sent on yet is idle for certain.

    @pytest.mark.parametrize("both", [True, False])
    def test_a_client_that_is_cut_off_waits(self, system: Deployment, both: bool) -> None:
        async def play() -> None:
            client = await system.client(f"cut-{both}")
            for target, work in (
                ("broker-1", asks_broker(client, system)),
                (CONTROL_PLANE, asks_control_plane(client)),
            ):
                await stalls(await system.levers.cut([client.node], [target], both=both), work)

        system.run(play())

    def test_a_cut_between_two_nodes_does_not_touch_a_third(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("cut-from-one")
            cut = await system.levers.cut([client.node], ["broker-1"], both=True)
            assert await asks_broker(client, system, 2)
            assert not has_acted(cut.counts)
            await cut.release()

        system.run(play())

    def test_a_cut_between_brokers_holds_what_they_send(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("a")

            async def create(network: Network) -> None:
                raw = RawClient(network, system.address(1))
                await create_topic(raw, "contract", assignments=[[1, 2, 3]])

            await client.kafka(create)
            cut = await system.levers.cut(["broker-1"], ["broker-2"], both=True)
            await cut.acted()
            assert cut.counts[self.between_brokers] > 0
            await cut.release()
            assert await asks_broker(client, system, 2)

        system.run(play())

    def test_a_delayed_link_counts_what_it_delays(self, system: Deployment) -> None:
        async def play() -> None:
            client = await system.client("far")
            slow = await system.levers.delay([client.node], ["broker-1"], 0.05, both=True)
            assert not has_acted(slow.counts)
            assert await asks_broker(client, system)
            assert slow.counts["deliveries_delayed"] > 0
            await slow.release()

        system.run(play())
