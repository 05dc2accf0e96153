"""The profiles that are built, by name: every module here that has a `PROFILE` is one."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from conformance.catalogue import CATALOGUE
from conformance.profiles.profile import AnyMutant, Profile
from harness.errors import UsageError
from harness.sut import PROFILES as KNOWN
from reference_impl.decisions import SqlMutant, find_decision


def _built() -> dict[str, Profile]:
    modules = [import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    found: list[Profile] = [one.PROFILE for one in modules if hasattr(one, "PROFILE")]
    return {profile.name: profile for profile in sorted(found, key=lambda one: one.name)}


PROFILES = _built()


def find_profile(name: str) -> Profile:
    """A profile by its name."""
    if name in PROFILES:
        return PROFILES[name]
    built = ", ".join(PROFILES)
    if name in KNOWN:
        raise UsageError(f"there are no rules for profile {name!r} yet; built: {built}")
    raise UsageError(f"there is no profile {name!r}; built: {built}")


def built_in_mutants(world: str) -> dict[str, AnyMutant]:
    """`module:name` to mutant: all that can show in a world."""
    return {ref: one for each in PROFILES.values() for ref, one in each.mutants(world).items()}


def profile_of(mutant: AnyMutant) -> Profile:
    """Whose promises a mutant breaks: by the rules that it names, all of one profile; else of the
    profile that decides it by name; else by the module that makes the decision, the nearest counts.
    """
    named = {CATALOGUE[rule].profile for rule in mutant.rules if rule in CATALOGUE}
    if len(named) == 1:
        return PROFILES[named.pop()]
    for profile in PROFILES.values():
        if mutant.decision in profile.decides:
            return profile
    made_in = _made_in(mutant)
    near = [
        (len(area), profile)
        for profile in PROFILES.values()
        for area in profile.decided_in
        if f"{made_in}.".startswith(f"{area}.")
    ]
    if not near:
        raise UsageError(f"no profile has rules about {mutant.decision}")
    return max(near, key=lambda one: one[0])[1]


def _made_in(mutant: AnyMutant) -> str:
    function = None if isinstance(mutant, SqlMutant) else find_decision(mutant.decision).function
    return "reference_impl.control_plane" if function is None else function.__module__
