"""Small ways to make a SQL function wrong, from its text.

    edits(passage) -> Edit(operator, start, end, new)

An edit replaces a piece of the passage by something else. What can be edited is the body of a
function, and how its snapshot is taken; of a passage without one, its statements.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.derived.sql_tokens import Token, arguments, body_of, tokens
from reference_impl.ports.control_plane import BoundaryError

SHIFTED = {
    "<": ("<=",),
    "<=": ("<",),
    ">": (">=",),
    ">=": (">",),
    "=": ("<=", ">="),
    "<>": ("<", ">"),
}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
SWAPPED = {"AND": "OR", "OR": "AND", "GREATEST": "LEAST", "LEAST": "GREATEST", "+": "-", "-": "+"}
CODES = tuple(one.value for one in BoundaryError if one.definite)
STEPS = ("seed", "persist")
# Columns of one kind that stand beside each other: an engineer may take one for the other.
COLUMNS = (
    ("log_start_offset", "high_watermark", "diskless_log_start_offset"),
    ("diskless_log_start_epoch", "diskless_log_start_reset_epoch"),
    ("base_offset", "last_offset"),
    ("base_sequence", "last_sequence"),
)
# Calls whose arguments may be fewer.
ANY_NUMBER = ("COALESCE", "GREATEST", "LEAST", "FIRST_REFUSAL")

# Where an operand of AND and OR begins and ends.
_EDGES = frozenset(
    {"AND", "OR", "WHEN", "WHERE", "IF", "ELSIF", "ON", "THEN", "ELSE", "END", "SELECT", "HAVING"}
    | {"FOR", "ORDER", "GROUP", "LIMIT", "RETURNING", "FROM", "BEGIN", "RETURN", "SET"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A piece of a passage, and what becomes of it."""

    operator: str
    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    """What is edited: the tokens of a body, and the passage it stands in."""

    passage: str
    found: list[Token]
    plpgsql: bool

    @property
    def begin(self) -> int:
        """Where declarations end."""
        return next((at for at, one in enumerate(self.found) if one.key == "BEGIN"), 0)

    def key(self, at: int) -> str:
        """What a token means; nothing beyond the ends."""
        return self.found[at].key if 0 <= at < len(self.found) else ""

    def edit(self, operator: str, first: int, last: int, new: str) -> Edit:
        """Replace tokens, both ends included."""
        start, end = self.found[first].start, self.found[last].end
        return Edit(operator=operator, start=start, end=end, new=new)

    def text(self, first: int, last: int) -> str:
        """What stands from one token to another."""
        return self.passage[self.found[first].start : self.found[last].end]


def edits(passage: str) -> Iterator[Edit]:
    """Every edit of a passage, by kind, in the order of its text."""
    if passage.startswith("CREATE"):
        begin, end = body_of(passage) or (0, 0)
        header = passage[:begin]
        body = _Body(
            passage=passage, found=tokens(passage, begin, end), plpgsql="LANGUAGE plpgsql" in header
        )
        yield from _snapshot(body, header)
        for make in (_tokens, _operands, _conditions, _clauses, _calls, _assignments, _skipped):
            yield from make(body)
        yield from _mixed_up(body, header)
    else:
        # A migration as a whole: its functions are decisions of their own.
        end = passage.find("CREATE OR REPLACE FUNCTION")
        plain = _Body(passage=passage, found=tokens(passage, 0, end), plpgsql=False)
        yield from _tokens(plain)
        yield from _statements(plain, 0, len(plain.found))


# ── signs, numbers and words ─────────────────────────────────────────────────────────────────────


def _tokens(body: _Body) -> Iterator[Edit]:
    assigning = _in_set_clauses(body)
    for at, token in enumerate(body.found):
        if token.kind == "number":
            yield from _number(body, at)
        elif token.kind == "string":
            yield from _literal(body, at)
        elif token.kind == "word":
            yield from _word(body, at)
        elif token.text in ("+", "-") and _is_value(body.found[at - 1]):
            yield body.edit("swapped", at, at, SWAPPED[token.text])
        elif token.text in NEGATED and at not in assigning:
            yield from _comparison(body, at)


def _comparison(body: _Body, at: int) -> Iterator[Edit]:
    """The other way round, and one further; texts have no order that means anything."""
    sign = body.found[at].text
    yield body.edit("negated", at, at, NEGATED[sign])
    if "'" not in body.found[at - 1].text + body.found[at + 1].text:
        for other in SHIFTED[sign]:
            yield body.edit("shifted", at, at, other)


def _word(body: _Body, at: int) -> Iterator[Edit]:
    key, before, after = body.key(at), body.key(at - 1), body.key(at + 1)
    if key in SWAPPED:
        yield body.edit("swapped", at, at, SWAPPED[key])
    elif key == "IS":
        negative = after == "NOT"
        yield body.edit("negated", at, at + negative, "IS" if negative else "IS NOT")
    elif key == "NOT" and before != "IS" and after != "NULL":
        yield body.edit("negated", at, at, "")
    elif key == "DISTINCT" and before == "(":
        yield body.edit("dropped", at, at, "")
    elif key in ("TRUE", "FALSE"):
        yield body.edit("flipped", at, at, "false" if key == "TRUE" else "true")


