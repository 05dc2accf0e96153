"""Segments move to an object store, and everybody reads across; then the store misbehaves."""

from __future__ import annotations

from functools import partial

from harness.simulation.levers import SimLevers
from harness.simulation.simulation import Simulation
from tests.partitions.stories import Seen, Story
from tests.partitions.toy_tier import ToyTier

MOVED, PLAIN = "tier-moved", "plain"
NOW = 1_700_000_000_000
SEGMENTS = ((0, 1, 2), (3, 4), (5, 6))


def tier_story(seed: int = 1) -> dict[str, Seen]:
    """Every answer that clients saw, by label."""
    peers: list[ToyTier] = []
    with Simulation(seed=seed) as sim:
        story = Story(sim, partial(ToyTier, peers))
        story.create(MOVED, [1, 2])
        story.create(PLAIN, [1, 3])
        sim.run(_write(story))
        sim.run(story.listed("before: local", MOVED, -4, at=1))
        sim.advance(1)
        sim.run(story.storages[1].move(MOVED, remove=False))
        sim.run(_copied_and_not_removed(story, SimLevers(sim)))
        sim.run(story.storages[1].move(MOVED))
        sim.run(_across(story))
        sim.run(_follower(story))
        sim.run(_store_in_trouble(story, SimLevers(sim)))
        levers = SimLevers(sim)
        emptied = levers.wipe("broker-2")
        sim.advance(15)
        emptied.release()
        sim.advance(20)
        sim.run(_emptied_follower(story))
        sim.run(_deleting(story))
        sim.kill("broker-1")
        sim.advance(15)
        sim.run(_another_leader(story))
    return story.notes


async def _write(story: Story[ToyTier]) -> None:
    await story.send("plain 0", PLAIN, "p0", at=1)
    for number, offsets in enumerate(SEGMENTS):
        for offset in offsets:
            await story.send(f"t{offset}", MOVED, f"t{offset}", at=1, stamp=NOW + offset)
        if number < len(SEGMENTS) - 1:
            replica = story.storages[1].partitions[MOVED][0].replica
            assert replica is not None
            await replica.log.roll()


async def _copied_and_not_removed(story: Story[ToyTier], levers: SimLevers) -> None:
    """The disk is preferred to the store: that it is away does not matter."""
    away = levers.refuse("object_store", "broker-1")
    await story.read("both: first", MOVED, 0, at=1)
    away.release()
    await story.listed("both: stamp", MOVED, NOW + 4, at=1)
    for name, stamp in (("last tiered", -5), ("waits for upload", -6)):
        await story.special(f"both: {name}", MOVED, stamp, at=1)
        await story.special(f"plain: {name}", PLAIN, stamp, at=1)


async def _across(story: Story[ToyTier]) -> None:
    await story.read("first", MOVED, 0, at=1)
    await story.read("inside a segment", MOVED, 1, at=1)
    await story.read("one batch", MOVED, 1, at=1, most=1)
    await story.read("last of a segment", MOVED, 2, at=1)
    await story.read("last tiered", MOVED, 4, at=1)
    await story.read("first local", MOVED, 5, at=1)
    await story.read("end", MOVED, 7, at=1)
    await story.read("beyond", MOVED, 8, at=1)
    await story.read("non-replica", MOVED, 0, at=3)
    for name, stamp in (("earliest", -2), ("latest", -1), ("local", -4)):
        await story.listed(f"list: {name}", MOVED, stamp, at=1)
    for after in (0, 1, 4, 5, 6, 7):
        await story.listed(f"list: stamp {after}", MOVED, NOW + after, at=1)
    await story.listed("list: largest stamp", MOVED, -3, at=1)
    for name, stamp in (("last tiered", -5), ("waits for upload", -6)):
        await story.special(f"list: {name}", MOVED, stamp, at=1)
    await story.send("t7", MOVED, "t7", at=1, stamp=NOW + 7)


