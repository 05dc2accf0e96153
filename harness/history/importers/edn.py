"""A small reader of EDN, for data from strangers.

Reads one form after another from a text: nil, booleans, integers, floats, strings, characters,
keywords, symbols, lists, vectors, maps, sets, tagged literals, comments and discards. Values come
out as JSON has them: keywords and symbols as their names, characters as strings, lists and vectors
as lists, sets as lists in the order of their JSON, map keys as text (a key that is no text as its
JSON), a tagged literal as the value behind its tag. The reader keeps its own stack, so nesting
costs memory in proportion and stops at `MAX_DEPTH`; nothing here recurses.

Not read, with a reason: ratios, metadata, quotes, and numbers JSON cannot carry.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from ..lines import MAX_DEPTH, BadLine, canonical, finite, int64


class Unfinished(BadLine):
    """The text ended inside a form: more of it may follow, or the form is broken."""


_SKIP = re.compile(r"(?:[\s,]++|;[^\n]*+)*+")
# The tokens that make up nearly all of a history come first; `other` is looked at with care.
_TOKEN = re.compile(
    r"""(?:[\s,]++|;[^\n]*+)*+
    (?: (?P<int>[+-]?[0-9]{1,18}+)(?=[\s,;()\[\]{}"]|\Z)
      | :(?P<keyword>[^\s,;"()\[\]{}]++)
      | "(?P<plain>[^"\\]*+)"
      | (?P<open>[(\[{]|\#\{)
      | (?P<close>[)\]}])
      | (?P<other>.)
      | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_ATOM = re.compile(r"[^\s,;\"()\[\]{}]++")
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]++N?")
_INT = re.compile(r"[+-]?\d++N?")
_FLOAT = re.compile(r"[+-]?\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?M?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\"}
_CHARACTERS: Final = {"newline": "\n", "space": " ", "tab": "\t", "return": "\r"}
_WORDS: Final[dict[str, Any]] = {"nil": None, "true": True, "false": False}
_NOT_TEXT: Final = "not UTF-8, or half of a surrogate pair"
_OPENED: Final = object()
_OPEN: Final = {"(": ")", "[": "]", "{": "}", "#{": "}"}


@dataclass(slots=True)
class _Level:
    """One open bracket, or a `#_` or `#tag` that waits for the form behind it."""

    opening: str
    items: list[Any] = field(default_factory=list)


def skip(text: str, at: int) -> int:
    """Where the next form or closing bracket begins: past spaces, commas and comments."""
    found = _SKIP.match(text, at)
    return found.end() if found else at


def read_form(text: str, at: int) -> tuple[Any, int]:
    """The form that begins at `at` and where it ends; `Unfinished` if the text ends before it."""
    stack: list[_Level] = []
    while True:
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise Unfinished("the text ends inside a form")
        value, at = _step(found, found.lastgroup, stack)
        if value is _OPENED:
            continue
        while stack and stack[-1].opening not in _OPEN:
            if stack.pop().opening == "#_":
                break
        else:
            if not stack:
                return value, at
            stack[-1].items.append(value)


def _step(found: re.Match[str], kind: str, stack: list[_Level]) -> tuple[Any, int]:
    """The value that a token completes and where it ends; `_OPENED` if it opens a level."""
    token, end = found[kind], found.end()
    if kind == "int":
        return int(token), end
    if kind in ("keyword", "plain"):
        return _sound(token), end
    if kind == "close":
        if not stack or _OPEN.get(stack[-1].opening) != token:
            raise BadLine(f"an unexpected {token}")
        return _close(stack.pop()), end
    opening = token if kind == "open" else _prefix(found.string, end - 1)
    if opening is None:
        return _atom(found.string, end - 1)
    if len(stack) >= MAX_DEPTH:
        raise BadLine(f"nested deeper than {MAX_DEPTH} levels")
    stack.append(_Level(opening))
    return _OPENED, found.start(kind) + len(opening)


def _prefix(text: str, at: int) -> str | None:
    """The `#_` or `#tag` that waits for the form behind it."""
    if text[at] != "#":
        return None
    if at + 1 >= len(text):
        raise Unfinished("the text ends after #")
    following = text[at + 1]
    if following == "_":
        return "#_"
    if following == "#":
        raise BadLine("##NaN and ##Inf are not numbers of JSON")
    tag = _ATOM.match(text, at + 1)
    if tag is None:
        raise BadLine(f"#{following} is not read here")
    return "#" + tag.group()


def _close(level: _Level) -> Any:
    if level.opening == "#{":
        return sorted(level.items, key=canonical)
    if level.opening != "{":
        return level.items
    if len(level.items) % 2:
        raise BadLine("a map has a key without a value")
    result: dict[str, Any] = {}
    for key, value in zip(level.items[::2], level.items[1::2], strict=True):
        name = key if type(key) is str else canonical(key)
        if name in result:
            raise BadLine(f"a map has the key {name[:40]} twice")
        result[name] = value
    return result


def _atom(text: str, at: int) -> tuple[Any, int]:
    if text[at] == '"':
        found = _STRING.match(text, at)
        if found is None:
            raise Unfinished("a string without its closing quote")
        return _unescape(found.group(1)), found.end()
    if text[at] == "\\":
        return _character(text, at)
    found = _ATOM.match(text, at)
    if found is None:
        raise BadLine(f"{text[at]!r} begins no form")
    return _word(found.group()), found.end()


def _character(text: str, at: int) -> tuple[str, int]:
    if at + 1 >= len(text):
        raise Unfinished("the text ends after a backslash")
    found = _ATOM.match(text, at + 1)
    name = found.group() if found else text[at + 1]
    end = at + 1 + len(name)
    if len(name) == 1:
        return _sound(name), end
    if name in _CHARACTERS:
        return _CHARACTERS[name], end
    if re.fullmatch(r"u[0-9a-fA-F]{4}", name):
        return _sound(chr(int(name[1:], 16))), end
    raise BadLine(f"\\{name[:20]} is not a character")


def _unescape(body: str) -> str:
    if "\\" not in body:
        return _sound(body)

    def one(found: re.Match[str]) -> str:
        code = found.group(1)
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _ESCAPES:
            raise BadLine(f"\\{code} is not an escape")
        return _ESCAPES[code]

    # Two escapes that make a surrogate pair are one character; half a pair is none.
    joined = _ESCAPE.sub(one, body).encode("utf-16-le", "surrogatepass")
    try:
        return joined.decode("utf-16-le")
    except UnicodeDecodeError:
        raise BadLine(_NOT_TEXT) from None


def _sound(text: str) -> str:
    """The text itself, if it is text: no bytes that were not UTF-8, no half surrogate pairs."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise BadLine(_NOT_TEXT) from None
    return text


def _word(token: str) -> Any:
    first = token[0]
    if first == ":":
        if len(token) < 2:
            raise BadLine("a keyword without a name")
        return _sound(token[1:])
    if first.isdigit() or (first in "+-" and token[1:2].isdigit()):
        return _number(token)
    if first in "^'`~@":
        raise BadLine(f"{first} is not read here")
    return _WORDS[token] if token in _WORDS else _sound(token)


def _number(token: str) -> int | float:
    if not token.isascii():
        raise BadLine(f"{token[:24]} is not a number")
    if _INT.fullmatch(token):
        return int64(token.rstrip("N"))
    if _FLOAT.fullmatch(token):
        return finite(token.rstrip("M"))
    if _HEX.fullmatch(token):
        return int64(str(int(token.rstrip("N"), 16)))
    raise BadLine(f"{token[:24]} is not a number")
