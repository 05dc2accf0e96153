"""What a metadata manager is asked: every cell of its tables, look-ups over segments that overlap,
events of leaders that were replaced.

All of them are played twice: on the manager in memory, and on the one on the topic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from conformance.tiered.plug_ins.bench import MetadataBench, MetadataCase, outcome, segment
from reference_impl.tiered.metadata import NotInitialised

BETWEEN_LOOKS_S = 0.001
OFFSETS = (0, 9, 10, 14, 15, 19, 20, 21, 22, 24, 25, 29, 30, 34, 35)
_WAYS = {"none": (), "0": (0,), "1": (0, 1), "2": (0, 1, 2), "3": (0, 1, 2, 3)}


async def _event(bench: MetadataBench, state: int, *, number: int = 1, epoch: int = 0) -> None:
    if state == 0:
        await bench.begins(number, epoch=epoch)
    else:
        await bench.becomes(number, state, epoch=epoch)


# ── the tables ───────────────────────────────────────────────────────────────────────────────────


def _cell(before: str, after: int) -> MetadataCase:
    async def case(bench: MetadataBench) -> str:
        for state in _WAYS[before]:
            await _event(bench, state)
        ended = await outcome(_event(bench, after))
        return f"{ended}, then {await bench.state_of(1)}"

    return case


async def _taken_back(bench: MetadataBench) -> str:
    """A copy that was not finished is deleted."""
    await bench.begins(1)
    await bench.becomes(1, 2)
    await bench.becomes(1, 3)
    return f"then {await bench.state_of(1)}"


def _deletion_cell(before: str, after: int) -> MetadataCase:
    async def case(bench: MetadataBench) -> str:
        for state in range(-1 if before == "none" else int(before)):
            await bench.deletion(state)
        if before != "none":
            await bench.deletion(int(before))
        ended = await outcome(bench.deletion(after))
        found = (await bench.manager()).deletion_of(bench.partition)
        return f"{ended}, then {'-' if found is None else int(found.state)}"

    return case


def _marked(deletion: int, after: int) -> MetadataCase:
    async def case(bench: MetadataBench) -> str:
        await bench.begins(1)
        if after == 3:
            await bench.becomes(1, 2)
        for state in range(deletion + 1):
            await bench.deletion(state)
        if after == 0:
            return await outcome(bench.begins(2))
        return await outcome(bench.becomes(1, after))

    return case


async def _added_late(bench: MetadataBench) -> str:
    return await outcome(bench.begins(1, state=1))


async def _updated_to_started(bench: MetadataBench) -> str:
    await bench.begins(1)
    return await outcome(bench.becomes(1, 0))


async def _own_word(bench: MetadataBench) -> str:
    """A call that returned is in every answer of this manager."""
    await bench.copied(1)
    found = (await bench.manager()).remote_log_segment_metadata(bench.partition, 0, 5)
    return "found" if found is not None else "lost"


async def _other_broker(bench: MetadataBench) -> str:
    await bench.copied(1)
    other = await bench.manager(2)
    await other.caught_up(bench.partition)
    found = other.remote_log_segment_metadata(bench.partition, 0, 5)
    return "found" if found is not None else "lost"


# ── leaders that were replaced ───────────────────────────────────────────────────────────────────


async def _passed(bench: MetadataBench) -> None:
    """A leader of epoch 5 has been heard of; segments 1 and 2 are of the leader of epoch 4."""
    await bench.begins(1, epoch=4)
    await bench.copied(2, first=10, last=19, epoch=4)
    await bench.begins(3, first=20, last=29, epoch=5)


def _fenced(number: int, state: int, epoch: int, *before: tuple[int, int, int]) -> MetadataCase:
    """An event of a segment in an epoch, after `_passed` and others (segment, state, epoch)."""

    async def case(bench: MetadataBench) -> str:
        await _passed(bench)
        for one, reached, by in before:
            await bench.becomes(one, reached, epoch=by)
        ended = await outcome(_event(bench, state, number=number, epoch=epoch))
        return f"{ended}, then {await bench.state_of(number)}"

    return case


# ── look-ups ─────────────────────────────────────────────────────────────────────────────────────


async def _lineages(bench: MetadataBench) -> None:
    """Offsets 20 to 34 were copied in two lineages; 30 to 39 are being copied; 0 to 9 twice, and
    one of these copies was deleted."""
    await bench.copied(1, last=9)
    await bench.copied(2, first=10, last=19, epoch=1, epochs=((0, 0), (1, 15)))
    await bench.copied(3, first=20, last=29, epoch=3, epochs=((1, 15), (3, 25)))
    await bench.copied(4, first=20, last=34, epoch=3, epochs=((1, 15), (2, 22), (3, 25)))
    await bench.begins(5, first=30, last=39, epoch=3)
    await bench.copied(6, last=9, epoch=3, epochs=((0, 0),))
    await bench.becomes(6, 2, epoch=3)
    await bench.becomes(6, 3, epoch=3)
    await bench.copied(7, first=35, last=37, epoch=3, epochs=((3, 25),))
    await bench.becomes(7, 2, epoch=3)


def _found_in(epoch: int) -> MetadataCase:
    async def case(bench: MetadataBench) -> str:
        await _lineages(bench)
        manager, of = await bench.manager(), bench.partition
        found = [manager.remote_log_segment_metadata(of, epoch, one) for one in OFFSETS]
        return " ".join("-" if one is None else str(one.segment_id.id.int) for one in found)

    return case


async def _highest(bench: MetadataBench) -> str:
    await _lineages(bench)
    manager, of = await bench.manager(), bench.partition
    found = [manager.highest_offset_for_epoch(of, one) for one in range(5)]
    return " ".join("-" if one is None else str(one) for one in found)


def _listed(epoch: int | None) -> MetadataCase:
    async def case(bench: MetadataBench) -> str:
        await _lineages(bench)
        found = (await bench.manager()).list_remote_log_segments(bench.partition, epoch)
        return " ".join(str(one.segment_id.id.int) for one in found)

    return case


def _twice(first: tuple[int, int], second: tuple[int, int]) -> MetadataCase:
    """Which of two finished copies of the same offsets is read: by number and time."""

    async def case(bench: MetadataBench) -> str:
        for number, at in (first, second):
            await bench.copied(number, at=at)
        found = (await bench.manager()).remote_log_segment_metadata(bench.partition, 0, 5)
        return "-" if found is None else str(found.segment_id.id.int)

    return case


async def _reaches_further(bench: MetadataBench) -> str:
    await bench.copied(1, last=12, at=1000)
    await bench.copied(2, last=9, at=9000)
    found = (await bench.manager()).remote_log_segment_metadata(bench.partition, 0, 5)
    return "-" if found is None else str(found.segment_id.id.int)


# ── partitions that a broker has, and has not ────────────────────────────────────────────────────


def _told(*, leads: bool | None, stops: bool = False, publishes: bool = False) -> MetadataCase:
    async def case(bench: MetadataBench) -> str:
        await bench.copied(1)
        manager = await bench.manager(2, told=False)
        if leads is not None:
            await bench.tell(manager, leads=leads)
        if stops:
            manager.on_stop_partitions([bench.partition])
        before = await bench.published()
        if publishes:
            event = segment(2, bench.partition, first=10)
            ended = await outcome(manager.add_remote_log_segment_metadata(event))
            return f"{ended}, {await bench.published() - before} published"

        async def looks() -> None:
            manager.list_remote_log_segments(bench.partition)

        return await outcome(looks())

    return case


async def _told_late(bench: MetadataBench) -> str:
    """Looked up as soon as it can be by a manager that is told of the partition after the event."""
    await bench.copied(1)
    manager = await bench.manager(2, told=False)
    manager.on_partition_leadership_changes([bench.partition], [])
    while True:
        try:
            found = manager.remote_log_segment_metadata(bench.partition, 0, 5)
        except NotInitialised:
            await asyncio.sleep(BETWEEN_LOOKS_S)
        else:
            return "found" if found is not None else "lost"


async def _deletion_unknown(bench: MetadataBench) -> str:
    """The deletion of a partition of which nothing is known is taken all the same."""
    return await outcome(bench.deletion(0))


async def _unknown_update(bench: MetadataBench) -> str:
    return await outcome(bench.becomes(9, 1))


def _tables() -> Iterator[tuple[str, MetadataCase]]:
    for before in _WAYS:
        for after in range(4):
            yield f"segment/{before}-{after}", _cell(before, after)
    for before in ("none", "0", "1", "2"):
        for after in range(3):
            yield f"deletion/{before}-{after}", _deletion_cell(before, after)
    for deletion in range(3):
        for after in range(4):
            yield f"marked/{deletion}-{after}", _marked(deletion, after)
    for epoch in range(5):
        yield f"find/{epoch}", _found_in(epoch)
        yield f"list/{epoch}", _listed(epoch)


METADATA_CASES: Mapping[str, MetadataCase] = MappingProxyType(
    {
        **dict(_tables()),
        "segment/taken-back": _taken_back,
        "add/finished": _added_late,
        "update/to-started": _updated_to_started,
        "update/unknown": _unknown_update,
        "deletion/unknown": _deletion_unknown,
        "applied/own": _own_word,
        "applied/other-broker": _other_broker,
        "fenced/begins": _fenced(9, 0, 4),
        "fenced/finishes-its-own": _fenced(1, 1, 4),
        "fenced/takes-its-own-back": _fenced(1, 2, 4),
        "fenced/deletes-what-it-finished": _fenced(2, 2, 4),
        "fenced/deletes-of-others": _fenced(3, 2, 4),
        "fenced/ends-its-taking-back": _fenced(1, 3, 4, (1, 2, 4)),
        "fenced/ends-what-another-began": _fenced(1, 3, 4, (1, 2, 5)),
        "fenced/ends-of-others": _fenced(3, 3, 4, (3, 2, 5)),
        "fenced/same-epoch": _fenced(3, 1, 5),
        "fenced/same-epoch-deletes": _fenced(2, 2, 5),
        "fenced/same-epoch-begins": _fenced(9, 0, 5),
        "fenced/later-epoch": _fenced(2, 2, 6),
        "list/all": _listed(None),
        "highest/all": _highest,
        "prefer/finished-last": _twice((2, 1000), (1, 5000)),
        "prefer/greater-id": _twice((2, 1000), (1, 1000)),
        "prefer/reaches-further": _reaches_further,
        "told/nothing": _told(leads=None),
        "told/leads": _told(leads=True),
        "told/follows": _told(leads=False),
        "told/stopped": _told(leads=True, stops=True),
        "told/late": _told_late,
        "told/publishes-unknown": _told(leads=None, publishes=True),
    }
)
