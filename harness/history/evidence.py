"""Whether a run folder still holds what was recorded.

The evidence is the header, the shards and the history sealed from them. The history carries a hash
of itself; sealing the shards again must give the same events. So a change of any of the three that
was not made in all of them, with the hash computed anew, is seen here. A hash without a key cannot
do more: whoever changes all of them consistently has written another run. Keep the hash of the
history somewhere else to be safe against that.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from harness.scratch import ScratchFolder

from .errors import HistoryError
from .files import open_regular
from .lines import BadLine, decode
from .run import HEADER_FILE, HISTORY_FILE, SHARDS_FOLDER, Run
from .seal import seal_shards

_FOOTER = b'{"kind":"footer"'


def contradictions(folder: Path) -> list[str]:
    """What in the evidence of a run folder contradicts the rest of it, in words."""
    shards, history = folder / SHARDS_FOLDER, folder / HISTORY_FILE
    if not shards.is_dir():
        return [f"{SHARDS_FOLDER}/ is missing"]
    try:
        header = Run.open(folder).header
    except HistoryError as cause:
        return [str(cause)]
    with ScratchFolder("evidence") as scratch:
        again = scratch / HISTORY_FILE
        seal_shards(shards, header, again)
        with open_regular(history) as kept, again.open("rb") as due:
            return _first_difference(kept, due)


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
