"""One pass over the bytes of lines: which of them are plain, and what those say.

A *plain* line is one half of a `produce`, `fetch` or `list_offsets`, in ASCII without escapes,
without spaces, every key once, numbers that fit their columns, no null on its top level, and
records of the form that the tables have. What is anything else is left to `lines.decode`, one line
at a time: the scan says of no line what another reader would not say of it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .machine_code import compiled, part

Array = np.ndarray[Any, Any]

# Of these the first must not be negative.
NATURAL: Final = ("index", "process")
BIG: Final = (
    *("time", "node", "offset", "timestamp", "found_timestamp", "leader_epoch", "high_watermark"),
    *("last_stable_offset", "log_start_offset", "max_bytes", "preferred_read_replica", "bytes"),
    "first_batch_bytes",
)
SMALL: Final = ("partition", "acks", "attempt")
PRODUCER: Final = ("producer_id", "producer_epoch", "base_sequence")
NUMBERS: Final = (*NATURAL, *BIG, *SMALL, *PRODUCER)
TEXTS: Final = (
    *("clock", "topic", "request", "send", "transaction", "isolation", "rack", "error", "client"),
)
RECORD_NUMBERS: Final = ("record_offset", "timestamp", "leader_epoch")
RECORD_TEXTS: Final = ("value", "record_key")
TYPES: Final = ("invoke", "ok", "fail", "info")
REQUESTS: Final = ("produce", "fetch", "list_offsets")
NO_LIST: Final = -1

_KEYS: Final = (*NUMBERS, *TEXTS, "type", "f", "producer", "records")
FIELD: Final = {name: number for number, name in enumerate(_KEYS)}
INVOKE, OK, FAIL, INFO = range(4)
PRODUCE, FETCH = range(2)

_NATURALS: Final = len(NATURAL)
_BIGS: Final = len(NATURAL) + len(BIG)
_PARTITION: Final = FIELD["partition"]
_ATTEMPT: Final = FIELD["attempt"]
_SMALLS: Final = _BIGS + len(SMALL)
_FIRST_TEXT: Final = len(NUMBERS)
_CLOCK: Final = FIELD["clock"]
_TYPE: Final = FIELD["type"]
_F: Final = FIELD["f"]
_PRODUCER: Final = FIELD["producer"]
_RECORDS: Final = FIELD["records"]
_PRODUCER_ID: Final = FIELD["producer_id"]
_REQUIRED: Final = sum(1 << FIELD[name] for name in ("time", "process", "clock", "type", "f"))
_SMALL_BOUND: Final = 10**9
_MOST_DIGITS: Final = 18
_MAX_LINE_BYTES: Final = 16 * 1024 * 1024
_OPENING: Final = np.frombuffer(b'{"kind":"op","index":', np.uint8)

# Of each element of a record: is it a text, and the how manieth text or number.
_SENT: Final = np.array([(1, 0), (0, 1), (1, 1)])
_SEEN: Final = np.array([(0, 0), (1, 0), (0, 1), (0, 2), (1, 1)])
_LEAST: Final = 2

_QUOTE, _COMMA, _COLON, _MINUS, _ZERO, _NINE = 34, 44, 58, 45, 48, 57
_OPEN, _CLOSE, _CURLY, _BACKSLASH, _NEWLINE, _N = 91, 93, 125, 92, 10, 110


def words(names: tuple[str, ...]) -> tuple[Array, Array]:
    """Words one behind the other, and where each begins; the last bound is the end."""
    ends = np.cumsum([0, *map(len, names)])
    return np.frombuffer("".join(names).encode(), np.uint8), ends.astype(np.int64)


_TABLE_SIZE: Final = 256


def _by_spread() -> Array:
    """The keys by size, second letter or quote and last letter, which tell them apart; -1: none."""
    table = np.full(_TABLE_SIZE, -1, np.int64)
    for number, name in enumerate(_KEYS):
        place = (len(name) + ord(f'{name}"'[1]) * 4 + ord(name[-1]) * 7) % _TABLE_SIZE
        if name not in PRODUCER:
            assert table[place] < 0, f"{name} is taken for another key"
            table[place] = number
    return table


_KEY_TEXT, _KEY_BOUNDS = words(_KEYS)
_KEY_TABLE = _by_spread()
_TYPE_TEXT, _TYPE_BOUNDS = words(TYPES)
_REQUEST_TEXT, _REQUEST_BOUNDS = words(REQUESTS)


@part
def same(data: Array, at: int, text: Array, start: int, end: int) -> bool:
    n = 0
    while start + n < end and data[at + n] == text[start + n]:
        n += 1
    return start + n == end


@part
def _number(data: Array, at: int) -> tuple[int, int]:
    """A whole number of at most 18 digits, and where it ends; -1 as its end if there is none."""
    negative = data[at] == _MINUS
    if negative:
        at += 1
    digit = np.int64(data[at])
    if digit < _ZERO or digit > _NINE:
        return 0, -1
    value = digit - _ZERO
    at += 1
    start = at
    digit = np.int64(data[at])
    while _ZERO <= digit <= _NINE:
        value = value * 10 + (digit - _ZERO)
        at += 1
        if value == digit - _ZERO or at - start >= _MOST_DIGITS:  # a zero in front, or too long
            return 0, -1
        digit = np.int64(data[at])
    return int(-value if negative else value), at


@part
def _string_end(data: Array, at: int) -> int:
    """Where the text of a string ends, its opening quote being passed; -1 if it is not plain."""
    while True:
        letter = data[at]
        if letter == _QUOTE:
            return at
        if letter < 32 or letter > 126 or letter == _BACKSLASH:
            return -1
        at += 1


@part
def _is_null(data: Array, at: int) -> bool:
    return bool(
        data[at] == _N and data[at + 1] == 117 and data[at + 2] == 108 and data[at + 3] == 108
    )


@part
def _element(data: Array, at: int, text: bool, null: bool, number: Array, place: Array) -> int:
    """One element of a record, which may be `null` or not; where it ends, or -1."""
    if null and data[at] == _N:
        return at + 4 if _is_null(data, at) else -1
    if not text:
        number[0], at = _number(data, at)
        number[1] = 1
        return at
    end = _string_end(data, at + 1) if data[at] == _QUOTE else -1
    place[0], place[1] = at + 1, end - at - 1
    return end + 1 if end >= 0 else -1


@part
def _record(data: Array, at: int, sent: bool, numbers: Array, texts: Array) -> int:
    """One record, its bracket being passed: `[value, timestamp, key]` of one sent, `[offset, value,
    timestamp, leader epoch, key]` of one seen, as far as it goes; where it ends, or -1."""
    numbers[:, 1] = 0
    texts[:, 1] = NO_LIST
    form = _SENT if sent else _SEEN
    for place in range(len(form)):
        if place > 0:
            if data[at] == _CLOSE and place >= _LEAST:
                return at + 1
            if data[at] != _COMMA:
                return -1
            at += 1
        text, which = form[place, 0] == 1, form[place, 1]
        at = _element(data, at, text, sent or place > 0, numbers[which], texts[which & 1])
        if at < 0:
            return -1
    return at + 1 if data[at] == _CLOSE else -1


@part
def _records(
    data: Array, at: int, type_: int, request: int, held: int, records: tuple[Array, Array]
) -> tuple[int, int]:
    """A list of records, added behind those `held`: how many are held then, and where it ends; -1
    if it is not plain, or the line, as far as it was read, is none that lists records."""
    sent = request == PRODUCE and type_ == INVOKE
    if data[at] != _OPEN or not (sent or (request == FETCH and type_ > INVOKE)):
        return held, -1
    at += 1
    if data[at] == _CLOSE:
        return held, at + 1
    while True:
        if data[at] != _OPEN:
            return held, -1
        at = _record(data, at + 1, sent, records[0][held], records[1][held])
        if at < 0:
            return held, -1
        held += 1
        if data[at] == _CLOSE:
            return held, at + 1
        if data[at] != _COMMA:
            return held, -1
        at += 1


@part
def word(data: Array, at: int, text: Array, bounds: Array) -> tuple[int, int]:
    """Which of some words stands there as a string, and where that ends; -1 if none."""
    if data[at] != _QUOTE:
        return 0, -1
    for which in range(len(bounds) - 1):
        end = at + 1 + bounds[which + 1] - bounds[which]
        found = same(data, at + 1, text, bounds[which], bounds[which + 1])
        if found and data[end] == _QUOTE:
            return which, end + 1
    return 0, -1


@part
def _key(data: Array, at: int) -> tuple[int, int]:
    """The field that a key names, and where its value begins; -1 if it is no plain line's."""
    if data[at] != _COMMA or data[at + 1] != _QUOTE:
        return 0, -1
    start = at + 2
    at = start
    while 97 <= data[at] <= 122 or data[at] == 95:
        at += 1
    if at == start or data[at] != _QUOTE or data[at + 1] != _COLON:
        return 0, -1
    spread = (at - start) + np.int64(data[start + 1]) * 4 + np.int64(data[at - 1]) * 7
    field = _KEY_TABLE[spread % _TABLE_SIZE]
    if field < 0 or _KEY_BOUNDS[field + 1] - _KEY_BOUNDS[field] != at - start:
        return 0, -1
    if not same(data, start, _KEY_TEXT, _KEY_BOUNDS[field], _KEY_BOUNDS[field + 1]):
        return 0, -1
    return field, at + 2


