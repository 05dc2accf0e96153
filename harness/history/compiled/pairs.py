"""Which lines of a range are the two halves of an operation, by process."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .machine_code import compiled, part
from .scan import FIELD, NUMBERS, PRODUCE

Array = np.ndarray[Any, Any]

NO_OP, PLAIN_INVOKE, PLAIN_END, OTHER_INVOKE, OTHER_END = range(5)
"""What a line is to its process."""
ALONE: Final = -1

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
_TOPIC: Final = FIELD["topic"]
_PARTITION: Final = FIELD["partition"]
_ATTEMPT: Final = FIELD["attempt"]
_SEND: Final = FIELD["send"]
_RECORDS: Final = FIELD["records"]
_FIRST_TEXT: Final = len(NUMBERS)
_FNV_START: Final = np.uint64(0xCBF29CE484222325)
_FNV_PRIME: Final = np.uint64(0x100000001B3)


@part
def _invokes(role: int) -> bool:
    return role in (PLAIN_INVOKE, OTHER_INVOKE)


@compiled
def pair(
    processes: Array, roles: Array, keys: Array, first: Array, last: Array, partner: Array
) -> None:
    """Let `partner` of a plain invocation be the plain completion that is the next line of its
    process, and the other way round, unless the line before it was an invocation too.

    `first` and `last` become the lines of each process, -1 where there is none; `keys` is scratch.
    All three have a power of two of places, more than there are lines.
    """
    mask = np.uint64(len(keys) - 1)
    open_before = np.int64(1) << 62  # added to `last` where the line before it was an invocation
    for line in range(len(roles)):
        partner[line] = ALONE
        role = roles[line]
        if role == NO_OP:
            continue
        process = processes[line]
        place: Any = np.uint64(process) * _SPREAD >> np.uint64(20) & mask
        while first[place] >= 0 and keys[place] != process:
            place = place + np.uint64(1) & mask
        if first[place] < 0:
            keys[place] = process
            first[place] = last[place] = line
            continue
        before, followed = last[place] & (open_before - 1), last[place] >= open_before
        if roles[before] == PLAIN_INVOKE and role == PLAIN_END and not followed:
            partner[before] = line
            partner[line] = before
        last[place] = line + open_before if _invokes(roles[before]) else line
    for place in range(len(keys)):
        if first[place] >= 0:
            last[place] &= open_before - 1


@part
def _same_text(data: Array, one: Array, other: Array) -> bool:
    n = 0
    while n < one[1] and data[one[0] + n] == data[other[0] + n]:
        n += 1
    return bool(one[1] == other[1] and n == one[1])


@compiled
def part_unlike(
    data: Array,
    partner: Array,
    moments: Array,
    numbers: Array,
    texts: Array,
    said: Array,
    requests: Array,
) -> None:
    """Take apart what `rows` would not lay out without a word: another request, log or clock than
    was asked, a time that runs backwards; of a send what is no first attempt."""
    topic, clock = _TOPIC - _FIRST_TEXT, 0
    for line in range(len(partner)):
        end = partner[line]
        if end <= line:
            continue
        has, found = said[line], said[end]
        like = requests[line] == requests[end] and moments[end] >= moments[line]
        like = like and has >> _TOPIC & 1 and has >> _PARTITION & 1
        like = like and _same_text(data, texts[line, clock], texts[end, clock])
        if like and found >> _TOPIC & 1:
            like = _same_text(data, texts[line, topic], texts[end, topic])
        if like and found >> _PARTITION & 1:
            like = numbers[line, _PARTITION] == numbers[end, _PARTITION]
        if like and requests[line] == PRODUCE:
            like = has >> _RECORDS & 1 and has >> _SEND & 1
            like = like and texts[line, _SEND - _FIRST_TEXT, 1] > 0
            like = like and (not has >> _ATTEMPT & 1 or numbers[line, _ATTEMPT] == 1)
        if not like:
            partner[line] = partner[end] = ALONE


@part
def _fingerprint(data: Array, start: int, size: int) -> np.uint64:
    found = _FNV_START
    for n in range(size):
        found = (found ^ np.uint64(data[start + n])) * _FNV_PRIME
    return found


@compiled
def fingerprints(data: Array, places: Array, found: Array) -> None:
    """A number for each text that is equal for equal ones, and for others as good as never."""
    for n in range(len(places)):
        found[n] = _fingerprint(data, places[n, 0], places[n, 1])


@compiled
def intern(data: Array, places: Array, table: Array, codes: Array, firsts: Array) -> int:
    """Number texts in order of their first occurrence, one whose size is negative -1; how many
    there are. `table` has a power of two of places, more than there are texts, each -1."""
    mask = np.uint64(len(table) - 1)
    count = 0
    last = -1
    for n in range(len(places)):
        if places[n, 1] < 0:
            codes[n] = -1
            continue
        if last >= 0 and _same_text(data, places[n], places[firsts[last]]):
            codes[n] = last
            continue
        place = _fingerprint(data, places[n, 0], places[n, 1]) & mask
        while table[place] >= 0 and not _same_text(data, places[n], places[firsts[table[place]]]):
            place = place + np.uint64(1) & mask
        if table[place] < 0:
            table[place] = count
            firsts[count] = n
            count += 1
        last = table[place]
        codes[n] = last
    return count


@compiled
def copy_texts(data: Array, places: Array, bounds: Array, copied: Array) -> None:
    """The texts one behind the other; `bounds` are where each goes."""
    for n in range(len(places)):
        at = bounds[n]
        for k in range(bounds[n + 1] - at):
            copied[at + k] = data[places[n, 0] + k]
