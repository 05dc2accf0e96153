"""Two answers to the same request, field by field.

Entries of a list are matched by what identifies them (a topic's name, a partition's number), so
that one missing entry is one difference and not many. Three kinds of difference: `value`, `wording`
(the text of an error message; nothing decides by it) and `order` (of entries that have names: Kafka
itself orders many of them by hash).

A path names a field of an answer, such as `topics[a].partitions[0].error_code`. Patterns of paths
have `*` for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

KEYS = (
    "name",
    "topic",
    "resource_name",
    "partition_index",
    "partition",
    "index",
    "api_key",
    "transactional_id",
    "group_id",
    "topic_id",
    "producer_id",
    "node_id",
    "broker_id",
    "base_offset",
    "offset_delta",
)
"""Fields that identify an entry among its neighbours, the first that fits."""

WORDING = frozenset({"error_message", "batch_index_error_message"})

ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field in which the answers disagree."""

    path: str
    expected: Any
    seen: Any
    kind: str = "value"


def split_differences(
    expected: Any, seen: Any, allowed: Sequence[str]
) -> tuple[list[Difference], int]:
    """What differs outside the allowed paths, and how many differences these excuse."""
    every = list(differences(expected, seen))
    found = [one for one in every if not any(matches(path, one.path) for path in allowed)]
    return found, len(every) - len(found)


def matches(pattern: str, text: str) -> bool:
    """`*` stands for anything; every other character for itself."""
    return _pattern(pattern).fullmatch(text) is not None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in text.split("*")))


def differences(expected: Any, seen: Any, path: str = "") -> Iterator[Difference]:
    """Every field that is not the same."""
    if isinstance(expected, Mapping) and isinstance(seen, Mapping):
        for name in {**expected, **seen}:
            inner = f"{path}.{name}" if path else str(name)
            yield from differences(expected.get(name, ABSENT), seen.get(name, ABSENT), inner)
    elif isinstance(expected, list) and isinstance(seen, list):
        yield from _lists(expected, seen, path)
    elif expected != seen or type(expected) is not type(seen):
        kind = "wording" if path.rpartition(".")[2] in WORDING and expected and seen else "value"
        yield Difference(path=path, expected=expected, seen=seen, kind=kind)


def _lists(expected: list[Any], seen: list[Any], path: str) -> Iterator[Difference]:
    key = _key(expected + seen, expected, seen)
    left = _named(expected, key)
    right = _named(seen, key)
    for name in {**left, **right}:
        yield from differences(left.get(name, ABSENT), right.get(name, ABSENT), f"{path}[{name}]")
    if key and left.keys() == right.keys() and list(left) != list(right):
        yield Difference(path=path, expected=list(left), seen=list(right), kind="order")


def _key(together: list[Any], *each: list[Any]) -> str | None:
    for key in KEYS if together else ():
        everywhere = all(isinstance(one, Mapping) and key in one for one in together)
        if everywhere and all(len({str(one[key]) for one in some}) == len(some) for some in each):
            return key
    return None


def _named(entries: list[Any], key: str | None) -> dict[Any, Any]:
    return {str(one[key]) if key else at: one for at, one in enumerate(entries)}
