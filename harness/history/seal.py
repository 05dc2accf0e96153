"""Many shards become one history.

Sealing is a k-way merge: of the next lines of all shards the one with the least time goes first,
ties going to the shard whose name sorts first. The lines of one shard never change places. Times
are compared as numbers although two clock domains have nothing to say to each other: between
domains the order of the file is deterministic and means nothing; within a domain it is time order
as far as each writer's own order is. A line that carries another clock than its shard's own keeps
its place behind the line before it.

`index` is spliced into the text of each line, which is otherwise copied byte for byte. So the same
shards give the same bytes, whenever and wherever they are sealed. Memory: one line and one read
buffer per shard. The file appears under its name only when it is whole (temporary file, fsync,
rename).

A run is *complete* when every shard has its end line and every line of it could be used. Anything
else is written into the footer as a reason: a shard without end line (its writer was killed), a
torn last line (dropped), a malformed line (dropped), no shard at all. Shards marked mortal belong
to the system under test, which the lab kills on purpose: their missing end is a note, not a reason.
Operations that never completed are no concern of sealing.
"""

from __future__ import annotations

import hashlib
import heapq
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from .errors import ShardWriteFailed
from .lines import Event, encode
from .problems import Problem
from .schema import EVENT_KINDS
from .shard_reader import Merged, ShardReader

SHA_FIELD: Final = b',"sha256":"'
SHA_END: Final = b'"}\n'

_LISTED: Final = 100
_BLOCK_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What sealing made of a run: where, how much, whether all of it, and why not."""

    path: Path
    events: int
    sha256: str
    complete: bool
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


class Sink(Protocol):
    """Where sealed bytes go."""

    def write(self, block: bytes, /) -> object:
        """Take the next bytes."""


def seal_shards(shards: Path, header: Event, target: Path) -> Sealed:
    """Merge every `*.jsonl` of a folder into `target`, header first and footer last."""
    fresh = target.with_name(target.name + ".tmp")
    try:
        fresh.unlink(missing_ok=True)
        with fresh.open("xb") as out:
            sealed = merge_shards(shards, header, target, out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(fresh, target)
        _sync_folder(target.parent)
    except OSError as cause:
        fresh.unlink(missing_ok=True)
        raise ShardWriteFailed(
            f"cannot seal into {target}: {cause.strerror}; the shards are untouched, and"
            f" `tidemark check {target.parent}` seals them once there is room"
        ) from cause
    return sealed


def merge_shards(
    shards: Path, header: Event, target: Path, out: Sink, *, sound: bool = False
) -> Sealed:
    """Write what sealing makes of a folder, which is to be `target`, into `out`.

    Lines that are known to be `sound` are not looked at again, beyond their place in time.
    """
    with ExitStack() as stack:
        readers = [stack.enter_context(one) for one in shard_readers(shards, sound=sound)]
        return _write(readers, header, target, out)


def shard_readers(shards: Path, *, sound: bool = False) -> Iterator[ShardReader]:
    """A reader for each shard of a folder, in order of their names; who asks for it closes it."""
    paths = sorted(shards.glob("*.jsonl"), key=lambda path: path.name)
    return (ShardReader(path, at, sound=sound) for at, path in enumerate(paths))


def _write(readers: list[ShardReader], header: Event, target: Path, out: Sink) -> Sealed:
    digest = hashlib.sha256()

    def put(block: bytes) -> None:
        digest.update(block)
        out.write(block)

    put(encode(header))
    events = 0
    for count, block in _indexed_blocks(heapq.merge(*readers)):
        put(block)
        events += count
    footer, problems = footer_of(readers, events)
    # The hash is the last field and covers every byte before it, the rest of the footer included.
    put(encode(footer).removesuffix(b"}\n"))
    sha256 = digest.hexdigest()
    out.write(SHA_FIELD + sha256.encode() + SHA_END)
    return Sealed(
        path=target,
        events=events,
        sha256=sha256,
        complete=footer["complete"],
        reasons=tuple(footer["reasons"]),
        notes=tuple(footer["notes"]),
        problems=tuple(problems),
    )


def footer_of(readers: Sequence[ShardReader], events: int) -> tuple[Event, list[Problem]]:
    """What the footer says of shards that were read, all but the hash; their problems in full."""
    problems = [problem for reader in readers for problem in reader.problems.listed()]
    reasons = _listed(problems) if readers else ("no shard: nothing was recorded",)
    notes = _listed([note for reader in readers for note in reader.notes.listed()])
    footer: Event = {
        "kind": "footer",
        "events": events,
        "complete": not reasons,
        "reasons": list(reasons),
        "notes": list(notes),
        "shards": [{"writer": r.writer, "clock": r.clock, "events": r.events} for r in readers],
    }
    if ended := [reader.ended_at for reader in readers if reader.ended_at is not None]:
        footer["ended"] = max(ended)
    if any(reader.damaged for reader in readers):
        footer["damaged"] = True
    return footer, problems


def _indexed_blocks(merged: Iterable[Merged]) -> Iterator[tuple[int, bytes]]:
    """The lines with their index, joined into blocks so that hash and disk see few calls."""
    openings = {kind: b'{"kind":"%s",' % kind.encode() for kind in EVENT_KINDS}
    block: list[bytes] = []
    size = 0
    for index, (_, _, _, kind, raw) in enumerate(merged):
        opening = openings[kind]
        if raw.startswith(opening):
            line = b'%s"index":%d,%s\n' % (opening, index, raw[len(opening) :])
        else:  # written by another hand, with spaces or in another order of fields
            line = b'{"index":%d,%s\n' % (index, raw.strip()[1:])
        block.append(line)
        size += len(line)
        if size >= _BLOCK_BYTES:
            yield len(block), b"".join(block)
            block, size = [], 0
    yield len(block), b"".join(block)


def _listed(problems: list[Problem]) -> tuple[str, ...]:
    """The first of them as text, and how many were left out: a footer stays readable."""
    shown = [str(problem) for problem in problems[:_LISTED]]
    if len(problems) > _LISTED:
        shown.append(f"and {len(problems) - _LISTED} more")
    return tuple(shown)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
