"""A log inside the simulation: killed by it, on its loop, the same again from the same seed."""

from __future__ import annotations

from log_bench import batch

from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from harness.simulation.sweep import sweep
from reference_impl.kafka.batches import batches
from reference_impl.log import Log, LogConfig
from reference_impl.ports import Ports

CONFIG = LogConfig(segment_bytes=3 * len(batch(b"a")), index_interval_bytes=50)


async def program(ports: Ports) -> None:
    """Opens the log, appends a few records, cuts some, and does so again in every life."""
    log = await Log.open(ports.disk, "t-0", config=CONFIG, clock=ports.clock, clean=False)
    for number in range(5):
        timestamp = ports.clock.now_ms()
        await log.append_as_leader(batch(b"%d" % number, timestamp=timestamp), leader_epoch=number)
    await log.truncate_to(log.log_end_offset - 2)
    await log.flush()
    await log.close(clean=True)


def play(sim: Simulation) -> None:
    sim.add("n1", program)
    sim.advance(10)
    if not sim.exits:  # it was killed before its program ended
        sim.levers.start_again("n1")
    sim.advance(10)


def judge(sim: Simulation) -> str | None:
    """Whatever happened, the files of the log are batches without gaps."""
    expected = 0
    for path, data in sim.nodes["n1"].disk.contents().items():
        if path.endswith(".log"):
            for _, each in batches(data):
                if each.base_offset != expected:
                    return f"{path}: {each.base_offset} where {expected} should be"
                expected = each.next_offset
    return None if expected else "there is no record"


def test_a_log_killed_at_any_effect_of_a_simulated_node_goes_on_without_a_gap() -> None:
    swept = sweep(play, judge, acts=(Act.KILL, Act.KILL_AFTER))

    assert swept.effects["n1"] > 40
    assert swept.found == []


def test_a_log_in_a_simulation_writes_the_same_bytes_again() -> None:
    def contents() -> dict[str, bytes]:
        with Simulation(seed=5) as sim:
            play(sim)
            return dict(sim.nodes["n1"].disk.contents())

    assert contents() == contents()
