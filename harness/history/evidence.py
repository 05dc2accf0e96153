"""Whether a run folder still holds what was recorded.

The evidence is the header, the shards and the history sealed from them. The history carries a hash
of itself; sealing the shards again must give the same events. So a change of any of the three that
was not made in all of them, with the hash computed anew, is seen here. A hash without a key cannot
do more: whoever changes all of them consistently has written another run. Keep the hash of the
history somewhere else to be safe against that.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, suppress
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, Final

from harness.scratch import ScratchFolder

from .errors import HistoryError
from .files import open_regular
from .lines import BadLine, Event, decode, encode
from .run import HEADER_FILE, HISTORY_FILE, SHARDS_FOLDER, Run
from .seal import SHA_END, SHA_FIELD, footer_of, merge_shards, seal_shards, shard_readers

LARGE_BYTES: Final = 32 * 1024 * 1024
_FOOTER: Final = b'{"kind":"footer"'
_HASH_AND_END: Final = re.compile(rb"[0-9a-f]{64}" + SHA_END)


class _Different(Exception):
    """Something else stands in the file."""


class _Compared:
    """Takes the bytes that are due, and holds them against those of a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, block: bytes) -> None:
        """`_Different` if the file goes on with other bytes."""
        if self._file.read(len(block)) != block:
            raise _Different


def contradictions(folder: Path, *, sound: bool = False) -> list[str]:
    """What in the evidence of a run folder contradicts the rest of it, in words.

    The history is known to be `sound` if all of it was read and no line of it was refused. Then a
    shard that has the same lines is sound as well, and its lines need not be parsed again. What
    differs is looked at line by line.
    """
    shards, history = folder / SHARDS_FOLDER, folder / HISTORY_FILE
    if not shards.is_dir():
        return [f"{SHARDS_FOLDER}/ is missing"]
    try:
        header = Run.open(folder).header
    except HistoryError as cause:
        return [str(cause)]
    if sound and _same(shards, header, history):
        return []
    with ScratchFolder("evidence") as scratch:
        again = scratch / HISTORY_FILE
        seal_shards(shards, header, again)
        with open_regular(history) as kept, again.open("rb") as due:
            return _first_difference(kept, due)


def _same(shards: Path, header: Event, history: Path) -> bool:
    if history.stat().st_size >= LARGE_BYTES and _same_blocks(shards, header, history):
        return True
    with open_regular(history) as kept, suppress(_Different):
        merge_shards(shards, header, history, _Compared(kept), sound=True)
        return not kept.read(1)
    return False


def _same_blocks(shards: Path, header: Event, history: Path) -> bool:
    """Whether the shards are plain and the history surely is what they hold. Its hash was looked at
    by who found it sound."""
    # Loading the compiler takes longer than small histories take line by line.
    from .merged_blocks import NotPlain, sealed_blocks

    with ExitStack() as stack:
        readers = [stack.enter_context(one) for one in shard_readers(shards)]
        kept = stack.enter_context(open_regular(history, buffering=0))
        due, events = _Compared(kept), 0
        try:
            due.write(encode(header))
            for count, block in sealed_blocks(readers):
                due.write(block)
                events += count
            footer, _ = footer_of(readers, events)
            due.write(encode(footer).removesuffix(b"}\n") + SHA_FIELD)
        except (NotPlain, _Different):
            return False
        return _HASH_AND_END.fullmatch(kept.read()) is not None


def _first_difference(kept: BinaryIO, due: BinaryIO) -> list[str]:
    for number, (here, there) in enumerate(zip_longest(kept, due, fillvalue=b""), start=1):
        if here == there:
            continue
        if number == 1:
            return [f"{HEADER_FILE} is not the header of {HISTORY_FILE}"]
        if here.startswith(_FOOTER) and there.startswith(_FOOTER):
            return _footers(here, there)
        return [f"line {number} of {HISTORY_FILE} is not what the shards hold"]
    return []


def _footers(here: bytes, there: bytes) -> list[str]:
    """A footer of an earlier version says less; what it says must be so."""
    try:
        kept, due = decode(here), decode(there)
    except BadLine as cause:
        return [f"the footer of {HISTORY_FILE} cannot be read: {cause}"]
    wrong = [name for name in kept if name != "sha256" and kept[name] != due.get(name)]
    return [f"the footer of {HISTORY_FILE} says {name} other than the shards" for name in wrong]
