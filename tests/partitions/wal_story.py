"""A partition moves from its local log to a WAL, and everybody reads and writes across."""

from __future__ import annotations

import asyncio
from functools import partial

from harness.simulation.simulation import Simulation
from reference_impl.partitions.views import Refreshed
from tests.partitions.stories import Seen, Story
from tests.partitions.toy_wal import ToyAuthority, ToyWal

MOVED, PLAIN, HELD, MARKED = "wal-moved", "plain", "wal-held", "wal-marked"
NOW = 1_700_000_000_000


def wal_story(seed: int = 1) -> dict[str, Seen]:
    """Every answer that clients saw, by label."""
    authority = ToyAuthority()
    with Simulation(seed=seed) as sim:
        story = Story(sim, partial(ToyWal, authority))
        story.create(MOVED, [1, 2])
        story.create(PLAIN, [1, 3])
        sim.run(_before(story))
        authority.delay_s = 1.0
        moving = sim.spawn(story.storages[1].move(MOVED))
        sim.run(_moving(story))
        sim.run_until(moving.done, within_s=30)
        authority.delay_s = 0.01
        story.notes["boundary"] = (moving.result(),)
        sim.run(_across(story))
        sim.run(_authority_in_trouble(story, authority))
        sim.advance(5)
        sim.run(_listing_what_is_unknown(story, authority))
        sim.run(_deleting(story))
        story.create(MARKED, [1, 2])
        sim.run(_marking(story, authority))
        sim.advance(10)
        sim.run(story.leader("in sync at the boundary", MOVED, at=1))
        authority.delay_s = 3.0
        sim.kill("broker-1")
        sim.run_until(lambda: _leads(story, 2), within_s=60)
        sim.run(_before_the_boundary_is_known(story))
        sim.advance(20)
        authority.delay_s = 0.01
        sim.run(_after_the_leader(story))
        authority.gaps = [3]
        story.create(HELD, [3, 2])
        sim.advance(10)
        sim.run(_a_leader_with_a_gap(story))
    return story.notes


async def _before(story: Story[ToyWal]) -> None:
    for number in range(4):
        await story.send(f"local {number}", MOVED, f"l{number}", at=1, stamp=NOW + number)
    await story.send("plain 0", PLAIN, "p0", at=1)
    await story.read("before: non-replica", MOVED, 0, at=3)
    await story.send("before: send to a follower", MOVED, "x", at=2)
    await story.send("before: send to a non-replica", MOVED, "x", at=3)
    await story.listed("before: latest", MOVED, -1, at=1)


async def _moving(story: Story[ToyWal]) -> None:
    await story.send("moving: send", MOVED, "x", at=1)
    await story.send("moving: another partition", PLAIN, "p1", at=1)
    await story.read("moving: read", MOVED, 0, at=1)


async def _across(story: Story[ToyWal]) -> None:
    await story.send("wal 0", MOVED, "w0", at=1, stamp=NOW + 10)
    await story.send("wal 1, by a follower", MOVED, "w1", at=2, stamp=NOW + 11)
    await story.read("across: first", MOVED, 0, at=1)
    await story.read("across: last below", MOVED, 3, at=1)
    await story.read("across: at the boundary", MOVED, 4, at=1)
    await story.read("across: one batch", MOVED, 4, at=1, most=1)
    await story.read("across: at the end", MOVED, 6, at=1)
    await story.read("across: beyond the end", MOVED, 7, at=1)
    await story.read("across: follower below", MOVED, 3, at=2)
    await story.read("across: follower above", MOVED, 4, at=2)
    await story.read("across: non-replica above", MOVED, 5, at=3)
    await story.read("across: non-replica below", MOVED, 3, at=3)
    await story.send("wal 2, by a non-replica", MOVED, "w2", at=3, stamp=NOW + 12)
    await story.together(
        story.read("across: woken by a commit", MOVED, 7, at=1, wait_ms=5000),
        story.send("wal 3", MOVED, "w3", at=2, stamp=NOW + 13),
    )
    for name, stamp in (("earliest", -2), ("latest", -1), ("local", -4), ("last tiered", -5)):
        await story.listed(f"across: {name}", MOVED, stamp, at=1)
    for after in (0, 3, 4, 10, 11, 14):
        await story.listed(f"across: stamp {after}", MOVED, NOW + after, at=1)


