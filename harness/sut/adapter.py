"""How systems of one kind are started or found: an adapter each, by name.

An adapter only describes. How a deployment of its systems comes about is registered by
`harness.deployments`, which lies above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.sut.model import Sut

BROKERS, CONTROL_PLANE, OBJECT_STORE = "brokers", "control_plane", "object_store"
HOOKS = {CONTROL_PLANE: "control_plane", OBJECT_STORE: "objects"}  # by which others are reached
PLAINTEXT = "PLAINTEXT"
WORLDS = ("sim", "process", "docker", "external")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """Where its systems can be; the first of `worlds` is taken unless another is asked for.

    `elsewhere` says of the other worlds why not. The lab `starts` these roles of them; of others
    all it knows is what a SUT file says. Systems `by_our_reading` are judged more strictly: by what
    we take, not by what a test accepts.
    """

    name: str
    worlds: tuple[str, ...]
    elsewhere: Mapping[str, str] = field(default_factory=dict, hash=False)
    starts: frozenset[str] = frozenset()
    by_our_reading: bool = False
    built_in: Callable[[], Sut] | None = None

    @property
    def started(self) -> bool:
        """Whether the lab starts its systems."""
        return bool(self.starts)

    def lacking(self, sut: Sut, role: str) -> str | None:
        """Why the lab cannot reach a role of a system, if it cannot."""
        if role in self.starts:
            return None
        if role in HOOKS:
            return None if HOOKS[role] in sut.hooks else f"it has no hook {HOOKS[role]}"
        if sut.bootstrap is None:
            return "it has no bootstrap address"
        protocol = str(sut.client.get("security.protocol", PLAINTEXT))
        if protocol.upper() != PLAINTEXT:
            return (
                f"an address that needs {protocol} cannot be judged yet: the lab speaks {PLAINTEXT}"
            )
        return None

    def check_world(self, sut: Sut, world: str) -> None:
        """Refuse a world that there is not, or in which its systems cannot be."""
        if world not in WORLDS:
            raise UsageError(f"there is no world {world!r}; known: {', '.join(WORLDS)}")
        if world not in self.worlds:
            raise UsageError(self.elsewhere[world].format(sut=sut.name))

    def brokers_expected(self, sut: Sut, planned: int) -> int | None:
        """As many as the lab starts, or as the SUT file lists addresses; one may stand for many."""
        if self.started:
            return planned
        listed = len((sut.bootstrap or "").split(","))
        return listed if listed > 1 else None


ADAPTERS: dict[str, Adapter] = {}


def register(adapter: Adapter) -> Adapter:
    """Make an adapter known by its name."""
    ADAPTERS[adapter.name] = adapter
    return adapter


def adapter_of(name: str) -> Adapter:
    """The adapter of a system: its own, or that of clusters which are known by their address."""
    return ADAPTERS.get(name, EXTERNAL)


_NOT_STARTED = "only built-in systems can be started in {}; others are external"
EXTERNAL = register(
    Adapter(
        name="external",
        worlds=("external",),
        elsewhere={world: _NOT_STARTED.format(world) for world in WORLDS if world != "external"},
    )
)
