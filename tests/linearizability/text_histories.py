"""Histories as small text tables.

    0..3  a  write 1        process a writes 1 between the instants 0 and 3
    1..?  b  cas 1 2        nobody knows what became of it
    4..5  c  read nil

Operations are numbered from 0 in the order of the lines.
"""

from __future__ import annotations

from spark_checkers.linearizability.operation import Operation


def history(table: str) -> list[Operation]:
    lines = [line.split() for line in table.strip().splitlines()]
    return [_operation(op, *words) for op, words in enumerate(lines)]


def _operation(op: int, span: str, process: str, f: str, *words: str) -> Operation:
    began, ended = span.split("..")
    values = [_value(word) for word in words]
    reads = f in ("read", "get")
    arguments = None if reads or not values else values[0] if len(values) == 1 else tuple(values)
    return Operation(
        op=op,
        process=process,
        f=f,
        arguments=arguments,
        result=values[0] if reads and values else None,
        began=int(began),
        ended=None if ended == "?" else int(ended),
    )


def _value(word: str) -> object:
    if word == "nil":
        return None
    return int(word) if word.lstrip("-").isdigit() else word.strip("'")