async def _authority_in_trouble(story: Story[ToyWal], authority: ToyAuthority) -> None:
    fresh = story.storages[3].partitions[MOVED][1]
    for trouble in (Refreshed.TRANSIENT, Refreshed.HARD):
        fresh.forget()
        authority.trouble = trouble
        await story.read(f"{trouble}: non-replica", MOVED, 5, at=3)
        await story.read(f"{trouble}: leader below", MOVED, 3, at=1)
        await story.read(f"{trouble}: leader above", MOVED, 5, at=1)
        await story.send(f"{trouble}: send", MOVED, "x", at=1)
        await story.listed(f"{trouble}: stamp below", MOVED, NOW + 3, at=1)
        await story.listed(f"{trouble}: stamp above", MOVED, NOW + 10, at=1)
    authority.trouble = None
    asked = authority.asked
    await story.read("mended: non-replica", MOVED, 5, at=3)
    await story.read("mended: known by now", MOVED, 5, at=3)
    story.notes["the authority was asked"] = (authority.asked - asked,)
    authority.delay_s = 5.0
    await story.together(
        story.read("slow: above", MOVED, 5, at=1, wait_ms=200),
        story.read("slow: below", MOVED, 3, at=1),
        story.send("slow: another partition", PLAIN, "p2", at=1),
    )
    await story.send("slow: send", MOVED, "late", at=1)
    authority.delay_s = 25.0
    fresh.forget()
    both = {MOVED: 5, PLAIN: 0}
    await story.read_all("late authority", both, at=3, wait_ms=200, within_s=1.0)
    authority.delay_s = 0.01


async def _listing_what_is_unknown(story: Story[ToyWal], authority: ToyAuthority) -> None:
    """Offsets of a leader that does not know the boundary, each time anew."""
    leader = story.storages[1].partitions[MOVED][1]
    stamps = {"earliest": -2, "latest": -1, "largest stamp": -3, "local": -4}
    stamps |= {"stamp below": NOW + 3, "stamp above": NOW + 10}
    for trouble in (Refreshed.TRANSIENT, Refreshed.HARD, None):
        authority.trouble, asked = trouble, authority.asked
        for name, stamp in stamps.items():
            leader.forget()
            await story.listed(f"unknown, {trouble}: {name}", MOVED, stamp, at=1)
        story.notes[f"unknown, {trouble}: asked"] = (authority.asked - asked,)
    leader.forget()
    authority.delay_s = 25.0
    await story.listed("unknown, late: latest", MOVED, -1, at=1)
    authority.delay_s = 0.01
    await story.listed("unknown, at last: latest", MOVED, -1, at=1)


async def _deleting(story: Story[ToyWal]) -> None:
    await story.deleted("delete: beyond the end", MOVED, 99, at=1)
    await story.deleted("delete: elsewhere", MOVED, 2, at=3)
    await story.deleted("delete: below the boundary", MOVED, 2, at=1)
    await story.listed("delete: earliest", MOVED, -2, at=1)
    await story.read("delete: gone", MOVED, 1, at=1)
    await story.deleted("delete: above the boundary", MOVED, 5, at=1)
    await story.listed("delete: earliest above", MOVED, -2, at=1)
    await story.read("delete: gone above", MOVED, 4, at=1)
    await story.read("delete: there", MOVED, 5, at=1)


async def _marking(story: Story[ToyWal], authority: ToyAuthority) -> None:
    await story.send("mark: local", MARKED, "m0", at=1)
    await story.marked("mark: before", MARKED, at=1)
    await story.marked("mark: before, by a non-replica", MARKED, at=3)
    authority.delay_s = 1.0
    moving = asyncio.ensure_future(story.storages[1].move(MARKED))
    await asyncio.sleep(0.5)
    await story.marked("mark: while the boundary is set", MARKED, at=1)
    story.notes["mark: boundary"] = (await moving,)
    authority.delay_s = 0.01
    await story.marked("mark: beyond", MARKED, at=1)
    await story.send("mark: beyond the marker", MARKED, "m1", at=1)
    await story.listed("mark: latest", MARKED, -1, at=1)
    await story.read("mark: across", MARKED, 2, at=1)


def _leads(story: Story[ToyWal], broker: int) -> bool:
    return story.storages[broker].partitions[MOVED][0].leads


async def _before_the_boundary_is_known(story: Story[ToyWal]) -> None:
    await story.send("unknown: send", MOVED, "x", at=2)
    await story.read("unknown: below", MOVED, 3, at=2)


async def _after_the_leader(story: Story[ToyWal]) -> None:
    await story.leader("after: leader", MOVED, at=2)
    await story.read("after: above", MOVED, 5, at=2)
    await story.send("after: send", MOVED, "w4", at=2)
    await story.read("after: non-replica", MOVED, 8, at=3)
    story.storages[2].partitions[MOVED][1].copies = True
    await story.read("after: while a copy is assembled", MOVED, 8, at=2)
    await story.listed("after: stamp while a copy is assembled", MOVED, NOW + 13, at=2)
    await story.listed("after: largest stamp", MOVED, -3, at=2)
    await story.deleted("delete: everything", MOVED, -1, at=2)
    await story.deleted("delete: to the end", MOVED, 10, at=2)
    await story.deleted("delete: below zero", MOVED, -2, at=2)
    await story.deleted("delete: nothing", MOVED, 0, at=2)


async def _a_leader_with_a_gap(story: Story[ToyWal]) -> None:
    await story.leader("gap: leader", HELD, at=2)
    await story.send("gap: send to who refused", HELD, "x", at=3)
    await story.read("gap: read at who refused", HELD, 0, at=3)
