"""The port of the control plane: requests, replies, errors, and their JSON.

One register per (topic, partition) holds the boundary B0 of a diskless partition. A request names
one call on one register. A reply says what came of it, and carries the state stored after the
call, so that a refused caller learns the boundary it has to live with.

Errors fall in two kinds. A *definite* one promises that nothing changed. An *indefinite* one
promises nothing: the call may or may not have happened, the stored state is not known, and the
reply's state is None rather than a value somebody might believe.

A call is one transaction, or several where a plan says so; each is atomic, and each is an effect
that passes the gate of its node on its own (``flow.carry_out``). Between two of them anything may
happen: others run, the node dies.

What is checked here is form: types when JSON comes in (``BadRequest``), and whether the arguments
suit the call (``problem_with``, which an implementation answers with INVALID_REQUEST). What the
design demands is decided in ``boundary``.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

Argument = TypeVar("Argument")

UNDEFINED = -1  # a boundary, epoch or reset epoch that is not set

# Above the largest boundary a suffix still has room to grow within a signed 64-bit offset.
MAX_OFFSET = 2**62
MAX_INT = 2**31 - 1
MAX_SHORT = 2**15 - 1


class BadRequest(ValueError):
    """JSON that is no request or reply of this port; the sentence says which part is wrong."""


class BoundaryError(StrEnum):
    """How a call ended. Names are Kafka's where Kafka has one."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    BOUNDARY_MISMATCH = "BOUNDARY_MISMATCH"
    PRODUCER_STATE_MISMATCH = "PRODUCER_STATE_MISMATCH"
    SUFFIX_NOT_EMPTY = "SUFFIX_NOT_EMPTY"
    BOUNDARY_UNSET = "BOUNDARY_UNSET"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    INVALID_REQUEST = "INVALID_REQUEST"
    REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
    KAFKA_STORAGE_ERROR = "KAFKA_STORAGE_ERROR"

    @property
    def definite(self) -> bool:
        """True if the caller knows whether the call took effect."""
        return self not in (BoundaryError.REQUEST_TIMED_OUT, BoundaryError.KAFKA_STORAGE_ERROR)


