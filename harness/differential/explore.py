"""Generated sequences against two clusters at once, and the shortest one on which they disagree.

The left cluster is held to be right. A cluster under load may do what it acknowledged later than
usual, so a difference counts only if it is there again when the sequence is played again. Topics
are new for every play, so examples do not see each other; clusters fill up, though, so do not run
this against one that somebody wants to keep.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

from harness.differential.agreement import Agreement, compare_answers
from harness.differential.allowed import Allowed
from harness.differential.answers import Recording
from harness.differential.generated import generated_sequences
from harness.differential.live import play_now
from harness.differential.sequence import RequestSequence

Address = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The shortest sequence that was found, the left answers, and what differs."""

    recording: Recording
    agreement: Agreement


@dataclass(slots=True, kw_only=True)
class Exploration:
    """How far it went, and what it found."""

    examples: int = 0
    requests: int = 0
    passing: int = 0
    """Differences that were gone the second time."""
    found: Disagreement | None = None


class _Disagrees(AssertionError):
    """What Hypothesis shrinks."""


def explore(
    left: Address,
    right: Address,
    *,
    examples: int,
    first_seed: int,
    allowed: Sequence[Allowed] = (),
    on_example: Callable[[int], None] = lambda _: None,
) -> Exploration:
    """Play generated sequences on both until they disagree or enough have agreed."""
    so_far = Exploration()

    def compare(sequence: RequestSequence) -> None:
        if so_far.found is None:
            so_far.examples += 1
            so_far.requests += len(sequence.steps)
            on_example(so_far.examples)
        if disagree(sequence) is None:
            return
        again = disagree(sequence)
        if again is None:
            so_far.passing += 1
            return
        so_far.found = again
        raise _Disagrees

    def disagree(sequence: RequestSequence) -> Disagreement | None:
        recording = Recording(oracle="left", sequence=sequence, answers=play_now(sequence, left))
        agreement = compare_answers(recording, play_now(sequence, right), allowed)
        if not agreement.counted(strict=False):
            return None
        return Disagreement(recording=recording, agreement=agreement)

    run = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )(seed(first_seed)(given(generated_sequences())(compare)))
    with contextlib.suppress(_Disagrees, Flaky):
        run()
    return so_far
