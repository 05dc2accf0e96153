"""The S3 proxy before real servers: what each lever does to a call, counts, and lets go of."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Iterator

import obstore
import pytest

from harness.errors import LabBroken
from harness.levers import Lever, has_acted
from harness.proxies.s3 import S3Proxy
from reference_impl.live.object_store import ObstoreObjectStore, Patience, open_object_store
from reference_impl.ports.object_store import (
    InvalidRange,
    ObjectNotFound,
    StoreUnavailable,
)

pytestmark = pytest.mark.process

ONCE = Patience(connect_s=30, request_s=60, retries=0)
LARGE = bytes(range(256)) * 4096 * 3  # many pieces
ENDPOINT = re.compile(r"endpoint=(http://[^&]+)")
PULLS: dict[str, Callable[[S3Proxy], Lever]] = {
    "refuse": lambda proxy: proxy.refuse(),
    "slow": lambda proxy: proxy.slow(3600),
    "fail": lambda proxy: proxy.fail(),
    "lose_replies": lambda proxy: proxy.lose_replies(),
    "drop_requests": lambda proxy: proxy.drop_requests(),
    "cut": lambda proxy: proxy.cut(["b1", "b2"]),
    "cut_requests": lambda proxy: proxy.cut(["b1"], replies=False),
    "cut_replies": lambda proxy: proxy.cut(["b1"], requests=False),
    "vanished": lambda proxy: proxy.damage("vanished", "pulled"),
    "torn": lambda proxy: proxy.damage("torn", "pulled"),
    "corrupt": lambda proxy: proxy.damage("corrupt", "pulled"),
}
BREAKS = ("refuse", "fail", "lose_replies", "drop_requests")
WAITS = ("slow", "cut", "cut_requests", "cut_replies")

_numbers = itertools.count()


class Bench:
    """A server, a proxy before it, and the stores of callers."""

    def __init__(self, url: str) -> None:
        found = ENDPOINT.search(url)
        assert found is not None
        self._url = url
        self._server = found[1]
        self.proxy = S3Proxy(self._server)
        self.key = f"objects/{next(_numbers)} ä&+"
        self.direct = open_object_store(url)
        self.b1 = self.store("b1")
        self.b2 = self.store("b2")

    def store(self, caller: str) -> ObstoreObjectStore:
        return open_object_store(self._url.replace(self._server, self.proxy.way(caller)), ONCE)


@pytest.fixture
def bench(seaweedfs_url: str) -> Iterator[Bench]:
    made = Bench(seaweedfs_url)
    yield made
    made.proxy.close()


@pytest.fixture(params=["seaweedfs_url", "moto_url"])
def each_bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    made = Bench(request.getfixturevalue(request.param))
    yield made
    made.proxy.close()


async def fails(call: Awaitable[object]) -> bool:
    try:
        await call
    except StoreUnavailable:
        return True
    return False


def test_left_alone_it_only_forwards(each_bench: Bench) -> None:
    async def story() -> None:
        key, store = each_bench.key, each_bench.b1
        await store.put(key, LARGE)
        assert await store.get(key) == LARGE == await each_bench.direct.get(key)
        assert await store.get_range(key, 70_000, 200_000) == LARGE[70_000:270_000]
        assert (await store.head(key)).size == len(LARGE)
        assert [found.key for found in await store.list(key)] == [key]
        await store.delete([key])
        with pytest.raises(ObjectNotFound):
            await store.get(key)

    asyncio.run(story())


def test_calls_of_many_at_once_do_not_mix(bench: Bench) -> None:
    async def story() -> None:
        keys = [f"{bench.key}/{number}" for number in range(20)]
        await asyncio.gather(*(bench.b1.put(key, key.encode() * 5000) for key in keys))
        found = await asyncio.gather(*(bench.b2.get(key) for key in keys))
        assert found == [key.encode() * 5000 for key in keys]

    asyncio.run(story())


def test_an_upload_in_parts_passes(bench: Bench) -> None:
    async def story() -> None:
        data = LARGE * 2
        await obstore.put_async(
            bench.b1._store, bench.key, data, use_multipart=True, chunk_size=5 << 20
        )
        assert await bench.direct.get(bench.key) == data

    asyncio.run(story())


@pytest.mark.parametrize("pull", PULLS)
def test_a_lever_that_no_call_meets_counts_nothing(bench: Bench, pull: str) -> None:
    async def story() -> None:
        lever = PULLS[pull](bench.proxy)
        await lever.release()
        await lever.release()
        await bench.b1.put(bench.key, b"x")
        assert list(lever.counts.values()) == [0]

    asyncio.run(story())


@pytest.mark.parametrize("pull", BREAKS)
def test_a_lever_that_breaks_calls_counts_them_until_it_is_released(
    bench: Bench, pull: str
) -> None:
    async def story() -> None:
        await bench.b1.put(bench.key, b"x")  # so that there is a connection to be broken too
        lever = PULLS[pull](bench.proxy)
        assert await fails(bench.b1.get(bench.key))
        await lever.acted()
        assert await fails(bench.b2.put(bench.key, LARGE))
        assert next(iter(lever.counts.values())) >= 2
        await lever.release()
        before = lever.counts
        carried_out = LARGE if pull == "lose_replies" else b"x"
        assert await bench.b1.get(bench.key) == carried_out
        assert lever.counts == before

    asyncio.run(story())


@pytest.mark.parametrize("pull", WAITS)
def test_a_lever_that_holds_calls_lets_them_go_on_when_it_is_released(
    bench: Bench, pull: str
) -> None:
    async def story() -> None:
        await bench.b1.put(bench.key, b"x")
        lever = PULLS[pull](bench.proxy)
        call = asyncio.ensure_future(bench.b1.put(bench.key, b"y"))
        await lever.acted()
        assert has_acted(lever.counts)
        assert not call.done()
        if pull != "cut_replies":
            assert await bench.direct.get(bench.key) == b"x"
        await lever.release()
        await call
        assert await bench.direct.get(bench.key) == b"y"

    asyncio.run(story())


def test_a_slow_call_ends_by_itself(bench: Bench) -> None:
    async def story() -> None:
        slow = bench.proxy.slow(0.01)
        await bench.b1.put(bench.key, b"x")
        assert slow.counts == {"calls_delayed": 1}

    asyncio.run(story())


def test_replies_that_are_held_belong_to_calls_that_were_carried_out(bench: Bench) -> None:
    async def story() -> None:
        cut = bench.proxy.cut(["b1"], requests=False)
        call = asyncio.ensure_future(bench.b1.put(bench.key, b"x"))
        await cut.acted()
        assert await bench.direct.get(bench.key) == b"x"
        await cut.release()
        await call

    asyncio.run(story())


@pytest.mark.parametrize("pull", ["refuse", "slow", "fail", "lose_replies", "drop_requests"])
def test_a_lever_on_one_caller_leaves_others_alone(bench: Bench, pull: str) -> None:
    async def story() -> None:
        arguments = {"slow": (3600,), "fail": (500,)}.get(pull, ())
        lever = getattr(bench.proxy, pull)(*arguments, caller="b1")
        await bench.b2.put(bench.key, b"x")
        assert not has_acted(lever.counts)
        call = asyncio.ensure_future(fails(bench.b1.get(bench.key)))
        await lever.acted()
        assert await bench.b2.get(bench.key) == b"x"
        await lever.release()
        assert await call == (pull != "slow")

    asyncio.run(story())


@pytest.mark.parametrize("pull", ["lose_replies", "drop_requests"])
def test_only_so_many_calls_are_lost(bench: Bench, pull: str) -> None:
    async def story() -> None:
        lever = getattr(bench.proxy, pull)(times=2)
        calls = [await fails(bench.b1.put(bench.key, b"x")) for _ in range(4)]
        assert calls == [True, True, False, False]
        assert list(lever.counts.values()) == [2]

    asyncio.run(story())


def test_the_error_that_is_answered_is_the_one_asked_for(bench: Bench) -> None:
    async def story() -> None:
        await bench.b1.put(bench.key, b"x")
        lever = bench.proxy.fail(404)
        with pytest.raises(ObjectNotFound):
            await bench.b1.get(bench.key)
        with pytest.raises(ObjectNotFound):
            await bench.b1.head(bench.key)
        assert lever.counts == {"errors_answered": 2}

    asyncio.run(story())


# --- damage ---------------------------------------------------------------------------------------


def test_a_vanished_object_is_missing_from_reads_and_listings(each_bench: Bench) -> None:
    async def story() -> None:
        key, store, other = each_bench.key, each_bench.b1, f"{each_bench.key}-"
        await store.put(key, b"0123456789")
        await store.put(other, b"x")
        lever = each_bench.proxy.damage("vanished", key)
        assert await store.get(other) == b"x"
        assert not has_acted(lever.counts)
        for call in (store.get(key), store.get_range(key, 2, 3), store.head(key)):
            with pytest.raises(ObjectNotFound):
                await call
        assert [found.key for found in await store.list(key)] == [other]
        assert lever.counts == {"reads_missed": 5}  # the port asked twice for the range
        assert await each_bench.direct.get(key) == b"0123456789"
        await lever.release()
        assert await store.get(key) == b"0123456789"
        assert [found.key for found in await store.list(key)] == [key, other]

    asyncio.run(story())


def test_of_a_torn_object_there_is_the_first_half(each_bench: Bench) -> None:
    async def story() -> None:
        key, store = each_bench.key, each_bench.b1
        await store.put(key, LARGE)
        half = len(LARGE) // 2
        lever = each_bench.proxy.damage("torn", key)
        assert await store.get_range(key, 10, half - 10) == LARGE[10:half]
        assert not has_acted(lever.counts)
        assert await store.get(key) == LARGE[:half]
        assert (await store.head(key)).size == half
        assert [found.size for found in await store.list(key)] == [half]
        assert await store.get_range(key, half - 5, 10) == LARGE[half - 5 : half]
        assert lever.counts == {"reads_torn": 4}
        with pytest.raises(InvalidRange):
            await store.get_range(key, half, 1)
        await lever.release()
        assert await store.get(key) == LARGE

    asyncio.run(story())


def test_of_a_corrupt_object_one_bit_is_flipped(each_bench: Bench) -> None:
    async def story() -> None:
        key, store = each_bench.key, each_bench.b1
        await store.put(key, LARGE)
        middle = len(LARGE) // 2
        corrupt = LARGE[:middle] + bytes([LARGE[middle] ^ 1]) + LARGE[middle + 1 :]
        lever = each_bench.proxy.damage("corrupt", key, bucket="contract")
        assert await store.get_range(key, 0, middle) == LARGE[:middle]
        assert await store.get_range(key, middle + 1, 9) == LARGE[middle + 1 :][:9]
        assert (await store.head(key)).size == len(LARGE)
        assert not has_acted(lever.counts)
        assert await store.get(key) == corrupt
        assert await store.get_range(key, middle, 1) == corrupt[middle : middle + 1]
        assert lever.counts == {"reads_corrupt": 2}
        await lever.release()
        assert await store.get(key) == LARGE

    asyncio.run(story())


@pytest.mark.parametrize("how", ["vanished", "torn", "corrupt"])
def test_damage_counts_nothing_where_there_is_nothing_to_damage(bench: Bench, how: str) -> None:
    async def story() -> None:
        lever = bench.proxy.damage(how, bench.key)
        elsewhere = bench.proxy.damage(how, f"{bench.key}/empty", bucket="elsewhere")
        with pytest.raises(ObjectNotFound):
            await bench.b1.get(bench.key)
        await bench.b1.put(f"{bench.key}/empty", b"x")
        assert await bench.b1.get(f"{bench.key}/empty") == b"x"
        if how != "vanished":
            await bench.b1.put(bench.key, b"")
            assert await bench.b1.get(bench.key) == b""
        assert not has_acted(lever.counts)
        assert not has_acted(elsewhere.counts)

    asyncio.run(story())


# --- the proxy itself -----------------------------------------------------------------------------


def test_a_caller_keeps_its_way_and_shares_it_with_no_other(bench: Bench) -> None:
    assert bench.proxy.way("b1") == bench.proxy.way("b1") != bench.proxy.way("b2")


def test_a_server_that_is_not_there_looks_like_a_broken_connection(bench: Bench) -> None:
    async def story() -> None:
        there = bench.proxy._server
        bench.proxy.lead_to("http://127.0.0.1:1")
        assert await fails(bench.b1.put(bench.key, b"x"))
        bench.proxy.lead_to("http://{}:{}".format(*there))
        await bench.b1.put(bench.key, b"x")

    asyncio.run(story())


def test_waiting_for_a_lever_ends_in_an_error_when_the_proxy_is_closed(bench: Bench) -> None:
    async def story() -> None:
        lever = bench.proxy.refuse()
        waiting = asyncio.ensure_future(lever.acted())
        await asyncio.sleep(0)
        await asyncio.to_thread(bench.proxy.close)
        with pytest.raises(LabBroken, match="closed"):
            await waiting
        with pytest.raises(LabBroken, match="closed"):
            await lever.acted()
        await lever.release()

    asyncio.run(story())


@pytest.mark.parametrize(
    "pull",
    [
        lambda proxy: proxy.damage("stolen", "key"),
        lambda proxy: proxy.fail(200),
        lambda proxy: proxy.lose_replies(times=0),
        lambda proxy: proxy.lead_to("https://127.0.0.1:9000"),
    ],
)
def test_what_no_lever_can_do_is_refused(bench: Bench, pull: Callable[[S3Proxy], object]) -> None:
    with pytest.raises(ValueError, match=r"not (a|the)|times"):
        pull(bench.proxy)