class Seed(NamedTuple):
    """One batch of one producer in the classic prefix; a JSON array of six on the wire."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    base_offset: int
    timestamp_ms: int


_SEED_RANGES = (
    (0, MAX_OFFSET),
    (0, MAX_SHORT),
    (0, MAX_INT),
    (0, MAX_INT),
    (0, MAX_OFFSET),
    (-1, MAX_OFFSET),
)


def canonical(entries: tuple[Seed, ...]) -> tuple[Seed, ...]:
    """Seeds as the set they are: sorted, each row once."""
    return tuple(sorted(dict.fromkeys(entries)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call on one register; arguments a call does not take stay None."""

    f: str
    topic: str
    partition: int
    boundary: int | None = None
    leader_epoch: int | None = None
    entries: tuple[Seed, ...] | None = None
    record_count: int | None = None

    def to_json(self) -> dict[str, object]:
        """The request as a JSON object, without the arguments it does not have."""
        found = {name: getattr(self, name) for name in _REQUEST_FIELDS}
        if self.entries is not None:
            found["entries"] = [list(seed) for seed in self.entries]
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def from_json(cls, line: object) -> Request:
        """The request in a JSON object; BadRequest if a part is missing, unknown or mistyped."""
        found = _object(line, _REQUEST_FIELDS, required=("f", "topic", "partition"))
        f = _text(found, "f")
        if f not in CALLS:
            raise BadRequest(f"f is {f!r}, which is no call of the control plane")
        return cls(
            f=f,
            topic=_text(found, "topic"),
            partition=_required_int(found, "partition"),
            boundary=_int(found, "boundary"),
            leader_epoch=_int(found, "leader_epoch"),
            entries=_seeds(found, "entries"),
            record_count=_int(found, "record_count"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a call. The state is None exactly when the error is indefinite.

    ``message`` is for people: it explains a failure and takes no part in comparisons.
    """

    error: BoundaryError
    boundary: int | None
    epoch: int | None
    reset_epoch: int | None
    seeds: tuple[Seed, ...] | None = None
    base_offset: int | None = None
    message: str | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, object]:
        """The reply as a JSON object; the three state fields are always there, null if unknown."""
        found: dict[str, object] = {
            "error": str(self.error),
            "boundary": self.boundary,
            "epoch": self.epoch,
            "reset_epoch": self.reset_epoch,
        }
        if self.seeds is not None:
            found["seeds"] = [list(seed) for seed in self.seeds]
        if self.base_offset is not None:
            found["base_offset"] = self.base_offset
        if self.message is not None:
            found["message"] = self.message
        return found

    @classmethod
    def from_json(cls, line: object) -> Reply:
        """The reply in a JSON object; BadRequest if it is not one."""
        found = _object(line, _REPLY_FIELDS, required=("error",))
        error = _text(found, "error")
        if error not in BoundaryError.__members__:
            raise BadRequest(f"error is {error!r}, which is no error of the control plane")
        return cls(
            error=BoundaryError(error),
            boundary=_int(found, "boundary"),
            epoch=_int(found, "epoch"),
            reset_epoch=_int(found, "reset_epoch"),
            seeds=_seeds(found, "seeds"),
            base_offset=_int(found, "base_offset"),
            message=None if found.get("message") is None else _text(found, "message"),
        )


def unknown_outcome(error: BoundaryError, message: str) -> Reply:
    """The reply of a call that may or may not have happened."""
    return Reply(error=error, boundary=None, epoch=None, reset_epoch=None, message=message)


class ControlPlane(Protocol):
    """What a broker, a simulator or a workload may ask of a control plane."""

    async def call(self, request: Request) -> Reply:
        """Carry out one call; a failing control plane replies too, it does not raise."""
        ...

    async def close(self) -> None:
        """Let go of connections; calling it twice is harmless."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What one call takes: argument names with their lowest and highest legal value."""

    required: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    optional: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    entries: bool = False


_EPOCH = (0, MAX_INT)
_OFFSET = (0, MAX_OFFSET)

CALLS: Mapping[str, Arguments] = types.MappingProxyType(
    {
        "create_log": Arguments(),
        "initialize_diskless_migration": Arguments(
            required={"boundary": _OFFSET, "leader_epoch": _EPOCH}, entries=True
        ),
        "set_diskless_log_start_offset": Arguments(
            required={"boundary": (UNDEFINED, MAX_OFFSET)}, optional={"leader_epoch": _EPOCH}
        ),
        "get_diskless_log_start_offset": Arguments(),
        "seed_producer_state": Arguments(entries=True),
        "register_leader_epoch": Arguments(required={"leader_epoch": _EPOCH}),
        "describe_producers": Arguments(),
        "commit_batch": Arguments(required={"record_count": (1, MAX_INT)}),
    }
)


def problem_with(request: Request) -> str | None:
    """Why the arguments do not suit the call, in one sentence; None if they do."""
    takes = CALLS.get(request.f)
    if takes is None:
        return f"f is {request.f!r}, which is no call of the control plane"
    if not request.topic or not _storable(request.topic):
        return f"topic {request.topic!r} is empty or not plain text"
    if not 0 <= request.partition <= MAX_INT:
        return f"partition {request.partition} is not in 0..{MAX_INT}"
    for name in ("boundary", "leader_epoch", "record_count"):
        problem = _problem_with_number(request, takes, name)
        if problem is not None:
            return problem
    return _problem_with_entries(request, takes)


def given(argument: Argument | None) -> Argument:
    """An argument that ``problem_with`` has vouched for."""
    assert argument is not None, "problem_with() lets no request pass without it"
    return argument


def _problem_with_number(request: Request, takes: Arguments, name: str) -> str | None:
    value: int | None = getattr(request, name)
    legal = takes.required.get(name, takes.optional.get(name))
    if value is None:
        return f"{request.f} needs {name}" if name in takes.required else None
    if legal is None:
        return f"{request.f} takes no {name}"
    if not legal[0] <= value <= legal[1]:
        return f"{name} {value} of {request.f} is not in {legal[0]}..{legal[1]}"
    return None


def _problem_with_entries(request: Request, takes: Arguments) -> str | None:
    if request.entries is None:
        return f"{request.f} needs entries" if takes.entries else None
    if not takes.entries:
        return f"{request.f} takes no entries"
    for seed in request.entries:
        for name, value, (low, high) in zip(Seed._fields, seed, _SEED_RANGES, strict=True):
            if not low <= value <= high:
                return f"{name} {value} of an entry is not in {low}..{high}"
    return None


def _storable(text: str) -> bool:
    # PostgreSQL stores neither NUL nor lone surrogates; memory must not take what it would refuse.
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _object(line: object, known: tuple[str, ...], required: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(line, dict):
        raise BadRequest(f"a JSON object is needed, not {line!r}")
    for name in line:
        if name not in known:
            raise BadRequest(f"field {name!r} is not known; the fields are {', '.join(known)}")
    for name in required:
        if line.get(name) is None:
            raise BadRequest(f"field {name!r} is missing")
    return line


def _text(line: Mapping[str, object], name: str) -> str:
    value = line[name]
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string, not {value!r}")
    return value


def _int(line: Mapping[str, object], name: str) -> int | None:
    return None if line.get(name) is None else _required_int(line, name)


def _required_int(line: Mapping[str, object], name: str) -> int:
    value = line[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRequest(f"{name} must be an integer, not {value!r}")
    return value


def _seeds(line: Mapping[str, object], name: str) -> tuple[Seed, ...] | None:
    rows = line.get(name)
    if rows is None:
        return None
    if not isinstance(rows, list | tuple):
        raise BadRequest(f"{name} must be an array of entries, not {rows!r}")
    return tuple(_seed(row, name) for row in rows)


def _seed(row: object, name: str) -> Seed:
    if not isinstance(row, list | tuple) or len(row) != len(Seed._fields):
        raise BadRequest(f"an entry of {name} is [{', '.join(Seed._fields)}], not {row!r}")
    for value in row:
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadRequest(f"an entry of {name} holds integers only, not {value!r}")
    return Seed(*row)


_REQUEST_FIELDS = tuple(item.name for item in fields(Request))
_REPLY_FIELDS = tuple(item.name for item in fields(Reply))