@part
def _number_fits(field: int, value: int) -> bool:
    if field < _BIGS:
        return field >= _NATURALS or value >= 0
    least = 0 if field == _PARTITION else 1 if field == _ATTEMPT else 1 - _SMALL_BOUND
    return least <= value < _SMALL_BOUND


@part
def _producer(data: Array, at: int, numbers: Array) -> int:
    """The three numbers of a producer; where they end, or -1."""
    if data[at] != _OPEN:
        return -1
    for place in range(3):
        numbers[_PRODUCER_ID + place], at = _number(data, at + 1)
        if at < 0 or data[at] != (_CLOSE if place == 2 else _COMMA):
            return -1
    return at + 1


@part
def _value(data: Array, at: int, field: int, numbers: Array, texts: Array) -> int:
    """The value of a field that is a number, a text or a producer; where it ends, or -1."""
    if field < _SMALLS:
        numbers[field], at = _number(data, at)
        return at if _number_fits(field, numbers[field]) else -1
    if field == _PRODUCER:
        return _producer(data, at, numbers)
    end = _string_end(data, at + 1) if data[at] == _QUOTE else -1
    if end < 0 or (field == _CLOCK and end == at + 1):
        return -1
    texts[field - _FIRST_TEXT, 0] = at + 1
    texts[field - _FIRST_TEXT, 1] = end - at - 1
    return end + 1


