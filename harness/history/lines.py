"""One line of JSON, strictly.

Python's `json` is generous: it takes NaN, infinities, integers of any length, lone surrogates,
nesting down to the recursion limit, and of a key that occurs twice the last. None of these survives
the way into a typed table, so they are refused here, at the only two doors: `encode` for what the
lab writes and `decode` for what it reads. Both doors hold the same bounds, so whatever could be
written can be read.

The bounds: `MAX_LINE_BYTES` a line, `MAX_DEPTH` levels of nesting, integers of 64 bits. Checking
each value of each line would cost more than the parse itself; so a cheap look at the raw bytes
(long runs of digits, surrogate escapes, many brackets) decides whether the careful look is needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, TypeAlias

Event: TypeAlias = dict[str, Any]

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 64
INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

# Searching bytes for one fixed text is many times faster than any pattern.
_DIGITS_AS_NINES = bytes(57 if 48 <= byte <= 57 else byte for byte in range(256))
_LONG_NUMBER = b"9" * 19
_BACKSLASH = ord("\\")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_BLOCK_BYTES = 64 * 1024


class BadLine(ValueError):
    """Why a line is not a line of the format; caught where file and line number are known."""


def refuse_constant(name: str) -> float:
    """For `json`: NaN and infinities are not JSON."""
    raise BadLine(f"{name} is not JSON")


def finite(text: str) -> float:
    """A JSON float; `BadLine` if it overflows."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise BadLine(f"the number {text[:40]} is out of range")
    return number


def int64(text: str) -> int:
    """A JSON integer; `BadLine` if it does not fit 64 bits."""
    if len(text) > 20 or not INT64_MIN <= (number := int(text)) <= INT64_MAX:
        raise BadLine(f"the integer {text[:24]} does not fit 64 bits")
    return number


def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json`: an object that says two things under one key says neither."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadLine(f"the key {twice[:40]} occurs twice")
    return found


_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
_canonical = json.JSONEncoder(separators=(",", ":"), sort_keys=True, ensure_ascii=False)
_quick = json.JSONDecoder(
    parse_constant=refuse_constant, parse_float=finite, object_pairs_hook=no_key_twice
)
_careful = json.JSONDecoder(
    parse_constant=refuse_constant,
    parse_float=finite,
    parse_int=int64,
    object_pairs_hook=no_key_twice,
)


def canonical(value: object) -> str:
    """The one JSON text of a value: keys sorted, no spaces. Equal values have equal text."""
    return _canonical.encode(value)


def encode(event: Event) -> bytes:
    """One event as a line with its newline; `BadLine` says what in it is not JSON."""
    try:
        raw = _encoder.encode(event).encode("ascii")
    except (TypeError, ValueError) as cause:
        raise BadLine(str(cause)) from None
    except RecursionError:
        raise BadLine("nested deeper than JSON can carry, or contains itself") from None
    if is_suspect(raw) or len(raw) > MAX_LINE_BYTES:
        decode(raw)
    return raw + b"\n"


def decode(raw: bytes, *, suspect: bool | None = None) -> Event:
    """The object in a line; `BadLine` gives the reason otherwise.

    `suspect` is what `is_suspect` said of the line or of the block around it.
    """
    if len(raw) > MAX_LINE_BYTES:
        raise BadLine(f"longer than {MAX_LINE_BYTES} bytes")
    if raw[:1] != b"{":
        raw = raw.strip(b" \t\r\n")
    try:
        text = raw.decode("utf-8")
        if is_suspect(raw) if suspect is None else suspect:
            value, end = _careful.raw_decode(text)
            check_shape(value)
        else:
            value, end = _quick.raw_decode(text)
    except UnicodeDecodeError as cause:
        raise BadLine(f"not UTF-8 at byte {cause.start}") from None
    except BadLine:
        raise
    except RecursionError:
        raise BadLine(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as cause:
        raise BadLine(f"not JSON: {cause}") from None
    if end != len(text) and text[end:].strip(" \t\r\n"):
        raise BadLine(f"something follows the object at column {end + 1}")
    if type(value) is not dict:
        raise BadLine(f"a line holds one JSON object, this is a {type(value).__name__}")
    return value


def is_suspect(raw: bytes) -> bool:
    """Whether a line, or some line of a block, could hold what only the careful look finds."""
    if _BACKSLASH in raw and (b"\\ud" in raw or b"\\uD" in raw):
        return True
    if _LONG_NUMBER in raw.translate(_DIGITS_AS_NINES):
        return True
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    # Peel innermost pairs: what is left after MAX_DEPTH rounds is nested deeper than that (or is
    # text with brackets in it, which the careful look sorts out).
    brackets = raw.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        peeled = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(peeled) == len(brackets):
            break
        brackets = peeled
    return bool(brackets)


def check_shape(value: object) -> None:
    """Depth and surrogates of a parsed value, without recursion."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            if type(item) is dict:
                below.extend(item)
                below.extend(item.values())
            elif type(item) is list:
                below.extend(item)
            elif type(item) is str and not item.isascii():
                _check_text(item)
        if not below:
            return
        level = below
    raise BadLine(f"nested deeper than {MAX_DEPTH} levels")


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadLine("half of a surrogate pair is not a character") from None


class LineFeed:
    """The lines of a file, in bounded memory, with the bytes hashed on the way.

    Each line comes as (text without newline, look carefully?, has its newline?). A line beyond
    the bound comes cut to a length that `decode` refuses; the rest of it is passed over unread.
    Whether a line needs the careful look is decided for a whole block at once, which is cheap.
    """

    def __init__(self, file: BinaryIO, *, hashed: bool = False, judged: bool = True) -> None:
        """Read from `file`, which the caller opens and closes; `hashed` if the hash is wanted. If
        lines are not to be `judged`, each that is looked at deserves the careful look."""
        self._file = file
        self._hashed = hashed
        self._judged = judged
        self._digest = hashlib.sha256()
        self._last = b""

    def sha256_before(self, mark: bytes) -> str | None:
        """Hash of everything before the last `mark` of the last line; None if it has no mark."""
        at = self._last.rfind(mark)
        if at < 0:
            return None
        digest = self._digest.copy()
        digest.update(self._last[:at])
        return digest.hexdigest()

    def __iter__(self) -> Iterator[tuple[bytes, bool, bool]]:
        """One pass from where the file stands to its end."""
        carry = b""
        while block := self._file.read(max(_BLOCK_BYTES, len(carry))):
            carry += block
            whole, newline, carry = carry.rpartition(b"\n")
            if newline:
                self.hash(whole)
                suspect = is_suspect(whole) if self._judged else True
                for line in whole.split(b"\n"):
                    yield line, suspect, True
            if len(carry) > MAX_LINE_BYTES:
                yield carry, True, True
                carry = self._pass_over(carry)
        if carry:
            self.hash(carry)
            yield carry, True, False

    def hash(self, whole: bytes) -> None:
        """Hash lines, all but the last one, which may turn out to be the footer."""
        if not self._hashed:
            return
        before, newline, last = whole.rpartition(b"\n")
        self._digest.update(self._last)
        self._digest.update(before + newline)
        self._last = last + b"\n"

    def _pass_over(self, seen: bytes) -> bytes:
        self._digest.update(self._last)
        self._last = b""
        while seen:
            line_end, newline, rest = seen.partition(b"\n")
            self._digest.update(line_end + newline)
            if newline:
                return rest
            seen = self._file.read(_BLOCK_BYTES)
        return b""
