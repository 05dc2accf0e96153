"""By what a history asks to be judged, when nobody says.

The profiles of its header; without any, those that its first operations call for, or all. Sends
and polls ask for the model `kafka`, other operations of a history from elsewhere for a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from conformance.profiles import PROFILES
from harness.errors import UsageError
from harness.history import History
from harness.history.micro_operations import MICRO_OPERATIONS
from harness.sut.adapter import adapter_of
from spark_checkers.side_by_side import JudgingProfile

KAFKA = "kafka"
RULES = "rules"
SEARCH = "search"

_LOOKED_AT = 1_000


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
    found = tuple(name for name, profile in PROFILES.items() if done & profile.operations)
    return found or tuple(PROFILES)


def profile_models() -> dict[str, tuple[str, ...]]:
    """The models that stand for the rules of a profile."""
    return {one.model: (name,) for name, one in PROFILES.items() if one.model}


def model_of(profiles: Sequence[str]) -> str:
    """What judging by the rules of some profiles is called."""
    wanted = tuple(profiles)
    return next((model for model, of in profile_models().items() if of == wanted), RULES)


def _done(history: History) -> set[str]:
    """What the first operations of a history do."""
    ops = (event for event in history.events if event["kind"] == "op")
    return {str(event["f"]) for event in islice(ops, _LOOKED_AT)}


def is_reference(history: History) -> bool:
    """Whether it is the reference that was recorded, which is held to more than others."""
    return adapter_of(str(history.header.get("sut"))).by_our_reading


def ground_of(history: History) -> JudgingProfile | None:
    """The ground on which a history is judged together with others; None if that cannot be."""
    asked = called_for(history)
    if isinstance(asked, str):
        return None
    return JudgingProfile(profiles=asked, reference=is_reference(history))
