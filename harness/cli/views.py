"""From a judged folder to its views: what the reports are given, and which files they become.

`reports` may look at a run only. What stands behind the rules (mutants, rates, coverage of the
designs, their sentences) and which values are secret is gathered here.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from conformance.catalogue import CATALOGUE
from conformance.derived.rates import FILE as DETECTION
from conformance.derived.unreached import read_unreached
from conformance.proofs import LINE_MAP, recorded_matrix
from harness.cli.hashes import write_whole
from harness.cli.hidden import secrets_of
from harness.cli.progress import Stage
from harness.cli.runs import called
from harness.rules import Conclusion
from harness.rules.designs import Designs, designs_at
from harness.rules.linemap import DocumentMap, load_line_map
from harness.sut.lever_sets import ALL
from reports.badge import badge
from reports.html.certificate_page import certificate_page
from reports.html.page import page
from reports.junit import junit
from reports.markdown import summary
from reports.plain import hiding
from reports.terminal import REPORT_FILE
from reports.view import Background, DetectionRow, MutantSeen, RunView, UnreachedRow

CERTIFICATE_PAGE = "certificate.html"
FILES: Mapping[str, Callable[[RunView], str]] = {
    "junit.xml": junit,
    "summary.md": summary,
    "badge.svg": lambda view: badge(view.conclusion),
}
"""What `certify` and `campaign` write beside the page, for CI and for READMEs."""


def write_views(folder: Path, conclusion: Conclusion, stage: Stage) -> None:
    """Write the files that people look at. What goes wrong here changes no verdict."""
    try:
        with stage.watched("report"), hiding(secrets_of(conclusion.header)):
            view = view_of(folder, conclusion)
            for name, draw in FILES.items():
                write_whole(folder / name, draw(view))
            if conclusion.certified:
                write_whole(folder / CERTIFICATE_PAGE, certificate_page(view))
            write_whole(folder / REPORT_FILE, page(view))
    except Exception as mistake:
        traceback.print_exception(mistake)
        stage.say(f"report     could not be drawn, a defect of the lab: {mistake}")


def write_html(
    folder: Path,
    conclusion: Conclusion,
    target: Path | None = None,
    designs: Designs | None = None,
) -> Path:
    """The page of a run, in its folder or elsewhere; it gets its name when it is whole."""
    return write_whole(target or folder / REPORT_FILE, page(view_of(folder, conclusion, designs)))


def view_of(folder: Path, conclusion: Conclusion, designs: Designs | None = None) -> RunView:
    """A run as views see it."""
    rules = [one.rule for one in conclusion.judgement.judged]
    documents = load_line_map(LINE_MAP, CATALOGUE)
    designs = designs or designs_at(None, documents)
    return RunView(
        conclusion=conclusion,
        folder=folder,
        called=called(folder),
        kept_in=str(folder),
        background=replace(
            background(documents),
            quotes={rule.id: quote for rule in rules if (quote := designs.quote(rule))},
            published={rule.id: link for rule in rules if (link := designs.link(rule))},
        ),
    )


def background(documents: Mapping[str, DocumentMap]) -> Background:
    """What the project knows of its rules."""
    measured = json.loads(DETECTION.read_text(encoding="utf-8"))
    return Background(
        mutants=tuple(
            MutantSeen(
                name=str(one["mutant"]),
                why=str(one["why"]),
                rules=tuple(one["rules"]),
                killed_by=tuple(one["killed_by"]),
            )
            for one in recorded_matrix()["mutants"]
        ),
        detection=tuple(
            DetectionRow(
                profile=one["profile"],
                kind=one["kind"],
                world=one["world"],
                levers=one["levers"],
                mutants=one["mutants"],
                detected=one["detected"],
                population=one["population"],
                sample=one["sample"],
            )
            for one in measured
        ),
        unreached=tuple(
            UnreachedRow(profile=one.profile, area=area, decision=decision, mutants=tuple(names))
            for one in read_unreached()
            if one.world == "sim" and one.levers == ALL  # where it is certain, and the least
            for area, decisions in one.areas.items()
            for decision, names in decisions.items()
        ),
        coverage=documents,
    )
