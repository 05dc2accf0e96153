"""The objects a history can be held against, and how to find one by name.

A model is a sequential specification: a first state, and for each operation as it was answered the
states it may lead to. Nothing is said about time; that is the search's part. A model may be
non-deterministic, and it tells the search three more things that make it fast:

`observable`  could this operation change the object? One that cannot is placed as soon as it fits,
              and is forgotten altogether when its outcome is unknown.
`overwrites`  is this operation legal in every state and does it leave the same state behind
              whatever was there? Then of many such in a row only the last one shows.
`hopeless`    is it certain that no operations, other than overwriting ones, lead from this state to
              one where the operation fits as it was answered? Then a search that still has to place
              it can turn back at once. `foresight` says whether asking is worth the while, and
              `always_legal` that no operation but observing ones ever depends on the state.

All are promises. True is always a safe answer for `observable`, false for the others.

Where all that an operation does can be said as "it requires this state and leaves that one", its
`effect` says so, and the search can be done by compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum, auto
from typing import Final, Literal, NamedTuple, Protocol

from spark_checkers.linearizability.boundary import BOUNDARY, BOUNDARY_TOLERANT
from spark_checkers.linearizability.operation import (
    Operation,
    UnknownModel,
    UnusableHistory,
    frozen,
)

State = Hashable


class Unsaid(Enum):
    """What an effect leaves open."""

    ANY_STATE = auto()
    SAME_STATE = auto()


ANY_STATE: Final = Unsaid.ANY_STATE
SAME_STATE: Final = Unsaid.SAME_STATE


class Effect(NamedTuple):
    """Legal in the state `requires`, or in any; afterwards the state is `leaves`, or the same."""

    requires: State | Literal[Unsaid.ANY_STATE]
    leaves: State | Literal[Unsaid.SAME_STATE]

    def step(self, state: State) -> tuple[State, ...]:
        """The state after it, if it is legal here."""
        if self.requires is not ANY_STATE and self.requires != state:
            return ()
        return (state,) if self.leaves is SAME_STATE else (self.leaves,)


class Model(Protocol):
    """What the search and the explanation ask of a sequential specification."""

    @property
    def name(self) -> str:
        """The name under which the model is found."""

    @property
    def functions(self) -> tuple[str, ...]:
        """The operations it knows."""

    @property
    def initial(self) -> State:
        """The state before the first operation."""

    def step(self, state: State, operation: Operation) -> tuple[State, ...]:
        """Every state after the operation, if it could be answered so here; else none."""

    def effect(self, operation: Operation) -> Effect | None:
        """The same in one word, where there is one."""

    def observable(self, operation: Operation) -> bool:
        """May the operation change the state?"""

    def overwrites(self, operation: Operation) -> bool:
        """Is it always legal, with one and the same state after it?"""

    @property
    def foresight(self) -> bool:
        """Is `hopeless` ever true?"""

    @property
    def always_legal(self) -> bool:
        """Is every operation that may change the state legal in every state?"""

    def hopeless(self, state: State, operation: Operation) -> bool:
        """Can only an overwriting operation make this one, of known outcome, fit again?"""

    def describe_operation(self, operation: Operation) -> str:
        """The call and its answer, in a few words."""

    def describe_state(self, state: State) -> str:
        """A clause with the object as its subject."""

    def expected(self, state: State, operation: Operation) -> str:
        """What the operation would be answered here, as the end of "it would …"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """One value. `read` returns it, `write` replaces it.

    Where the register starts with a value, a `read` of nil brought none and says nothing, as in
    Jepsen's histories; where it starts with nil, nil is what the reader saw.
    """

    name: str = "register"
    functions: tuple[str, ...] = ("read", "write")
    initial: State = None
    foresight: bool = False
    always_legal: bool = True

    def step(self, state: State, operation: Operation) -> tuple[State, ...]:
        return self.effect(operation).step(state)

    def effect(self, operation: Operation) -> Effect:
        if operation.f == "read":
            seen = ANY_STATE if self._says_nothing(operation) else operation.result
            return Effect(seen, SAME_STATE)
        if operation.f == "write":
            return Effect(ANY_STATE, operation.arguments)
        return Effect(*_pair(operation))

    def _says_nothing(self, operation: Operation) -> bool:
        """A read that brought no value; nil itself is one where the register starts with it."""
        return operation.unknown or (operation.result is None and self.initial is not None)

    def observable(self, operation: Operation) -> bool:
        return operation.f != "read"

    def overwrites(self, operation: Operation) -> bool:
        return operation.f == "write"

    def hopeless(self, state: State, operation: Operation) -> bool:
        return False

    def describe_operation(self, operation: Operation) -> str:
        if operation.f == "read":
            return "read" if operation.unknown else f"read {_shown(operation.result)}"
        if operation.f == "write":
            return f"write {_shown(operation.arguments)}"
        old, new = _pair(operation)
        return f"cas {_shown(old)} to {_shown(new)}"

    def describe_state(self, state: State) -> str:
        return f"the register holds {_shown(state)}"

    def expected(self, state: State, operation: Operation) -> str:
        if operation.f == "read":
            return f"return {_shown(state)}"
        return "succeed" if self.step(state, operation) else "be refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class CasRegister(Register):
    """A register with `cas`, which replaces one value by another only where it finds the first.

    A `cas` that was refused did not happen and is not part of the history.
    """

    name: str = "cas-register"
    functions: tuple[str, ...] = ("read", "write", "cas")
    always_legal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue:
    """One key of a store of strings: `get`, `put`, `append`."""

    name: str = "kv"
    functions: tuple[str, ...] = ("get", "put", "append")
    initial: State = ""
    foresight: bool = True
    always_legal: bool = True

    def step(self, state: State, operation: Operation) -> tuple[State, ...]:
        if operation.f == "get":
            return (state,) if operation.unknown or operation.result == state else ()
        if operation.f == "put":
            return (operation.arguments,)
        return (f"{state}{operation.arguments}",)

    def effect(self, operation: Operation) -> None:
        """What an append leaves depends on what was there."""

    def observable(self, operation: Operation) -> bool:
        return operation.f != "get"

    def overwrites(self, operation: Operation) -> bool:
        return operation.f == "put"

    def hopeless(self, state: State, operation: Operation) -> bool:
        """Appending never takes away what is there."""
        return operation.f == "get" and not str(operation.result).startswith(str(state))

    def describe_operation(self, operation: Operation) -> str:
        if operation.f == "get":
            return "get" if operation.unknown else f"get {_shown(operation.result)}"
        return f"{operation.f} {_shown(operation.arguments)}"

    def describe_state(self, state: State) -> str:
        return f"the key holds {_shown(state)}"

    def expected(self, state: State, operation: Operation) -> str:
        return f"return {_shown(state)}" if operation.f == "get" else "succeed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutex:
    """A lock: `acquire` when it is free, `release` when it is held, by whomever."""

    name: str = "mutex"
    functions: tuple[str, ...] = ("acquire", "release")
    initial: State = False
    foresight: bool = False
    always_legal: bool = False

    def step(self, state: State, operation: Operation) -> tuple[State, ...]:
        return self.effect(operation).step(state)

    def effect(self, operation: Operation) -> Effect:
        held = operation.f == "acquire"
        return Effect(not held, held)

    def observable(self, operation: Operation) -> bool:
        return True

    def overwrites(self, operation: Operation) -> bool:
        return False

    def hopeless(self, state: State, operation: Operation) -> bool:
        return False

    def describe_operation(self, operation: Operation) -> str:
        return operation.f

    def describe_state(self, state: State) -> str:
        return f"the lock is {'held' if state is True else 'free'}"

    def expected(self, state: State, operation: Operation) -> str:
        return "succeed" if self.step(state, operation) else "have to wait"


