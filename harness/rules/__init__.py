"""Rules as data: what a design promises, how a history shows it, and what a verdict means."""

from harness.rules.catalogue import Catalogue, CatalogueError
from harness.rules.conclusion import Brokers, Conclusion, FaultsSeen
from harness.rules.rule import Cycles, Depth, Holds, Judge, Key, Level, Rule, Search, Status
from harness.rules.verdict import (
    LEGAL_PREFIX,
    Finding,
    Judged,
    Judgement,
    RuleResult,
    Verdict,
    exit_code,
)

__all__ = [
    "LEGAL_PREFIX",
    "Brokers",
    "Catalogue",
    "CatalogueError",
    "Conclusion",
    "Cycles",
    "Depth",
    "FaultsSeen",
    "Finding",
    "Holds",
    "Judge",
    "Judged",
    "Judgement",
    "Key",
    "Level",
    "Rule",
    "RuleResult",
    "Search",
    "Status",
    "Verdict",
    "exit_code",
]
