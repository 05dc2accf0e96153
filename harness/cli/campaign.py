"""The body of `campaign`: play a file of steps on one deployment, and judge what came of it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from conformance.campaigns import read_campaign, record
from harness import __version__
from harness.cli.certify import (
    Options,
    begin_engine,
    check_engine,
    check_folder,
    conclude,
    header_of,
)
from harness.cli.leaving import leaving_no_topics
from harness.cli.progress import Stage, plural
from harness.cli.runs import RUNS, next_run, under_way
from harness.errors import UsageError
from harness.history import Run
from harness.sut import find_sut

CAMPAIGN, DIGEST = "campaign", "campaign_sha256"


def run(file: Path, options: Options, stage: Stage | None = None) -> int:
    """Play and judge a campaign; the exit code is the verdict's."""
    check_engine(options.engine, options.master)
    campaign = read_campaign(file)
    sut = find_sut(options.sut)
    world = options.world or sut.adapter.worlds[0]
    sut.adapter.check_world(sut, world)
    name = next_run(RUNS) if options.out is None else str(options.out)
    folder = options.out or RUNS / name
    check_folder(folder)
    stage = stage or Stage.for_people(as_json=options.as_json)
    stage.say(f"{campaign.name} · {sut.name} {__version__} · {world} · seed {options.seed}")
    header = header_of(options, sut, world, name, list(campaign.profiles))
    header["options"] |= {CAMPAIGN: str(file), DIGEST: _digest(file)}
    run_ = Run.create(folder, **header)
    with under_way(folder):
        begin_engine(folder, options)
        with leaving_no_topics(sut, str(header["topic_tag"])), stage("record") as line:
            steps = record(
                run_,
                sut,
                campaign,
                world=world,
                seed=options.seed,
                progress=line.progress,
            )
            line.done(plural(steps, "step"))
        return conclude(folder, options, stage)


def replay(header: dict[str, Any], *, engine: str | None, as_json: bool) -> int:
    """Play again what the header of a campaign's run says."""
    asked = header["options"]
    file = Path(str(asked[CAMPAIGN]))
    if not file.is_file():
        raise UsageError(f"the campaign of this run is not there any more: {file}")
    if asked.get(DIGEST) != _digest(file):
        raise UsageError(f"the campaign of this run was changed since: {file}")
    return run(
        file,
        Options(
            sut=str(asked["sut"]),
            world=str(asked["world"]),
            seed=int(asked["seed"]),
            engine=engine or str(asked["engine"]),
            as_json=as_json,
        ),
    )


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
