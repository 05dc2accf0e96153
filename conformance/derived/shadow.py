"""Shadow evaluation: during one sound run every mutant is asked beside its original.

The run takes the answers of the originals and is the run it would have been. Of each mutant is
noted whether it ever answered differently, and on what. In a simulation one that never did changes
nothing in that run and needs no run of its own.

    with shadowing(mutants) as shadow:
        ...                                  # a sound run in this process
    shadow.differing                         # mutant name -> the first call where it differed

Where one differs for the first time, a copy of the run may go on with its answers instead
(`branches.py`).
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass

from reference_impl.decisions import Mutant, mutated, original

SHOWN = 300  # characters of a call


Branch = Callable[[Mutant], bool]


class Shadow:
    """Which mutants answered differently, and which decisions were asked how often.

    `branch` is told where a mutant first does, and says whether this process is that mutant's from
    now on: `taken` names it then, and no other is asked beside it any more.
    """

    def __init__(self, branch: Branch = lambda mutant: False) -> None:
        self.differing: dict[str, str] = {}
        self.asked: dict[str, int] = {}
        self.taken: Mutant | None = None
        self._branch = branch
        self._asking = False

    def of(self, decision: str, mutants: Iterable[Mutant]) -> Mutant:
        """The decision as it is, with its mutants asked beside it."""
        function, waiting = original(decision), list(mutants)

        def ask(*args: object, **kwargs: object) -> object:
            if self.taken is not None:
                mine = self.taken.decision == decision
                return (self.taken.replace if mine else function)(*args, **kwargs)
            if self._asking:  # a mutant asks other decisions: what they would say is not the run's
                return function(*args, **kwargs)
            self.asked[decision] = self.asked.get(decision, 0) + 1
            given = _kept(args) if waiting else args
            answer = _said(function, args, kwargs)
            for mutant in waiting[:]:
                self._asking = True
                try:
                    said = _said(mutant.replace, _kept(given), kwargs)
                finally:
                    self._asking = False
                if not same(said, answer):
                    waiting.remove(mutant)
                    self.differing[mutant.name] = _told(given, kwargs, answer, said)
                    if self._branch(mutant):
                        self.taken = mutant
                        return mutant.replace(*given, **kwargs)
            if isinstance(answer, _Raised):
                raise answer.error
            return answer

        return Mutant(name=f"shadow of {decision}", decision=decision, replace=ask)


@contextmanager
def shadowing(mutants: Iterable[Mutant], branch: Branch = lambda mutant: False) -> Iterator[Shadow]:
    """Ask mutants beside their originals in this process until the block ends."""
    shadow = Shadow(branch)
    grouped: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        grouped.setdefault(mutant.decision, []).append(mutant)
    with mutated(*(shadow.of(decision, some) for decision, some in grouped.items())):
        yield shadow


def _kept(args: tuple[object, ...]) -> tuple[object, ...]:
    """Arguments as they are before a call: whoever draws from chance moves it on."""
    return tuple(copy.deepcopy(one) if isinstance(one, random.Random) else one for one in args)


class _Raised:
    """An error in the place of an answer; by what it says it is the same as another, or not."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Raised) and repr(self) == repr(other)

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


def _said(
    call: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    try:
        return call(*args, **kwargs)
    except Exception as error:  # that one raises where the other answers is a difference
        return _Raised(error)


def same(said: object, answer: object) -> bool:
    """Equal, and not merely so: neither 0 for False, nor the same entries in another order."""
    if said is answer:
        return True
    if type(said) is not type(answer) or said != answer:
        return False
    if isinstance(said, tuple | list) and isinstance(answer, tuple | list):
        return all(map(same, said, answer))
    if isinstance(said, Mapping) and isinstance(answer, Mapping):
        return all(map(same, said.items(), answer.items()))
    if is_dataclass(said):
        names = [one.name for one in fields(said) if one.compare]
        return all(same(getattr(said, name), getattr(answer, name)) for name in names)
    return True


def _told(args: tuple[object, ...], kwargs: dict[str, object], answer: object, said: object) -> str:
    given = ", ".join([*map(repr, args), *(f"{name}={one!r}" for name, one in kwargs.items())])
    return f"({given[:SHOWN]}) gives {repr(answer)[:SHOWN]}, the mutant {repr(said)[:SHOWN]}"
