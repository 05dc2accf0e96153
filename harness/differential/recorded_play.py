"""A play of a recorded sequence as operations of a history: each request with both answers.

What could not be carried on (the system hangs up on what a sequence begins with, never serves a
topic that it made, cannot be reached) ends the sequence; the last operation says so in a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.clients.connection import Silence
from harness.differential.allowed import Allowed, allowed_paths
from harness.differential.answers import Recording
from harness.differential.player import SILENT, Play, PlayContext
from harness.differential.sequence import Step
from harness.differential.settling import NotPrepared
from harness.history.differences import split_differences
from harness.history.recorder import Operation, Recorder
from harness.history.sequence_table import SEQUENCE_REQUEST

PATIENCE_S = 20.0
QUIET_S = 2.0  # how long a system must be silent where Kafka is
MOST_CHARACTERS = 1 << 20
NOT_PREPARED = "NOT_PREPARED"
_ENDS = (NotPrepared, OSError)


class RecordedPlay:
    """Plays sequences for one client, and records every request of them. No topic stays behind."""

    def __init__(
        self,
        recorder: Recorder,
        client: str,
        allowed: Sequence[Allowed],
        *,
        compares: bool = False,
    ) -> None:
        """One that `compares` says whether an answer `differs`; the verdict is the judge's."""
        self._recorder = recorder
        self._client = client
        self._allowed = allowed
        self._compares = compares
        self.differs = False

    async def play(self, recording: Recording, context: PlayContext, node: int) -> bool:
        """Play one sequence, asking this node first; whether it came to its end in time."""
        first = self._begin(recording, 0, node)
        try:
            async with Play(context, recording.sequence, timeout_s=PATIENCE_S) as play:
                in_time = await self._steps(recording, play, first, node)
                play.timeout_s = PATIENCE_S
                await play.tidy_up()
                return in_time
        except _ENDS as problem:  # before the first request was asked
            self._end(first, problem)
            return False

    async def _steps(self, recording: Recording, play: Play, first: Operation, node: int) -> bool:
        operation = first
        for at, step in enumerate(recording.sequence.steps):
            expected = recording.answers[at]
            if at:
                operation = self._begin(recording, at, await self._asked(play, step, node))
            play.timeout_s = QUIET_S if expected == SILENT else PATIENCE_S
            try:
                answer = await play.take(step)
            except _ENDS as problem:
                self._end(operation, problem)
                return False
            told = {} if answer is None else {"answer": _bounded(answer)}
            self._recorder.finish(operation, "ok", {"error": 0, **told})
            if self._compares and not self.differs:
                self.differs = self._differs(recording, at, told)
            if play.late and (answer != SILENT or answer != expected):
                return False
            play.late = False
        return True

    def _differs(self, recording: Recording, at: int, told: Mapping[str, Any]) -> bool:
        name, step = recording.sequence.name, recording.sequence.steps[at]
        if not step.compared or "answer" not in told:
            return False
        paths = allowed_paths(self._allowed, name, at, step)
        found, _ = split_differences(recording.answers[at], told["answer"], paths)
        return any(one.kind == "value" for one in found)

    async def _asked(self, play: Play, step: Step, node: int) -> int:
        """The broker that a step asks; `node` also where none is found, which its answer tells."""
        try:
            at = await play.broker_of(step.on)
        except _ENDS:
            return node
        return node if at is None else at

    def _begin(self, recording: Recording, at: int, node: int) -> Operation:
        name, step = recording.sequence.name, recording.sequence.steps[at]
        about: dict[str, Any] = {"node": node, "sequence": name, "step": at}
        about |= {"api": step.api, "version": step.version}
        if step.compared:
            about["expected"] = recording.answers[at]
            if paths := allowed_paths(self._allowed, name, at, step):
                about["allowed"] = paths
        return self._recorder.invoke(self._client, SEQUENCE_REQUEST, about)

    def _end(self, operation: Operation, problem: Exception) -> None:
        said = "it cannot be reached" if isinstance(problem, ConnectionError) else str(problem)
        if isinstance(problem, Silence):
            said = f"it does not answer: {problem}"
        self._recorder.finish(operation, "info", {"error": NOT_PREPARED, "detail": said})


def _bounded(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer that a line of a history can hold."""
    size = len(json.dumps(answer))
    return answer if size <= MOST_CHARACTERS else {"too_long": size}
