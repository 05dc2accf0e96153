"""What a flat file of metadata has no place for, and the next event is judged by.

- the highest leader epoch that was applied: its segment may be deleted by now (G-20);
- the epoch in which a copy began, where its last event is of another one (G-20);
- the ids of deleted segments, which must not come back (G-07).

A manager that restarted without them would apply events that all others drop. The file is text, a
fact a line; its first line has the checksums of the other lines and of the flat file it belongs to,
so neither is taken with another one's partner, nor with a bit of either changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from reference_impl.tiered.records import BadRecord
from reference_impl.tiered.segment_cache import HeldSegment, SegmentCache
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, id_of, id_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fencing:
    """See the module."""

    highest_epoch: int
    started_in: Mapping[UUID, int]
    deleted: tuple[UUID, ...]

    @classmethod
    def of(cls, cache: SegmentCache) -> Fencing:
        """What a cache knows beyond its segments."""
        return cls(
            highest_epoch=cache.highest_epoch,
            started_in={
                id_: one.started_in
                for id_, one in cache.held.items()
                if one.started_in != one.metadata.leader_epoch
            },
            deleted=tuple(cache.deleted),
        )

    def held(self, segments: Iterable[RemoteLogSegmentMetadata]) -> Iterator[HeldSegment]:
        """Segments, with the epochs in which their copies began."""
        for one in segments:
            yield HeldSegment(one, self.started_in.get(one.segment_id.id, one.leader_epoch))


def encode_fencing(fencing: Fencing, flat_file: bytes) -> bytes:
    """The bytes of the file that belongs to a flat file."""
    facts = "".join(f"{line}\n" for line in _facts(fencing)).encode()
    return _checksums(facts, flat_file) + facts


def decode_fencing(
    data: bytes, flat_file: bytes, segments: Sequence[RemoteLogSegmentMetadata]
) -> Fencing:
    """What the file says; BadRecord if it is not whole, or belongs to another flat file."""
    first, _, facts = data.partition(b"\n")
    if first + b"\n" != _checksums(facts, flat_file):
        raise BadRecord("not the fencing of this flat file")
    highest_epoch: int | None = None
    started_in: dict[UUID, int] = {}
    deleted: dict[UUID, None] = {}
    try:
        for line in facts.decode().splitlines():
            match line.split(" "):
                case ["highest-epoch", epoch]:
                    highest_epoch = int(epoch)
                case ["started-in", id_, epoch]:
                    started_in[id_of(id_)] = int(epoch)
                case ["deleted", id_]:
                    deleted[id_of(id_)] = None
                case _:
                    raise BadRecord(f"no fact: {line!r}")
    except ValueError as error:
        raise BadRecord(f"no fact: {error}") from error
    if highest_epoch is None or any(one.segment_id.id in deleted for one in segments):
        raise BadRecord("the facts do not fit")
    return Fencing(highest_epoch=highest_epoch, started_in=started_in, deleted=tuple(deleted))


def _facts(fencing: Fencing) -> Iterator[str]:
    yield f"highest-epoch {fencing.highest_epoch}"
    for id_, epoch in sorted(fencing.started_in.items()):
        yield f"started-in {id_text(id_)} {epoch}"
    for id_ in sorted(fencing.deleted):
        yield f"deleted {id_text(id_)}"


def _checksums(facts: bytes, flat_file: bytes) -> bytes:
    return f"{zlib.crc32(facts):08x} {zlib.crc32(flat_file):08x}\n".encode()
