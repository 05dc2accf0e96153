"""A history of Kafka operations as one JSON document.

    {"name": "...", "options": {...}, "history": [{"index": 0, "process": 0, "type": "invoke",
     "f": "send", "value": [["send", "x", "a"]]}, ...], "expected": ...}

or the bare array of operations. Values are lists of micro-operations: `["send", key, value]`,
completed as `["send", key, [offset, value]]`; `["poll"]`, completed as `["poll", {key: [[offset,
value], ...]}]`. A completion that names no process is a process of its own. The document is read
whole, so it is bounded (`MAX_DOCUMENT_BYTES`). Name, options and note go into the header;
`expected` does not: a verdict must not rest on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..errors import HistoryUnreadable
from ..files import open_regular
from ..history import History, Pass
from ..lines import (
    MAX_DEPTH,
    BadLine,
    Event,
    check_shape,
    finite,
    int64,
    no_key_twice,
    refuse_constant,
)
from .neutral import Neutral, header

MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024

_NOBODY_ELSE: Final = 1 << 32

_decoder = json.JSONDecoder(
    parse_constant=refuse_constant,
    parse_float=finite,
    parse_int=int64,
    object_pairs_hook=no_key_twice,
)


def import_kafka_json(path: Path) -> History:
    """The history in a JSON document."""
    document = _load(path)
    about: dict[str, Any] = {}
    operations: Any = document
    if type(document) is dict:
        operations = document.get("history")
        about = {k: document[k] for k in ("name", "source", "options", "note") if k in document}
    if type(operations) is not list:
        raise HistoryUnreadable(
            f"{path} has no history: expected an object with the array `history`, or an array"
        )

    def source(passed: Pass) -> Iterator[Event]:
        neutral = Neutral()
        for at, operation in enumerate(operations):
            try:
                if type(operation) is not dict:
                    raise BadLine(f"an operation is an object, not {repr(operation)[:40]}")
                if "process" not in operation and operation.get("type") != "invoke":
                    operation = {**operation, "process": _NOBODY_ELSE + at}
                yield neutral.event(operation)
            except BadLine as cause:
                passed.log.add(0, f"operation {at}: {cause}")
        passed.ended = True

    imported = header(path.stem, "kafka-json", **({"source_document": about} if about else {}))
    return History(name=str(path), header=imported, source=source)


def _load(path: Path) -> Any:
    try:
        with open_regular(path) as file:
            raw = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as cause:
        raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise HistoryUnreadable(
            f"{path} is longer than {MAX_DOCUMENT_BYTES} bytes; a JSON document is read whole, "
            "so convert it to the line form of FORMAT.md"
        )
    try:
        document = _decoder.decode(raw.decode("utf-8-sig"))
        check_shape(document)
    except RecursionError:
        raise HistoryUnreadable(f"{path}: nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as cause:
        raise HistoryUnreadable(f"{path} is not JSON: {cause}") from None
    return document
