"""Asking again what was not answered in peace, until it is answered or the bound is over.

One request without an answer proves nothing: a connection may be lost at any time. The same request
tried again and again is a phase of its own (`asked-again`), which rules about answers look at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from harness.deployments.deployment import Deployment
from harness.history.outcome import Outcome

ASKED_AGAIN = "asked-again"
PAUSE_S = 0.5
REPEATABLE = ("fetch", "list_offsets", "offset_for_leader_epoch", "delete_records")


@dataclass(slots=True, kw_only=True)
class AskingAgain:
    """For the clients of one script. What was not answered within the bound is enough: a rule is
    broken, and no more time is spent on others."""

    on: Deployment
    campaign: str
    bound_s: float
    in_peace: Callable[[], bool]
    busy: bool = False

    async def until_answered(
        self, f: str, outcome: Outcome, ask: Callable[[], Awaitable[Outcome]]
    ) -> Outcome:
        """The outcome of a request, or of the last time that it was made."""
        if f not in REPEATABLE or _answered(outcome) or self.busy or not self.in_peace():
            return outcome
        self.busy = True
        loop = asyncio.get_running_loop()
        end = self.on.recorder.phase(self.campaign, ASKED_AGAIN, bound_s=self.bound_s)
        pause_s = PAUSE_S * self.on.pace
        deadline = loop.time() + pause_s + self.bound_s  # counted from the first repetition
        last = False
        while not last and not _answered(outcome):
            await asyncio.sleep(pause_s)
            last = loop.time() >= deadline
            outcome = await ask()
        end()
        self.busy = not _answered(outcome)
        return outcome


def _answered(outcome: Outcome) -> bool:
    return outcome.type == "ok" or outcome.fields.get("error") is not None
