"""Steps as text, one a line: `ACTOR VERB [CALL] [key=value…]`.

    old      hold     initialize b0=100 epoch=5 seeds=A     # a leader's request is delayed
    nemesis  kill     target="leader of t-0"
    new      call     register epoch=6                      # its successor takes over
    old      release                                        # and the request arrives after all

A `#` starts a comment, quotes keep words together. Which verbs an actor has and what may follow
them is asked of the vocabularies that a text is read with; the first that has the verb reads the
line. A step that could never be played (an unknown word, a missing argument, a release of something
that is not held) is refused here, with its line and with what would be allowed. Reading what was
written gives the same steps.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from harness.errors import UsageError
from harness.steps.step import Step, step_words
from harness.steps.vocabulary import Vocabulary
from harness.steps.words import allowed

Words = type[Vocabulary]


class ScriptError(UsageError):
    """A line of a script that cannot be played, and what could stand there instead."""


def parse(text: str, *vocabularies: Words) -> list[Step]:
    """The steps of a text, in order; refuses the first line that could not be played."""
    steps: list[Step] = []
    follow = {one: one.follow_order() for one in vocabularies}
    for number, raw in enumerate(text.splitlines(), start=1):
        try:
            words = shlex.split(raw, comments=True)
            if words:
                vocabulary, step = _read(words, vocabularies, number)
                follow[vocabulary](step)
                steps.append(step)
        except ValueError as problem:
            raise ScriptError(f"line {number}: {raw.strip()!r}: {problem}") from None
    return steps


def check_order(steps: Iterable[Step], *vocabularies: Words) -> None:
    """Refuse a list of steps that could not be played in this order."""
    follow = {one: one.follow_order() for one in vocabularies}
    for step in steps:
        vocabulary = _having(step, vocabularies)
        if vocabulary is not None:
            try:
                follow[vocabulary](step)
            except ValueError as problem:
                raise ScriptError(f"{where(step, *vocabularies)}: {problem}") from None


def render(steps: Iterable[Step], *vocabularies: Words) -> str:
    """A text that parses to these steps, in aligned columns."""
    rows = [_words(step, vocabularies) for step in steps]
    actor = max((len(row[0]) for row in rows), default=0)
    verb = max((len(row[1]) for row in rows), default=0)
    lines = (f"{a:<{actor}}  {v:<{verb}}  {' '.join(rest)}".rstrip() for a, v, *rest in rows)
    return "".join(line + "\n" for line in lines)


def where(step: Step, *vocabularies: Words) -> str:
    """How an error message points at a step."""
    text = " ".join(_words(step, vocabularies))
    return f"step {text!r}" if step.line is None else f"line {step.line}: {text!r}"


def _read(words: list[str], vocabularies: Iterable[Words], number: int) -> tuple[Words, Step]:
    actor, *rest = words
    verbs = [verb for one in vocabularies for verb in one.verbs_of(actor)]
    if not rest:
        raise ValueError(f"a verb must follow {actor!r}; {allowed(verbs)}")
    verb, *rest = rest
    for one in vocabularies:
        if verb in one.verbs_of(actor):
            return one, one.read_line(actor, verb, rest, number)
    raise ValueError(f"{actor!r} has no verb {verb!r}; {allowed(verbs, near=verb)}")


def _words(step: Step, vocabularies: Iterable[Words]) -> list[str]:
    vocabulary = _having(step, vocabularies)
    return step_words(step) if vocabulary is None else vocabulary.words_of(step)


def _having(step: Step, vocabularies: Iterable[Words]) -> Words | None:
    return next((one for one in vocabularies if step.verb in one.verbs_of(step.actor)), None)
