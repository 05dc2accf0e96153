"""Vocabularies: what the actors of a run can do, verb by verb.

    class Counting(Vocabulary):
        @verb(client=("a", "b"))          # lists from which arguments are drawn, simplest first
        async def count(self, step: Step, client: str) -> None:
            ...

A verb is an async method that is given the step and its arguments by name. It runs inside the loop
of the deployment, live or simulated, and returns when the step is over; what it began and left
open (a load, a fault) goes on. A step that is out of place, because others were taken away,
does nothing. A verb that is not to be drawn is only ever written.

A vocabulary also reads and writes its steps as text (`harness.steps.text`). By default what follows
a verb are the arguments of its method, `key=value`; one with calls of its own says how they look.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from harness.steps.step import ADMIN, LAB, LOAD, NEMESIS, Step, arguments_of, step_words
from harness.steps.words import allowed

Choices = Sequence[Any] | Callable[[Any], Sequence[Any]]  # or what makes the list for a trial
Does = Callable[..., Awaitable[None]]
ACTOR = "actor"
_MARK = "_tidemark_verb"
_GIVEN = ("self", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What an actor can do: its name, a sentence, and the lists its arguments are drawn from."""

    name: str
    does: str
    lists: Mapping[str, Choices] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A verb that may be drawn, by the actors that may be drawn with it."""

    actors: Sequence[str]
    verb: str
    lists: Mapping[str, Choices]


def lists_for(trial: Any, one: Drawn) -> Mapping[str, Sequence[Any]]:
    """The actor and the arguments of a verb, and what each of them may be in a trial."""
    lists: dict[str, Choices] = {ACTOR: one.actors, **one.lists}
    return {name: how(trial) if callable(how) else how for name, how in lists.items()}


def verb(*, drawn: bool = True, **lists: Choices) -> Callable[[Does], Does]:
    """Mark an async method as a verb, and say what its arguments are drawn from, if it is."""

    def mark(method: Does) -> Does:
        sentence = (method.__doc__ or "").strip().partition("\n")[0]
        name = method.__name__.rstrip("_").replace("_", "-")  # `break_` is the verb `break`
        setattr(method, _MARK, Verb(name=name, does=sentence, lists=lists if drawn else None))
        return method

    return mark


class Speaks(Protocol):
    """What the player needs of a vocabulary."""

    def speaks(self, step: Step) -> bool:
        """Whether a step is in this vocabulary."""
        ...

    def verbs_here(self, actor: str) -> Sequence[str]:
        """The verbs that this actor has here."""
        ...

    async def resolve(self, step: Step) -> Mapping[str, Any]:
        """What the symbolic arguments of a step mean now, by name."""
        ...

    async def carry_out(self, step: Step, meant: Mapping[str, Any]) -> None:
        """Do it; `meant` is what `resolve` gave."""
        ...


class Vocabulary:
    """A vocabulary whose verbs are marked methods. `actors` says who has it; empty: any."""

    actors: ClassVar[Sequence[str]] = ()
    verbs: ClassVar[Mapping[str, Verb]] = MappingProxyType({})
    _methods: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        found: dict[str, tuple[Verb, str]] = {}
        for base in reversed(cls.__mro__):
            for name, method in vars(base).items():
                if isinstance(marked := getattr(method, _MARK, None), Verb):
                    found[marked.name] = (marked, name)
        cls.verbs = MappingProxyType({name: marked for name, (marked, _) in found.items()})
        cls._methods = MappingProxyType({name: method for name, (_, method) in found.items()})

    @classmethod
    def drawn(cls, *actors: str, without: Sequence[str] = ()) -> tuple[Drawn, ...]:
        """Its verbs that can be drawn, for these actors."""
        return tuple(
            Drawn(actors=actors or cls.actors, verb=name, lists=one.lists)
            for name, one in cls.verbs.items()
            if one.lists is not None and name not in without
        )

    @classmethod
    def verbs_of(cls, actor: str) -> Sequence[str]:
        """The verbs that this actor has, wherever it is."""
        has = actor in cls.actors if cls.actors else actor not in (LAB, LOAD, NEMESIS, ADMIN)
        return tuple(cls.verbs) if has else ()

    @classmethod
    def read_line(cls, actor: str, verb: str, words: Sequence[str], line: int | None) -> Step:
        """The step of a line, by the words after its verb; ValueError says what is wrong."""
        method = inspect.signature(getattr(cls, cls._methods[verb]))
        named = {name: one for name, one in method.parameters.items() if name not in _GIVEN}
        taken = {name: one for name, one in named.items() if one.kind is not one.VAR_KEYWORD}
        kinds = {name: str(one.annotation) for name, one in taken.items()}
        if taken != named:
            kinds |= cls.further(verb, words)
        arguments = arguments_of(words, kinds)
        for name in arguments:
            if name not in kinds:
                raise ValueError(f"{verb} takes no {name!r}; {allowed(kinds, near=name)}")
        for name, one in taken.items():
            if one.default is one.empty and name not in arguments:
                raise ValueError(f"{verb} needs {name}=")
        return Step(actor=actor, verb=verb, arguments=MappingProxyType(arguments), line=line)

    @classmethod
    def further(cls, verb: str, words: Sequence[str]) -> Mapping[str, str]:
        """What a verb takes beside the arguments that its method names, and of which kind."""
        return {}

    @classmethod
    def words_of(cls, step: Step) -> list[str]:
        """The words of a line that reads as this step."""
        return step_words(step)

    @classmethod
    def follow_order(cls) -> Callable[[Step], None]:
        """What is called with each step in turn and raises ValueError at one out of order."""
        return lambda step: None

    def verbs_here(self, actor: str) -> Sequence[str]:
        """The verbs that this actor has here."""
        return self.verbs_of(actor)

    def speaks(self, step: Step) -> bool:
        """Whether a step is in this vocabulary."""
        return step.verb in self.verbs_here(step.actor)

    async def resolve(self, step: Step) -> Mapping[str, Any]:
        """Nothing is symbolic, unless a subclass says so."""
        return {}

    async def carry_out(self, step: Step, meant: Mapping[str, Any]) -> None:
        """Call the method of the verb."""
        method: Does = getattr(self, self._methods[step.verb])
        await method(step, **{**step.arguments, **meant})
