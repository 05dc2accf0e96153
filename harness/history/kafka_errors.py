"""Which error means that nothing happened.

A client that gets an error must know whether the request may have taken effect all the same. An
error is **definite** for a request when whoever answers it has done nothing yet: the operation is
recorded as `fail`. It is **indefinite** when it can also be given after the deed: `info`. Telling
a fail from an info wrongly makes checkers lie; in doubt an error is indefinite, which costs proof
and never truth.

The answer is per *request*, and so about one attempt. A client that repeats a request and gets a
definite error for the second attempt knows nothing new about the first.

Two data files, loaded and cross-checked when this module loads: `kafka_requests.tsv` (every
request of Kafka and every call of the control plane, and whether it can change anything) and
`kafka_errors.tsv` (every error, the requests for which it is definite or notably not, and why).
Requests that only read have no effect to be unsure about: every error is definite for them.
Readings of the broker were taken from Apache Kafka's own code as of 4.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Literal, TypeAlias

from .errors import TableDataError

Outcome: TypeAlias = Literal["ok", "fail", "info"]
ErrorLike: TypeAlias = int | str | None
"""A Kafka error code, an error name, or None where no answer came."""

NONE: Final = "NONE"
EVERY: Final = "*"
_ABSENT: Final = "-"
_TABLES: Final = files(__package__)


@dataclass(frozen=True, slots=True)
class Definite:
    """The request had no effect."""

    reason: str


@dataclass(frozen=True, slots=True)
class Indefinite:
    """The request may have had its effect, or may yet have it."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One kind of request: its name in `f`, its API key if Kafka has it, whether it only reads."""

    name: str
    api_key: int | None
    read_only: bool
    family: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaError:
    """One error: its name, its Kafka code if it has one, and what it means to which request."""

    name: str
    code: int | None
    readings: Mapping[str, Definite | Indefinite]


def _rows(file: Traversable, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table file with their line numbers; comments and the heading left out."""
    heading: list[str] | None = None
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if heading is None:
            heading = cells
            if cells != list(columns):
                raise TableDataError(
                    f"{file.name}:{number}: expected the columns {', '.join(columns)}"
                )
        elif len(cells) != len(columns) or not all(cell.strip() for cell in cells):
            raise TableDataError(f"{file.name}:{number}: a row has {len(columns)} filled cells")
        else:
            yield number, cells


def _number(cell: str) -> int | None:
    return None if cell == _ABSENT else int(cell)


def load_requests(file: Traversable = _TABLES / "kafka_requests.tsv") -> dict[str, Request]:
    """The table of requests by name; `TableDataError` if a name or an API key occurs twice."""
    requests: dict[str, Request] = {}
    keys: set[int] = set()
    columns = ("request", "api_key", "effect", "family")
    for number, (name, key, effect, family) in _rows(file, columns):
        request = Request(
            name=name,
            api_key=_number(key),
            read_only={"reads": True, "writes": False}[effect],
            family=None if family == _ABSENT else family,
        )
        if name in requests or request.api_key in keys:
            raise TableDataError(f"{file.name}:{number}: {name} or API key {key} occurs twice")
        requests[name] = request
        if request.api_key is not None:
            keys.add(request.api_key)
    return requests


def _named(selector: str, requests: Mapping[str, Request], where: str) -> list[str]:
    """The requests that one cell of the `requests` column names."""
    names: list[str] = []
    for part in selector.split(","):
        if part.startswith("@"):
            found = [name for name, request in requests.items() if request.family == part[1:]]
        else:
            found = [part] if part in requests or part == EVERY else []
        if not found:
            raise TableDataError(f"{where}: there is no request or family {part}")
        names.extend(found)
    return names


def load_errors(
    requests: Mapping[str, Request], file: Traversable = _TABLES / "kafka_errors.tsv"
) -> dict[str, KafkaError]:
    """The table of errors by name; `TableDataError` on any contradiction."""
    codes: dict[str, int | None] = {}
    readings: dict[str, dict[str, Definite | Indefinite]] = {}
    columns = ("code", "error", "verdict", "requests", "why")
    for number, (code, name, verdict, selector, why) in _rows(file, columns):
        where = f"{file.name}:{number}"
        if codes.setdefault(name, _number(code)) != _number(code):
            raise TableDataError(f"{where}: {name} has two codes")
        if verdict not in ("definite", "indefinite"):
            raise TableDataError(f"{where}: a verdict is definite or indefinite, not {verdict}")
        reading = Definite(why) if verdict == "definite" else Indefinite(why)
        for request in _named(selector, requests, where):
            if request in readings.setdefault(name, {}):
                raise TableDataError(f"{where}: {name} has two rows for {request}")
            readings[name][request] = reading
    numbered = [code for code in codes.values() if code is not None]
    if len(numbered) != len(set(numbered)):
        raise TableDataError(f"{file.name}: one code has two names")
    return {
        name: KafkaError(name=name, code=code, readings=readings[name])
        for name, code in codes.items()
    }


REQUESTS: Final[Mapping[str, Request]] = load_requests()
ERRORS: Final[Mapping[str, KafkaError]] = load_errors(REQUESTS)
_NAMES: Final[Mapping[int, str]] = {0: NONE} | {
    error.code: name for name, error in ERRORS.items() if error.code is not None
}


def error_name(error: ErrorLike) -> str | None:
    """The name of an error however it was recorded; None stays None, unknown codes keep theirs."""
    if type(error) is int:
        return _NAMES.get(error, f"UNKNOWN_ERROR_CODE_{error}")
    return None if error is None else str(error)


@lru_cache(maxsize=4096)
def _reading(request: str, error: str | None) -> Definite | Indefinite:
    kind = REQUESTS.get(request)
    if kind is not None and kind.read_only:
        return Definite("the request only reads")
    if error is None:
        return Indefinite("no answer came")
    known = ERRORS.get(error)
    if known is None:
        return Indefinite(f"{error} is not an error of the table")
    reading = known.readings.get(request) or known.readings.get(EVERY)
    return reading or Indefinite(f"nothing shows that {request} is refused with {error} beforehand")


def definiteness(request: str, error: ErrorLike) -> Definite | Indefinite:
    """Whether this answer to this request proves that nothing happened, and why."""
    name = error_name(error)
    if name == NONE:
        return Indefinite("the request succeeded")
    return _reading(request, name)


def classify(request: str, error: ErrorLike) -> Outcome:
    """The type of the completion to record: ok, fail (no effect) or info (unknown)."""
    name = error_name(error)
    if name == NONE:
        return "ok"
    return "fail" if isinstance(_reading(request, name), Definite) else "info"
