"""What was not answered in peace is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.deployments.deployment import Deployment
from harness.history.outcome import Outcome
from harness.workloads.asked_again import ASKED_AGAIN, AskingAgain

SILENCE = Outcome("fail", {"error": None})
ANSWER = Outcome("ok", {"error": 0})
REFUSAL = Outcome("fail", {"error": "OFFSET_OUT_OF_RANGE"})


class Recorder:
    """Remembers phases, and which of them were ended."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.ended = 0

    def phase(self, campaign: str, name: str, **said: Any) -> Callable[[], None]:
        self.phases.append(name)

        def end() -> None:
            self.ended += 1

        return end


def asking(*, in_peace: bool = True) -> tuple[AskingAgain, Recorder]:
    recorder = Recorder()
    on = cast(Deployment, SimpleNamespace(recorder=recorder, pace=0.001))
    again = AskingAgain(on=on, campaign="c", bound_s=0.01, in_peace=lambda: in_peace)
    return again, recorder


def test_a_request_is_made_again_until_it_is_answered() -> None:
    again, recorder = asking()
    left = [SILENCE, SILENCE, REFUSAL, ANSWER]

    async def ask() -> Outcome:
        return left.pop(0)

    assert asyncio.run(again.until_answered("fetch", SILENCE, ask)) == REFUSAL
    assert left == [ANSWER]
    assert (recorder.phases, recorder.ended) == ([ASKED_AGAIN], 1)


def test_what_is_never_answered_ends_with_the_bound_and_is_not_tried_twice() -> None:
    again, recorder = asking()
    asked = []

    async def ask() -> Outcome:
        asked.append(1)
        return SILENCE

    for _ in range(2):
        assert asyncio.run(again.until_answered("fetch", SILENCE, ask)) == SILENCE
    assert len(asked) > 1
    assert (recorder.phases, recorder.ended) == ([ASKED_AGAIN], 1)


@pytest.mark.parametrize(
    ("f", "outcome", "in_peace"),
    [("fetch", SILENCE, False), ("produce", SILENCE, True), ("fetch", ANSWER, True)],
)
def test_under_faults_and_of_appends_nothing_is_asked_again(
    f: str, outcome: Outcome, in_peace: bool
) -> None:
    again, recorder = asking(in_peace=in_peace)

    async def ask() -> Outcome:
        raise AssertionError

    assert asyncio.run(again.until_answered(f, outcome, ask)) == outcome
    assert recorder.phases == []
