"""Claims about the rows of one table, compiled into two queries: how often, and where.

Both are the same for one history and for many side by side; the latter are grouped by history.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.rules import Holds, RuleResult
from spark_checkers.kernel import Row
from spark_checkers.places import HISTORY_OF_ROW, HistoryBatch

OF_A_LOG = "topic IS NOT NULL AND partition IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Claim:
    """What one rule says about the rows of a table, and the broken assumptions that excuse it."""

    rule: str
    judge: Holds
    excuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """Claims about the same rows; in all shards but one without those that are about no log."""

    table: str
    claims: tuple[Claim, ...]
    beside: HistoryBatch
    of_no_log: bool = True

    @property
    def told_from(self) -> str:
        """Where violations are told from: the same for all rules on a table."""
        return max(claim.judge.evidence for claim in self.claims) or self.table

    def _source(self, table: str) -> str:
        """The rows, each with a column for every set of excuses that says whether it is excused,
        and for every set of topics whether it is about one of them."""
        kinds, topics = self._kinds(), self._topics()
        if not kinds and not topics and self.of_no_log:
            return f"{table} AS t"
        more = [f", {_excused(kind)} AS excused_{n}" for n, kind in enumerate(kinds)]
        more += [f", topic IN (SELECT topic FROM {one}) AS among_{one}" for one in topics]
        judged = f"SELECT judged.*{''.join(more)} FROM {table} AS judged"
        return f"({judged}{'' if self.of_no_log else f' WHERE {OF_A_LOG}'}) AS t"

    @property
    def counts(self) -> str:
        """One row for each history: how often each claim was exercised, and violated."""
        columns = []
        for place, claim in enumerate(self.claims):
            columns.append(_sum(self._when(claim), claim.judge.times, f"exercised_{place}"))
            columns.append(_sum(self._violated(claim), "1", f"violated_{place}"))
        source = self._source(self.table)
        if self.beside.one:
            return f"SELECT {', '.join(columns)} FROM {source}"
        return (
            f"SELECT {HISTORY_OF_ROW} AS history, {', '.join(columns)} FROM {source}"
            f" GROUP BY {HISTORY_OF_ROW}"
        )

    def evidence(self, places: list[int], kept: int) -> str:
        """The first rows of each history that violate some claims, given by their places."""
        violated = [(place, self._violated(self.claims[place])) for place in places]
        # Of all claims: which rows are the first must not depend on what else was violated.
        shown = [name for claim in self.claims for name in claim.judge.show]
        columns = ", ".join(dict.fromkeys(("op", "topic", "partition", *shown)))
        order = ", ".join(f"{name} NULLS LAST" for name in columns.split(", "))
        numbers = " UNION ALL ".join(f"SELECT {place} AS claim" for place in places)
        which = " ".join(f"WHEN {place} THEN {condition}" for place, condition in violated)
        history = self.beside.numbers[0] if self.beside.one else HISTORY_OF_ROW
        rows = f"SELECT *, {history} AS history FROM {self._source(self.told_from)}"
        return (
            f"SELECT history, claim, {columns} FROM (SELECT history, claim, {columns}, row_number()"
            f" OVER (PARTITION BY history, claim ORDER BY {order}) AS nth"
            f" FROM ({rows} WHERE {' OR '.join(c for _, c in violated)}) AS v"
            f" CROSS JOIN ({numbers}) AS n WHERE CASE claim {which} END) AS ranked"
            f" WHERE nth <= {kept} ORDER BY history, claim, nth"
        )

    def results(self, answer: list[Row]) -> dict[int, list[RuleResult]]:
        """The counts of each history; one that has no rows in the table has counted nothing."""
        counted = {row.get("history", self.beside.numbers[0]): row for row in answer}
        if any(counted.pop(None, {}).get(name) for name in self._names()):
            raise ValueError(f"{self.table} has rows without op and topic, which nobody can place")
        places = range(len(self.claims))
        return {
            number: [self._result(place, counted.get(number, {})) for place in places]
            for number in self.beside.numbers
        }

    def _names(self) -> list[str]:
        places = range(len(self.claims))
        return [f"{what}_{place}" for place in places for what in ("exercised", "violated")]

    def _result(self, place: int, counts: Row) -> RuleResult:
        return RuleResult(
            rule=self.claims[place].rule,
            exercised=int(counts.get(f"exercised_{place}", 0)),
            violations=int(counts.get(f"violated_{place}", 0)),
        )

    def single(self) -> list[Scan]:
        """The same, one claim at a time: so that a bad one does not spoil the others."""
        return [Scan(self.table, (claim,), self.beside, self.of_no_log) for claim in self.claims]

    def _kinds(self) -> list[tuple[str, ...]]:
        return [*dict.fromkeys(claim.excuses for claim in self.claims if claim.excuses)]

    def _topics(self) -> list[str]:
        return [*dict.fromkeys(claim.judge.among for claim in self.claims if claim.judge.among)]

    def _when(self, claim: Claim) -> str:
        found = f"({claim.judge.when})"
        if claim.judge.among:
            found = f"({found} AND among_{claim.judge.among})"
        if claim.excuses:
            found = f"({found} AND NOT excused_{self._kinds().index(claim.excuses)})"
        return found

    def _violated(self, claim: Claim) -> str:
        return f"({self._when(claim)} AND NOT coalesce(({claim.judge.holds}), FALSE))"


def _excused(assumptions: tuple[str, ...]) -> str:
    names = ", ".join(f"'{name}'" for name in assumptions)
    return (
        f"EXISTS (SELECT 1 FROM fault_windows AS w"
        f" WHERE w.assumption IN ({names}) AND w.clock = judged.clock"
        f" AND w.since <= coalesce(judged.ended, 9223372036854775807)"
        f" AND coalesce(w.until, 9223372036854775807) >= judged.began)"
    )


def _sum(condition: str, times: str, name: str) -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN {times} ELSE 0 END), 0) AS {name}"
