"""Simulated connections as asyncio sees them: transports, servers, ports and refusals."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from sim_lan import PORT, Lan, Told

from harness.simulation.links import LATENCY_NS, LOOPBACK_NS
from harness.simulation.sockets import WINDOW


@pytest.fixture
def lan() -> Iterator[Lan]:
    made = Lan()
    yield made
    made.loop.close()
    assert made.loop.errors == []


# Bytes.


def test_bytes_arrive_in_the_order_in_which_they_were_written(lan: Lan) -> None:
    client, server = lan.pair()
    for number in range(200):
        client.transport.write(bytes([number]))
        lan.wait(0.0001)  # less than a link takes, so that many are on their way at once

    lan.wait(0.01)

    assert server.data == bytes(range(200))


def test_what_is_written_at_one_instant_arrives_at_once(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.writelines([b"head", b"body"])
    client.transport.write(memoryview(b"tail"))
    lan.wait(0.01)

    assert server.pieces == [b"headbodytail"]


def test_what_is_written_later_does_not_ride_on_what_was_not_read(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    client.transport.write(b"x")
    lan.wait(0.01)
    client.transport.write(b"y")
    server.transport.resume_reading()
    lan.wait(0.01)

    assert server.pieces == [b"x", b"y"]


@pytest.mark.parametrize(("source", "bounds"), [("a", LATENCY_NS), ("b", LOOPBACK_NS)])
def test_bytes_take_as_long_as_the_link_says(
    lan: Lan, source: str, bounds: tuple[int, int]
) -> None:
    client, server = lan.pair(source, "b")
    client.transport.write(b"x")
    lan.wait(bounds[0] / 1e9 - 1e-9)
    assert not server.data

    lan.wait((bounds[1] - bounds[0]) / 1e9)
    assert server.data == b"x"


def test_a_message_costs_the_loop_one_callback(lan: Lan) -> None:
    client, server = lan.pair()
    before = lan.loop.callbacks
    for _ in range(50):
        client.transport.write(b"x")
        client.transport.write(b"y")
        lan.wait(0.01)

    assert len(server.pieces) == 50
    assert lan.loop.callbacks - before == 50


def test_protocols_are_called_in_the_name_of_their_process(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(b"x")
    client.transport.close()
    lan.wait(0.01)

    assert client.by == ["a", "a"]
    assert server.by == ["b", "b", "b"]


def test_the_lab_is_a_host_of_its_own(lan: Lan) -> None:
    client, server = lan.pair("lab", "b")
    server.transport.write(b"x")
    lan.wait(0.01)

    assert client.data == b"x"
    assert {*client.by} == {None}
    assert server.transport.get_extra_info("peername")[0] == "lab"


def test_both_ends_know_their_addresses(lan: Lan) -> None:
    client, server = lan.pair()

    assert client.transport.get_extra_info("peername") == ("b", PORT)
    assert server.transport.get_extra_info("sockname") == ("b", PORT)
    own = client.transport.get_extra_info("sockname")
    assert own[0] == "a"
    assert server.transport.get_extra_info("peername") == own
    assert client.transport.get_extra_info("sslcontext") is None


def test_writing_nothing_sends_nothing(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(b"")
    lan.wait(0.01)

    assert server.story == ["made"]


@pytest.mark.parametrize("data", ["text", 5, None])
def test_only_bytes_can_be_written(lan: Lan, data: Any) -> None:
    client, _ = lan.pair()
    with pytest.raises(TypeError, match="bytes-like"):
        client.transport.write(data)


# The end.


def test_a_close_is_seen_as_the_end_after_the_last_byte(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(b"bye")
    client.transport.close()
    assert client.transport.is_closing()
    lan.wait(0.01)

    assert client.story == ["made", "closed"]
    assert (server.story, server.data) == (["made", "data", "end"], b"bye")


def test_a_close_sends_what_the_window_had_no_room_for(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(bytes(3 * WINDOW))
    client.transport.close()
    lan.wait(0.1)

    assert len(server.data) == 3 * WINDOW
    assert (client.last, server.last) == ("closed", "end")


def test_who_closes_reads_no_more_while_the_rest_is_sent(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    client.transport.write(bytes(2 * WINDOW))
    client.transport.close()
    assert client.transport.is_closing()
    assert not client.transport.is_reading()
    client.transport.resume_reading()
    server.transport.write(b"too late")
    lan.wait(0.01)
    server.transport.resume_reading()
    lan.wait(0.1)

    assert not client.data
    assert len(server.data) == 2 * WINDOW
    assert (client.last, server.last) == ("closed", "ConnectionResetError")


def test_a_protocol_that_does_not_keep_it_open_is_closed_by_the_end(lan: Lan) -> None:
    client, server = lan.pair()
    server.keeps_open = False
    client.transport.close()
    lan.wait(0.01)

    assert server.story == ["made", "end", "closed"]


def test_half_a_connection_can_be_ended(lan: Lan) -> None:
    client, server = lan.pair()
    assert client.transport.can_write_eof()
    client.transport.write(b"question")
    client.transport.write_eof()
    lan.wait(0.01)
    assert server.last == "end"

    server.transport.write(b"answer")
    lan.wait(0.01)
    assert client.data == b"answer"


def test_the_end_waits_for_bytes_that_the_window_had_no_room_for(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(bytes(2 * WINDOW))
    client.transport.write_eof()
    with pytest.raises(RuntimeError, match="write_eof"):
        client.transport.write(b"more")
    lan.wait(0.1)

    assert len(server.data) == 2 * WINDOW
    assert server.story == ["made", "data", "end"]


def test_the_end_is_seen_once_however_it_was_said(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write_eof()
    client.transport.write_eof()
    client.transport.close()
    lan.wait(0.01)
    server.transport.pause_reading()
    server.transport.resume_reading()
    lan.wait(0.01)

    assert server.story == ["made", "end"]


def test_an_abort_is_seen_as_a_reset(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(bytes(2 * WINDOW))
    client.transport.abort()
    assert client.transport.get_write_buffer_size() == 0
    assert client.story == ["made"]  # its own protocol is told later, not from within
    lan.wait(0.01)

    assert client.story == ["made", "closed"]
    assert server.last == "ConnectionResetError"


def test_a_close_with_bytes_unread_is_seen_as_a_reset(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    client.transport.write(b"nobody reads this")
    lan.wait(0.01)
    server.transport.close()
    lan.wait(0.01)

    assert client.last == "ConnectionResetError"
    assert not server.data


def test_writing_to_somebody_who_closed_is_answered_with_a_reset(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.close()
    lan.wait(0.01)
    assert client.story == ["made", "end"]

    client.transport.write(b"too late")
    lan.wait(0.01)
    client.transport.write(b"the reset is known now")
    lan.wait(0.01)
    assert client.last == "ConnectionResetError"
    assert not server.data


def test_bytes_that_were_on_their_way_to_a_close_are_answered_with_a_reset(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(b"crosses the close")
    server.transport.close()
    lan.wait(0.01)
    client.transport.write(b"the reset is known now")
    lan.wait(0.01)

    assert client.last == "ConnectionResetError"


def test_two_who_close_at_once_part_in_good_order(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.close()
    server.transport.close()
    lan.wait(0.01)

    assert client.story == server.story == ["made", "closed"]


def test_what_is_written_after_a_close_goes_nowhere(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.close()
    client.transport.write(b"x")
    client.transport.close()
    client.transport.abort()
    lan.wait(0.01)

    assert (client.story, server.story) == (["made", "closed"], ["made", "end"])


def test_a_reset_breaks_a_writer_who_does_not_read(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.pause_reading()
    server.transport.pause_reading()
    client.transport.write(bytes(2 * WINDOW))
    lan.wait(0.01)
    server.transport.abort()
    lan.wait(0.01)

    assert client.last == "ConnectionResetError"


def test_bytes_before_a_reset_can_still_be_read_later(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.pause_reading()
    server.transport.write(b"last words")
    server.transport.abort()
    lan.wait(0.01)
    assert client.story == ["made"]

    client.transport.resume_reading()
    lan.wait(0.01)
    assert client.data == b"last words"
    assert client.last == "ConnectionResetError"


# The window.


def test_a_reader_who_does_not_read_holds_the_writer_back(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    client.transport.write(bytes(WINDOW))
    assert client.transport.get_write_buffer_size() == 0

    client.transport.write(bytes(64 * 1024))
    assert not client.held_back
    client.transport.write(b"one more")
    client.transport.write(b"and more")
    assert client.held_back
    lan.wait(1)
    assert client.transport.get_write_buffer_size() == 64 * 1024 + 16
    assert not server.data


def test_a_writer_goes_on_when_the_reader_does(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    server.transport.resume_reading()
    assert server.transport.is_reading()
    server.transport.pause_reading()
    assert not server.transport.is_reading()
    client.transport.write(bytes(2 * WINDOW))
    lan.wait(1)
    assert client.held_back

    server.transport.resume_reading()
    lan.wait(0.1)
    assert not client.held_back
    assert client.transport.get_write_buffer_size() == 0
    assert len(server.data) == 2 * WINDOW


def test_a_writer_is_held_back_until_little_is_left_to_send(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.set_write_buffer_limits(high=WINDOW, low=10)
    server.transport.pause_reading()
    client.transport.write(bytes(3 * WINDOW))
    lan.wait(1)
    server.transport.resume_reading()
    lan.wait(1e-6)
    server.transport.pause_reading()
    lan.wait(1)

    assert len(server.data) == WINDOW
    assert client.transport.get_write_buffer_size() == WINDOW
    assert client.held_back


def test_two_who_only_write_can_go_on_as_soon_as_one_reads(lan: Lan) -> None:
    client, server = lan.pair()
    for end in (client, server):
        end.transport.pause_reading()
        end.transport.write(bytes(2 * WINDOW))
    lan.wait(1)
    assert client.held_back
    assert server.held_back

    server.transport.resume_reading()
    lan.wait(1)
    assert len(server.data) == 2 * WINDOW
    assert not client.data
    assert server.held_back


def test_the_limits_of_the_write_buffer_can_be_set(lan: Lan) -> None:
    client, server = lan.pair()
    assert client.transport.get_write_buffer_limits() == (16 * 1024, 64 * 1024)
    server.transport.pause_reading()
    client.transport.write(bytes(WINDOW + 5))
    client.transport.set_write_buffer_limits(high=4)

    assert client.held_back
    assert client.transport.get_write_buffer_limits() == (1, 4)
    with pytest.raises(ValueError, match="must be"):
        client.transport.set_write_buffer_limits(high=1, low=2)


# Connecting and listening.


class Forward(Told):
    """Does something as soon as it is connected."""

    def __init__(self, what: str, *args: object) -> None:
        super().__init__()
        self.what, self.args = what, args

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        getattr(transport, self.what)(*self.args)


@pytest.mark.parametrize(
    ("what", "args", "seen"),
    [
        ("write", (b"welcome",), ["made", "data"]),
        ("close", (), ["made", "end"]),
        ("abort", (), ["made", "ConnectionResetError"]),
    ],
)
def test_a_server_may_be_the_first_to_do_something(
    lan: Lan, what: str, args: tuple[object, ...], seen: list[str]
) -> None:
    lan.run("b", lan.loop.create_server(lambda: Forward(what, *args), "b", PORT))
    client = lan.connect("a", "b")
    lan.wait(0.01)

    assert client.story == seen


def test_nobody_listening_is_a_refusal_after_one_round_trip(lan: Lan) -> None:
    with pytest.raises(ConnectionRefusedError, match=r"Connect call failed \('b', 9092\)"):
        lan.connect("a", "b")

    assert 2 * LATENCY_NS[0] <= lan.loop.now_ns <= 2 * LATENCY_NS[1]


def test_an_unknown_host_cannot_be_looked_up(lan: Lan) -> None:
    with pytest.raises(socket.gaierror, match="not known: nowhere"):
        lan.connect("a", "nowhere")
    assert lan.loop.now_ns == 0


def test_localhost_is_the_host_of_whoever_asks(lan: Lan) -> None:
    accepted = lan.serve("b")
    lan.connect("b", "localhost")
    assert len(accepted) == 1
    with pytest.raises(ConnectionRefusedError):
        lan.connect("a", "127.0.0.1")


def test_a_port_can_be_listened_on_once_per_host(lan: Lan) -> None:
    lan.serve("b")
    lan.serve("a")
    with pytest.raises(OSError, match="somebody listens on b:9092") as taken:
        lan.serve("b")
    assert taken.value.errno == errno.EADDRINUSE


def test_nobody_can_listen_on_another_host(lan: Lan) -> None:
    with pytest.raises(OSError, match="a is not b") as wrong:
        lan.run("b", lan.loop.create_server(Told, "a", PORT))
    assert wrong.value.errno == errno.EADDRNOTAVAIL


def test_port_zero_picks_the_next_free_port(lan: Lan) -> None:
    async def ports() -> list[int]:
        servers = [await lan.loop.create_server(Told, "0.0.0.0", 0) for _ in range(3)]
        return [server.sockets[0].getsockname()[1] for server in servers]  # type: ignore[attr-defined]

    lan.serve("b", 32769)
    assert lan.run("b", ports()) == [32768, 32770, 32771]
    assert lan.connect("a", "b", 32770).story == ["made"]


def test_a_server_that_closes_refuses_and_keeps_what_is_open(lan: Lan) -> None:
    accepted: list[Told] = []

    def factory() -> Told:
        accepted.append(Told())
        return accepted[-1]

    async def one() -> None:
        server = await lan.loop.create_server(factory, "b", PORT)
        async with server:
            assert server.is_serving()
            await asyncio.sleep(1)
        assert not server.is_serving()
        assert server.sockets == ()  # type: ignore[attr-defined]
        await server.wait_closed()
        server.close()

    lan.begin("b", one())
    lan.wait(0.5)
    client = lan.connect("a", "b")
    lan.wait(1)

    with pytest.raises(ConnectionRefusedError):
        lan.connect("a", "b")
    client.transport.write(b"still here")
    lan.wait(0.01)
    assert accepted[0].data == b"still here"


def test_serving_for_ever_ends_with_the_server(lan: Lan) -> None:
    async def serve() -> asyncio.AbstractServer:
        server = await lan.loop.create_server(Told, "b", PORT)
        await server.start_serving()
        forever = asyncio.create_task(server.serve_forever())
        await asyncio.sleep(1)
        forever.cancel()
        with pytest.raises(asyncio.CancelledError):
            await forever
        return server

    server = lan.run("b", serve())
    assert not server.is_serving()
    assert server.get_loop() is lan.loop
    with pytest.raises(RuntimeError, match="closed"):
        lan.run("b", server.serve_forever())


# Failures of protocols.


class Failing(Told):
    def data_received(self, data: bytes) -> None:
        raise ValueError("cannot read this")


def test_a_protocol_that_fails_loses_its_connection_and_is_reported(lan: Lan) -> None:
    server = Failing()
    lan.run("b", lan.loop.create_server(lambda: server, "b", PORT))
    client = lan.connect("a", "b")
    client.transport.write(b"x")
    lan.wait(0.01)

    assert [str(e["exception"]) for e in lan.uncaught()] == ["cannot read this"]
    assert server.last == "ValueError"
    assert client.last == "end"


def test_a_factory_that_fails_is_reported_and_the_client_sees_the_end(lan: Lan) -> None:
    def factory() -> Told:
        raise ValueError("no protocol today")

    lan.run("b", lan.loop.create_server(factory, "b", PORT))
    client = lan.connect("a", "b")
    lan.wait(0.01)

    assert [str(e["exception"]) for e in lan.uncaught()] == ["no protocol today"]
    assert client.last == "end"


def test_a_factory_of_a_client_fails_where_it_connects(lan: Lan) -> None:
    def factory() -> Told:
        raise ValueError("no protocol today")

    lan.serve("b")
    with pytest.raises(ValueError, match="no protocol today"):
        lan.run("a", lan.loop.create_connection(factory, "b", PORT))


def test_another_protocol_can_take_over(lan: Lan) -> None:
    client, server = lan.pair()
    other = Told()
    other.story.append("took over")
    server.transport.set_protocol(other)
    assert server.transport.get_protocol() is other
    client.transport.write(b"for you")
    lan.wait(0.01)

    assert (server.data, other.data) == (b"", b"for you")
