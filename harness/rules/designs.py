"""The design documents, where they are at hand.

They are not part of this project. `--designs DIR`, or the setting TIDEMARK_DESIGNS, names a folder
with them; a document whose hash is not that of the map is another version, and is not quoted.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from harness.errors import UsageError
from harness.rules.linemap import DocumentMap
from harness.rules.rule import Rule

SETTING = "TIDEMARK_DESIGNS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The lines of a document, or why there are none."""

    lines: tuple[str, ...] = ()
    lacking: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Designs:
    """A folder of documents; nothing can be quoted without one."""

    folder: Path | None = None
    known: Mapping[str, DocumentMap] = field(default_factory=dict)

    def quote(self, rule: Rule) -> str:
        """The cited lines of a rule, or nothing."""
        read = self._read(rule)
        quoted = [read.lines[number - 1].strip() for number in rule.lines if read.lines]
        return "\n".join(line for line in quoted if line)

    def link(self, rule: Rule) -> str:
        """The address of the first line that a rule cites, if the document was published."""
        known = self.known.get(rule.document)
        return known.at_line(rule.lines[0]) if known is not None and rule.lines else ""

    def where(self, rule: Rule) -> str:
        """Where the sentence can be read, if it cannot be quoted."""
        known = self.known.get(rule.document)
        version = "" if known is None else f" (sha256 {known.sha256[:12]}…)"
        numbers = " ".join(map(str, rule.lines))
        told = f"{rule.document}.md{version}, section {rule.section!r}, lines {numbers}"
        lacking = self._read(rule).lacking
        how = f"quoted with --designs DIR or {SETTING}=DIR"
        return f"{told}; {lacking or how}"

    def _read(self, rule: Rule) -> Read:
        if self.folder is None or not rule.lines:
            return Read()
        known = self.known.get(rule.document)
        names = (f"{rule.document}.md",) if known is None else known.file_names
        wanted = () if known is None else (known.sha256, *known.also_sha256)
        return _read(self.folder, names, wanted)


@cache
def _read(folder: Path, names: tuple[str, ...], wanted: tuple[str, ...]) -> Read:
    there = [path for path in (folder / name for name in names) if path.is_file()]
    for path in there:
        content = path.read_bytes()
        if not wanted or hashlib.sha256(content).hexdigest() in wanted:
            return Read(lines=tuple(content.decode("utf-8", "replace").splitlines()))
    if there:
        return Read(lacking=f"{there[0]} is another version of it and is not quoted")
    return Read(lacking=f"{folder} has no {' or '.join(names)}")


def designs_at(folder: Path | None, known: Mapping[str, DocumentMap] | None = None) -> Designs:
    """The documents in a folder, by default in that of the setting."""
    named = os.environ.get(SETTING)
    chosen = folder or (Path(named) if named else None)
    if chosen is not None and not chosen.is_dir():
        asked = SETTING if folder is None else "--designs"
        raise UsageError(f"{asked} {chosen}: there is no such folder")
    return Designs(folder=chosen, known=known or {})
