"""Requests and the errors in their answers, counted as Kafka counts them.

Every error code of an answer counts, NONE included: a Produce of three partitions counts three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.kafka.apis import AnyApi
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.message import Message
from reference_impl.kafka.schema import Field, Struct
from reference_impl.metrics import names
from reference_impl.metrics.registry import Labels, Registry

Codes = Callable[[Any, Callable[[int], None]], None]
"""Tells every error code of a message."""


class RequestMeters:
    """Counts what the server of a node answers."""

    def __init__(self, registry: Registry) -> None:
        self._requests = registry.counter(names.REQUESTS)
        self._errors = registry.counter(names.ERRORS)
        self._kinds: dict[tuple[AnyApi, int], _Answered] = {}

    def answered(self, api: AnyApi, version: int, response: Message | None) -> None:
        """A request was answered, or carried out without an answer."""
        kind = self._kinds.get((api, version))
        if kind is None:
            kind = self._kinds[api, version] = _Answered(api, version, self._errors.values)
        self._requests.add(kind.labels)
        if response is not None:
            kind.tell_codes(response, kind.count)


class _Answered:
    """What is answered in one version of an API."""

    def __init__(self, api: AnyApi, version: int, errors: dict[Labels, int]) -> None:
        self.labels = (api.name, str(version))
        self.tell_codes = codes_of(api, version)
        self._errors = errors
        self._named = {int(code): (api.name, code.name.upper()) for code in ErrorCode}

    def count(self, code: int) -> None:
        """One error code; a number that is no code of Kafka's stands for itself."""
        labels = self._named.get(code) or (self.labels[0], str(code))
        self._errors[labels] = self._errors.get(labels, 0) + 1


def codes_of(api: AnyApi, version: int) -> Codes:
    """A function that finds every error code in a response of that version."""
    if version not in api.versions:
        version = api.versions[-1]
    return _codes(api.responses.structs[version])


def _codes(struct: Struct) -> Codes:
    own = any(field.name == "error_code" for field in struct.fields)
    inside = [(field, _codes(field.struct)) for field in struct.fields if field.struct is not None]
    lists = [(field.name, find) for field, find in inside if field.array and _has_codes(field)]

    def own_alone(message: Any, tell: Callable[[int], None]) -> None:
        tell(message.error_code)

    def find_all(message: Any, tell: Callable[[int], None]) -> None:
        if own:
            tell(message.error_code)
        for name, find in lists:
            for one in getattr(message, name) or ():
                find(one, tell)

    return find_all if lists or not own else own_alone


def _has_codes(field: Field) -> bool:
    inside = () if field.struct is None else field.struct.fields
    return any(one.name == "error_code" or _has_codes(one) for one in inside)
