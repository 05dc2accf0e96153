"""Variants of sequences against two clusters at once, and the kinds of difference among them.

The left cluster is held to be right. Plays have names of their own and do not see each other, so
many run at a time. A difference counts if it is there again when the variant is played alone.
Variants whose answers differ in the same field of the same request, in the same way, are one kind.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from harness.differential.agreement import StepDifference, compare_answers
from harness.differential.allowed import Allowed
from harness.differential.answers import Recording
from harness.differential.live import here_and_now
from harness.differential.player import Play
from harness.differential.sequence import RequestSequence
from harness.differential.settling import NotPrepared

Address = tuple[str, int]
Kind = tuple[str, str, str, str]
"""An API, a path without its places, and what was said left and right."""

AT_A_TIME = 12
SETTLE_S = 4.0
SILENCE_S = 8.0
_PLACE = re.compile(r"\[[^]]*\]")


@dataclass(slots=True, kw_only=True)
class Variation:
    """How many variants were compared, and what was found."""

    variants: int = 0
    requests: int = 0
    passing: int = 0
    """Differences that were gone the second time."""
    found: dict[Kind, list[tuple[Recording, StepDifference]]] = field(default_factory=dict)


def vary(
    left: Address,
    right: Address,
    sequences: Sequence[RequestSequence],
    *,
    most: int,
    seed: int,
    allowed: Sequence[Allowed] = (),
    strict: bool = False,
    at_a_time: int = AT_A_TIME,
    on_variant: Callable[[int], None] = lambda _: None,
) -> Variation:
    """Compare so many of these sequences, chosen at random."""
    chosen = list(sequences)
    random.Random(seed).shuffle(chosen)
    so_far = Variation()

    async def different(sequence: RequestSequence) -> tuple[Recording, list[StepDifference]]:
        expected, seen = await asyncio.gather(_answers(sequence, left), _answers(sequence, right))
        recording = Recording(oracle="left", sequence=sequence, answers=expected)
        agreement = compare_answers(recording, seen, allowed)
        return recording, list(agreement.counted(strict=strict))

    async def compare(sequence: RequestSequence) -> None:
        _, first = await different(sequence)
        recording, again = await different(sequence) if first else (None, [])
        so_far.variants += 1
        so_far.requests += len(sequence.steps)
        on_variant(so_far.variants)
        so_far.passing += bool(first and not again)
        if recording is not None and again:  # what else differs may follow from it
            so_far.found.setdefault(_kind(again[0]), []).append((recording, again[0]))

    async def all_of_them() -> None:
        left_over = iter(chosen[:most])

        async def some() -> None:
            for sequence in left_over:
                await compare(sequence)

        await asyncio.gather(*(some() for _ in range(at_a_time)))

    asyncio.run(all_of_them())
    return so_far


async def _answers(sequence: RequestSequence, address: Address) -> list[object]:
    """What was answered; where a wait was in vain, that is said in place of all that follows."""
    answers: list[object] = []
    context = replace(here_and_now(address), settle_s=SETTLE_S)
    try:
        async with Play(context, sequence, timeout_s=SILENCE_S) as game:
            for step in sequence.steps:
                answers.append(await game.take(step))
    except (NotPrepared, ConnectionError) as problem:
        left = len(sequence.steps) - len(answers)
        answers += [{"not_prepared": str(problem)}] * left
    return answers


def _kind(one: StepDifference) -> Kind:
    told = one.difference
    path = _PLACE.sub("[]", told.path)
    return f"{one.step.api}", path, str(told.expected)[:80], str(told.seen)[:80]
