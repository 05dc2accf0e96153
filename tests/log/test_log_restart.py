"""A log begins anew at an offset with epochs and producers: after a crash all of it, or nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
from log_bench import Bench, Killed, MortalGate, Producer, batch

from reference_impl.decisions import Mutant, mutated
from reference_impl.kafka.batches import header
from reference_impl.log import Log, LogConfig
from reference_impl.log.decisions import EpochEntry, steps_of_a_restart
from reference_impl.log.producers import Producer as KnownProducer
from reference_impl.log.producers import ProducerStates
from reference_impl.log.restart import FILE

Opened = Callable[..., Bench]
SIZE = len(Producer(1).next(b"a"))
EPOCHS = (EpochEntry(3, 4), EpochEntry(5, 20))
ELSEWHERE = {"older_elsewhere": True, "log_start_offset": 2}


def known(producer_id: int = 7) -> list[KnownProducer]:
    """A producer whose last batch lies below where the log begins."""
    states = ProducerStates("t-0", 1 << 60)
    data = batch(b"a", producer_id=producer_id, producer_epoch=0, base_sequence=4, base_offset=28)
    states.add(header(data))
    return list(states.producers.values())


def filled(seed: int) -> Bench:
    """A log from 2 on with five records of one producer, in three segments."""
    bench = Bench(LogConfig(segment_bytes=2 * SIZE), seed=seed)
    bench.open(**ELSEWHERE)
    producer = Producer(1)
    for _ in range(5):
        bench.append(producer.next(b"a"), epoch=1)
    bench.run(bench.log.flush())
    return bench


async def restart(log: Log) -> None:
    await log.restart_at(30, log_start_offset=4, epochs=EPOCHS, producers=known())


State = tuple[int, int, int, tuple[EpochEntry, ...], tuple[tuple[int, int], ...]]


def state(log: Log) -> State:
    producers = log.producers.producers.values()
    return (
        log.log_start_offset,
        log.local_log_start_offset,
        log.log_end_offset,
        log.epochs.entries,
        tuple(sorted((one.producer_id, one.last_sequence) for one in producers)),
    )


AFTER: State = (4, 30, 30, EPOCHS, ((7, 4),))
ONE_MORE: State = (4, 30, 31, EPOCHS, ((7, 4),))


def beginnings() -> list[State]:
    """The log as it was, or the beginning of it."""
    epochs = (EpochEntry(1, 2),)
    some: list[State] = [(2, 2, end, epochs, ((1, end - 3),)) for end in range(3, 8)]
    return [*some, (2, 2, 2, epochs, ()), (2, 2, 2, (), ())]


def safe(done: bool, found: State) -> bool:
    return found == ONE_MORE if done else found in [AFTER, *beginnings()]


def crashes(power: bool, after: bool) -> Iterator[tuple[bool, State]]:
    """What a log is after a crash at each effect of a restart; at last after one more record."""
    for fatal in range(1, 100):
        with contextlib.closing(filled(seed=fatal)) as bench:
            bench.gate.fatal, bench.gate.after = bench.gate.count + fatal, after
            with contextlib.suppress(Killed):
                bench.run(restart(bench.log))
            done = not bench.gate.dead
            if done:
                bench.gate.fatal = None
                bench.append(batch(b"a"), epoch=5)
                bench.run(bench.log.flush())
            bench.die(power=power)
            yield done, state(bench.open(recovery_point=7, **ELSEWHERE))
        if done:
            return
    pytest.fail("the restart never ended")


def test_a_restarted_log_is_what_it_was_told_to_be() -> None:
    bench = filled(seed=0)

    bench.run(restart(bench.log))

    assert state(bench.log) == AFTER
    assert (bench.log.high_watermark, bench.log.recovery_point, bench.log.size) == (30, 30, 0)
    bench.close()


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_effect_leaves_the_log_from_before_or_the_restarted_one(
    power: bool, after: bool
) -> None:
    found = list(crashes(power, after))

    assert len(found) > 20
    assert all(safe(*each) for each in found)


@pytest.mark.parametrize("power", [False, True])
def test_a_crash_while_a_restart_is_finished_leaves_it_to_the_next_start(power: bool) -> None:
    bench = filled(seed=0)
    bench.gate.fatal = bench.gate.count + 9
    with pytest.raises(Killed):
        bench.run(restart(bench.log))
    assert f"t-0/{FILE}" in bench.sim.contents()
    for fatal in range(1, 60):
        bench.die(power=power)
        bench.gate.fatal = None
        with contextlib.suppress(Killed):
            bench.open(gate=MortalGate(fatal=fatal, after=True), **ELSEWHERE)
            break
    else:
        pytest.fail("it never opened")

    assert fatal > 10
    assert state(bench.log) == AFTER
    bench.close()


def test_a_restarted_log_takes_records_and_keeps_them(opened: Opened) -> None:
    bench = opened()
    bench.log.older_elsewhere = True
    bench.run(restart(bench.log))
    bench.append(batch(b"next"), epoch=6)
    bench.run(bench.log.flush())
    bench.die(power=True)

    log = bench.open(older_elsewhere=True)

    assert bench.run(log.read(30, max_bytes=1, upto=31, at_least_one=True))
    assert (log.log_start_offset, log.log_end_offset) == (4, 31)
    assert log.epochs.entries == (*EPOCHS, EpochEntry(6, 30))


def test_a_restart_without_a_log_start_begins_a_log_of_which_nothing_is_known() -> None:
    bench = filled(seed=0)

    bench.run(bench.log.restart_at(50))

    assert state(bench.log) == (50, 50, 50, (), ())
    bench.close()


@pytest.mark.parametrize(
    ("log_start", "epochs"),
    [(31, EPOCHS), (3, EPOCHS), (4, ())],
    ids=["above the offset", "below the first epoch", "without epochs"],
)
def test_a_restart_that_no_log_can_be_is_refused_before_anything_is_touched(
    log_start: int, epochs: tuple[EpochEntry, ...]
) -> None:
    bench = filled(seed=0)
    before = bench.sim.contents()

    with pytest.raises(ValueError, match="a log from"):
        bench.run(bench.log.restart_at(30, log_start_offset=log_start, epochs=epochs))

    assert bench.sim.contents() == before
    bench.close()


def test_a_damaged_note_of_a_restart_leaves_what_is_there(opened: Opened) -> None:
    bench = opened()
    for _ in range(3):
        bench.append(batch(b"a"))
    bench.die()

    async def damage() -> None:
        file = await bench.sim.open(f"t-0/{FILE}")
        await file.append(b"0\n1\nnot a restart\n")
        await file.close()

    bench.run(damage())

    assert bench.open().log_end_offset == 3
    assert f"t-0/{FILE}" not in bench.sim.contents()


# Steps left out, or in another order.


def wrong_orders() -> list[tuple[str, ...]]:
    steps = steps_of_a_restart()
    skipped = [tuple(one for one in steps if one != step) for step in steps]
    swapped = [
        (*steps[:at], steps[at + 1], steps[at], *steps[at + 2 :]) for at in range(len(steps) - 1)
    ]
    return skipped + swapped


# Orders that no crash can tell from the right one.
BEFORE_DONE = "all that comes between the note and its end is done again"
LEGAL = {
    "write down > epochs > remove > producers > begin > done": BEFORE_DONE,
    "write down > remove > producers > epochs > begin > done": BEFORE_DONE,
    "write down > remove > epochs > begin > producers > done": BEFORE_DONE,
    "remove > write down > epochs > producers > begin > done": (
        "before the note there is a beginning of the old log: its last segment goes first"
    ),
}


@pytest.mark.parametrize("steps", wrong_orders(), ids=" > ".join)
def test_a_crash_tells_a_wrong_order_of_steps(steps: tuple[str, ...]) -> None:
    with mutated(Mutant(name="m", decision="steps-of-a-restart", replace=lambda: steps)):
        sound = all(
            safe(done, each)
            for power in (False, True)
            for after in (False, True)
            for done, each in crashes(power, after)
        )

    assert sound is (" > ".join(steps) in LEGAL)
