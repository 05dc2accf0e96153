"""The hashes of a judged run folder, by which a change is seen without judging again.

They are written last. Whoever changes a file can compute its hash anew; judging again from the
evidence, as `report` and `check` do, is what shows such a change.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from harness.errors import UsageError
from harness.history.errors import HistoryUnreadable
from harness.history.files import open_regular, read_object

VERDICT_FILE = "verdict.json"
CERTIFICATE_FILE = "certificate.json"
HASHES_FILE = "hashes.json"
TABLES_FOLDER = "tables"

_FILES = (
    "header.json",
    "history.jsonl",
    VERDICT_FILE,
    CERTIFICATE_FILE,
    "verdicts.parquet",
    "findings.parquet",
)
_PATTERNS = (
    "shards/*.jsonl",
    f"{TABLES_FOLDER}/*.parquet",
    f"{TABLES_FOLDER}/*.parquet/*.parquet",
)
_BLOCK_BYTES = 1024 * 1024


def staged(folder: Path, name: str) -> Path:
    """Where a derived file is written before it gets its name."""
    return folder / f"{name}.tmp"


def write_whole(target: Path, text: str) -> Path:
    """Write what is not hashed: a page or a summary; it gets its name when it is whole."""
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {target.parent}/ to write {target.name} into")
    if target.is_dir():
        raise UsageError(f"{target} is a folder; name a file in it")
    fresh = staged(target.parent, target.name)
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, target)
    return target


def is_judged(folder: Path) -> bool:
    """Whether a folder was judged, to the end: while a verdict is being kept it is not."""
    if staged(folder, HASHES_FILE).exists():
        return False
    return any((folder / name).exists() for name in (VERDICT_FILE, CERTIFICATE_FILE, HASHES_FILE))


def hashes_document(folder: Path) -> str:
    """The hashes of every file that a verdict rests on or consists of."""
    hashes = {name: _sha256(folder / name) for name in sorted(_hashed(folder))}
    return json.dumps(hashes, indent=1) + "\n"


def altered(folder: Path) -> list[str]:
    """What of a judged folder is not as it was when it was judged, by its hashes alone."""
    try:
        hashes = read_object(folder / HASHES_FILE)
    except HistoryUnreadable:
        there = (folder / HASHES_FILE).exists()
        return [f"{HASHES_FILE} {'cannot be read' if there else 'is missing'}"]
    found = set(_hashed(folder))
    wrong = [f"{name} is missing" for name in sorted(set(hashes) - found)]
    wrong += [f"{name} was added" for name in sorted(found - set(hashes))]
    wrong += [
        f"{name} was changed"
        for name in sorted(found & set(hashes))
        if _digest(folder / name) != hashes[name]
    ]
    return wrong


def _hashed(folder: Path) -> Iterator[str]:
    named = [folder / name for name in _FILES]
    named += [path for pattern in _PATTERNS for path in folder.glob(pattern)]
    yield from (str(path.relative_to(folder)) for path in named if path.is_file())


def _digest(path: Path) -> str | None:
    """The hash of a file; None if it cannot be read."""
    try:
        return _sha256(path)
    except (OSError, HistoryUnreadable):
        return None


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
