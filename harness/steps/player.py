"""The player: carries out lists of steps, one after the other, in any deployment.

It runs inside the loop of the deployment. Before a step is carried out it is recorded, with what
its symbolic targets mean at that moment; so the history of a run is a program that can be played
again. What a step means is said by the vocabularies that the player is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from harness.errors import UsageError
from harness.steps.step import Step, step_line
from harness.steps.vocabulary import Speaks


class Notes(Protocol):
    """Where steps are written down. ``harness.history.recorder.Recorder`` is one."""

    def step(self, document: Mapping[str, Any], meant: Mapping[str, Any]) -> None:
        """A step, as JSON, and what its symbolic arguments mean."""
        ...


class Player:
    """Plays steps with the vocabularies it was given; the first that speaks a step has it."""

    def __init__(self, notes: Notes, vocabularies: Sequence[Speaks]) -> None:
        self._notes = notes
        self._vocabularies = tuple(vocabularies)
        self.played: list[Step] = []

    async def play(
        self, steps: Iterable[Step], progress: Callable[[str], None] = lambda text: None
    ) -> None:
        """Play steps in order; refuses before the first one what no vocabulary has."""
        steps = list(steps)
        for step in steps:
            self._vocabulary_of(step)
        for step in steps:
            progress(step_line(step))
            await self.carry_out(step)

    async def carry_out(self, step: Step) -> None:
        """Play one step; returns when it is over."""
        vocabulary = self._vocabulary_of(step)
        meant = await vocabulary.resolve(step)
        self.played.append(step)
        self._notes.step(step.document(), meant)
        await vocabulary.carry_out(step, meant)

    def _vocabulary_of(self, step: Step) -> Speaks:
        for one in self._vocabularies:
            if one.speaks(step):
                return one
        where = f"line {step.line}: " if step.line is not None else ""
        able = ", ".join(
            sorted(verb for one in self._vocabularies for verb in one.verbs_here(step.actor))
        )
        raise UsageError(
            f"{where}nothing here can {step_line(step)!r}; {step.actor} can: {able or 'nothing'}"
        )
