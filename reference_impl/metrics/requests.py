"""Requests and the errors in their answers, counted as Kafka counts them.

Every error code of an answer counts, NONE included: a Produce of three partitions counts three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reference_impl.kafka.apis import AnyApi
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.message import Message
from reference_impl.kafka.schema import Field, Struct
from reference_impl.metrics import names
from reference_impl.metrics.registry import Registry

Codes = Callable[[Any], Iterator[int]]


class RequestMeters:
    """Counts what the server of a node answers."""

    def __init__(self, registry: Registry) -> None:
        self._requests = registry.counter(names.REQUESTS)
        self._errors = registry.counter(names.ERRORS)
        self._codes: dict[tuple[AnyApi, int], Codes] = {}
        self._labels: dict[tuple[AnyApi, int], tuple[str, str]] = {}

    def answered(self, api: AnyApi, version: int, response: Message | None) -> None:
        """A request was answered, or carried out without an answer."""
        key = (api, version)
        if key not in self._labels:
            self._labels[key] = (api.name, str(version))
            self._codes[key] = codes_of(api, version)
        self._requests.add(self._labels[key])
        if response is None:
            return
        for code in self._codes[key](response):
            self._errors.add((api.name, _NAMES.get(code, str(code))))


_NAMES: Mapping[int, str] = {int(code): code.name.upper() for code in ErrorCode}


def codes_of(api: AnyApi, version: int) -> Codes:
    """A function that finds every error code in a response of that version."""
    if version not in api.versions:
        version = api.versions[-1]
    return _codes(api.responses.structs[version])


def _codes(struct: Struct) -> Codes:
    own = any(field.name == "error_code" for field in struct.fields)
    inside = [(field, _codes(field.struct)) for field in struct.fields if field.struct is not None]
    lists = [(field.name, find) for field, find in inside if field.array and _has_codes(field)]

    def find_all(message: Any) -> Iterator[int]:
        if own:
            yield message.error_code
        for name, find in lists:
            for one in getattr(message, name) or ():
                yield from find(one)

    return find_all


def _has_codes(field: Field) -> bool:
    inside = () if field.struct is None else field.struct.fields
    return any(one.name == "error_code" or _has_codes(one) for one in inside)
