"""SQL as tokens: what is a word, a number, a string, a sign; comments and spaces are neither.

    tokens("a <= -1 -- one\\n") -> a, <=, -, 1

A token knows where it stands in the text and how deep inside brackets, so that an edit can be made
in the text itself. A dollar-quoted body is one token; `body_of` finds it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*.*?\*/)
  | (?P<body>(?P<tag>\$\w*\$).*?(?P=tag))
  | (?P<string>'(?:[^']|'')*')
  | (?P<number>\d+)
  | (?P<word>"[^"]+"|[A-Za-z_]\w*)
  | (?P<sign>->>|->|<=|>=|<>|!=|::|:=|\|\||\S)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token: its kind, its text, where it begins, and in how many brackets it stands."""

    kind: str
    text: str
    start: int
    depth: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)

    @property
    def key(self) -> str:
        """What it means: words in one case, everything else as it is."""
        return self.text.upper() if self.kind == "word" else self.text


def tokens(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of a text, or of a part of it; a bracket stands as deep as what it encloses."""
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        kind, told = match.lastgroup or "", match[0]
        kind = "body" if match["body"] else kind
        if kind == "space":
            continue
        depth += told == "("
        found.append(Token(kind=kind, text=told, start=match.start(), depth=depth))
        depth -= told == ")"
    return found


def body_of(text: str) -> tuple[int, int] | None:
    """Where the body of a CREATE FUNCTION begins and ends, without its quotes."""
    for token in tokens(text):
        if token.kind == "body":
            tag = token.text[: token.text.index("$", 1) + 1]
            return token.start + len(tag), token.end - len(tag)
    return None


def meaning(text: str) -> tuple[str, ...]:
    """A text apart from spaces, comments and the case of words; of a body, too."""
    found: list[str] = []
    for token in tokens(text):
        if token.kind == "body":
            begin, end = body_of(token.text) or (0, 0)
            found += meaning(token.text[begin:end])
        else:
            found.append(token.key)
    return tuple(found)


def closing(found: Sequence[Token], opening: int) -> int:
    """The index of the bracket that closes the one at an index."""
    depth = found[opening].depth
    return next(
        at
        for at in range(opening + 1, len(found))
        if (found[at].text, found[at].depth) == (")", depth)
    )


def arguments(found: Sequence[Token], opening: int) -> list[tuple[int, int]]:
    """First and last index of each argument in the brackets that open at an index."""
    last, depth = closing(found, opening), found[opening].depth
    commas = [
        at for at in range(opening + 1, last) if found[at].text == "," and found[at].depth == depth
    ]
    edges = [opening, *commas, last]
    return [(a + 1, b - 1) for a, b in itertools.pairwise(edges) if b > a + 1]