def _number(body: _Body, at: int) -> Iterator[Edit]:
    """A number by one; its sign belongs to it."""
    signed = body.key(at - 1) == "-" and not (at > 1 and _is_value(body.found[at - 2]))
    value = int(body.found[at].text) * (-1 if signed else 1)
    first = at - 1 if signed else at
    yield body.edit("plus-one", first, at, str(value + 1))
    yield body.edit("minus-one", first, at, str(value - 1))


def _is_value(token: Token) -> bool:
    word = token.kind == "word" and token.key not in (*_EDGES, "DEFAULT")
    return word or token.kind == "number" or token.text == ")"


def _literal(body: _Body, at: int) -> Iterator[Edit]:
    """An error, or a step of a call, for its neighbour."""
    told = body.found[at].text.strip("'")
    for family in (CODES, STEPS):
        if told in family:
            other = family[(family.index(told) + 1) % len(family)]
            yield body.edit("neighbour", at, at, f"'{other}'")


def _in_set_clauses(body: _Body) -> set[int]:
    """The tokens that stand between SET and what ends it: an equals sign there compares nothing."""
    inside: set[int] = set()
    depth = None
    for at, token in enumerate(body.found):
        if token.key == "SET":
            depth = token.depth
        elif (
            depth is not None and token.depth == depth and token.key in ("WHERE", "RETURNING", ";")
        ):
            depth = None
        elif depth is not None:
            inside.add(at)
    return inside


# ── conditions ───────────────────────────────────────────────────────────────────────────────────


def _operands(body: _Body) -> Iterator[Edit]:
    """A conjunct or disjunct left out, a column of a WHERE among them."""
    for at, token in enumerate(body.found):
        if token.key not in ("AND", "OR"):
            continue
        first, last = _edge(body, at, -1), _edge(body, at, +1)
        start, end = body.found[first].start, body.found[at + 1].start
        yield Edit(operator="dropped", start=start, end=end, new="")
        start, end = body.found[at - 1].end, body.found[last].end
        yield Edit(operator="dropped", start=start, end=end, new="")


def _edge(body: _Body, at: int, step: int) -> int:
    """The farthest token of the operand on one side of a connective."""
    depth, end = body.found[at].depth, at
    while 0 <= end + step < len(body.found):
        token = body.found[end + step]
        bracket = token.text in "()" and token.depth == depth and depth > 0
        if (
            token.depth < depth
            or bracket
            or token.text in (";", ":=")
            or (token.depth == depth and (token.key in _EDGES or token.text == ","))
        ):
            break
        end += step
    return end


def _conditions(body: _Body) -> Iterator[Edit]:
    """A branch that is always taken, or never, or when it should not be."""
    for at, token in enumerate(body.found):
        if token.key not in ("IF", "ELSIF", "WHEN") or body.key(at - 1) == "END":
            continue
        then = next(
            n
            for n in range(at, len(body.found))
            if body.key(n) == "THEN" and body.found[n].depth == token.depth
        )
        yield body.edit("always", at + 1, then - 1, "true")
        yield body.edit("never", at + 1, then - 1, "false")
        inside = {body.key(n) for n in range(at + 1, then)}
        if not inside & {"AND", "OR", "NOT", "IS", *NEGATED}:
            yield body.edit("negated", at + 1, then - 1, f"NOT ({body.text(at + 1, then - 1)})")


# ── clauses ──────────────────────────────────────────────────────────────────────────────────────


def _snapshot(body: _Body, header: str) -> Iterator[Edit]:
    """Every statement sees what was committed by then, instead of all of them one moment."""
    for match in re.finditer(r"\bSTABLE\b", header):
        yield Edit(operator="weaker", start=match.start(), end=match.end(), new="VOLATILE")


def _clauses(body: _Body) -> Iterator[Edit]:
    for at, token in enumerate(body.found):
        following = (token.key, body.key(at + 1))
        if following == ("FOR", "UPDATE"):
            yield body.edit("unlocked", at, at + 1, "")
            yield body.edit("weaker", at, at + 1, "FOR SHARE")
        elif following == ("ORDER", "BY"):
            yield body.edit("reversed", at + 2, at + 2, f"{body.found[at + 2].text} DESC")
        elif token.key == "WHERE":
            last = _edge(body, at, +1)
            if body.key(last + 1) not in ("AND", "OR"):
                yield body.edit("dropped", at, last, "")
        elif following == ("ON", "CONFLICT"):
            yield body.edit("dropped", at, at + 3, "")
            anew = "ON CONFLICT (topic_id, partition) DO UPDATE SET high_watermark = DEFAULT"
            yield body.edit("swapped", at, at + 3, anew)


