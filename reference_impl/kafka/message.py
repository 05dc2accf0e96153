"""Messages: one class per structure of a schema, for all its versions.

A class has the union of the fields of all versions, and every field has a default: the schema's, or
else zero, empty, or null where the newest version with that field allows it. Fields are given by
keyword; one that no version has is a TypeError, and an AttributeError when it is assigned to.

A structure inside of another, where it cannot be null, is by default one object that all messages
share, so that "as by default" is seen at a glance. It cannot be changed: assign a new one.

For the type checker the classes stand in ``kafka.messages``, written by ``kafka.stubs`` from the
same fields (``fields_of_classes``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, dataclass_transform

from reference_impl.kafka.schema import Field, Struct, nested_structs


@dataclass_transform(kw_only_default=True)
class Message:
    """What all messages have in common."""

    __slots__ = ()
    _of: ClassVar[type[Message]]  # the class itself, also for the shared default

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message) or other._of is not self._of:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in field_names(self._of))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Only what differs from the defaults."""
        usual = self._of()
        said = {name: getattr(self, name) for name in field_names(self._of)}
        told = [f"{n}={v!r}" for n, v in said.items() if v != getattr(usual, n)]
        return f"{self._of.__name__}({', '.join(told)})"


def field_names(cls: type[Message]) -> tuple[str, ...]:
    """The fields of a class of messages, in the order of its constructor."""
    return tuple(field.name for field in dataclasses.fields(cls))  # type: ignore[arg-type]


def fields_of_classes(versions: Mapping[int, Struct]) -> dict[str, list[Field]]:
    """The fields of each class of a schema, given its root in each version; the root is last.

    Each field is as the newest version has it, in the order in which the newest is read.
    """
    fields: dict[str, dict[str, Field]] = {}
    for version in sorted(versions, reverse=True):
        for struct in [*nested_structs(versions[version]), versions[version]]:
            known = fields.setdefault(struct.name, {})
            for field in struct.plain + struct.tagged:
                known.setdefault(field.name, field)
    root = versions[max(versions)].name  # older versions may have structures of their own
    fields[root] = fields.pop(root)
    return {name: list(known.values()) for name, known in fields.items()}


def message_classes(versions: Mapping[int, Struct]) -> dict[str, type[Message]]:
    """The classes of a schema by name, given its root in each version; the root is last."""
    fields_of = fields_of_classes(versions)
    classes: dict[str, type[Message]] = {}

    def build(name: str) -> type[Message]:
        if name not in classes:
            for field in fields_of[name]:
                if field.struct is not None:
                    build(field.struct.name)
            classes[name] = _message_class(name, fields_of[name], classes)
        return classes[name]

    for name in fields_of:
        build(name)
    return classes


def _message_class(
    name: str, fields: Iterable[Field], classes: Mapping[str, type[Message]]
) -> type[Message]:
    members: list[tuple[str, Any, Any]] = []
    for field in fields:
        if field.array and field.default is not None:
            members.append((field.name, list, dataclasses.field(default_factory=list)))
        else:
            usual = default_of(field, classes)
            members.append((field.name, Any, dataclasses.field(default=usual)))
    built: type[Message] = dataclasses.make_dataclass(
        name, members, bases=(Message,), slots=True, eq=False, repr=False
    )
    built._of = built
    built.__module__ = __name__
    return built


def default_of(field: Field, classes: Mapping[str, type[Message]]) -> Any:
    """A field's value where nothing else is said; a list of its own where that is empty."""
    if field.array:
        return None if field.default is None else []
    if field.struct is None or field.nullable:
        return field.default
    return _shared_default(classes[field.struct.name])


def _shared_default(cls: type[Message]) -> Message:
    """An instance with all defaults that refuses to be changed."""
    if "_shared" not in cls.__dict__:
        instance = cls()
        kept = type(cls.__name__, (cls,), {"__slots__": (), **_UNCHANGEABLE})
        object.__setattr__(instance, "__class__", kept)
        type.__setattr__(cls, "_shared", instance)
    shared: Message = cls.__dict__["_shared"]
    return shared


def _refuse(self: Message, name: str, value: object) -> None:
    raise TypeError(f"this {self._of.__name__} is shared by all messages; assign a new one")


_UNCHANGEABLE: dict[str, Any] = {"__setattr__": _refuse, "__hash__": object.__hash__}