_WITH_INITIAL: dict[str, Callable[[State], Model]] = {
    "register": lambda value: Register(initial=value),
    "cas-register": lambda value: CasRegister(initial=value),
    "kv": lambda value: KeyValue(initial="" if value is None else value),
}
_FIXED: dict[str, Model] = {model.name: model for model in (Mutex(), BOUNDARY, BOUNDARY_TOLERANT)}
MODELS: tuple[str, ...] = (*_WITH_INITIAL, *_FIXED)


def model_named(name: str, *, initial: object = None) -> Model:
    """The model of that name; `initial` is the first value of a register or a key."""
    if name in _WITH_INITIAL:
        return _WITH_INITIAL[name](frozen(initial))
    if name not in _FIXED:
        near = get_close_matches(name, MODELS, n=1)
        also = f" Did you mean {near[0]}?" if near else ""
        raise UnknownModel(f"There is no model {name!r}.{also} Models: {', '.join(MODELS)}.")
    if initial is not None:
        raise UnknownModel(f"The model {name} has no initial value to choose: leave it out.")
    return _FIXED[name]


def _pair(operation: Operation) -> tuple[State, State]:
    match operation.arguments:
        case (old, new):
            return old, new
    raise UnusableHistory(
        f"operation {operation.op}: cas needs a pair [expected, new], not {operation.arguments!r}"
    )


def _shown(value: object) -> str:
    return "nil" if value is None else repr(value)
