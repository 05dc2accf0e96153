"""One rule: a falsifiable sentence of a design document, and the judge that can refute it.

A judge is data, never code that looks at a system. `Holds` says: in the rows of a table where
`when` is true, `holds` is true. `Search` says: the operations of each key can be put in one legal
order of a model. `Cycles` says: no cycle of a kind exists among transactions that depend on each
other. All yield an exercise count; a rule that was never exercised proves nothing.

Expressions are DuckDB's SQL. A null `when` is false; a null `holds` is a violation, because a rule
that cannot be decided where it applies has not been kept.

A judge is *complete within* a key: whatever it needs to decide about a row lies in the logs that
the key keeps together. Histories are judged in shards of whole keys, and counts are added up.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How binding the sentence is. MAY: worth reporting when it is not so, and nobody's fault."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Depth(Enum):
    """How far inside a system one has to look to judge the rule, shallowest first."""

    WIRE = "wire"
    HOOKS = "hooks"
    TRACE = "trace"


class Key(Enum):
    """What keeps logs together that a judge has to see at once: themselves alone, or all logs of a
    topic, of a transaction, a group, a producer or a process, or of the whole history."""

    PARTITION = "partition"
    TOPIC = "topic"
    TRANSACTION = "transaction"
    GROUP = "group"
    PRODUCER = "producer"
    PROCESS = "process"
    HISTORY = "history"

    def joined(self, other: Key) -> Key:
        """The narrowest key that keeps together whatever one of the two does."""
        if self is other or other is Key.PARTITION:
            return self
        return other if self is Key.PARTITION else Key.HISTORY


class Status(Enum):
    """What stands behind a rule today."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    UNPROVABLE = "unprovable"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """Rows of `table` where `when` is true and `holds` is not are violations.

    A row of a view may stand for many cases that all hold; `times` says how many it is. Violations
    are told from `evidence`, if that is given: a view on `table` and what it stands on, with the
    same rows and further columns, which nobody needs as long as there are none.
    `words` tell them: clauses with the names of shown values, of which those that are null are left
    out. It is complete `within` the key that the views it reads declare, unless it names a wider
    one. With `among`, a view of topics, only rows about these topics are looked at.
    """

    table: str
    when: str
    holds: str
    among: str = ""
    show: tuple[str, ...] = ()
    times: str = "1"
    evidence: str = ""
    words: tuple[str, ...] = ()
    within: Key = Key.PARTITION

    @property
    def tables(self) -> tuple[str, ...]:
        """What it reads."""
        return (self.table, self.among) if self.among else (self.table,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The operations of each `key` of `table` have a legal order in `model`."""

    table: str
    key: tuple[str, ...]
    model: str

    @property
    def within(self) -> Key:
        """The key of the search, where logs have it."""
        named = {("topic", "partition"): Key.PARTITION, ("topic",): Key.TOPIC}
        return named.get(self.key, Key.HISTORY)

    @property
    def tables(self) -> tuple[str, ...]:
        """What it reads."""
        return (self.table,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycles:
    """The dependencies in `table` between the transactions in `vertices` show nothing of this
    `kind`, a name of the field like G1c."""

    table: str
    vertices: str
    kind: str

    @property
    def within(self) -> Key:
        """Any two transactions may depend on each other."""
        return Key.HISTORY

    @property
    def tables(self) -> tuple[str, ...]:
        """What it reads."""
        return (self.table, self.vertices)


Judge = Holds | Search | Cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A sentence, where it stands, when it binds, who judges it.

    `tolerant` judges systems that are not the reference, where the decisions grant another reading.
    Where they leave others entirely free the rule does not bind them (`binds_others`).
    `assumes` names assumptions; while a fault window breaks one, the rule is not judged.
    `anomaly` is the name under which the field knows a violation. In a history made under one of
    the circumstances of `allowed_under` it is reported and nobody's fault.
    What Kafka itself promises stands in no design; `source` names where Kafka says it.
    `planned` and `unprovable` carry the reason why there is no judge (yet, or ever); `unproven` the
    reason why nothing of the reference can break it yet; `awaits` what the lab has to learn before
    it can exercise it on a running system. Recorded histories are judged by it all the same.
    It cannot be exercised without the `requests` it names, which not every system offers.
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
    unproven: str = ""
    awaits: str = ""
    source: str = ""
    anomaly: str = ""
    allowed_under: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()

    @property
    def bad(self) -> str:
        """Whether a violation counts: `always`, `never`, or `sometimes`, by the history."""
        if self.level is Level.MAY:
            return "never"
        return "sometimes" if self.allowed_under else "always"

    def level_under(self, circumstances: Collection[str]) -> Level:
        """How binding the rule is for a history that was made under these circumstances."""
        allowed = any(name in circumstances for name in self.allowed_under)
        return Level.MAY if allowed else self.level

    def judge_for(self, *, reference: bool) -> Judge | None:
        """The judge that binds the reference, or the one that grants the accepted readings."""
        if reference:
            return self.judge
        if not self.binds_others:
            return None
        return self.tolerant or self.judge
