"""Whatever happens to the links, bytes arrive in order and once, and all of them in the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import example, given
from hypothesis import strategies as st
from sim_lan import Lan, Told

from harness.simulation.link_faults import LinkFault

ENDS = st.sampled_from("ab")
WAYS = st.sampled_from([("a", "b", True), ("a", "b", False), ("b", "a", False)])

STEPS = st.one_of(
    st.tuples(st.just("write"), ENDS, st.sampled_from([1, 10, 3_000, 70_000, 300_000])),
    st.tuples(st.just("wait"), st.sampled_from([0.0001, 0.0005, 0.001, 0.01, 0.3])),
    st.tuples(st.just("cut"), WAYS),
    st.tuples(st.just("hold"), WAYS),
    st.tuples(st.just("delay"), WAYS, st.sampled_from([0.0003, 0.05, 1.0])),
    st.tuples(st.just("heal"), st.integers(0, 5)),
    st.tuples(st.just("release"), st.integers(0, 5), st.integers(1, 3)),
    st.tuples(st.just("pause"), ENDS),
    st.tuples(st.just("resume"), ENDS),
    st.tuples(st.just("stop reading"), ENDS),
    st.tuples(st.just("read on"), ENDS),
)

DEATHS = st.one_of(
    st.tuples(st.just("close"), ENDS),
    st.tuples(st.just("abort"), ENDS),
    st.tuples(st.just("kill"), ENDS),
    st.tuples(st.just("lose power"), ENDS),
    st.tuples(st.just("start"), ENDS),
    st.tuples(st.just("wait"), st.sampled_from([30.0, 61.0])),
)


@dataclass
class Talk:
    """Two ends that write numbered bytes to each other."""

    lan: Lan
    ends: dict[str, Told]
    sent: dict[str, bytearray] = field(default_factory=lambda: {"a": bytearray(), "b": bytearray()})
    faults: list[LinkFault] = field(default_factory=list)

    def write(self, end: str, size: int) -> None:
        data = bytes((len(self.sent[end]) + place) % 251 for place in range(size))
        self.sent[end] += data
        self.ends[end].transport.write(data)

    def wait(self, seconds: float) -> None:
        self.lan.wait(seconds)

    def cut(self, way: tuple[str, str, bool]) -> None:
        self.faults.append(self.lan.network.cut(way[0], way[1], both=way[2]))

    def hold(self, way: tuple[str, str, bool]) -> None:
        self.faults.append(self.lan.network.hold(way[0], way[1], both=way[2]))

    def delay(self, way: tuple[str, str, bool], extra_s: float) -> None:
        self.faults.append(self.lan.network.delay(way[0], way[1], extra_s, both=way[2]))

    def heal(self, which: int) -> None:
        for fault in self.faults[which : which + 1]:
            fault.heal()

    def release(self, which: int, count: int) -> None:
        for fault in self.faults[which : which + 1]:
            if hasattr(fault, "release"):
                fault.release(count)

    def pause(self, end: str) -> None:
        self.lan.pause(end)

    def resume(self, end: str) -> None:
        self.lan.resume(end)

    def stop_reading(self, end: str) -> None:
        self.ends[end].transport.pause_reading()

    def read_on(self, end: str) -> None:
        self.ends[end].transport.resume_reading()

    def close(self, end: str) -> None:
        self.ends[end].transport.close()

    def abort(self, end: str) -> None:
        self.ends[end].transport.abort()

    def kill(self, end: str) -> None:
        self.lan.kill(end)

    def lose_power(self, end: str) -> None:
        self.lan.lose_power(end)

    def start(self, end: str) -> None:
        if not self.lan.processes[end].alive:
            self.lan.start(end)

    def gone(self, end: str) -> bool:
        return self.ends[end].transport.is_closing()  # type: ignore[no-any-return]

    def check(self) -> None:
        for here, there in (("a", "b"), ("b", "a")):
            assert self.sent[here].startswith(self.ends[there].data)

    def settle(self) -> None:
        for fault in self.faults:
            fault.heal()
        for end in "ab":
            self.start(end)
            self.resume(end)
            self.read_on(end)
        self.wait(30)


def talk_through(steps: list[tuple[object, ...]], seed: int) -> Talk:
    lan = Lan(seed)
    client, server = lan.pair()
    talk = Talk(lan, {"a": client, "b": server})
    for name, *args in steps:
        getattr(talk, str(name).replace(" ", "_"))(*args)
        talk.check()
    talk.settle()
    return talk


@given(steps=st.lists(STEPS, max_size=40), seed=st.integers(0, 5))
def test_bytes_arrive_in_order_and_once_and_in_the_end_all_of_them(
    steps: list[tuple[object, ...]], seed: int
) -> None:
    talk = talk_through(steps, seed)
    talk.lan.loop.close()

    for here, there in (("a", "b"), ("b", "a")):
        assert talk.ends[there].data == talk.sent[here]
        assert talk.ends[here].last in ("made", "data")
        assert not talk.ends[here].held_back


# The end and a reset that come at one instant, to somebody who waits for room.
@example(steps=[("write", "b", 300_000), ("delay", ("a", "b", True), 0.05), ("close", "a")], seed=0)
# Bytes that a process sends after its kernel gave up and before it was told.
@example(
    steps=[
        ("cut", ("a", "b", True)),
        ("pause", "a"),
        ("write", "a", 1),
        ("wait", 61.0),
        ("write", "a", 1),
    ],
    seed=0,
)
@given(steps=st.lists(STEPS | DEATHS, max_size=40), seed=st.integers(0, 5))
def test_whoever_sends_to_the_dead_is_told_in_the_end(
    steps: list[tuple[object, ...]], seed: int
) -> None:
    talk = talk_through(steps, seed)
    living = [end for end in "ab" if not talk.gone(end)]
    for _ in range(2):  # the first is answered with a reset, which shows in the second
        for end in living:
            talk.write(end, 1)
        talk.wait(1)
    talk.check()
    told = [talk.ends[end].last for end in living]
    left = [len(link.receivers) for link in talk.lan.network._links.values()]
    talk.lan.loop.close()

    assert talk.lan.loop.errors == []
    if len(living) == 2:
        assert told == ["data", "data"]
    else:
        assert all(word in ("ConnectionResetError", "TimeoutError") for word in told)
        assert left == [0, 0]
