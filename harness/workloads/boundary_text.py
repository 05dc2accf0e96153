"""Steps of the control plane's clients as text: calls, short names, named sets of seeds.

old   hold     initialize b0=100 epoch=5 seeds=A
lab   upgrade  t=old p=0,1
a     call     commit count=2 p=0 and count=3 p=1 and t=u

What stands between `and` is asked of one partition each, all of them in one call; then the
arguments of the step are its `partitions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from harness.steps.order import CLIENT_VERBS, LAB_VERBS, Takes
from harness.steps.step import LAB, Step
from harness.steps.text import ScriptError
from harness.steps.words import allowed
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

PARTITIONS = "partitions"
_NO_ARGUMENTS: Mapping[str, Value] = MappingProxyType({})


def call_step(client: str, verb: str, f: str, **arguments: Value) -> Step:
    """A step that carries a call, with the arguments that the text form would fill in."""
    return Step(actor=client, verb=verb, f=f, arguments=_filled(CALLS[f], arguments))


def call_many_step(
    client: str, verb: str, f: str, partitions: Sequence[Mapping[str, Value]]
) -> Step:
    """A step that carries a call over several partitions."""
    filled = tuple(dict(_filled(CALLS[f], one)) for one in partitions)
    return Step(actor=client, verb=verb, f=f, arguments=MappingProxyType({PARTITIONS: filled}))


def partitions_of(step: Step) -> Sequence[Mapping[str, Value]]:
    """What a step asks of each partition: of one, or of several in one call."""
    several: Sequence[Mapping[str, Value]] = step.arguments.get(PARTITIONS, (step.arguments,))
    return several


def read_line(actor: str, verb: str, words: Sequence[str], line: int | None) -> Step:
    """The step of a line, by the words after its verb; ValueError says what is wrong."""
    takes = (LAB_VERBS if actor == LAB else CLIENT_VERBS)[verb]
    if takes is Takes.LOGS:
        return Step(actor=actor, verb=verb, arguments=_logs(words), line=line)
    call = _call(verb, takes, words)
    if call is None:
        return Step(actor=actor, verb=verb, line=line)
    asked = [_arguments(call, words) for words in _split(words[1:])]
    step = Step(actor=actor, verb=verb, f=call.f, arguments=asked[0], line=line)
    if len(asked) == 1:
        return step
    return replace(call_many_step(actor, verb, call.f, asked), line=line)


def words_of(step: Step) -> list[str]:
    """The words of a line that reads as this step, in short names."""
    words = [step.actor, step.verb]
    if step.f is None:
        return words + [f"{SHORT_OF[k]}={_listed(v)}" for k, v in step.arguments.items()]
    call = CALLS[step.f]
    words.append(call.alias)
    for number, asked in enumerate(partitions_of(step)):
        words += ["and"] if number else []
        words += _words_of(call, asked)
    return words


def _words_of(call: Call, asked: Mapping[str, Value]) -> list[str]:
    words = []
    defaults: dict[str, Value] = {"topic": "t", "partition": 0, **call.defaults}
    for name in call.arguments:
        value = asked.get(name, defaults.get(name))
        if name not in defaults or value != defaults[name]:
            words.append(f"{SHORT_OF[name]}={_word(name, value)}")
    return words


def _split(words: Sequence[str]) -> list[list[str]]:
    """The words between one `and` and the next."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "and":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _call(verb: str, takes: Takes, words: Sequence[str]) -> Call | None:
    if takes is Takes.NOTHING:
        if words:
            raise ValueError(f"nothing may follow {verb!r}, found {' '.join(words)!r}")
        return None
    if not words:
        if takes is Takes.MAYBE_A_CALL:
            return None
        raise ValueError(f"a call must follow {verb!r}; {allowed(ALIASES)}")
    name = ALIASES.get(words[0], words[0])
    if name not in CALLS:
        both = [*ALIASES, *CALLS]
        raise ValueError(f"no call {words[0]!r}; {allowed(ALIASES, near=words[0], among=both)}")
    return CALLS[name]


def _pairs(words: Sequence[str], known: Iterable[str], of: str) -> dict[str, str]:
    """The key=value words by full name; keys that this call does not take are refused."""
    found: dict[str, str] = {}
    short = [SHORT_OF[name] for name in known]
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value:
            raise ValueError(f"{word!r} is not key=value; {allowed(short)}")
        name = SHORT_ARGUMENTS.get(key, key)
        if name not in known:
            raise ValueError(f"{of} takes no {key!r}; {allowed(short, near=key)}")
        if name in found:
            raise ValueError(f"{key!r} is given twice")
        found[name] = value
    return found


def _arguments(call: Call, words: Sequence[str]) -> Mapping[str, Value]:
    given = _pairs(words, call.arguments, call.alias)
    for name in call.needs:
        if name not in given:
            raise ValueError(f"{call.alias} needs {SHORT_OF[name]}=")
    return _filled(call, {name: _value(name, text) for name, text in given.items()})


def _filled(call: Call, given: Mapping[str, Value]) -> Mapping[str, Value]:
    """All arguments of a call, in one order, in whichever they were written."""
    defaults: dict[str, Value] = {"topic": "t", "partition": 0, **call.defaults}
    names = ("topic", "partition", *call.needs, *call.defaults)
    return MappingProxyType({name: given.get(name, defaults.get(name)) for name in names})


def _logs(words: Sequence[str]) -> Mapping[str, Value]:
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
            raise ValueError(f"no seed set {text!r}; {allowed(SEEDS, near=text)}")
        return SEEDS[text]
    if name == "leader_epoch" and text == "none":
        return None
    return _integer(name, text)


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{SHORT_OF[name]}= takes an integer, found {text!r}") from None


def _word(name: str, value: Value) -> str:
    if name != "entries":
        return "none" if value is None else str(value)
    for entries, word in SEED_NAMES.items():
        if entries == value:
            return word
    raise ScriptError(f"these seeds have no name a table could use: {value!r}")


def _listed(value: Value) -> str:
    return ",".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
