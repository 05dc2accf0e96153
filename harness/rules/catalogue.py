"""The catalogue: every rule once, found by id, in the order of its id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from harness.rules.rule import Rule


class CatalogueError(ValueError):
    """A rule was declared twice, or asked for under an id that does not exist."""


class Catalogue:
    """An immutable collection of rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        by_id: dict[str, Rule] = {}
        for rule in rules:
            if rule.id in by_id:
                raise CatalogueError(f"{rule.id} is declared twice")
            by_id[rule.id] = rule
        self._rules = dict(sorted(by_id.items()))

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules.values())

    def __len__(self) -> int:
        return len(self._rules)

    def __contains__(self, rule_id: object) -> bool:
        return rule_id in self._rules

    def __getitem__(self, rule_id: str) -> Rule:
        try:
            return self._rules[rule_id.upper()]
        except KeyError:
            near = get_close_matches(rule_id.upper(), self._rules, n=3, cutoff=0.6)
            also = f" Did you mean {', '.join(near)}?" if near else ""
            raise CatalogueError(
                f"There is no rule {rule_id}.{also} `tidemark rules` lists all {len(self)}."
            ) from None

    def of_profiles(self, profiles: Iterable[str]) -> Catalogue:
        """The rules of the named profiles."""
        wanted = set(profiles)
        return Catalogue(rule for rule in self if rule.profile in wanted)

    def judged(self) -> Catalogue:
        """The rules that have a judge."""
        return Catalogue(rule for rule in self if rule.judge is not None)

    def played(self) -> Catalogue:
        """The rules that the lab can exercise on a running system."""
        return Catalogue(rule for rule in self.judged() if not rule.awaits)
