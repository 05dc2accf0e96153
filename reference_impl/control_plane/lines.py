"""Requests and answers as JSON: the lines of the agent, and what effect lines show.

    {"f":"commit_batch","topic":"t","partition":0,"record_count":2}
    {"f":"commit_batch","partitions":[{"topic":"t","partition":0,"record_count":2}, …]}

The first form asks one partition and is answered by one object. The second asks several at once and
is answered by ``{"partitions": […]}``, one object each, in the same order.

Lines name topics. In a cluster the controller gives a topic its id; here the id follows from the
name (``topic_id_of``), so that all who speak in lines mean the same topic.

    BadRequest        (a ValueError) JSON that is no request; the sentence says which part is wrong
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from uuid import UUID, uuid5

from reference_impl.control_plane.form import CALLS
from reference_impl.ports.control_plane import (
    Answer,
    AnyRequest,
    PartitionAnswer,
    Seed,
    TopicIdPartition,
)

_TOPICS = UUID("7d7f9c1e-6a0b-5d53-9e0e-3f6f2a1c8b44")  # the namespace of names in lines
_WHERE = ("topic", "partition")
_ARGUMENTS = ("boundary", "leader_epoch", "entries", "record_count")


class BadRequest(ValueError):
    """JSON that is no request of this port; the sentence says which part is wrong."""


def topic_id_of(name: str) -> UUID:
    """The id of the topic that a line names."""
    return uuid5(_TOPICS, name)


def request_of(line: object) -> AnyRequest:
    """The request in a JSON object; BadRequest if a part is missing, unknown or mistyped."""
    found = _object(line)
    f = _text(found, "f")
    if f not in CALLS:
        raise BadRequest(f"f is {f!r}, which is no call of the control plane")
    if not asks_several(found):
        return CALLS[f](partitions=(_asked(CALLS[f], _without(found, "f"), ("f",)),))
    rows = found["partitions"]
    if not isinstance(rows, list | tuple) or set(found) != {"f", "partitions"}:
        raise BadRequest("a line that asks several partitions has f and an array, partitions")
    return CALLS[f](partitions=tuple(_asked(CALLS[f], _object(row), ()) for row in rows))


def asks_several(line: Mapping[str, object]) -> bool:
    """Whether a line is of the second form, whose answer is too."""
    return line.get("partitions") is not None


def arguments_of(request: AnyRequest) -> list[dict[str, object]]:
    """What is asked of each partition, as JSON, by topic id; arguments that are absent are left
    out."""
    return [
        {name: _plain(value) for name, value in _values(asked) if value is not None}
        for asked in request.partitions
    ]


def answer_line(answer: Answer[PartitionAnswer], *, several: bool) -> dict[str, object]:
    """The answer as a JSON object, in the form in which was asked."""
    rows = [answered(one) for one in answer.partitions]
    return {"partitions": rows} if several else rows[0]


def answered(one: PartitionAnswer) -> dict[str, object]:
    """The three state fields are always there, null if unknown; others if there is something."""
    found = {name: _plain(value) for name, value in _values(one)}
    always = ("boundary", "epoch", "reset_epoch")
    return {name: value for name, value in found.items() if name in always or value is not None}


def _values(of: TopicIdPartition | PartitionAnswer) -> Iterator[tuple[str, object]]:
    return ((one.name, getattr(of, one.name)) for one in fields(of))


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [list(part) for part in value]
    return value if value is None or isinstance(value, int) else str(value)


def _asked(
    call: type[AnyRequest], found: Mapping[str, object], besides: tuple[str, ...]
) -> TopicIdPartition:
    takes = {one.name: one for one in fields(call.asks)}
    known = (*besides, *_WHERE, *_ARGUMENTS)
    for name, value in found.items():
        if name not in known:
            raise BadRequest(f"field {name!r} is not known; the fields are {', '.join(known)}")
        if value is not None and name not in (*_WHERE, *takes):
            raise BadRequest(f"{call.f} takes no {name}")
    for name in _WHERE:
        if found.get(name) is None:
            raise BadRequest(f"field {name!r} is missing")
    values: dict[str, object] = {"topic_id": _topic_id(_text(found, "topic"))}
    for name, field in takes.items():
        if name == "topic":
            values[name] = _text(found, name)
        elif name != "topic_id":
            values |= _argument(call, found, field)
    return call.asks(**values)  # type: ignore[arg-type]  # each was checked by its name


def _argument(
    call: type[AnyRequest], found: Mapping[str, object], field: Field[object]
) -> dict[str, object]:
    """The argument of that name, if it is given or must be."""
    value = found.get(field.name)
    if value is None and field.default is MISSING:
        raise BadRequest(f"{call.f} needs {field.name}")
    if value is None:
        return {}
    return {field.name: _seeds(value) if field.name == "entries" else _int(field.name, value)}


def _topic_id(name: str) -> UUID:
    try:
        return topic_id_of(name)
    except UnicodeEncodeError:
        raise BadRequest(f"topic {name!r} is not plain text") from None


def _object(line: object) -> dict[str, object]:
    if not isinstance(line, dict):
        raise BadRequest(f"a JSON object is needed, not {line!r}")
    return line


def _without(line: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in line.items() if name not in names}


def _text(line: Mapping[str, object], name: str) -> str:
    value = line.get(name)
    if value is None:
        raise BadRequest(f"field {name!r} is missing")
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string, not {value!r}")
    return value


def _int(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRequest(f"{name} must be an integer, not {value!r}")
    return value


def _seeds(rows: object) -> tuple[Seed, ...]:
    if not isinstance(rows, list | tuple):
        raise BadRequest(f"entries must be an array of entries, not {rows!r}")
    return tuple(_seed(row) for row in rows)


def _seed(row: object) -> Seed:
    if not isinstance(row, list | tuple) or len(row) != len(Seed._fields):
        raise BadRequest(f"an entry is [{', '.join(Seed._fields)}], not {row!r}")
    for value in row:
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadRequest(f"an entry holds integers only, not {value!r}")
    return Seed(*row)