def _calls(body: _Body) -> Iterator[Edit]:
    """An argument left out where the call goes on without it; two of them the other way round."""
    for at, token in enumerate(body.found):
        if token.key not in ANY_NUMBER or body.key(at + 1) != "(":
            continue
        given = arguments(body.found, at + 1)
        for number, (first, last) in enumerate(given):
            # Without a type of its own, a string that is left alone is no answer.
            alone = len(given) == 2 and body.found[given[number - 1][0]].kind == "string"
            if len(given) == 1 or (alone and number == 0):
                continue
            begin, end = (first, given[number + 1][0] - 1) if number == 0 else (first - 1, last)
            yield body.edit("dropped", begin, end, "")
        for (first, last), (begin, end) in itertools.pairwise(given):
            if token.key == "FIRST_REFUSAL":
                other = f"{body.text(begin, end)}, {body.text(first, last)}"
                yield body.edit("swapped", first, end, other)


def _assignments(body: _Body) -> Iterator[Edit]:
    """A column that an UPDATE forgets."""
    for at, token in enumerate(body.found):
        if token.key != "SET" or body.key(at + 1) == "DEFAULT":
            continue
        edges = [at]
        last = at
        while last + 1 < len(body.found) and not (
            body.found[last + 1].depth == token.depth
            and body.key(last + 1) in ("WHERE", "RETURNING", ";")
        ):
            last += 1
            if body.found[last].text == "," and body.found[last].depth == token.depth:
                edges.append(last)
        edges.append(last + 1)
        if len(edges) == 2:
            continue
        for number in range(len(edges) - 1):
            first, end = edges[number], edges[number + 1]
            span = (first + 1, end) if number == 0 else (first, end - 1)
            yield body.edit("dropped", *span, "")


# ── statements ───────────────────────────────────────────────────────────────────────────────────


def _skipped(body: _Body) -> Iterator[Edit]:
    """A statement that is not carried out, a variable without its first value, an early end."""
    if not body.plpgsql:
        yield from _statements(body, 0, len(body.found))
        return
    begin = body.begin
    for at in range(begin):
        if body.found[at].text == ":=":
            end = next(n for n in range(at, begin) if body.found[n].text == ";")
            yield body.edit("skipped", at, end - 1, "")
    yield from _statements(body, begin + 1, len(body.found))
    returns = [at for at in range(len(body.found)) if body.key(at) == "RETURN"]
    if returns and body.found[returns[-1] - 1].text == ";":
        end = next(n for n in range(returns[-1], len(body.found)) if body.found[n].text == ";")
        early = f"BEGIN {body.text(returns[-1], end)}"
        yield body.edit("early", begin, begin, early)


def _statements(body: _Body, first: int, last: int) -> Iterator[Edit]:
    """Each plain statement, blocks entered and left alone."""
    begin = first
    for at in range(first, last):
        opens = body.key(at) in ("THEN", "ELSE", "BEGIN", "LOOP") and body.key(at - 1) != "END"
        if opens and body.found[at].depth == 0 and body.plpgsql:
            begin = at + 1
        elif body.found[at].text == ";":
            # What a migration adds, later ones rely on.
            adds = {body.key(n) for n in range(begin, at)} >= {"ADD", "COLUMN"}
            if body.key(begin) not in ("END", "RETURN") and not adds:
                yield body.edit("skipped", begin, at, "NULL;" if body.plpgsql else "")
            begin = at + 1


# ── names ────────────────────────────────────────────────────────────────────────────────────────


def _mixed_up(body: _Body, header: str) -> Iterator[Edit]:
    """A parameter, variable or column for another of its type."""
    families = [*COLUMNS, *_declared(body, header)]
    for at, token in enumerate(body.found):
        if token.kind != "word" or body.key(at + 1) in (":=", "(") or _declares(body, at):
            continue
        column = body.key(at - 1) == "."
        for family in families:
            if token.text in family and column == (family in COLUMNS):
                other = family[(family.index(token.text) + 1) % len(family)]
                yield body.edit("mixed-up", at, at, other)


def _declares(body: _Body, at: int) -> bool:
    """Whether a word is the name that is being declared."""
    return body.plpgsql and at < body.begin and body.key(at - 1) in ("DECLARE", ";")


def _declared(body: _Body, header: str) -> list[tuple[str, ...]]:
    """Names of one type, where there are several."""
    by_type: dict[str, list[str]] = {}
    for name, of_type in re.findall(r"\b(p_\w+) ([\w\[\]]+)", header):
        by_type.setdefault(of_type, []).append(name)
    for at in range(body.begin):
        if _declares(body, at):
            by_type.setdefault(body.found[at + 1].text, []).append(body.found[at].text)
    # The text of a topic's name and that of an error are not taken for each other.
    return [tuple(names) for of, names in by_type.items() if len(names) > 1 and of != "text"]
