"""Who is told what happens in a simulation: a history, or nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Observer(Protocol):
    """Writes down effects. ``harness.history.recorder.Recorder`` is one."""

    def effect(
        self,
        node: int,
        *,
        number: int,
        port: str,
        call: str,
        args: Mapping[str, object],
        outcome: str,
    ) -> None:
        """An effect, as the port of a node reported it."""
        ...


class Unobserved:
    """Nobody is told."""

    def effect(
        self,
        node: int,
        *,
        number: int,
        port: str,
        call: str,
        args: Mapping[str, object],
        outcome: str,
    ) -> None:
        """Forget it."""


class NodeTrace:
    """The trace of one node's gate."""

    def __init__(self, observer: Observer, node: int) -> None:
        self._observer = observer
        self._node = node

    def effect(
        self, *, number: int, port: str, call: str, args: Mapping[str, object], outcome: str
    ) -> None:
        """One effect."""
        self._observer.effect(
            self._node, number=number, port=port, call=call, args=args, outcome=outcome
        )
