"""One operation on one object, as its client saw it.

An operation runs from `began` to `ended`, both inclusive, in any integer unit of one clock, and
takes effect at some instant between the two. `ended` is None when nobody knows the outcome: the
operation then takes effect at any instant from `began` on, or never.

`arguments` and `result` are whatever the model reads in them. They must be hashable, because the
search treats two operations that ask the same and were answered the same as one kind; `frozen`
makes JSON hashable.

Errors of this package:

    LinearizabilityError
    ├── UnknownModel        a model was asked for under a name that does not exist
    └── UnusableHistory     the history cannot be read as operations of the model
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


def frozen(value: object) -> Hashable:
    """The value with lists as tuples and objects as sorted pairs, so that it can be hashed."""
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((str(key), frozen(item)) for key, item in value.items()))
    if not isinstance(value, Hashable):
        raise UnusableHistory(f"a {type(value).__name__} cannot be a value of a model: {value!r}")
    return value
