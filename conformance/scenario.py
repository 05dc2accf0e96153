"""A scenario: a short script that is sure to exercise the rules it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from harness.steps.step import Step
from harness.steps.text import parse
from harness.workloads.boundary_steps import BoundarySteps
from harness.workloads.boundary_text import PARTITIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A sentence, the rules it exercises, and the steps.

    With `older_schema` it starts from a database that has no boundary columns yet.
    """

    name: str
    rules: tuple[str, ...]
    script: str
    older_schema: bool = False

    @property
    def slug(self) -> str:
        """The topic on which the scenario plays, so that many share one history."""
        return "-".join(self.name.lower().replace(",", "").replace("'", "").split())

    def steps(self) -> list[Step]:
        """The parsed script, on the scenario's own topic."""
        return [on_topic(step, self.slug) for step in parse(self.script, BoundarySteps)]

    def verbs(self) -> frozenset[str]:
        """The verbs a world must support to play it."""
        return frozenset(step.verb for step in self.steps())


def on_topic(step: Step, topic: str) -> Step:
    """The same step on another topic; one that has a name of its own keeps it behind that."""
    if PARTITIONS in step.arguments:
        several = tuple(_renamed(one, topic) for one in step.arguments[PARTITIONS])
        return replace(step, arguments=MappingProxyType({PARTITIONS: several}))
    if "topic" not in step.arguments:
        return step
    return replace(step, arguments=MappingProxyType(_renamed(step.arguments, topic)))


def _renamed(arguments: Mapping[str, Any], topic: str) -> dict[str, Any]:
    own = arguments["topic"]
    return {**arguments, "topic": topic if own == "t" else f"{topic}-{own}"}
