"""Lines that can be read a million at a time: requests about a partition, plainly written.

A *plain* line is one half of a `produce`, `fetch` or `list_offsets`, in ASCII without escapes,
without spaces, with numbers that fit their columns, no null on its top level, and records of the
form that the tables have. `PLAIN` decides that of the raw bytes, so no reader has to be trusted
with what it does to a line that is anything else: a key that occurs twice, a number beyond 64 bits,
a wrong type, half a line. What is not plain is read by `lines.decode`, one line at a time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

PLAIN_REQUESTS: Final = ("produce", "fetch", "list_offsets")

_BIG: Final = (
    *("index", "time", "process", "node", "offset", "timestamp", "found_timestamp"),
    *("leader_epoch", "high_watermark", "last_stable_offset", "log_start_offset", "max_bytes"),
    *("preferred_read_replica", "bytes", "first_batch_bytes"),
)
_SMALL: Final = ("partition", "acks", "attempt")
_TEXT: Final = (
    *("clock", "type", "f", "topic", "client", "request", "send", "transaction", "isolation"),
    *("rack", "error"),
)
FIELDS: Final = (*_BIG, *_SMALL, *_TEXT, "producer", "records")
"""What a plain line may say, beside its kind."""

COLUMNS: Final[Mapping[str, object]] = {
    **dict.fromkeys(_BIG, "BIGINT"),
    **dict.fromkeys(_SMALL, "INTEGER"),
    **dict.fromkeys(_TEXT, "VARCHAR"),
    "producer": ["BIGINT"],
    "records": [["VARCHAR"]],
}
TRANSFORM: Final = json.dumps(COLUMNS)
"""The same as DuckDB's `json_transform` takes it."""

# Eighteen digits fit 64 bits and lie below every bound on offsets; nine fit 32 bits.
_INTEGER: Final = r"-?(?:0|[1-9][0-9]{0,17})"
_NATURAL: Final = r"(?:0|[1-9][0-9]{0,17})"
_SMALL_INTEGER: Final = r"-?(?:0|[1-9][0-9]{0,8})"
_SMALL_NATURAL: Final = r"(?:0|[1-9][0-9]{0,8})"
_SMALL_COUNT: Final = r"[1-9][0-9]{0,8}"
_STRING: Final = r'"[ !#-\[\]-~]*"'
_SOME_STRING: Final = r'"[ !#-\[\]-~]+"'
_MAYBE_STRING: Final = f"(?:{_STRING}|null)"
_MAYBE_INTEGER: Final = f"(?:{_INTEGER}|null)"
_SENT: Final = rf"\[{_MAYBE_STRING},{_MAYBE_INTEGER}(?:,{_MAYBE_STRING})?\]"
_SEEN: Final = (
    rf"\[{_INTEGER},{_MAYBE_STRING}(?:,{_MAYBE_INTEGER}"
    rf"(?:,{_MAYBE_INTEGER}(?:,{_MAYBE_STRING})?)?)?\]"
)


def _listed(form: str) -> str:
    return rf"\[(?:{form}(?:,{form})*)?\]"


def _field(names: tuple[str, ...], form: str) -> str:
    return f',"(?:{"|".join(names)})":{form}'


def _line(type_: str, f: str, *more: str) -> str:
    """A line of one type and request. `index` comes second, as sealing puts it."""
    others = (
        _field(tuple(name for name in _BIG if name not in ("index", "process")), _INTEGER),
        _field(("process",), _NATURAL),
        _field(("partition",), _SMALL_NATURAL),
        _field(("acks",), _SMALL_INTEGER),
        _field(("attempt",), _SMALL_COUNT),
        _field(("clock",), _SOME_STRING),
        _field(tuple(name for name in _TEXT if name not in ("type", "f", "clock")), _STRING),
        *more,
    )
    any_of = f"(?:{'|'.join(others)})*"
    said = rf',"type":"(?:{type_})","f":"(?:{f})"'
    return rf'\{{"kind":"op","index":{_NATURAL}{any_of}{said}{any_of}\}}\n'


_PRODUCER: Final = rf',"producer":\[{_INTEGER},{_INTEGER},{_INTEGER}\]'
_ENDED: Final = "ok|fail|info"
PLAIN: Final = r"\A(?:{})\z".format(
    "|".join(
        (
            _line("invoke", "produce", _PRODUCER, f',"records":{_listed(_SENT)}'),
            _line("invoke", "fetch|list_offsets"),
            _line(_ENDED, "fetch", f',"records":{_listed(_SEEN)}'),
            _line(_ENDED, "produce|list_offsets"),
        )
    )
)
"""Matches a plain line with its newline. Keys may still occur twice: `FIELDS` that were found are
fewer then than names in the line, which all end in `":`, as nothing else in it can."""
