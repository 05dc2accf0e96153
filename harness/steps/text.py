"""Scenarios as text tables, one step a line: `client verb [call] [key=value…]`.

    old   hold     initialize b0=100 epoch=5 seeds=A     # a leader's request is delayed
    new   call     register epoch=6                      # its successor takes over
    old   release                                        # and the request arrives after all
    new   call     get

A `#` starts a comment. `parse` reads a table, `render` writes one; parsing what was rendered gives
the same steps. A step that could never be played (an unknown word, a missing argument, a release
of something that is not held) is refused here, with its line and with what would be allowed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from harness.errors import UsageError
from harness.steps.order import (
    CLIENT_VERBS,
    LAB,
    LAB_VERBS,
    Order,
    OutOfOrder,
    Takes,
    Verb,
)
from harness.steps.step import Step
from harness.sut.calls import (
    ALIASES,
    CALLS,
    SEED_NAMES,
    SEEDS,
    SHORT_ARGUMENTS,
    SHORT_OF,
    Call,
    Value,
)

_NO_ARGUMENTS: Mapping[str, Value] = MappingProxyType({})


class ScriptError(UsageError):
    """A line of a script that cannot be played, and what could stand there instead."""


def where(step: Step) -> str:
    """How an error message points at a step."""
    text = render_step(step)
    return f"step {text!r}" if step.line is None else f"line {step.line}: {text!r}"


def call_step(client: str, verb: str, f: str, **arguments: Value) -> Step:
    """A step that carries a call, with the arguments that the table form would fill in."""
    return Step(actor=client, verb=verb, f=f, arguments=_filled(CALLS[f], arguments))


def parse(text: str) -> list[Step]:
    """The steps of a table, in order; refuses the first line that could not be played."""
    steps: list[Step] = []
    order = Order()
    for number, raw in enumerate(text.splitlines(), start=1):
        words = raw.split("#", 1)[0].split()
        if not words:
            continue
        try:
            step = _parse_line(words, number)
            order.advance(step.actor, step.verb, with_call=step.f is not None)
        except (_Unreadable, OutOfOrder) as problem:
            raise ScriptError(f"line {number}: {raw.strip()!r}: {problem}") from None
        steps.append(step)
    return steps


def render(steps: Iterable[Step]) -> str:
    """A table that parses to these steps, in short names, in aligned columns."""
    rows = [_words_of(step) for step in steps]
    client = max((len(row[0]) for row in rows), default=0)
    verb = max((len(row[1]) for row in rows), default=0)
    lines = (f"{c:<{client}}  {v:<{verb}}  {' '.join(rest)}".rstrip() for c, v, *rest in rows)
    return "".join(line + "\n" for line in lines)


def render_step(step: Step) -> str:
    """One step as one line."""
    return " ".join(_words_of(step))


def check_order(steps: Sequence[Step]) -> None:
    """Refuse a list of steps that no world could play, whoever put it together."""
    order = Order()
    for step in steps:
        try:
            order.advance(step.actor, step.verb, with_call=step.f is not None)
        except OutOfOrder as problem:
            raise ScriptError(f"{where(step)}: {problem}") from None


class _Unreadable(ValueError):
    """What is wrong with a line, without saying which line."""


def _parse_line(words: list[str], number: int) -> Step:
    client = words[0]
    if len(words) < 2:
        raise _Unreadable(f"a verb must follow the client; {_allowed(_verbs_of(client))}")
    verb = _verb(client, words[1])
    call, rest = _call(verb, words[2:])
    if verb.takes is Takes.LOGS:
        return Step(actor=client, verb=verb.name, arguments=_logs(rest), line=number)
    if call is None:
        return Step(actor=client, verb=verb.name, line=number)
    return Step(
        actor=client, verb=verb.name, f=call.f, arguments=_arguments(call, rest), line=number
    )


def _verbs_of(client: str) -> Mapping[str, Verb]:
    return LAB_VERBS if client == LAB else CLIENT_VERBS


def _verb(client: str, word: str) -> Verb:
    verbs = _verbs_of(client)
    if word not in verbs:
        who = "the lab" if client == LAB else f"a client such as {client!r}"
        raise _Unreadable(f"{who} has no verb {word!r}; {_allowed(verbs, near=word)}")
    return verbs[word]


def _call(verb: Verb, words: list[str]) -> tuple[Call | None, list[str]]:
    if verb.takes is Takes.LOGS:
        return None, words
    if verb.takes is Takes.NOTHING:
        if words:
            raise _Unreadable(f"nothing may follow {verb.name!r}, found {' '.join(words)!r}")
        return None, []
    if not words:
        if verb.takes is Takes.MAYBE_A_CALL:
            return None, []
        raise _Unreadable(f"a call must follow {verb.name!r}; {_allowed(ALIASES)}")
    name = ALIASES.get(words[0], words[0])
    if name not in CALLS:
        both = [*ALIASES, *CALLS]
        raise _Unreadable(f"no call {words[0]!r}; {_allowed(ALIASES, near=words[0], among=both)}")
    return CALLS[name], words[1:]


def _pairs(words: list[str], allowed: Iterable[str], of: str) -> dict[str, str]:
    """The key=value words by full name; keys that this call does not take are refused."""
    found: dict[str, str] = {}
    short = [SHORT_OF[name] for name in allowed]
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value:
            raise _Unreadable(f"{word!r} is not key=value; {_allowed(short)}")
        name = SHORT_ARGUMENTS.get(key, key)
        if name not in allowed:
            raise _Unreadable(f"{of} takes no {key!r}; {_allowed(short, near=key)}")
        if name in found:
            raise _Unreadable(f"{key!r} is given twice")
        found[name] = value
    return found


def _arguments(call: Call, words: list[str]) -> Mapping[str, Value]:
    given = _pairs(words, call.arguments, call.alias)
    for name in call.needs:
        if name not in given:
            raise _Unreadable(f"{call.alias} needs {SHORT_OF[name]}=")
    return _filled(call, {name: _value(name, text) for name, text in given.items()})


def _filled(call: Call, given: Mapping[str, Value]) -> Mapping[str, Value]:
    """All arguments of a call, in one order, whoever wrote them in which."""
    defaults: dict[str, Value] = {"topic": "t", "partition": 0, **call.defaults}
    names = ("topic", "partition", *call.needs, *call.defaults)
    return MappingProxyType({name: given.get(name, defaults.get(name)) for name in names})


def _logs(words: list[str]) -> Mapping[str, Value]:
    """`t=old p=0,1`: the logs that exist before the upgrade."""
    given = _pairs(words, ("topic", "partition"), "upgrade")
    if not given:
        return _NO_ARGUMENTS
    numbers = given.get("partition", "0").split(",")
    partitions = tuple(_integer("partition", number) for number in numbers)
    return MappingProxyType({"topic": given.get("topic", "t"), "partition": partitions})


def _value(name: str, text: str) -> Value:
    if name == "topic":
        return text
    if name == "entries":
        if text not in SEEDS:
            raise _Unreadable(f"no seed set {text!r}; {_allowed(SEEDS, near=text)}")
        return SEEDS[text]
    if name == "leader_epoch" and text == "none":
        return None
    return _integer(name, text)


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Unreadable(f"{SHORT_OF[name]}= takes an integer, found {text!r}") from None


def _allowed(
    words: Iterable[str], *, near: str | None = None, among: Iterable[str] | None = None
) -> str:
    names = list(words)
    close = difflib.get_close_matches(near, list(among or names), n=1) if near else []
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}allowed: {', '.join(names)}"


def _words_of(step: Step) -> list[str]:
    words = [step.actor, step.verb]
    if step.f is None:
        return words + [f"{SHORT_OF[k]}={_listed(v)}" for k, v in step.arguments.items()]
    call = CALLS[step.f]
    words.append(call.alias)
    defaults: dict[str, Value] = {"topic": "t", "partition": 0, **call.defaults}
    for name in call.arguments:
        value = step.arguments.get(name, defaults.get(name))
        if name not in defaults or value != defaults[name]:
            words.append(f"{SHORT_OF[name]}={_word(name, value)}")
    return words


def _word(name: str, value: Value) -> str:
    if name != "entries":
        return "none" if value is None else str(value)
    for entries, word in SEED_NAMES.items():
        if entries == value:
            return word
    raise ScriptError(f"these seeds have no name a table could use: {value!r}")


def _listed(value: Value) -> str:
    return ",".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
