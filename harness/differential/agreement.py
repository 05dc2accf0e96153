"""Whether a cluster agrees with a recording, and how that is told in a few lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.differential.allowed import Allowed, allowed_paths
from harness.differential.answers import Recording
from harness.differential.sequence import Step
from harness.history.differences import Difference, split_differences

SHOWN_DIFFERENCES = 6
SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDifference:
    """A difference in the answer to one step."""

    at: int
    step: Step
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One sequence compared: what differs, and how often a difference was excused."""

    name: str
    found: Sequence[StepDifference]
    excused: int

    def counted(self, *, strict: bool) -> Sequence[StepDifference]:
        """What makes this a disagreement: values, and everything else if that is asked for."""
        return [one for one in self.found if strict or one.difference.kind == "value"]


def compare_answers(
    recording: Recording, seen: Sequence[Any], allowed: Sequence[Allowed]
) -> Agreement:
    """All differences between a recording and the answers of another cluster."""
    name = recording.sequence.name
    told: list[StepDifference] = []
    excused = 0
    steps = zip(recording.sequence.steps, recording.answers, seen, strict=True)
    for at, (step, expected, here) in enumerate(steps):
        if step.compared:
            paths = allowed_paths(allowed, name, at, step)
            found, more = split_differences(expected, here, paths)
            told += [StepDifference(at=at, step=step, difference=one) for one in found]
            excused += more
    return Agreement(name=name, found=told, excused=excused)


def told(agreement: Agreement, *, strict: bool, all_of_it: bool) -> Iterator[str]:
    """The lines that tell a disagreement; none where there is none."""
    counted = agreement.counted(strict=strict)
    if not counted:
        return
    yield f"{agreement.name}: {len(counted)} difference{'s' if len(counted) > 1 else ''}"
    told_step = -1
    for one in counted if all_of_it else counted[:SHOWN_DIFFERENCES]:
        if one.at != told_step:
            told_step = one.at
            note = f"  ({one.step.note})" if one.step.note else ""
            yield f"  step {one.at} {one.step.api} v{one.step.version}{note}"
            if all_of_it:
                yield f"    asked {json.dumps(one.step.fields, ensure_ascii=False)}"
        kind = "" if one.difference.kind == "value" else f" [{one.difference.kind}]"
        yield f"    {one.difference.path}{kind}"
        yield f"      Kafka {_short(one.difference.expected)}"
        yield f"      here  {_short(one.difference.seen)}"
    if not all_of_it and len(counted) > SHOWN_DIFFERENCES:
        yield f"    … {len(counted) - SHOWN_DIFFERENCES} more (--all shows them)"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
