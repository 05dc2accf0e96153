"""What is known of the rules without this run: kill matrix, detection, coverage of the designs."""

from __future__ import annotations

from collections.abc import Mapping

from harness.rules import Conclusion
from harness.rules.linemap import DocumentMap, compact
from harness.sut.lever_sets import SAID
from reports.html.sheet import folded, row, scrolling, table
from reports.markup import Child, Markup, tag
from reports.pictures.axis import short
from reports.view import Background, MutantSeen

CELL = 11.0
NAMES = 290.0
EVERY = 5
BAR = 420.0


def kill_matrix(conclusion: Conclusion, background: Background) -> Child:
    """Mutants down, rules of this run across: filled where made for the rule, a ring otherwise."""
    rules = [one.rule.id for one in conclusion.judgement.judged]
    mutants = [one for one in background.mutants if set(one.rules) & set(rules)]
    if not mutants:
        return tag("p", "No mutant of the self-check was made for these rules.", class_="faint")
    killed = sum(bool(set(one.rules) & set(one.killed_by)) for one in mutants)
    rows = [
        row(one.name, one.why, " ".join(one.rules), " ".join(one.killed_by) or "survived")
        for one in mutants
    ]
    told = f"{len(mutants)} mutants, {killed} seen by a rule that they were made for"
    by_profile: dict[str, list[str]] = {}
    for one in conclusion.judgement.judged:
        by_profile.setdefault(one.rule.profile, []).append(one.rule.id)
    drawn = [
        scrolling(f"Kill matrix of {profile}", _matrix(profile, own, members))
        for profile, members in by_profile.items()
        if (own := [one for one in mutants if set(one.rules) & set(members)])
    ]
    return (
        tag("p", f"Last self-check: {told}."),
        folded(
            "kill matrix: filled where the mutant was made for the rule, a ring elsewhere", drawn
        ),
        folded(
            "the same as a table",
            table("Mutants of the self-check", ("mutant", "is", "made for", "seen by"), rows),
        ),
    )


def _matrix(profile: str, mutants: list[MutantSeen], rules: list[str]) -> Markup:
    """Only rules that saw or were to see a mutant have a column; mutants stand in their order."""
    seen = {rule for one in mutants for rule in (*one.rules, *one.killed_by)}
    columns = {
        rule: NAMES + number * CELL
        for number, rule in enumerate(one for one in rules if one in seen)
    }
    ordered = sorted(
        mutants, key=lambda one: (min(columns.get(rule, 1e9) for rule in one.rules), one.name)
    )
    width, height = NAMES + CELL * len(columns) + 8, 62 + CELL * len(ordered)
    lines = [
        tag("line", x1=NAMES, x2=width, y1=62 + at * CELL, y2=62 + at * CELL, class_="grid")
        for at in range(0, len(ordered), EVERY)
    ]
    dots = []
    for number, mutant in enumerate(ordered):
        y = 62 + number * CELL
        name = short(mutant.name, 52)
        dots.append(tag("text", name, x=NAMES - 8, y=y + 3, class_="tick end"))
        for rule in dict.fromkeys((*mutant.rules, *mutant.killed_by)):
            if (x := columns.get(rule)) is not None and rule in mutant.killed_by:
                own = rule in mutant.rules
                dots.append(
                    tag(
                        "circle",
                        tag("title", f"{mutant.name}: {rule}"),
                        cx=x,
                        cy=y,
                        r=3.6 if own else 2.6,
                        class_="own" if own else "also",
                    )
                )
    names = [
        tag("text", rule, transform=f"translate({x + 3:.0f} 54) rotate(-90)", class_="tick")
        for rule, x in columns.items()
    ]
    return tag(
        "svg",
        tag("title", f"Which rule of {profile} saw which mutant"),
        lines,
        names,
        dots,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
        aria_label=f"{len(ordered)} mutants by {len(columns)} rules of {profile};"
        " the same is in the table below",
    )


def detection(conclusion: Conclusion, background: Background) -> Child:
    """What such a run is known to detect; the row of this run's levers comes first."""
    own = [
        row(
            one.profile,
            "this run",
            one.world,
            SAID.get(one.levers, one.levers),
            f"{one.percent} % of {one.of}{_drawn(one.sample, one.population)}",
        )
        for one in conclusion.detection
    ]
    profiles = set(conclusion.plan.examined)
    others = [
        row(
            one.profile,
            one.kind,
            one.world,
            SAID.get(one.levers, one.levers),
            f"{100 * one.detected // max(1, one.mutants)} % of {one.mutants}"
            f"{_drawn(one.sample, one.population)}",
        )
        for one in background.detection
        if one.profile in profiles
    ]
    if not own and not others:
        return tag("p", "Nothing was measured for these profiles yet.", class_="faint")
    columns = ("profile", "mutants", "world", "levers", "detected")
    return (
        table("What the default run detects of derived mutants", columns, [*own, *others]),
        [unreached(one, background) for one in conclusion.plan.examined],
    )


def _drawn(sample: int, population: int) -> str:
    return f", drawn from {population}" if sample else ""


def unreached(profile: str, background: Background) -> Child:
    """Mutants that answer in a default run as their originals do: what it has no situation for."""
    own = [one for one in background.unreached if one.profile == profile]
    if not own:
        return ()
    count = sum(len(one.mutants) for one in own)
    rows = [
        row(one.area, one.decision, str(len(one.mutants)), tag("span", " ".join(one.mutants)))
        for one in own
    ]
    return folded(
        f"what a default run of {profile} never reaches: {count} mutants of {len(own)} decisions",
        table(f"Not reached by {profile}", ("area", "decision", "mutants", "which"), rows),
    )


def coverage(documents: Mapping[str, DocumentMap]) -> Child:
    """Every design document: lines with rules, descriptive lines, open lines."""
    if not documents:
        return tag("p", "The map of the designs is not at hand.", class_="faint")
    rows = []
    for name, known in documents.items():
        counts = (len(known.rules), len(known.descriptive), len(known.open_lines))
        rows.append(
            row(
                f"{name}.md",
                str(known.lines),
                *map(str, counts),
                _bar(name, counts, known.lines),
                folded("lines", tag("span", compact(known.open_lines), class_="wrap mono"))
                if known.open_lines
                else "none",
            )
        )
    columns = ("document", "lines", "with rules", "descriptive", "open", "share", "open lines")
    return table("Lines of the designs and what stands for them", columns, rows)


def _bar(name: str, counts: tuple[int, int, int], lines: int) -> Markup:
    x, parts = 0.0, []
    for count, kind in zip(counts, ("rules", "words", "open"), strict=True):
        width = BAR / 2 * count / max(1, lines)
        parts.append(tag("rect", x=x, y=0, width=width, height=12, class_=f"bar-{kind}"))
        x += width
    said = f"{name}: {counts[0]} lines with rules, {counts[1]} descriptive, {counts[2]} open"
    return tag(
        "svg",
        tag("title", said),
        parts,
        viewBox=f"0 0 {BAR / 2:.0f} 12",
        width=f"{BAR / 2:.0f}",
        height="12",
        role="img",
        aria_label=said,
    )
