"""The body of `report`: a run once more, judged again from its evidence.

What `certify` printed below its stages is printed again, word for word; if anything in the folder
is not what the evidence gives, that is named and the run proves nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.cli.certify import open_chosen_engine
from harness.cli.judged_run import judge_again
from harness.cli.progress import Stage
from harness.cli.runs import called, find_run
from harness.history.sources import Source
from harness.rules import Conclusion
from harness.scratch import ScratchFolder
from reports import terminal

SMALL_BYTES = 32 * 1024 * 1024
LOCAL = "local[*]"


def run(name: str) -> int:
    """Print the conclusion of a run; the exit code is the run's own."""
    folder = find_run(name)
    stage = Stage(sys.stdout)
    conclusion = judge_folder(folder, stage)
    show(stage, conclusion, folder)
    return conclusion.exit_code


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
