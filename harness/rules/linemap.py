"""Accounting for every line of the design documents.

A line carries a rule, or is descriptive with a reason, or is still open. The documents are not
part of this project: the map holds their line counts and hashes, so that `rules --coverage` works
without them and a changed document is noticed where they are at hand.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.rules.rule import Rule


class LineMapError(ValueError):
    """The map contradicts itself, the catalogue, or a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMap:
    """What is known about one document, without its text.

    `where` is where the mapped version can be had; copies with a hash of `also_sha256` have the
    same lines.
    """

    name: str
    lines: int
    sha256: str
    descriptive: Mapping[int, str]
    rules: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    where: str = ""
    also_sha256: tuple[str, ...] = ()

    def at_line(self, line: int) -> str:
        """Where one line of it can be read."""
        return f"{self.where}?plain=1#L{line}" if self.where.endswith(".md") else self.where

    @property
    def file_names(self) -> tuple[str, ...]:
        """What its file is called here, and where it was published."""
        published = self.where.rpartition("/")[2]
        return (f"{self.name}.md", *([published] if published.endswith(".md") else []))

    @property
    def open_lines(self) -> list[int]:
        """Lines that neither carry a rule nor are descriptive."""
        every = range(1, self.lines + 1)
        return [n for n in every if n not in self.rules and n not in self.descriptive]


def load_line_map(path: Path, rules: Iterable[Rule]) -> dict[str, DocumentMap]:
    """The map file joined with the lines that the rules cite; what Kafka promises cites none."""
    documents = tomllib.loads(path.read_text(encoding="utf-8"))
    cited: dict[str, dict[int, tuple[str, ...]]] = {name: {} for name in documents}
    for rule in (r for r in rules if r.lines):
        if rule.document not in documents:
            raise LineMapError(
                f"{rule.id} cites {rule.document!r}, which {path.name} does not list"
            )
        for line in rule.lines:
            here = cited[rule.document]
            here[line] = (*here.get(line, ()), rule.id)
    return {name: _document(name, raw, cited[name]) for name, raw in documents.items()}


def _document(
    name: str, raw: Mapping[str, object], cited: Mapping[int, tuple[str, ...]]
) -> DocumentMap:
    count = int(str(raw["lines"]))
    descriptive: dict[int, str] = {}
    reasons = raw.get("descriptive", {})
    assert isinstance(reasons, dict)
    for reason, ranges in reasons.items():
        for line in expand(str(ranges)):
            if line in descriptive:
                raise LineMapError(f"{name} line {line} is descriptive twice")
            descriptive[line] = reason
    for line in (*descriptive, *cited):
        if not 1 <= line <= count:
            raise LineMapError(f"{name} has {count} lines; line {line} does not exist")
    if both := sorted(set(descriptive) & set(cited)):
        raise LineMapError(f"{name} lines {both} carry rules and are called descriptive")
    also = raw.get("also_sha256", [])
    assert isinstance(also, list)
    return DocumentMap(
        name=name,
        lines=count,
        sha256=str(raw["sha256"]),
        descriptive=descriptive,
        rules=cited,
        where=str(raw.get("where", "")),
        also_sha256=tuple(map(str, also)),
    )


def expand(ranges: str) -> Iterator[int]:
    """`"2,4-6"` as 2, 4, 5, 6."""
    for part in filter(None, (piece.strip() for piece in ranges.split(","))):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def compact(lines: Iterable[int]) -> str:
    """2, 4, 5, 6 as `"2,4-6"`."""
    spans: list[list[int]] = []
    for line in sorted(lines):
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def check_documents(folder: Path, documents: Mapping[str, DocumentMap]) -> list[str]:
    """What differs between the map and the documents in a folder."""
    problems = []
    for name, known in documents.items():
        path = folder / f"{name}.md"
        if not path.exists():
            problems.append(f"{path.name} is missing in the folder of designs")
            continue
        text = path.read_bytes()
        if hashlib.sha256(text).hexdigest() != known.sha256:
            problems.append(f"{path.name} changed since its lines were mapped")
        if len(text.splitlines()) != known.lines:
            problems.append(f"{path.name} has {len(text.splitlines())} lines, not {known.lines}")
    return problems
