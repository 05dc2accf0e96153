"""A trace to look at, and a gate where every effect meets the same trouble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from reference_impl.live.disk import OpenFile
from reference_impl.ports.effects import Effect, Result, Trouble

each_trouble = pytest.mark.parametrize("trouble", Trouble)


class Line(NamedTuple):
    """One effect, as it was traced."""

    number: int
    port: str
    call: str
    args: Mapping[str, object]
    outcome: str


class Lines(list[Line]):
    """A trace that keeps its lines."""

    def effect(self, **reported: Any) -> None:
        self.append(Line(**reported))


class Troubled:
    """A gate at which every effect meets the same trouble."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble

    async def run(self, effect: Effect[Result]) -> Result:
        if self._trouble is Trouble.LOST:
            lost = await effect.do()
            if isinstance(lost, OpenFile):  # nobody else can any more
                await lost.close()
        return effect.failed(self._trouble)


def calls(lines: Lines) -> list[tuple[str, Mapping[str, object], str]]:
    return [(line.call, line.args, line.outcome) for line in lines]
