"""One rule: a falsifiable sentence of a design document, and the judge that can refute it.

A judge is data, never code that looks at a system. `Holds` says: in the rows of a table where
`when` is true, `holds` is true. `Search` says: the operations of each key can be put in one legal
order of a model. Both yield an exercise count; a rule that was never exercised proves nothing.

Expressions are SQL that Spark and DuckDB both accept. A null `when` is false; a null `holds` is a
violation, because a rule that cannot be decided where it applies has not been kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How binding the sentence is."""

    MUST = "must"
    SHOULD = "should"


class Depth(Enum):
    """How far inside a system one has to look to judge the rule, shallowest first."""

    WIRE = "wire"
    HOOKS = "hooks"
    TRACE = "trace"


class Status(Enum):
    """What stands behind a rule today."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    UNPROVABLE = "unprovable"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """Rows of `table` where `when` is true and `holds` is not are violations."""

    table: str
    when: str
    holds: str
    show: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The operations of each `key` of `table` have a legal order in `model`."""

    table: str
    key: tuple[str, ...]
    model: str
    budget_states: int = 1_000_000


Judge = Holds | Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A sentence, where it stands, when it binds, who judges it.

    `tolerant` judges systems that are not the reference, where the decisions grant another reading.
    Where they leave others entirely free the rule does not bind them (`binds_others`).
    `assumes` names assumptions; while a fault window breaks one, the rule is not judged.
    `planned` and `unprovable` carry the reason why there is no judge (yet, or ever).
    """

    id: str
    document: str
    section: str
    lines: tuple[int, ...]
    sentence: str
    level: Level
    depth: Depth
    profile: str
    decisions: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    judge: Judge | None = None
    tolerant: Judge | None = None
    binds_others: bool = True
    hint: str = ""
    planned: str = ""
    unprovable: str = ""

    def judge_for(self, *, reference: bool) -> Judge | None:
        """The judge that binds the reference, or the one that grants the accepted readings."""
        if reference:
            return self.judge
        if not self.binds_others:
            return None
        return self.tolerant or self.judge
