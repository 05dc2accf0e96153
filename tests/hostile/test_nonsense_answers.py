"""A system that answers nonsense is told so; the lab takes no harm and no blame."""

from __future__ import annotations

import asyncio
import queue
import random
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kio.index import load_response_schema
from nonsense_broker import LOST, UNREADABLE, nonsense_broker

from harness.cli.app import main
from harness.clients import admin, operations
from harness.clients.answers import UnreadableAnswer, read_answer
from harness.clients.connection import Silence, ask_once
from harness.clients.operations import TopicPartition, batch_of, records_in
from harness.clients.raw import RawClient
from harness.deployments import external_nodes
from harness.history import Run, read_history
from harness.history.recorder import Recorder
from harness.history.run_slot import take_slot
from harness.workloads.partition_log import PartitionClients
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

TP = TopicPartition("t", 0)
PATIENCE_S = 5.0
WAITS: dict[str, Callable[[RawClient, float], Awaitable[object]]] = {
    "produce": lambda client, wait: operations.produce(
        client, TP, records=[("a", 1)], acks=-1, timeout_s=wait
    ),
    "fetch": lambda client, wait: operations.fetch(client, TP, offset=0, timeout_s=wait),
    "list_offsets": lambda client, wait: operations.list_offsets(
        client, TP, timestamp=-1, timeout_s=wait
    ),
    "epoch": lambda client, wait: operations.offset_for_leader_epoch(
        client, TP, epoch=0, current=0, timeout_s=wait
    ),
    "delete": lambda client, wait: operations.delete_records(client, TP, offset=0, timeout_s=wait),
    "create": lambda client, wait: admin.create_topic(client, "t", timeout_s=wait),
    "remove": lambda client, wait: admin.delete_topic(client, "t", timeout_s=wait),
    "brokers": lambda client, wait: admin.brokers_known(client, timeout_s=wait),
    "leader": lambda client, wait: admin.leadership(client, TP, timeout_s=wait),
    "elect": lambda client, wait: admin.elect_preferred(client, TP, timeout_s=wait),
    "versions": lambda client, wait: admin.versions_offered(client, timeout_s=wait),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_nonsense_is_an_answer_that_cannot_be_read(kind: str) -> None:
    async def play() -> None:
        async with nonsense_broker(kind) as address:
            for ask in WAITS.values():
                with pytest.raises(UnreadableAnswer):
                    await ask(RawClient(StreamNetwork(), address), PATIENCE_S)

    asyncio.run(play())


@pytest.mark.parametrize("kind", LOST)
def test_an_answer_that_never_comes_whole_is_a_lost_one(kind: str) -> None:
    async def play() -> None:
        async with nonsense_broker(kind) as address:
            for name in ("produce", "leader"):
                with pytest.raises((ConnectionError, TimeoutError)) as lost:
                    await WAITS[name](RawClient(StreamNetwork(), address), 0.1)
                assert not isinstance(lost.value, UnreadableAnswer)

    asyncio.run(play())


@pytest.mark.parametrize(("key", "version"), [(0, 11), (1, 12), (2, 8), (3, 12), (19, 7), (18, 0)])
def test_no_bytes_make_the_reader_fail_otherwise(key: int, version: int) -> None:
    schema, chance = load_response_schema(key, version), random.Random(key)
    for _ in range(300):
        body = bytes(chance.choice((0, 0, 1, 2, 127, 255)) for _ in range(chance.randrange(80)))
        with suppress(ConnectionError):
            read_answer(schema, struct.pack(">i", 7) + body, 7)


def test_a_message_with_tags_that_the_lab_does_not_know_is_read_without_them() -> None:
    schema, head = load_response_schema(19, 7), struct.pack(">ibib", 7, 0, 0, 1)

    assert read_answer(schema, head + b"\x01\x63\x01\xff", 7) == read_answer(
        schema, head + b"\0", 7
    )
    with pytest.raises(UnreadableAnswer):
        read_answer(schema, head + b"\x01\x63\x02\xff", 7)
    with pytest.raises(UnreadableAnswer, match="answers request 7, and 8"):
        read_answer(schema, head + b"\x01\x63\x01\xff", 8)


def test_no_bytes_make_the_reader_of_records_fail_otherwise() -> None:
    whole, chance = batch_of([("a", 1), ("b", 2)]), random.Random(7)
    assert [row[1] for row in records_in(whole, 0)] == ["a", "b"]
    for _ in range(2_000):
        changed = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 127, 128, 255))
        with suppress(UnreadableAnswer):
            records_in(bytes(changed), 0)


def test_what_a_client_hears_is_in_the_history(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="x", world="external")
    place = take_slot(run, world="external", clock="host", part=0, shard="clients")

    async def play() -> None:
        async with nonsense_broker("a negative size") as address:
            on: Any = SimpleNamespace(
                network=StreamNetwork(),
                address=lambda broker: address,
                recorder=Recorder(place, now=lambda: 1),
                lacks={},
                now_ms=lambda: 1,
            )
            clients = PartitionClients(on=on, topic="t")
            await clients.send("lab-p", 1, acks=-1)
            await clients.send_blindly("lab-b", 1, producer_id=7)

    asyncio.run(play())
    place.writer.close()
    run.seal()
    told = [
        (event["f"], event["type"], event["error"], event["detail"])
        for event in read_history(run.folder).events
        if event["type"] != "invoke"
    ]
    nonsense = ("UNREADABLE_ANSWER", "it announces -1 bytes")
    assert told == [("metadata", "fail", *nonsense), ("produce", "info", *nonsense)]


@contextmanager
def served(kind: str) -> Iterator[Address]:
    """The broker on a loop of its own."""
    told: queue.Queue[tuple[Address, Callable[[], object]]] = queue.Queue()

    async def serve() -> None:
        async with nonsense_broker(kind) as address:
            loop, enough = asyncio.get_running_loop(), asyncio.Event()
            told.put((address, lambda: loop.call_soon_threadsafe(enough.set)))
            await enough.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    address, stop = told.get(timeout=PATIENCE_S)
    try:
        yield address
    finally:
        stop()
        thread.join()


def test_the_connection_of_comparisons_calls_it_undecodable() -> None:
    async def asked(kind: str, *, timeout_s: float) -> Any:
        async with nonsense_broker(kind) as address:
            request = ("metadata", 12, {"topics": None})
            return await ask_once(StreamNetwork(), address, *request, timeout_s=timeout_s)

    for kind in ("a negative size", "a huge size", "an array that is not there"):
        assert "undecodable" in asyncio.run(asked(kind, timeout_s=PATIENCE_S))
    with pytest.raises(Silence):
        asyncio.run(asked("drop by drop", timeout_s=0.1))


@pytest.mark.parametrize("kind", [*UNREADABLE, *LOST])
def test_certify_ends_in_a_sentence(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(external_nodes, "ANSWERS_S", 0.2)
    with served(kind) as (host, port):
        (tmp_path / "sut.toml").write_text(
            f'[sut]\nname = "x"\nversion = "1"\nbootstrap = "{host}:{port}"\n'
            'profiles = ["classic"]\n'
        )
        monkeypatch.setattr("sys.argv", ["tidemark", "certify", "sut.toml", "--engine", "inline"])
        with pytest.raises(SystemExit) as left:
            main()
    said = " ".join(capsys.readouterr().err.split())

    assert left.value.code == 64
    assert "x is no broker that the lab can talk to" in said
    assert "Traceback" not in said
