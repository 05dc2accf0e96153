"""The body of `report`: a run once more, judged again from its evidence.

What `certify` printed below its stages is printed again, word for word; if anything in the folder
is not what the evidence gives, that is named and the run proves nothing. On request the same is
drawn as a page, told around one operation, or packed to be handed on.
"""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from conformance.catalogue import CATALOGUE
from conformance.proofs import LINE_MAP
from harness.cli.certify import open_chosen_engine
from harness.cli.hashes import is_judged
from harness.cli.hidden import secrets_of
from harness.cli.judged_run import judge_again
from harness.cli.progress import Stage, print_document
from harness.cli.runs import called, find_run, runs_of_night
from harness.cli.views import view_of, write_html, write_views
from harness.errors import UsageError
from harness.history.frames import open_run
from harness.history.sources import Source
from harness.rules import Conclusion
from harness.rules.designs import Designs, designs_at
from harness.rules.linemap import load_line_map
from harness.scratch import ScratchFolder
from reports import terminal
from reports.around import around_document, around_lines
from reports.bundle import bundle
from reports.certificate import verdict_document
from reports.measures.around import Slice, slice_around
from reports.pictured import surroundings_of
from reports.plain import hiding

SMALL_BYTES = 32 * 1024 * 1024
LOCAL = "local[*]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which views are asked for beside the text, or instead of it."""

    open: bool = False
    html: Path | None = None
    around: int | None = None
    bundle: bool = False
    allure: bool = False
    designs: Path | None = None
    as_json: bool = False


def run(name: str, wanted: Wanted) -> int:
    """Show a run; the exit code is the run's own. Of a night only Allure shows all runs at once."""
    if wanted.allure and (runs := runs_of_night(name)):
        return _night_in_allure(runs, wanted)
    folder = find_run(name)
    stage = Stage.for_people(as_json=wanted.as_json)
    designs = designs_at(wanted.designs, load_line_map(LINE_MAP, CATALOGUE))
    new = not is_judged(folder) or not (folder / terminal.REPORT_FILE).is_file()
    conclusion = judge_folder(folder, stage)
    if new and not conclusion.tampered:
        write_views(folder, conclusion, stage)
    with hiding(secrets_of(conclusion.header)):
        if wanted.around is not None:
            slice_ = _slice(folder, conclusion, wanted.around)
            if wanted.as_json:
                print_document(around_document(slice_))
            else:
                for line in around_lines(slice_):
                    stage.say(line)
            return 0
        packed = _files(folder, conclusion, wanted, designs)
        if packed is not None:
            stage.say(f"bundle     {packed} · {packed.stat().st_size:,} bytes")
        show(stage, conclusion, folder)
        if wanted.as_json:
            print_document(verdict_document(conclusion), indent=1)
    return conclusion.exit_code


def _files(folder: Path, conclusion: Conclusion, wanted: Wanted, designs: Designs) -> Path | None:
    """Draw and pack what is asked for; the archive, if there is one."""
    if wanted.open or wanted.html:
        page = write_html(folder, conclusion, wanted.html, designs)
        if wanted.open:
            webbrowser.open(page.resolve().as_uri())
    if wanted.allure:
        from harness.cli import allure

        allure.write_results(view_of(folder, conclusion, designs))
        print(f"allure     {allure.generate()}", file=sys.stderr)
    if not wanted.bundle:
        return None
    target = Path(f"tidemark-{folder.name}.zip")
    target.write_bytes(bundle(view_of(folder, conclusion, designs)))
    return target


def _night_in_allure(runs: list[Path], wanted: Wanted) -> int:
    """Every run of a night in one site."""
    from harness.cli import allure
    from harness.cli.night import first_seed

    stage = Stage(sys.stderr)
    designs = designs_at(wanted.designs, load_line_map(LINE_MAP, CATALOGUE))
    first = first_seed(runs[0].parent)
    for folder in runs:
        conclusion = judge_folder(folder, stage)
        round_ = None if first is None else int(conclusion.header["seed"]) - first + 1
        with hiding(secrets_of(conclusion.header)):
            allure.write_results(view_of(folder, conclusion, designs), round_=round_)
    print(f"allure     {allure.generate()}", file=sys.stderr)
    return 0


def _slice(folder: Path, conclusion: Conclusion, op: int) -> Slice:
    """What happened near one operation; a line that answers one stands for it."""
    run_ = surroundings_of(view_of(folder, conclusion), open_run(folder).tables)
    slice_ = slice_around(run_, op, partition_only=False, before=12, after=12)
    if slice_ is None:
        answer = run_.tables.read("ops", ["op"], [("completion", "==", op)])
        if len(answer):
            return _slice(folder, conclusion, int(answer.op.iloc[0]))
        raise UsageError(f"event {op} of {folder} is no operation; findings name those that are")
    return slice_


def judge_folder(
    folder: Path, stage: Stage, *, engine: str | None = None, master: str = LOCAL
) -> Conclusion:
    """Judge a run folder again, on the engine asked for or on the one for its size."""
    size = Source(name=str(folder), address=str(folder)).bytes_on_disk or 0
    name = engine or ("inline" if size <= SMALL_BYTES else "spark")
    with (
        ScratchFolder("report") as scratch,
        stage.watched("judge") as progress,
    ):
        log = scratch / "spark.log"
        opened = open_chosen_engine(name, master=master, log=log)
        try:
            return judge_again(folder, opened, progress=progress)
        finally:
            opened.close()


def show(stage: Stage, conclusion: Conclusion, folder: Path) -> None:
    """The run, its faults, and all that `certify` says of it."""
    header = conclusion.header
    profiles = ", ".join(conclusion.plan.examined)
    stage.say(
        f"{header.get('sut')} {header.get('sut_version')} · {profiles} {header.get('suite')}"
        f" · {header.get('world')} · seed {header.get('seed')}"
    )
    stage.say(f"recorded   {header.get('started')} to {conclusion.ended or 'an unknown end'}")
    stage.detail("faults", conclusion.faults.landed)
    for line in terminal.closing(conclusion, str(folder), called(folder)):
        stage.say(line)
