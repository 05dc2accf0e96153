"""The hashes of a judged run folder, by which a change is seen without judging again.

They are written last. Whoever changes a file can compute its hash anew; judging again from the
evidence, as `report` and `check` do, is what shows such a change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

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
_PATTERNS = ("shards/*.jsonl", f"{TABLES_FOLDER}/*.parquet")
_BLOCK_BYTES = 1024 * 1024


def write_hashes(folder: Path) -> None:
    """Hash every file that a verdict rests on or consists of."""
    hashes = {name: _sha256(folder / name) for name in sorted(_hashed(folder))}
    (folder / HASHES_FILE).write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")


def altered(folder: Path) -> list[str]:
    """What of a judged folder is not as it was when it was judged, by its hashes alone."""
    try:
        hashes = json.loads((folder / HASHES_FILE).read_text(encoding="utf-8"))
        if not isinstance(hashes, dict):
            raise ValueError
    except FileNotFoundError:
        return [f"{HASHES_FILE} is missing"]
    except (OSError, ValueError):
        return [f"{HASHES_FILE} cannot be read"]
    found = set(_hashed(folder))
    wrong = [f"{name} is missing" for name in sorted(set(hashes) - found)]
    wrong += [f"{name} was added" for name in sorted(found - set(hashes))]
    wrong += [
        f"{name} was changed"
        for name in sorted(found & set(hashes))
        if _sha256(folder / name) != hashes[name]
    ]
    return wrong


def _hashed(folder: Path) -> Iterator[str]:
    named = [folder / name for name in _FILES]
    named += [path for pattern in _PATTERNS for path in folder.glob(pattern)]
    yield from (str(path.relative_to(folder)) for path in named if path.is_file())


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
