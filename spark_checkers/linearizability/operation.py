"""One operation on one object, as its client saw it.

An operation runs from `began` to `ended`, both inclusive, in any integer unit of one clock, and
takes effect at some instant between the two. `ended` is None when nobody knows the outcome: the
operation then takes effect at any instant from `began` on, or never.

`arguments` and `result` are whatever the model reads in them. They must be hashable, because the
search treats two operations that ask the same and were answered the same as one kind. Values of a
history go through `frozen`, which makes them hashable and equal only where they are the same value.

Errors of this package:

    LinearizabilityError
    ├── UnknownModel        a model was asked for under a name that does not exist
    ├── UnusableHistory     the history cannot be read as operations of the model
    └── NotForCompiledCode  the history needs the walk in Python, which was ruled out
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


class LinearizabilityError(ValueError):
    """Something the caller handed in cannot be searched."""


class UnknownModel(LinearizabilityError):
    """There is no model of that name."""


class UnusableHistory(LinearizabilityError):
    """An event or a row does not describe an operation of the model."""


class NotForCompiledCode(LinearizabilityError):
    """Only the walk in Python can deal with this model or this history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A call and its answer; `op` names it in findings."""

    op: int
    process: object
    f: str
    arguments: object
    result: object
    began: int
    ended: int | None

    def __post_init__(self) -> None:
        if self.ended is not None and self.ended < self.began:
            raise UnusableHistory(
                f"operation {self.op} ended at {self.ended}, before it began at {self.began}: "
                "were the two times taken from one clock?"
            )

    @property
    def unknown(self) -> bool:
        """Nobody knows whether this operation took effect."""
        return self.ended is None


@dataclass(frozen=True, slots=True)
class Exact:
    """A value that Python would take for another one, as the text that it has in no other value."""

    text: str

    def __repr__(self) -> str:
        return self.text


def frozen(value: object) -> Hashable:
    """The value as something that can be hashed, equal to what JSON and EDN call the same value.

    True is not 1, false is not 0, and an object is not a list of pairs. As for Knossos, which
    compares by Clojure's `=`, 1 is not 1.0, and 0.0 is -0.0. The order of an object's fields does
    not matter. NaN is itself: whoever reads it where it was written has read what was written.
    """
    if isinstance(value, bool):
        return Exact("true" if value else "false")
    if isinstance(value, float):
        return Exact(repr(value + 0.0))
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    if isinstance(value, dict):
        fields = sorted(f"{str(key)!r}: {frozen(item)!r}" for key, item in value.items())
        return Exact(f"{{{', '.join(fields)}}}")
    if not isinstance(value, Hashable):
        raise UnusableHistory(f"a {type(value).__name__} cannot be a value of a model: {value!r}")
    return value
