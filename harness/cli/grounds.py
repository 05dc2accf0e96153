"""By what a history asks to be judged, when nobody says.

The profiles of its header; without any, those that its first operations call for. Sends and polls
ask for the model `kafka`, other operations of a history from elsewhere for a search.
"""

from __future__ import annotations

from itertools import islice

from harness.errors import UsageError
from harness.history import REGISTER_CALLS, History
from harness.history.micro_operations import MICRO_OPERATIONS
from spark_checkers.side_by_side import JudgingProfile

LOG = "log"
KAFKA = "kafka"
SEARCH = "search"

_LOOKED_AT = 1_000
_LOG_REQUESTS = frozenset({"produce", "fetch", "list_offsets", "delete_records"})


def called_for(history: History) -> str | tuple[str, ...]:
    """A model, or the names of profiles."""
    imported = history.header.get("world") == "import"
    profiles = history.header.get("profiles")
    if profiles and not imported:
        if not all(isinstance(profile, str) for profile in profiles):
            raise UsageError(f"{history.name}: profiles are names, not {profiles}")
        return tuple(profiles)
    done = _done(history)
    if done & MICRO_OPERATIONS:
        return KAFKA
    if imported:
        return SEARCH
    found = ("classic",) if done & _LOG_REQUESTS else ()
    return (*found, "migration") if done & REGISTER_CALLS or not found else found


def _done(history: History) -> set[str]:
    """What the first operations of a history do."""
    ops = (event for event in history.events if event["kind"] == "op")
    return {str(event["f"]) for event in islice(ops, _LOOKED_AT)}


def is_reference(history: History) -> bool:
    """Whether it is the reference that was recorded, which is held to more than others."""
    return history.header.get("sut") == "reference"


def ground_of(history: History) -> JudgingProfile | None:
    """The ground on which a history is judged together with others; None if that cannot be."""
    asked = called_for(history)
    if isinstance(asked, str):
        return None
    return JudgingProfile(profiles=asked, reference=is_reference(history))