@part
def _line(
    data: Array, at: int, held: int, line: tuple[Array, Array, Array], records: tuple[Array, Array]
) -> tuple[int, int, int, int]:
    """The fields that a line has, by bits, 0 if it is not plain; its type and request, and how many
    records are held then."""
    numbers, texts, listed = line
    has, first, type_, request = np.int64(1), held, -1, -1
    listed[1] = NO_LIST
    if not same(data, at, _OPENING, 0, len(_OPENING)):
        return 0, type_, request, first
    numbers[0], at = _number(data, at + len(_OPENING))
    if at < 0 or numbers[0] < 0:
        return 0, type_, request, first
    while data[at] != _CURLY:
        field, at = _key(data, at)
        if at < 0 or has >> field & 1:
            return 0, type_, request, first
        has |= np.int64(1) << field
        if field == _TYPE:
            type_, at = word(data, at, _TYPE_TEXT, _TYPE_BOUNDS)
        elif field == _F:
            request, at = word(data, at, _REQUEST_TEXT, _REQUEST_BOUNDS)
        elif field == _RECORDS:
            listed[0] = held
            held, at = _records(data, at, type_, request, held, records)
            listed[1] = held - first
        else:
            at = _value(data, at, field, numbers, texts)
        if at < 0:
            return 0, type_, request, first
    sends = request == PRODUCE and type_ == INVOKE
    sound = has & _REQUIRED == _REQUIRED and (sends or not has >> _PRODUCER & 1)
    if not sound or data[at + 1] != _NEWLINE:
        return 0, type_, request, first
    return int(has), type_, request, held


@compiled
def scan(
    data: Array,
    ends: Array,
    lines: tuple[Array, Array, Array],
    said: Array,
    types: Array,
    requests: Array,
    records: tuple[Array, Array],
) -> int:
    """What each line says that ends at one of `ends`; how many records all of them list.

    `lines` are the numbers of each, its texts, each a place and a size in `data`, and which records
    it lists: the first of them and how many, or `NO_LIST`. `said` has a bit for each field that a
    line has, and is zero for a line that is not plain. `records` are their numbers and texts.
    """
    held, at = 0, 0
    for n in range(len(ends)):
        said[n] = 0
        if ends[n] - at <= _MAX_LINE_BYTES:
            line = (lines[0][n], lines[1][n], lines[2][n])
            said[n], types[n], requests[n], held = _line(data, at, held, line, records)
        at = ends[n] + 1
    return held
