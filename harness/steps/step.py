"""A step: one thing that a run does. Scenarios, campaigns, programs and replays are lists of them.

A step has an actor (a client, `nemesis`, `load`, `admin`, `lab`), a verb, perhaps the call of a
control plane that it carries, and arguments. Its text is one line, its JSON one object; both give
the same step back. Targets may be symbolic (`leader of t-0`): what they meant when the step was
played is recorded with it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

LAB, LOAD, NEMESIS, ADMIN = "lab", "load", "nemesis", "admin"
_NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})
MILLISECONDS = ("ms", "lasts", "soon", "by")
LONGEST_MS = 600_000  # that one step may take
_KINDS = {"int": (int,), "float": (int, float), "bool": (bool,)}
_CALLED = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_WORDS = {"none": None, "true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. `arguments` has full names; `line` is only for messages."""

    actor: str
    verb: str
    f: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=lambda: _NO_ARGUMENTS, hash=False)
    line: int | None = field(default=None, compare=False)

    def document(self) -> dict[str, Any]:
        """The step as JSON holds it."""
        carried = {} if self.f is None else {"f": self.f}
        return {
            "actor": self.actor,
            "verb": self.verb,
            **carried,
            "arguments": dict(self.arguments),
        }


def step_of(document: Mapping[str, Any]) -> Step:
    """The step that a JSON object describes; ValueError if it describes none."""
    actor, verb, f = document.get("actor"), document.get("verb"), document.get("f")
    arguments = document.get("arguments", {})
    if not isinstance(actor, str) or not isinstance(verb, str) or not isinstance(arguments, dict):
        raise ValueError(f"no step: {str(dict(document))[:200]}")
    if f is not None and not isinstance(f, str):
        raise ValueError(f"the call of a step is a text, not {f!r}")
    return Step(actor=actor, verb=verb, f=f, arguments=MappingProxyType(dict(arguments)))


def step_line(step: Step) -> str:
    """The step as one line: `nemesis kill target="leader of t-0" lasts=200`."""
    return " ".join(step_words(step))


def step_words(step: Step) -> list[str]:
    """The words of its line."""
    given = [f"{name}={_written(value)}" for name, value in step.arguments.items()]
    return [step.actor, step.verb, *([step.f] if step.f else []), *given]


def read_step(line: str, number: int | None = None) -> Step:
    """The step that a line without calls describes; ValueError says what is wrong with it."""
    words = shlex.split(line, comments=True)
    if len(words) < 2:
        raise ValueError("a step has an actor and a verb")
    arguments = MappingProxyType(arguments_of(words[2:]))
    return Step(actor=words[0], verb=words[1], arguments=arguments, line=number)


def arguments_of(words: Iterable[str], kinds: Mapping[str, str] = _NO_ARGUMENTS) -> dict[str, Any]:
    """What words like `key=value` give, by the kinds that are known (`int`, `str | None`…);
    ValueError if they are others."""
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ValueError(f"{word!r} is not key=value")
        if name in arguments:
            raise ValueError(f"{name!r} is given twice")
        arguments[name] = _of_kind(name, value, kinds.get(name, ""))
    return arguments


def read_steps(text: str) -> list[Step]:
    """All steps of a text, a line each; empty lines and what follows a `#` do not count."""
    steps = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.split("#", 1)[0].strip():
            try:
                steps.append(read_step(line, number))
            except ValueError as problem:
                raise ValueError(f"line {number}: {line.strip()!r}: {problem}") from None
    return steps


def _written(value: Any) -> str:
    for word, meant in _WORDS.items():
        if value is meant:
            return word
    return shlex.quote(value) if isinstance(value, str) else str(value)


def _of_kind(name: str, text: str, kind: str) -> Any:
    kind, _, or_none = kind.partition(" | ")
    if or_none and text == "none":
        return None
    if kind == "str":
        return text
    value = _read(text)
    if kind in _KINDS and type(value) not in _KINDS[kind]:
        raise ValueError(f"{name}={text}: {name} is {_CALLED[kind]}")
    if name in MILLISECONDS and kind and not 0 <= value <= LONGEST_MS:
        raise ValueError(f"{name}={text}: {name} is 0 to {LONGEST_MS} milliseconds")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name}={text}: {name} is a finite number")
    return value


def _read(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