async def _follower(story: Story[ToyTier]) -> None:
    """A fetch as broker 2, in the versions that know the error, and in one that does not."""
    for version in (13, 14):
        for offset in (4, 5, 9):
            await story.follow(f"follower v{version} at {offset}", MOVED, offset, version=version)


async def _store_in_trouble(story: Story[ToyTier], levers: SimLevers) -> None:
    storage = story.storages[1]
    away = levers.refuse("object_store", "broker-1")
    await story.together(
        story.read("refused: tiered", MOVED, 1, at=1),
        story.read("refused: local", MOVED, 5, at=1),
        story.send("refused: another partition", PLAIN, "p1", at=1),
        story.listed("refused: stamp in the tier", MOVED, NOW + 1, at=1),
        story.listed("refused: earliest", MOVED, -2, at=1),
    )
    away.release()
    storage.delay_s = 2.0
    await story.together(
        story.read("slow: tiered, patient", MOVED, 1, at=1, wait_ms=5000),
        story.read("slow: tiered", MOVED, 1, at=1),
        story.read("slow: local", MOVED, 5, at=1),
        story.send("slow: send", MOVED, "t8", at=1, stamp=NOW + 8),
    )
    storage.delay_s = 0.0
    key = storage.partitions[MOVED][1].segments[0].key
    for how in ("corrupt", "torn"):
        harmed = levers.damage(how, key)  # type: ignore[arg-type]
        await story.read(f"{how}: at the leader", MOVED, 1, at=1)
        await story.read(f"{how}: at a follower", MOVED, 1, at=2)
        harmed.release()
    await story.read("mended", MOVED, 1, at=1)
    extension = storage.partitions[MOVED][1]
    extension.ambiguous = True
    await story.read("ambiguous", MOVED, 1, at=1)
    extension.ambiguous = False
    store = storage.ports.object_store
    await store.put(f"{key}.again", await store.get(key))
    await store.delete([key])
    await story.read("copied again under another name", MOVED, 1, at=1)


async def _emptied_follower(story: Story[ToyTier]) -> None:
    await story.leader("emptied: in sync again", MOVED, at=1)
    replica = story.storages[2].partitions[MOVED][0].replica
    assert replica is not None
    log = replica.log
    story.notes["emptied: its log"] = (log.log_start_offset, log.local_log_start_offset)
    story.notes["emptied: its epochs"] = tuple(log.epochs.entries)
    await story.read("emptied: from the tier", MOVED, 1, at=2)
    story.storages[2].delay_s = 2.0
    await story.read("emptied: slow", MOVED, 1, at=2)
    story.storages[2].delay_s = 0.0


async def _another_leader(story: Story[ToyTier]) -> None:
    await story.leader("another leader", MOVED, at=2)
    await story.listed("another leader: earliest", MOVED, -2, at=2)
    await story.read("another leader: first", MOVED, 6, at=2)
    await story.send("another leader: send", MOVED, "t9", at=2)


async def _deleting(story: Story[ToyTier]) -> None:
    store = story.storages[1].ports.object_store
    await story.deleted("delete: in the tier", MOVED, 4, at=1)
    await story.listed("delete: earliest", MOVED, -2, at=1)
    await story.listed("delete: earliest local", MOVED, -4, at=1)
    await story.read("delete: gone", MOVED, 3, at=1)
    await story.read("delete: there", MOVED, 4, at=1)
    story.notes["objects left"] = (len(await store.list("tier/")),)
    story.storages[2].partitions[MOVED][1].segments.clear()
    await story.read("follower that has not heard of the tier", MOVED, 4, at=2)
    gone = story.storages[1].partitions[MOVED][1]
    await store.delete([one.key for one in gone.segments])
    await story.read("vanished: at the leader", MOVED, 4, at=1)
    await story.deleted("delete: above the tier", MOVED, 6, at=1)
    await story.listed("delete: earliest above the tier", MOVED, -2, at=1)
    await story.listed("delete: local above the tier", MOVED, -4, at=1)
