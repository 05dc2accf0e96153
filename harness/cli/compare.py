"""The body of `compare`: rules down, runs across, the verdict as a symbol.

Only what was asked of several runs is compared; rules that one selection left out are counted, not
listed as different.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cli.hashes import altered, write_whole
from harness.cli.hidden import hiding_secrets_of
from harness.cli.progress import plural, print_document, printable
from harness.cli.runs import called, find_run, judged_document, mutants_told, runs_by_age
from harness.history.errors import HistoryError
from harness.rules import Verdict
from harness.sut import UsageError
from reports.html.index import Column, matrix_page
from reports.plain import scrubbed
from reports.terminal import SYMBOL, WORD, called_as, wrapped


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One run of a comparison."""

    name: str
    folder: Path
    document: Mapping[str, Any]

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each rule that was asked."""
        return {str(rule["id"]): Verdict(rule["verdict"]) for rule in self.document["rules"]}

    @property
    def title(self) -> str:
        """What the run is, in a line."""
        of = self.document
        told = {name: of.get(name) for name in ("sut", "sut_version", "world", "seed", "verdict")}
        what = f"{told['sut']} {told['sut_version']} in {told['world']}, seed {told['seed']}"
        changed = "".join(f" · tampered: {one}" for one in altered(self.folder)[:1])
        return f"run {self.name}: {what}{mutants_told(dict(of))}: {told['verdict']}{changed}"


def run(names: Sequence[str], *, last_good: bool, html: Path | None, as_json: bool) -> int:
    """Show the matrix; rules on which the runs differ come first."""
    compared = [_opened(name, find_run(name)) for name in names]
    if last_good:
        compared = [_last_good(compared[0]), *compared]
    if len(compared) < 2:
        raise UsageError(f"compare needs at least two runs; `{called_as()} runs` lists them")
    with hiding_secrets_of(one.folder for one in compared):
        if as_json:
            print_document(_told(compared))
        elif html is not None:
            write_whole(html, _page(compared, html.parent))
            print(f"{html}: {plural(len(compared), 'run')}")
        else:
            _print(compared)
    return 0


def _opened(name: str, folder: Path) -> Compared:
    return Compared(name=name, folder=folder, document=judged_document(folder))


def _last_good(one: Compared) -> Compared:
    """The newest conformant run before this one that was asked all that it was asked."""
    found = []
    for folder in runs_by_age():
        if folder.resolve() == one.folder.resolve():
            continue
        with suppress(UsageError, HistoryError):
            other = _opened(called(folder), folder)
            if is_good_before(other.document, one.document) and not altered(folder):
                found.append(other)
    if not found:
        of = one.document
        what = f"{of.get('sut')} in {of.get('world')} ({', '.join(map(str, of['profiles']))})"
        raise UsageError(f"no conformant run of {what} comes before {one.name}")
    return max(found, key=lambda other: (str(other.document.get("started")), _number(other)))


def _number(one: Compared) -> int:
    """Which run it is, where the lab numbered it; of one second the later one has the greater."""
    return int(one.name) if one.name.isdecimal() else 0


def is_good_before(other: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    """Whether a run shows, for a later one, that all of it was in order before.

    Of the same system in the same world, without mutants; of the same profiles, whole if the later
    one is, and without missing a rule of it.
    """
    asked, before = ({rule["id"] for rule in run["rules"]} for run in (one, other))
    return (
        other.get("exit") == 0
        and not other.get("mutants")
        and str(other.get("started")) <= str(one.get("started"))  # told in seconds
        and all(other.get(name) == one.get(name) for name in ("sut", "world", "profiles"))
        and bool(other.get("whole")) >= bool(one.get("whole"))
        and asked <= before
    )


def _differing(compared: Sequence[Compared]) -> tuple[list[str], list[str], list[str]]:
    """Rules that several runs were asked: all, those that differ; and those asked of one alone."""
    columns = [one.verdicts for one in compared]
    every = sorted({rule for column in columns for rule in column})
    shared = [rule for rule in every if sum(rule in column for column in columns) > 1]
    differ = [rule for rule in shared if len({c[rule] for c in columns if rule in c}) > 1]
    return shared, differ, [rule for rule in every if rule not in shared]


def _print(compared: Sequence[Compared]) -> None:
    for number, one in enumerate(compared, start=1):
        for line in wrapped(f"{number}  ", scrubbed(one.title)):
            print(printable(line))
    print()
    shared, differ, alone = _differing(compared)
    columns = [one.verdicts for one in compared]
    if not shared:
        print(f"no rule was asked of more than one of them; {len(alone)} were asked of one")
        return
    if differ:
        print("         " + " ".join(str(number) for number in range(1, len(columns) + 1)))
    for rule in differ:
        found = [column.get(rule) for column in columns]
        marks = " ".join(" " if verdict is None else SYMBOL[verdict] for verdict in found)
        words = " → ".join(_word(verdict) for verdict in found)
        print(printable(f"{rule}  {marks}  {words}"))
    alike = len(shared) - len(differ)
    print(f"\n{plural(len(shared), 'rule')}: {alike} alike, {len(differ)} differ")
    if alone:
        told = plural(len(alone), "rule")
        for line in wrapped("", f"not compared, asked of one run only: {told}"):
            print(line)


def _word(verdict: Verdict | None) -> str:
    return "not asked" if verdict is None else WORD[verdict]


def _told(compared: Sequence[Compared]) -> dict[str, Any]:
    shared, differ, alone = _differing(compared)
    return {
        "runs": [{"run": one.name, "title": one.title} for one in compared],
        "alike": len(shared) - len(differ),
        "differ": {
            rule: [v.value if (v := one.verdicts.get(rule)) else None for one in compared]
            for rule in differ
        },
        "not_compared": alone,
    }


def _page(compared: Sequence[Compared], at: Path) -> str:
    sentences = {
        str(rule["id"]): str(rule.get("sentence", ""))
        for one in compared
        for rule in one.document["rules"]
    }
    columns = [
        Column(title=one.title, folder=one.folder, verdicts=one.verdicts) for one in compared
    ]
    return matrix_page(columns, sentences, at=at)
