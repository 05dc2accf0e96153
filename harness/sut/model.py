"""A system under test as the lab knows it: what it is called, what it claims, where it opens up.

Secrets never become part of this. A client setting written as `${NAME}` stays exactly that text
until the moment it is handed to a client; whatever stores or prints a `Sut` cannot leak it.
"""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from harness.errors import UsageError
from harness.sut.adapter import Adapter, adapter_of
from harness.sut.lever_sets import ALL

Setting = str | int | float | bool

PROFILES: tuple[str, ...] = (
    "classic",
    "tiered",
    "diskless",
    "migration",
    "managed-rf",
    "proposal-e",
    "local-replica",
    "inkless",
)

# Which kinds of address each hook understands.
HOOK_SCHEMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "objects": ("s3://",),
        "control_plane": ("exec:",),
        "process": ("exec:",),
        "metrics": ("http://", "https://"),
        "trace": ("file:",),
    }
)

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One opening into a system: `exec:./heron-control` is scheme `exec:` and the rest."""

    name: str
    scheme: str
    target: str

    @property
    def address(self) -> str:
        """As it was written."""
        return self.scheme + self.target

    @property
    def command(self) -> tuple[str, ...]:
        """The words of an `exec:` hook."""
        return tuple(shlex.split(self.target))


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A rule that is known to fail, why, and until when it is excused."""

    rule: str
    reason: str
    until: datetime.date

    def expired(self, today: datetime.date) -> bool:
        """Whether the last day has passed; the day comes in from outside."""
        return today > self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The built-in system: which control plane (None: the world's own), which mutants, how far the
    lab may reach into it, and which versions of which requests it is taken to offer (None: all)."""

    control_plane: str | None = None
    mutants: tuple[str, ...] = ()
    levers: str = ALL
    offered: Mapping[int, tuple[int, int]] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sut:
    """A system under test: a built-in one, which the lab starts itself, or one from a file."""

    name: str
    version: str
    profiles: tuple[str, ...]
    variants: tuple[str, ...] = ()  # readings of profiles that it claims, like `kafka4`
    bootstrap: str | None = None
    client: Mapping[str, Setting] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    hooks: Mapping[str, Hook] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    waivers: tuple[Waiver, ...] = ()
    folder: Path | None = None
    reference: Reference | None = None

    @property
    def adapter(self) -> Adapter:
        """How it is started or found."""
        return adapter_of(self.name)

    @property
    def mutants(self) -> tuple[str, ...]:
        """The mutants of the reference that it runs with."""
        return self.reference.mutants if self.reference else ()

    @property
    def started(self) -> bool:
        """Whether the lab starts it, as it likes; else it is as it is found."""
        limited = self.reference is not None and self.reference.levers != ALL
        return self.adapter.started and not limited

    def client_settings(self, environment: Mapping[str, str]) -> dict[str, Setting]:
        """The settings with each `${NAME}` filled in; for the client's eyes only."""
        return {key: _filled(key, value, environment) for key, value in self.client.items()}


def _filled(key: str, value: Setting, environment: Mapping[str, str]) -> Setting:
    if not isinstance(value, str):
        return value

    def look_up(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in environment:
            raise UsageError(f'[client] "{key}" needs ${{{name}}}; set {name} in the environment')
        return environment[name]

    return _REFERENCE.sub(look_up, value)


def mentions_environment(value: str) -> bool:
    """Whether a setting takes its value from the environment."""
    return _REFERENCE.search(value) is not None
