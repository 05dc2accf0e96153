"""The simulated network: cuts, holds, delays, silence, and what peers see of the dead."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from sim_lan import PORT, Lan, Told

from harness.simulation.clock import NS, NodeClock
from harness.simulation.errors import Deadlock
from harness.simulation.link_faults import Hosts
from harness.simulation.network import CONNECT_SILENCE_S
from harness.simulation.patience import GIVE_UP_S
from harness.simulation.process import Process
from harness.simulation.sockets import WINDOW

HOUR = 3600.0


@pytest.fixture
def lan() -> Iterator[Lan]:
    made = Lan()
    yield made
    made.loop.close()
    assert made.loop.errors == []


async def patiently(lan: Lan, target: str) -> Told:
    """Connect, however long it takes."""
    _, told = await lan.loop.create_connection(Told, target, PORT)
    return told  # type: ignore[no-any-return]


# Cuts.


def test_a_cut_loses_nothing_and_heals_into_everything_once(lan: Lan) -> None:
    client, server = lan.pair()
    cut = lan.network.cut("a", "b")
    for letter in (b"a", b"b", b"c"):
        client.transport.write(letter)
        server.transport.write(letter.upper())
        lan.wait(1)
    assert (client.data, server.data) == (b"", b"")

    cut.heal()
    cut.heal()
    lan.wait(0.01)
    assert (client.data, server.data) == (b"ABC", b"abc")
    assert cut.counts == {
        "deliveries_held": 6,
        "bytes_held": 6,
        "connects_stalled": 0,
        "connections_broken": 0,
    }


def test_a_cut_stops_what_is_on_its_way(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(b"x")
    cut = lan.network.cut("a", "b")
    lan.wait(1)
    assert not server.data
    assert cut.counts["bytes_held"] == 1

    cut.heal()
    lan.wait(0.01)
    assert server.data == b"x"


def test_a_cut_does_not_stop_what_has_arrived(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    client.transport.write(b"x")
    lan.wait(0.01)
    lan.network.cut("a", "b")
    server.transport.resume_reading()
    lan.wait(0.01)

    assert server.data == b"x"


def test_a_cut_one_way_lets_the_other_way_through(lan: Lan) -> None:
    client, server = lan.pair()
    lan.network.cut("a", "b", both=False)
    client.transport.write(b"stalls")
    server.transport.write(b"passes")
    lan.wait(1)

    assert (client.data, server.data) == (b"passes", b"")


def test_a_cut_is_on_every_connection_of_its_links(lan: Lan) -> None:
    accepted = lan.serve("b")
    clients = [lan.connect("a", "b") for _ in range(5)]
    for client in clients:
        client.transport.write(b"x")
    cut = lan.network.cut("a", "b")
    lan.wait(1)
    assert [len(told.data) for told in accepted] == [0] * 5

    cut.heal()
    lan.wait(0.01)
    assert [len(told.data) for told in accepted] == [1] * 5


def test_the_end_and_resets_wait_behind_a_cut_too(lan: Lan) -> None:
    ended, sees_end = lan.pair()
    broken = lan.connect("a", "b")
    cut = lan.network.cut("a", "b")
    ended.transport.close()
    broken.transport.abort()
    lan.wait(1)
    assert sees_end.story == ["made"]

    cut.heal()
    lan.wait(0.01)
    assert sees_end.last == "end"


def test_a_connection_is_made_once_the_cut_is_healed(lan: Lan) -> None:
    lan.serve("b")
    cut = lan.network.cut("a", "b")
    connecting = lan.begin("a", patiently(lan, "b"))
    lan.wait(CONNECT_SILENCE_S - 1)
    assert not connecting.done()
    cut.heal()
    lan.wait(0.01)

    assert connecting.result().story == ["made"]
    assert cut.counts["connects_stalled"] == 1


@pytest.mark.parametrize(("source", "target"), [("a", "b"), ("b", "a")])
def test_a_connection_over_a_cut_times_out_whichever_way_is_cut(
    lan: Lan, source: str, target: str
) -> None:
    lan.serve("b")
    lan.network.cut(source, target, both=False)
    with pytest.raises(TimeoutError, match="Connect call failed"):
        lan.connect("a", "b")

    assert lan.seconds() == CONNECT_SILENCE_S


def test_nobody_hears_later_of_a_connection_that_timed_out(lan: Lan) -> None:
    accepted = lan.serve("b")
    cut = lan.network.cut("a", "b")
    with pytest.raises(TimeoutError):
        lan.connect("a", "b")
    cut.heal()
    lan.wait(1)

    assert accepted == []


def test_nobody_hears_later_of_a_connection_that_was_cancelled(lan: Lan) -> None:
    accepted = lan.serve("b")
    hold = lan.network.hold("a", "b")
    connecting = lan.begin("a", patiently(lan, "b"))
    lan.wait(1)
    connecting.cancel()
    lan.wait(1)
    assert hold.release(1) == 0
    hold.heal()
    lan.wait(1)

    assert connecting.cancelled()
    assert accepted == []


def test_a_connection_that_was_cancelled_after_it_was_accepted_is_reset(lan: Lan) -> None:
    accepted = lan.serve("b")
    lan.network.cut("b", "a", both=False)
    connecting = lan.begin("a", patiently(lan, "b"))
    lan.wait(1)
    connecting.cancel()
    lan.wait(1)

    assert accepted[0].story == ["made", "ConnectionResetError"]


def test_an_answer_that_came_while_its_process_was_paused_is_in_time(lan: Lan) -> None:
    lan.serve("b")
    connecting = lan.begin("a", patiently(lan, "b"))
    lan.wait(0.0001)
    lan.pause("a")
    lan.wait(HOUR)
    lan.resume("a")
    lan.wait(0.01)

    assert connecting.result().story == ["made"]


def test_two_cuts_are_healed_by_two(lan: Lan) -> None:
    client, server = lan.pair()
    first, second = lan.network.cut("a", "b"), lan.network.cut("a", "*")
    client.transport.write(b"x")
    first.heal()
    lan.wait(1)
    assert not server.data

    second.heal()
    lan.wait(0.01)
    assert server.data == b"x"


@pytest.mark.parametrize(
    ("sources", "targets"), [("b", "*"), ("*", "b"), (["a", "c"], ["b"]), ("*", "*")]
)
def test_one_fault_can_be_on_many_links_also_those_used_later(
    lan: Lan, sources: Hosts, targets: Hosts
) -> None:
    client, server = lan.pair()
    lan.network.cut(sources, targets)
    client.transport.write(b"x")
    lan.wait(1)
    assert not server.data

    with pytest.raises(TimeoutError):
        lan.connect("c", "b")


def test_a_fault_leaves_the_other_links_and_the_way_to_oneself_alone(lan: Lan) -> None:
    lan.serve("b")
    lan.serve("c")
    lan.network.cut("b", "*")

    assert lan.connect("b", "b").story == ["made"]
    assert lan.connect("a", "c").story == ["made"]


@pytest.mark.parametrize(("source", "target"), [("a", "a"), ("a", "z"), ((), "a")])
def test_a_fault_that_meets_no_link_is_a_mistake(lan: Lan, source: Hosts, target: Hosts) -> None:
    with pytest.raises(ValueError, match=r"no host 'z'|no link leads"):
        lan.network.cut(source, target)


# Holds and delays.


def test_deliveries_that_are_held_go_on_one_by_one(lan: Lan) -> None:
    client, server = lan.pair()
    hold = lan.network.hold("a", "b", both=False)
    for letter in (b"a", b"b", b"c"):
        client.transport.write(letter)
    lan.wait(1)
    assert not server.data

    assert hold.release(2) == 2
    lan.wait(0.01)
    assert server.data == b"ab"
    client.transport.write(b"d")
    lan.wait(1)
    assert server.data == b"ab"

    hold.heal()
    lan.wait(0.01)
    assert server.data == b"abcd"
    assert hold.counts["deliveries_held"] == 4


def test_the_oldest_delivery_is_released_first_whosever_it_is(lan: Lan) -> None:
    accepted = lan.serve("b")
    clients = [lan.connect("a", "b"), lan.connect("c", "b")]
    hold = lan.network.hold("*", "b", both=False)
    clients[1].transport.write(b"first")
    lan.wait(0.001)
    clients[0].transport.write(b"second")
    hold.release(1)
    lan.wait(0.01)

    assert [bytes(told.data) for told in accepted] == [b"", b"first"]


def test_nothing_can_be_released_from_a_link_that_is_cut_as_well(lan: Lan) -> None:
    client, server = lan.pair()
    hold = lan.network.hold("a", "b")
    cut = lan.network.cut("a", "b")
    client.transport.write(b"x")
    assert hold.release(1) == 0

    cut.heal()
    assert hold.release(5) == 1
    lan.wait(0.01)
    assert server.data == b"x"


def test_a_delay_makes_everything_take_longer(lan: Lan) -> None:
    client, server = lan.pair()
    delay = lan.network.delay("a", "b", 2.5, both=False)
    client.transport.write(b"x")
    lan.wait(2.5)
    assert not server.data

    lan.wait(0.01)
    assert server.data == b"x"
    assert delay.counts == {"deliveries_delayed": 1}


def test_after_a_delay_nothing_overtakes_what_was_delayed(lan: Lan) -> None:
    client, server = lan.pair()
    delay = lan.network.delay("a", "b", 5)
    client.transport.write(b"slow ")
    delay.heal()
    lan.wait(1)
    client.transport.write(b"quick")
    lan.wait(1)
    assert not server.data

    lan.wait(5)
    assert server.data == b"slow quick"


def test_a_cut_in_a_delay_is_over_when_it_heals_and_not_when_the_delay_would_be(lan: Lan) -> None:
    client, server = lan.pair()
    delay = lan.network.delay("a", "b", 50)
    client.transport.write(b"x")
    lan.wait(1)
    cut = lan.network.cut("a", "b")
    delay.heal()
    cut.heal()
    lan.wait(1)

    assert server.data == b"x"


# Giving up.


def test_a_sender_gives_up_after_a_while_of_silence(lan: Lan) -> None:
    client, server = lan.pair()
    cut = lan.network.cut("a", "b")
    lan.wait(HOUR)  # silence alone is no reason
    client.transport.write(b"x")
    lan.wait(GIVE_UP_S - 0.001)
    assert client.story == ["made"]

    lan.wait(0.001)
    assert client.story == ["made", "TimeoutError"]
    assert server.story == ["made"]
    assert cut.counts["connections_broken"] == 1


def test_a_sender_gives_up_where_its_bytes_arrive_and_no_acknowledgement_does(lan: Lan) -> None:
    client, server = lan.pair()
    lan.network.cut("b", "a", both=False)
    client.transport.write(b"x")
    lan.wait(GIVE_UP_S)
    assert client.last == "TimeoutError"
    assert server.data == b"x"

    another = lan.network.cut("a", "b")
    lan.wait(GIVE_UP_S)
    assert another.counts["connections_broken"] == 0  # it is over already


@pytest.mark.parametrize("healed", [0, 1])
def test_half_of_a_cut_that_heals_saves_nobody(lan: Lan, healed: int) -> None:
    client, _ = lan.pair()
    cuts = [lan.network.cut("a", "b", both=False), lan.network.cut("b", "a", both=False)]
    client.transport.write(b"x")
    lan.wait(1)
    cuts[healed].heal()
    lan.wait(GIVE_UP_S - 1)

    assert client.last == "TimeoutError"


def test_what_was_acknowledged_after_a_cut_does_not_count_in_the_next(lan: Lan) -> None:
    client, _ = lan.pair()
    cut = lan.network.cut("b", "a", both=False)
    client.transport.write(b"x")
    lan.wait(30)
    cut.heal()
    lan.wait(GIVE_UP_S)
    lan.network.cut("a", "b")
    client.transport.write(b"y")
    lan.wait(GIVE_UP_S - 1)
    assert client.story == ["made"]

    lan.wait(1)
    assert client.last == "TimeoutError"


def test_what_was_on_its_way_when_acknowledgements_stopped_is_given_up_too(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(b"x")
    lan.network.cut("b", "a", both=False)
    lan.wait(GIVE_UP_S)

    assert client.last == "TimeoutError"
    assert server.data == b"x"


def test_a_cut_that_heals_in_time_breaks_nothing(lan: Lan) -> None:
    client, server = lan.pair()
    cut = lan.network.cut("a", "b")
    client.transport.write(b"x")
    lan.wait(GIVE_UP_S - 1)
    cut.heal()
    lan.wait(HOUR)

    assert (client.story, server.data) == (["made"], b"x")


def test_what_was_released_counts_as_acknowledged(lan: Lan) -> None:
    client, _ = lan.pair()
    hold = lan.network.hold("a", "b", both=False)
    client.transport.write(b"w")
    lan.wait(30)
    hold.release(1)
    lan.wait(GIVE_UP_S)
    client.transport.write(b"x")
    lan.wait(30)
    client.transport.write(b"y")
    hold.release(1)
    lan.wait(GIVE_UP_S - 1)
    assert client.story == ["made"]

    lan.wait(1)
    assert client.last == "TimeoutError"


def test_bytes_that_were_given_up_never_arrive(lan: Lan) -> None:
    client, server = lan.pair()
    hold = lan.network.hold("a", "b")
    client.transport.write(b"x")
    lan.wait(GIVE_UP_S)
    assert hold.release(1) == 0
    hold.heal()
    lan.wait(HOUR)
    assert (server.story, server.data) == (["made"], b"")

    server.transport.write(b"anybody there?")
    lan.wait(0.01)
    assert server.last == "ConnectionResetError"


def test_a_kernel_gives_up_for_a_process_that_is_paused(lan: Lan) -> None:
    client, _ = lan.pair()
    lan.network.cut("a", "b")
    client.transport.write(b"x")
    lan.pause("a")
    lan.wait(GIVE_UP_S)
    assert client.story == ["made"]

    lan.resume("a")
    lan.wait(0.01)
    assert client.last == "TimeoutError"


@pytest.mark.parametrize(("source", "target"), [("a", "b"), ("b", "a")])
def test_a_writer_who_waits_for_room_gives_up_too(lan: Lan, source: str, target: str) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    client.transport.write(bytes(2 * WINDOW))
    lan.wait(HOUR)
    assert client.story == ["made"]

    lan.network.cut(source, target, both=False)
    lan.wait(GIVE_UP_S)
    assert client.last == "TimeoutError"


def test_news_of_room_waits_behind_a_cut(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.pause_reading()
    client.transport.write(bytes(2 * WINDOW))
    lan.wait(1)
    cut = lan.network.cut("b", "a", both=False)
    server.transport.resume_reading()
    lan.wait(1)
    assert len(server.data) == WINDOW

    cut.heal()
    lan.wait(0.1)
    assert len(server.data) == 2 * WINDOW


# Processes that stand still or die.


def test_a_paused_process_is_told_everything_when_it_is_resumed(lan: Lan) -> None:
    client, server = lan.pair()
    lan.pause("b")
    client.transport.write(b"x")
    client.transport.close()
    late = lan.connect("a", "b")  # its kernel accepts
    lan.wait(HOUR)
    assert server.story == ["made"]
    assert late.story == ["made"]

    lan.resume("b")
    lan.wait(0.01)
    assert server.story == ["made", "data", "end"]


def test_a_paused_peer_holds_the_writer_back(lan: Lan) -> None:
    client, server = lan.pair()
    lan.pause("b")
    client.transport.write(bytes(2 * WINDOW))
    lan.wait(HOUR)
    assert client.held_back
    assert client.transport.get_write_buffer_size() == WINDOW

    lan.resume("b")
    lan.wait(0.1)
    assert len(server.data) == 2 * WINDOW
    assert not client.held_back


def test_the_kernel_of_a_killed_process_ends_its_connections(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.write(b"last words")
    lan.kill("b")
    lan.wait(0.01)

    assert (client.story, client.data) == (["made", "data", "end"], b"last words")
    assert server.story == ["made"]
    with pytest.raises(ConnectionRefusedError):
        lan.connect("a", "b")


def test_a_process_killed_with_bytes_unread_is_seen_as_a_reset(lan: Lan) -> None:
    client, _ = lan.pair()
    lan.pause("b")
    client.transport.write(b"x")
    lan.wait(0.01)
    lan.kill("b")
    lan.wait(0.01)

    assert client.last == "ConnectionResetError"


def test_bytes_for_a_killed_process_are_answered_with_a_reset(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.write(b"on its way")
    lan.kill("b")
    lan.wait(0.01)
    client.transport.write(b"again")
    lan.wait(0.01)

    assert client.last == "ConnectionResetError"
    assert not server.data


def test_what_a_killed_process_had_sent_passes_a_cut_that_heals(lan: Lan) -> None:
    client, server = lan.pair()
    cut = lan.network.cut("a", "b")
    server.transport.write(b"last words")
    lan.kill("b")
    lan.wait(1)
    cut.heal()
    lan.wait(0.01)

    assert (client.data, client.last) == (b"last words", "end")


def test_what_had_no_room_in_the_window_dies_with_its_process(lan: Lan) -> None:
    client, server = lan.pair()
    client.transport.pause_reading()
    server.transport.write(bytes(2 * WINDOW))
    lan.kill("b")
    client.transport.resume_reading()
    lan.wait(1)

    assert len(client.data) == WINDOW
    assert client.last == "end"


def test_the_clean_up_of_a_dead_process_reaches_nobody(lan: Lan) -> None:
    seen: list[str] = []
    client, server = lan.pair()

    async def tidy() -> None:
        try:
            await asyncio.sleep(HOUR)
        finally:
            server.transport.write(b"from the grave")
            server.transport.write_eof()
            server.transport.close()
            server.transport.abort()
            seen.append("cleaned up")
            await lan.loop.create_connection(Told, "a", PORT)

    accepted = lan.serve("a")
    lan.begin("b", tidy())
    lan.wait(1)
    lan.processes["b"].end()  # before anybody tells the network
    lan.wait(1)
    assert seen == ["cleaned up"]
    assert (client.story, accepted) == (["made"], [])

    lan.network.process_killed(lan.processes["b"])
    lan.wait(0.01)
    assert client.story == ["made", "end"]


def test_a_process_that_dies_while_it_connects_is_not_heard_of(lan: Lan) -> None:
    accepted = lan.serve("b")
    lan.begin("a", patiently(lan, "b"))
    lan.wait(0.0001)
    lan.kill("a")
    lan.wait(1)

    assert accepted == []
    assert lan.loop.errors == []


def test_a_process_has_a_host_as_soon_as_it_needs_one(lan: Lan) -> None:
    for name in ("newcomer", "hermit"):
        lan.processes[name] = Process(name, NodeClock(lambda: lan.loop.now_ns))
    accepted = lan.serve("newcomer")
    lan.network.process_killed(lan.processes["hermit"])
    lan.connect("a", "newcomer")

    assert len(accepted) == 1
    with pytest.raises(ConnectionRefusedError):
        lan.connect("a", "hermit")


# Machines without power.


def test_a_machine_without_power_is_silence(lan: Lan) -> None:
    client, _ = lan.pair()
    lan.lose_power("b")
    lan.wait(HOUR)
    assert client.story == ["made"]

    before = lan.seconds()
    with pytest.raises(TimeoutError):
        lan.connect("a", "b")
    assert lan.seconds() - before == CONNECT_SILENCE_S


def test_a_machine_can_lose_power_again(lan: Lan) -> None:
    for _ in range(2):
        lan.lose_power("b")
        with pytest.raises(TimeoutError):
            lan.connect("a", "b")
        lan.start("b")
        with pytest.raises(ConnectionRefusedError):
            lan.connect("a", "b")


def test_what_had_left_a_machine_that_lost_power_arrives(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.write(b"acknowledged")
    lan.lose_power("b")
    lan.wait(0.01)

    assert client.story == ["made", "data"]


def test_what_had_not_left_a_machine_that_lost_power_is_gone(lan: Lan) -> None:
    client, server = lan.pair()
    cut = lan.network.cut("a", "b")
    server.transport.write(b"never heard")
    lan.lose_power("b")
    cut.heal()
    lan.start("b")
    lan.wait(1)
    assert client.story == ["made"]

    client.transport.write(b"x")
    lan.wait(0.01)
    assert client.last == "ConnectionResetError"


def test_what_had_left_is_lost_if_it_must_be_sent_again(lan: Lan) -> None:
    client, server = lan.pair()
    server.transport.write(b"lost in a cut")
    lan.lose_power("b")
    cut = lan.network.cut("a", "b")
    lan.wait(1)
    cut.heal()
    lan.wait(1)

    assert client.story == ["made"]


def test_a_machine_without_power_gives_nothing_up(lan: Lan) -> None:
    _, server = lan.pair()
    cut = lan.network.cut("a", "b")
    server.transport.write(b"x")
    lan.lose_power("b")
    another = lan.network.cut("a", "b")
    lan.wait(GIVE_UP_S)

    assert [fault.counts["connections_broken"] for fault in (cut, another)] == [0, 0]


def test_bytes_to_a_machine_without_power_are_given_up(lan: Lan) -> None:
    client, _ = lan.pair()
    silence = lan.network.power_lost("b")
    client.transport.write(b"x")
    lan.wait(GIVE_UP_S)

    assert client.last == "TimeoutError"
    assert silence.counts["connections_broken"] == 1


def test_a_machine_that_is_back_answers_what_was_sent_meanwhile_with_a_reset(lan: Lan) -> None:
    client, server = lan.pair()
    lan.lose_power("b")
    client.transport.write(b"x")
    lan.wait(30)
    assert client.story == ["made"]

    lan.start("b")
    lan.wait(0.01)
    assert client.last == "ConnectionResetError"
    assert not server.data


def test_a_machine_that_is_back_answers_what_is_sent_to_its_past_with_a_reset(lan: Lan) -> None:
    client, _ = lan.pair()
    lan.lose_power("b")
    lan.wait(HOUR)
    lan.start("b")
    lan.wait(HOUR)
    assert client.story == ["made"]

    client.transport.write(b"x")
    lan.wait(0.01)
    assert client.last == "ConnectionResetError"


def test_a_writer_who_waits_for_room_learns_from_a_machine_that_is_back(lan: Lan) -> None:
    client, _ = lan.pair()
    lan.pause("b")
    client.transport.write(bytes(2 * WINDOW))
    lan.wait(1)
    lan.lose_power("b")
    lan.wait(30)
    lan.start("b")
    lan.wait(0.01)

    assert client.last == "ConnectionResetError"


def test_half_an_end_is_answered_with_a_reset_by_a_machine_that_is_back(lan: Lan) -> None:
    client, _ = lan.pair()
    lan.lose_power("b")
    client.transport.write_eof()
    lan.start("b")
    lan.wait(0.01)

    assert client.last == "ConnectionResetError"


def test_a_connection_is_made_to_a_machine_that_comes_back_in_time(lan: Lan) -> None:
    lan.lose_power("b")
    connecting = lan.begin("a", patiently(lan, "b"))
    lan.wait(5)
    lan.start("b")
    lan.serve("b")
    lan.wait(0.01)

    assert connecting.result().story == ["made"]


def test_a_port_is_free_again_after_its_process_died(lan: Lan) -> None:
    lan.serve("b")
    lan.kill("b")
    lan.start("b")
    lan.serve("b")
    lan.lose_power("b")
    lan.start("b")
    accepted = lan.serve("b")
    lan.connect("a", "b")

    assert len(accepted) == 1


# What is left behind.


def test_connections_that_are_over_are_forgotten(lan: Lan) -> None:
    lan.begin("c", patiently(lan, "b"))
    lan.wait(0.0001)
    lan.lose_power("c")
    lan.start("c")
    lan.serve("b")
    for _ in range(20):
        lan.connect("a", "b").transport.abort()
    accepted = lan.serve("b", PORT + 1)
    client = lan.connect("a", "b", PORT + 1)
    client.transport.pause_reading()
    accepted[0].transport.write(b"never read")
    lan.wait(0.01)
    client.transport.close()
    with pytest.raises(ConnectionRefusedError):
        lan.connect("a", "c")
    lan.wait(1)

    assert [len(link.receivers) for link in lan.network._links.values()] == [0] * 6
    assert [len(host.sockets) for host in lan.network._hosts.values()] == [0] * 4


def test_healed_and_quiet_the_network_sets_no_timers(lan: Lan) -> None:
    client, server = lan.pair()
    cut = lan.network.cut("a", "b")
    client.transport.write(b"x")
    server.transport.write(b"y")
    lan.wait(1)
    cut.heal()
    lan.wait(0.01)

    async def wait_for_ever() -> None:
        await lan.loop.create_future()

    with pytest.raises(Deadlock, match="0 timers are set"):
        lan.loop.run_within(wait_for_ever(), limit_ns=NS)
