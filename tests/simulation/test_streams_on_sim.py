"""Unmodified asyncio streams on the simulated network, and the same run again."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from heartbeats import Heartbeats, trace_hash
from sim_lan import PORT, Lan

ROOT = Path(__file__).parents[2]


@pytest.fixture
def lan() -> Iterator[Lan]:
    made = Lan()
    yield made
    made.loop.close()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send back line by line, until there are no more."""
    async for line in reader:
        writer.write(line)
        await writer.drain()
    writer.close()


async def ask(host: str, *lines: bytes) -> list[bytes]:
    """What the echo makes of some lines."""
    reader, writer = await asyncio.open_connection(host, PORT)
    try:
        writer.writelines(lines)
        writer.write_eof()
        return [line async for line in reader]
    finally:
        writer.close()
        await writer.wait_closed()


def serve(lan: Lan, name: str) -> None:
    lan.run(name, asyncio.start_server(echo, name, PORT))


def test_an_echo_server_echoes(lan: Lan) -> None:
    serve(lan, "b")
    assert lan.run("a", ask("b", b"one\n", b"two\n")) == [b"one\n", b"two\n"]


def test_a_server_says_where_it_listens(lan: Lan) -> None:
    server = lan.run("b", asyncio.start_server(echo, "b", 0))
    host, port = server.sockets[0].getsockname()
    assert host == "b"
    assert port > 0


def test_many_connections_are_served_side_by_side(lan: Lan) -> None:
    serve(lan, "b")

    async def many() -> list[list[bytes]]:
        return await asyncio.gather(*(ask("b", b"%d\n" % number) for number in range(300)))

    assert lan.run("a", many()) == [[b"%d\n" % number] for number in range(300)]
    assert lan.seconds() < 0.1


def test_waiting_for_an_answer_times_out_by_the_clock_of_the_loop(lan: Lan) -> None:
    serve(lan, "b")

    async def impatient() -> float:
        reader, writer = await asyncio.open_connection("b", PORT)
        begun = lan.loop.time()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readline(), 5)
        writer.close()
        return lan.loop.time() - begun

    assert lan.run("a", impatient()) == 5


def test_a_reader_who_is_slow_holds_the_writer_in_its_drain(lan: Lan) -> None:
    read: list[int] = []

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(100)
        while data := await reader.read(1 << 20):
            read.append(len(data))
        writer.close()

    async def flood() -> float:
        _, writer = await asyncio.open_connection("b", PORT)
        for _ in range(100):
            writer.write(bytes(10_000))
            await writer.drain()
        held_until = lan.loop.time()
        writer.close()
        return held_until

    lan.run("b", asyncio.start_server(slow, "b", PORT))
    assert lan.run("a", flood()) > 100
    lan.wait(1)
    assert sum(read) == 1_000_000


def test_a_handler_that_fails_is_reported(lan: Lan) -> None:
    async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise ValueError("no service today")

    lan.run("b", asyncio.start_server(fail, "b", PORT))
    assert lan.run("a", ask("b")) == []
    lan.wait(0.01)
    assert [str(error["exception"]) for error in lan.loop.errors] == ["no service today"]


def test_a_dead_peer_is_the_end_or_a_reset_to_a_reader(lan: Lan) -> None:
    serve(lan, "b")

    async def read() -> bytes:
        reader, writer = await asyncio.open_connection("b", PORT)
        try:
            return await reader.read()
        finally:
            writer.close()

    reading = lan.begin("a", read())
    lan.wait(1)
    lan.kill("b")
    lan.wait(0.01)
    assert reading.result() == b""


@pytest.mark.parametrize("name", ["a", "lab"])
def test_a_world_may_end_with_connections_open(name: str) -> None:
    lan = Lan()
    serve(lan, "b")

    async def linger() -> None:
        reader, _writer = await asyncio.open_connection("b", PORT)
        await reader.read()

    lan.begin(name, linger())
    lan.wait(1)
    lan.loop.close()
    del lan
    gc.collect()  # a writer that is left open warns when it goes, and warnings are errors here


def test_nodes_get_over_a_cut() -> None:
    beats = Heartbeats(seed=3)
    beats.run(10)
    assert beats.missed == 0
    cut = beats.network.cut("n1", "*")
    beats.run(10)
    assert beats.missed > 0
    assert cut.counts["bytes_held"] > 0
    cut.heal()
    beats.run(2)
    missed, answers = beats.missed, beats.answers
    beats.run(10)
    beats.loop.close()

    assert beats.missed == missed
    assert beats.answers > answers + 500


def test_the_same_seed_gives_the_same_run_and_another_does_not() -> None:
    assert trace_hash(7, 3) == trace_hash(7, 3)
    assert trace_hash(7, 3) != trace_hash(8, 3)


@pytest.mark.process
def test_the_same_seed_gives_the_same_run_in_another_process() -> None:
    def elsewhere(hash_seed: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed}
        program = str(Path(__file__).with_name("heartbeats.py"))
        run = subprocess.run(
            [sys.executable, program, "7", "3"], env=env, capture_output=True, text=True, check=True
        )
        return run.stdout.strip()

    assert elsewhere("1") == elsewhere("2") == trace_hash(7, 3)
