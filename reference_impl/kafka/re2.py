"""Regular expressions as Kafka takes them (RE2), for Python's engine.

RE2 knows no assertions, back references or possessive repetitions, and says classes, quotations and
numbers of characters in ways of its own. An expression is read by its rules and said again in
Python's; what it does not take is a `re.error`. Scripts are told by the names of their characters.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass, field, replace
from functools import cache

MOST_REPETITIONS = 1000
_PERL = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_PLACES = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}
_CATEGORIES = re.compile("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")
_SCRIPTS = re.compile(
    "Arabic|Armenian|Cyrillic|Devanagari|Georgian|Greek|Hangul|Hebrew|Hiragana|Katakana|Latin|Thai"
)
_COUNTS = re.compile(r"\{(\d+)(,(\d*))?\}")
_FLAGS = re.compile(r"\?([imsU]*)(-[imsU]+)?([:)])")
_NAME = re.compile(r"\?P?<(\w+)>", re.ASCII)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """What Python makes of an expression of RE2; a `re.error` if it is none."""
    return re.compile(_Reader(pattern).read())


@dataclass(frozen=True, slots=True)
class _Scope:
    """What flags say at a place; ``opened`` groups of ours are closed where its group is."""

    many_lines: bool = False
    lazy: bool = False
    opened: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    out: list[str] = field(default_factory=list)
    scopes: list[_Scope] = field(default_factory=lambda: [_Scope()])
    names: list[str] = field(default_factory=list)
    repeatable: bool = False  # whether a repetition may come next

    def read(self) -> str:
        while self.at < len(self.text):
            self._next()
        if len(self.scopes) > 1:
            raise re.error("missing closing )")
        self._close()
        return "".join(self.out)

    def _next(self) -> None:
        match self._take():
            case "(":
                self._group()
            case ")":
                self._end_group()
            case "|":
                self._close()
                self._put("|" + "".join(self.scopes[-1].opened), repeatable=False)
            case "[":
                self._put(self._class())
            case "\\":
                self._escape()
            case "*" | "+" | "?" as repeats:
                self._repeat(repeats)
            case "{" if counts := _COUNTS.match(self.text, self.at - 1):
                self._counted(counts)
            case one:
                self._put(self._plain(one))

    def _plain(self, one: str) -> str:
        if one == "$":
            return "(?:$)" if self.scopes[-1].many_lines else r"(?:\Z)"
        return {"^": "(?:^)", ".": "."}.get(one, re.escape(one))

    def _take(self) -> str:
        if self.at == len(self.text):
            raise re.error("it ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def _put(self, said: str, *, repeatable: bool = True) -> None:
        self.out.append(said)
        self.repeatable = repeatable

    def _close(self) -> None:
        self.out.append(")" * len(self.scopes[-1].opened))

    # ── groups and their flags ───────────────────────────────────────────────────────────────────

    def _group(self) -> None:
        scope = replace(self.scopes[-1], opened=())
        if self.text[self.at : self.at + 1] != "?":
            self.scopes.append(scope)
            self._put("(", repeatable=False)
        elif name := _NAME.match(self.text, self.at):
            if name[1] in self.names:
                raise re.error(f"two groups named {name[1]}")
            self.names.append(name[1])
            self.at = name.end()
            self.scopes.append(scope)
            self._put("(", repeatable=False)
        elif flags := _FLAGS.match(self.text, self.at):
            self.at = flags.end()
            self._flagged(flags[1], (flags[2] or "-")[1:], alone=flags[3] == ")")
        else:
            raise re.error("RE2 has no such group")

    def _end_group(self) -> None:
        if len(self.scopes) == 1:
            raise re.error("unexpected )")
        self._close()
        self.scopes.pop()
        self._put(")")

    def _flagged(self, on: str, off: str, *, alone: bool) -> None:
        here = self.scopes[-1]
        scope = replace(
            here,
            many_lines=("m" in on or here.many_lines) and "m" not in off,
            lazy=("U" in on or here.lazy) and "U" not in off,
        )
        said = "(?" + on.replace("U", "") + (f"-{off.replace('U', '')}" if off.strip("U") else "")
        if alone:
            if not on + off:
                raise re.error("no flags")
            self.scopes[-1] = replace(scope, opened=(*here.opened, f"{said}:"))
        else:
            self.scopes.append(replace(scope, opened=()))
        self._put(f"{said}:", repeatable=False)

    # ── repetitions ──────────────────────────────────────────────────────────────────────────────

    def _counted(self, counts: re.Match[str]) -> None:
        least, most = int(counts[1]), int(counts[3] or counts[1])
        if max(least, most) > MOST_REPETITIONS or most < least:
            raise re.error("so often nothing is repeated")
        self.at = counts.end()
        self._repeat(counts[0])

    def _repeat(self, repeats: str) -> None:
        if not self.repeatable:
            raise re.error("nothing to repeat")
        lazy = self.text[self.at : self.at + 1] == "?"
        self.at += lazy
        self._put(repeats + ("?" if lazy != self.scopes[-1].lazy else ""), repeatable=False)

    # ── characters ───────────────────────────────────────────────────────────────────────────────

    def _escape(self) -> None:
        kind = self.text[self.at : self.at + 1]
        if kind in _PLACES and kind:
            self.at += 1
            self._put(f"(?:{_PLACES[kind]})")
        elif kind == "Q":
            quoted, _, _ = self.text[self.at + 1 :].partition(r"\E")
            self.at = min(len(self.text), self.at + 1 + len(quoted) + 2)
            for one in quoted:
                self._put(re.escape(one))
        elif (several := self._several()) is not None:
            self._put(several)
        else:
            self._put(re.escape(chr(self._character())))

    def _several(self) -> str | None:
        """A class that is said by an escape, in Python's words; None if none is."""
        kind = self.text[self.at : self.at + 1]
        if kind.lower() in _PERL and kind:
            self.at += 1
            return f"[{'^' * kind.isupper()}{_PERL[kind.lower()]}]"
        if kind not in ("p", "P"):
            return None
        self.at += 1
        name = self._take()
        if name == "{":
            name, closed, _ = self.text[self.at :].partition("}")
            self.at += len(name) + len(closed)
        inverted = name.startswith("^") != (kind == "P")
        return f"[{'^' * inverted}{_unicode(name.removeprefix('^'))}]"

    def _character(self) -> int:
        """The character that an escape says."""
        kind = self._take()
        if kind in _CONTROLS:
            return _CONTROLS[kind]
        if kind == "x":
            braced = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.text, self.at)
            if braced is None or (number := int(braced[1] or braced[2], 16)) > sys.maxunicode:
                raise re.error("no such character")
            self.at = braced.end()
            return number
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.text, self.at - 1)
        if octal is not None:
            self.at = octal.end()
            return int(octal[0], 8)
        if kind.isalnum():
            raise re.error(f"RE2 knows no \\{kind}")
        return ord(kind)

    def _class(self) -> str:
        """What stands between brackets. Classes within are told one by one, as alternatives."""
        inverted = self.text[self.at : self.at + 1] == "^"
        self.at += inverted
        singles, classes, first = "", [], True
        while first or self.text[self.at : self.at + 1] != "]":
            first = False
            named = re.compile(r"\[:(\^?)(\w+):\]").match(self.text, self.at)
            if named is not None:
                self.at = named.end()
                if named[2] not in _POSIX:
                    raise re.error(f"no class is called {named[2]}")
                classes.append(f"[{named[1]}{_POSIX[named[2]]}]")
                continue
            low = self._take()
            if low == "\\" and (several := self._several()) is not None:
                classes.append(several)
                continue
            begins = self._character() if low == "\\" else ord(low)
            ends = begins
            if self.text[self.at : self.at + 1] == "-" and self.text[self.at + 1 :][:1] != "]":
                self.at += 1
                high = self._take()
                ends = self._character() if high == "\\" else ord(high)
            if ends < begins:
                raise re.error("a range ends before it begins")
            singles += f"\\U{begins:08x}-\\U{ends:08x}"
        self.at += 1
        every = "|".join([*([f"[{singles}]"] if singles else []), *classes])
        return rf"(?:(?!{every})[\s\S])" if inverted else f"(?:{every})"


@cache
def _unicode(name: str) -> str:
    """The ranges of a category or a script."""
    if name == "Any":
        return r"\x00-\U0010ffff"
    if not (_CATEGORIES.fullmatch(name) or _SCRIPTS.fullmatch(name)):
        raise re.error(f"RE2 knows no characters called {name}")
    found: list[list[int]] = []
    for number in range(sys.maxunicode + 1):
        if not _is_of(chr(number), name):
            continue
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in found)


def _is_of(character: str, name: str) -> bool:
    if _CATEGORIES.fullmatch(name):
        return unicodedata.category(character).startswith(name)
    return unicodedata.name(character, "").startswith(f"{name.upper()} ")
