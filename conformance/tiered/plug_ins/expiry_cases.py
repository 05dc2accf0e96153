"""What expires of a log in the remote tier (C-16), and what a new leader copies (C-19).

A segment is (number, first, last, epochs), of 100 bytes unless said, with its number as the latest
timestamp. Told is where the log begins then, and which segments go, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from conformance.tiered.plug_ins.bench import Bench, Case, segment
from conformance.tiered.plug_ins.managers import ORDERS
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.decisions import (
    ExpiryView,
    LocalSegment,
    copy_candidates,
    copy_from,
    plan_expiry,
)
from reference_impl.tiered.lineage import highest_remote_offset

ONE = ((0, 0),)
NOW = 1000


class Seg(NamedTuple):
    """A remote segment, as a case says it."""

    number: int
    first: int
    last: int
    epochs: tuple[tuple[int, int], ...] = ONE
    state: int = 1
    size: int = 100
    leader: int = 0
    since: int = 0


THREE = (Seg(1, 0, 9), Seg(2, 10, 19), Seg(3, 20, 29))


def expires(segments: Sequence[Seg], **said: Any) -> Case:
    """What goes of these segments; of what is not said nothing follows."""

    async def case(bench: Bench) -> str:
        known = tuple(
            replace(
                segment(
                    one.number,
                    first=one.first,
                    last=one.last,
                    epoch=one.leader,
                    epochs=one.epochs,
                    size=one.size,
                    state=one.state,
                ),
                max_timestamp_ms=one.number,
                event_timestamp_ms=one.since,
            )
            for one in segments
        )
        copying = said.get("copying", ())
        view = ExpiryView(
            segments=known,
            copying=tuple(one.segment_id for one in known if one.segment_id.id.int in copying),
            lineage=tuple(EpochEntry(*one) for one in said.get("lineage", ONE)),
            leader_epoch=said.get("epoch", 0),
            led_from=said.get("led_from", 99),
            log_start_offset=said.get("start", 0),
            local_log_start_offset=said.get("local_start", said.get("start", 0)),
            high_watermark=said.get("high_watermark", 99),
            local_only_bytes=said.get("local", 0),
            retention_ms=said.get("ms", -1),
            retention_bytes=said.get("bytes", -1),
            now_ms=NOW,
            task_interval_ms=10,
        )
        plan = plan_expiry(view)
        gone = " ".join(str(one.segment_id.id.int) for one in plan.victims)
        return f"{plan.log_start_offset}: {gone}".rstrip()

    return case


_DUPLICATE = (Seg(1, 0, 9), Seg(2, 0, 9), Seg(3, 10, 19), Seg(4, 20, 29))
_FOREIGN = (
    Seg(1, 0, 9, ONE),
    Seg(2, 5, 14, ((0, 0), (1, 8)), leader=1),
    Seg(3, 10, 19, ((0, 0), (2, 12)), leader=2),
)
_CROSSED = (
    Seg(1, 0, 14, ((0, 0), (1, 8)), leader=1),
    Seg(2, 10, 19, ((0, 0), (2, 12)), leader=2),
)
_LINEAGE = ((0, 0), (2, 12))


def copies(
    remote: Sequence[Seg],
    lineage: Sequence[tuple[int, int]],
    local: Sequence[tuple[int, int]],
    *,
    stable: int = 99,
    start: int = 0,
) -> Case:
    """Which finished local segments a leader copies, given what is in the remote tier."""

    async def case(bench: Bench) -> str:
        for one in remote:
            about = {"first": one.first, "last": one.last, "epoch": one.leader}
            await bench.begins(one.number, epochs=one.epochs, **about)
            if one.state == 1:
                await bench.becomes(one.number, 1, epoch=one.leader)
        entries = tuple(EpochEntry(*one) for one in lineage)
        manager = await bench.manager()
        highest = highest_remote_offset(
            entries, lambda epoch: manager.highest_offset_for_epoch(ORDERS, epoch)
        )
        finished = [LocalSegment(first, last, 100, 0) for first, last in local]
        since = copy_from(highest, start, lineage[0][1] if lineage else 0)
        found = copy_candidates(finished, since, stable)
        return " ".join(f"{one.base_offset}-{one.end_offset}" for one in found)

    return case


_A = ((0, 0), (1, 3), (2, 6))
_B = (*_A, (3, 7))
_OF_A = (Seg(1, 0, 2, ((0, 0),)), Seg(2, 3, 4, ((1, 3),), leader=1))

EXPIRY_CASES: Mapping[str, Case] = MappingProxyType(
    {
        "expire/nothing": expires(THREE),
        "expire/by-time": expires(THREE, ms=NOW - 3),
        "expire/just-within": expires(THREE, ms=NOW - 1),
        "expire/all-by-time": expires(THREE, ms=10),
        "expire/at-once": expires(THREE, ms=0),
        "expire/shielded": expires((Seg(9, 0, 9), Seg(2, 10, 19), Seg(3, 20, 29)), ms=NOW - 4),
        "expire/not-committed": expires(THREE, ms=10, high_watermark=20),
        "expire/committed": expires(THREE, ms=10, high_watermark=30),
        "expire/by-size": expires(THREE, bytes=150),
        "expire/by-size-exactly": expires(THREE, bytes=200),
        "expire/by-size-with-local": expires(THREE, bytes=200, local=100),
        "expire/no-bytes": expires(THREE, bytes=0),
        "expire/by-time-then-size": expires(THREE, ms=NOW - 2, bytes=100),
        "expire/copied-twice": expires(_DUPLICATE, bytes=200),
        "expire/copied-twice-within": expires(_DUPLICATE, bytes=250),
        "expire/copied-twice-too-much": expires(_DUPLICATE, bytes=100),
        "expire/within-another": expires((Seg(1, 2, 5), Seg(2, 0, 9), Seg(3, 10, 19)), bytes=100),
        "expire/within-by-time": expires((Seg(1, 0, 9), Seg(2, 2, 5), Seg(3, 10, 19)), ms=NOW - 3),
        "expire/crossing-by-time": expires(
            (Seg(1, 0, 9), Seg(2, 5, 14), Seg(3, 15, 24)), ms=NOW - 3
        ),
        "expire/below-the-start": expires(THREE, start=10),
        "expire/start-inside": expires(THREE, start=9),
        "expire/start-behind": expires(THREE, start=20, ms=NOW - 4),
        "expire/foreign-stays": expires(_FOREIGN, lineage=_LINEAGE, epoch=2),
        "expire/foreign-by-time": expires(_FOREIGN, lineage=_LINEAGE, epoch=2, ms=NOW - 3),
        "expire/crossed-by-time": expires(_CROSSED, lineage=_LINEAGE, epoch=2, ms=NOW - 2),
        "expire/crossed-by-size": expires(_CROSSED, lineage=_LINEAGE, epoch=2, bytes=100),
        "expire/wholly-foreign": expires(
            (Seg(1, 12, 15, ((1, 12),), leader=1), Seg(2, 0, 11), Seg(3, 12, 15, ((2, 12),))),
            lineage=_LINEAGE,
            epoch=2,
            ms=NOW - 2,
        ),
        "expire/being-copied": expires((Seg(1, 0, 9, state=0), *THREE[1:]), copying=(1,)),
        "expire/own-left-over": expires((Seg(1, 0, 9, state=0, leader=2),), epoch=2),
        "expire/of-an-earlier-leader": expires(
            (Seg(1, 0, 9, state=0, leader=1, since=NOW - 101),), epoch=2
        ),
        "expire/earlier-leader-may-finish": expires(
            (Seg(1, 0, 9, state=0, leader=1, since=NOW - 100),), epoch=2
        ),
        "expire/of-a-later-leader": expires((Seg(1, 0, 9, state=0, leader=3, since=0),), epoch=2),
        "expire/deletion-goes-on": expires((Seg(1, 0, 9, state=2, leader=1),), epoch=2),
        "expire/begun-by-another": expires(
            (Seg(1, 0, 9, state=2), *THREE[1:]), epoch=2, local_start=25
        ),
        "expire/ended-by-another": expires(THREE[2:], epoch=2, local_start=25),
        "expire/lost-by-itself": expires(THREE[2:], epoch=2, local_start=25, led_from=0),
        "expire/all-ended-by-another": expires((), epoch=2, local_start=25),
        "expire/begun-and-still-here": expires(
            (Seg(1, 0, 9, state=2), *THREE[1:]), epoch=2, local_start=0
        ),
        "expire/unfinished-does-not-count": expires(
            (Seg(1, 0, 9, state=0, leader=1, since=NOW), *THREE[1:]), epoch=2, ms=10
        ),
        "copies/first": copies((), ONE, ((0, 9), (10, 19))),
        "copies/from-the-log-start": copies((), ONE, ((0, 9), (10, 19), (20, 29)), start=15),
        "copies/goes-on": copies(THREE[:1], ONE, ((0, 9), (10, 19), (20, 29))),
        "copies/undecided": copies((), ONE, ((0, 9), (10, 19), (20, 29)), stable=19),
        "copies/just-decided": copies((), ONE, ((0, 9), (10, 19), (20, 29)), stable=20),
        "copies/all-there": copies(THREE, ONE, ((0, 9), (10, 19), (20, 29))),
        "copies/unfinished-again": copies((Seg(1, 0, 9, state=0),), ONE, ((0, 9),)),
        "copies/new-leader": copies(_OF_A, _B, ((0, 3), (4, 6))),
        "copies/of-its-lineage": copies(
            (Seg(1, 0, 9), Seg(2, 10, 19, ((1, 10),), leader=1)),
            ((0, 0), (2, 12)),
            ((0, 9), (10, 11), (12, 19)),
        ),
        "copies/other-leader-went-further": copies(
            (Seg(1, 0, 19, ((0, 0),)),), ((0, 0), (2, 12)), ((0, 9), (10, 11), (12, 19))
        ),
        "copies/epochs-known-later": copies((), ((1, 10),), ((0, 9), (10, 19))),
    }
)
