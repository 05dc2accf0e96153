"""The boundary of one diskless log as a model: a register fenced by leader epochs.

Every answer tells what is stored after the call, and the model holds it to that. A refusal is an
observation like any other: it must be due, with that error and that stored state, at some instant
between call and answer.

`boundary` demands exactly the readings the project takes, and answers that are complete.
`boundary-tolerant` judges systems that are not the reference: it grants what `boundary_answers`
lists, and does not compare what an answer leaves out.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from spark_checkers.linearizability.boundary_answers import (
    ANY_CODE,
    FUNCTIONS,
    INVALID,
    LOOKING,
    NONE,
    UNDEFINED,
    UNKNOWN_LOG,
    Answer,
    Call,
    Log,
    Seeds,
    answers,
)
from spark_checkers.linearizability.operation import Operation, UnusableHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer as it was seen; None is what it left out."""

    error: str = NONE
    boundary: int | None = None
    epoch: int | None = None
    reset_epoch: int | None = None
    seeds: Seeds | None = None
    base_offset: int | None = None


_NOTHING_YET = Log()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryRegister:
    """The model; `tolerant` grants foreign systems what the decisions grant them."""

    name: str
    tolerant: bool
    functions: tuple[str, ...] = FUNCTIONS
    initial: Hashable = _NOTHING_YET
    foresight: bool = True
    always_legal: bool = False

    def step(self, state: Hashable, operation: Operation) -> tuple[Hashable, ...]:
        legal = answers(_log(state), operation.f, _call(operation), tolerant=self.tolerant)
        reply = None if operation.unknown else _reply(operation)
        found = (a.after for a in legal if reply is None or self._agrees(a, operation.f, reply))
        return tuple(dict.fromkeys(found))

    def effect(self, operation: Operation) -> None:
        """What a call does depends on more of the state than one word says."""

    def observable(self, operation: Operation) -> bool:
        if operation.f in LOOKING:
            return False
        return operation.unknown or _reply(operation).error == NONE

    def overwrites(self, operation: Operation) -> bool:
        return False

    def hopeless(self, state: Hashable, operation: Operation) -> bool:
        """Logs and epochs never go back, and neither does a boundary that has batches above it."""
        log, reply = _log(state), _reply(operation)
        if log.exists and reply.error == UNKNOWN_LOG and not self.tolerant:
            return True
        if _below(reply.epoch, log.epoch) or _below(reply.reset_epoch, log.reset_epoch):
            return True
        if log.suffix_end <= log.boundary:
            return False
        moved = reply.boundary is not None and reply.boundary != log.boundary
        commits = operation.f == "commit_batch" and reply.error == NONE
        return moved or (commits and _below(reply.base_offset, log.suffix_end))

    def describe_operation(self, operation: Operation) -> str:
        call = _call(operation)
        named = ("boundary", "leader_epoch", "entries", "record_count")
        given = ((name, getattr(call, name)) for name in named)
        arguments = ", ".join(f"{name}={_shown(v)}" for name, v in given if v is not None)
        asked = f"{operation.f}({arguments})"
        if operation.unknown:
            return asked
        reply = _reply(operation)
        told = ("boundary", "epoch", "reset_epoch", "seeds", "base_offset")
        values = ((name, getattr(reply, name)) for name in told)
        stored = " ".join(f"{name}={_shown(v)}" for name, v in values if v is not None)
        return f"{asked} answered {reply.error} {stored}".rstrip()

    def describe_state(self, state: Hashable) -> str:
        log = _log(state)
        if not log.exists:
            return "the log does not exist"
        suffix = "" if log.boundary == UNDEFINED else f" suffix_end={log.suffix_end}"
        return f"the log stores {_stored(log)} seeds={_shown(log.seeds)}{suffix}"

    def expected(self, state: Hashable, operation: Operation) -> str:
        legal = answers(_log(state), operation.f, _call(operation), tolerant=self.tolerant)
        told = (_told(answer, operation.f) for answer in legal)
        return "answer " + " or ".join(dict.fromkeys(told))

    def _agrees(self, answer: Answer, f: str, reply: Reply) -> bool:
        refused = NONE not in (answer.error, reply.error)
        if answer.error not in (reply.error, ANY_CODE) and not (self.tolerant and refused):
            return False
        after = answer.after
        told: list[tuple[Hashable, Hashable]] = [
            (reply.boundary, after.boundary),
            (reply.epoch, after.epoch),
            (reply.reset_epoch, after.reset_epoch),
        ]
        if answer.base_offset is not None:
            told.append((reply.base_offset, answer.base_offset))
        if f == "describe_producers" and reply.error == NONE:
            told.append((reply.seeds, after.seeds))
        may_omit = self.tolerant or reply.error == INVALID
        return all(seen == true or (seen is None and may_omit) for seen, true in told)


BOUNDARY = BoundaryRegister(name="boundary", tolerant=False)
BOUNDARY_TOLERANT = BoundaryRegister(name="boundary-tolerant", tolerant=True)


def _log(state: Hashable) -> Log:
    assert isinstance(state, Log)
    return state


def _call(operation: Operation) -> Call:
    if not isinstance(operation.arguments, Call):
        raise UnusableHistory(f"operation {operation.op} carries no call of the boundary register")
    return operation.arguments


def _reply(operation: Operation) -> Reply:
    if not isinstance(operation.result, Reply):
        raise UnusableHistory(f"operation {operation.op} has ended, but carries no answer")
    return operation.result


def _below(told: int | None, stored: int) -> bool:
    return told is not None and told < stored


def _told(answer: Answer, f: str) -> str:
    seeds = f" seeds={_shown(answer.after.seeds)}" if f == "describe_producers" else ""
    batch = "" if answer.base_offset is None else f" base_offset={answer.base_offset}"
    return f"{answer.error} {_stored(answer.after)}{seeds}{batch}"


def _stored(log: Log) -> str:
    return f"boundary={log.boundary} epoch={log.epoch} reset_epoch={log.reset_epoch}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(_shown(item) for item in value) + "]"
    return str(value)
