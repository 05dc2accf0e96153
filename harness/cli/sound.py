"""The body of `selfcheck --sound`: is the reference clean under so many seeds?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from conformance.derived.sound import play_seeds
from conformance.derived.work import Told
from conformance.profiles import PROFILES, find_profile
from harness.cli.detection import kept_results
from harness.cli.progress import Stage, plural
from harness.errors import UsageError
from reports.terminal import called_as, wrapped

WORLDS = ("sim", "process")


def run(
    *, profiles: Sequence[str], seeds: int, first: int, world: str, as_json: bool = False
) -> int:
    """0 if no rule failed under any seed, 1 if one did, 3 if the lab broke."""
    if world not in WORLDS:
        raise UsageError(f"selfcheck runs in {' or '.join(WORLDS)}, not in {world!r}")
    if seeds < 1:
        raise UsageError("there is one seed at least")
    names = [find_profile(one).name for one in profiles] or list(PROFILES)
    stage = Stage(sys.stderr if as_json else sys.stdout)
    stage.say(f"selfcheck · the sound reference · {plural(seeds, 'seed')} · world {world}")
    told: dict[str, dict[int, Told]] = {}
    for name in names:
        with stage(name) as line:
            told[name] = play_seeds(
                name,
                range(first, first + seeds),
                world=world,
                workers=os.cpu_count() or 1,
                kept=kept_results(),
                progress=line.progress,
            )
            line.done(f"{plural(seeds, 'seed')}, {_clean(told[name])} clean")
    if as_json:
        print(json.dumps({name: _document(some) for name, some in told.items()}, indent=1))
    for text in _lines(told, world):
        stage.say(text)
    every = [one for some in told.values() for one in some.values()]
    if any(one.broken for one in every):
        return 3
    return 1 if any(one.failed for one in every) else 0


def _lines(told: Mapping[str, Mapping[int, Told]], world: str) -> Iterator[str]:
    for name, some in told.items():
        for seed, one in sorted(some.items()):
            if not one.failed and not one.broken:
                continue
            yield from wrapped("× ", f"{name}, seed {seed}: {' '.join(one.failed)} {one.broken}")
            yield f"repeat: {called_as()} certify --profile {name} --world {world} --seed {seed}"


def _clean(told: Mapping[int, Told]) -> int:
    return sum(not one.failed and not one.broken for one in told.values())


def _document(told: Mapping[int, Told]) -> dict[str, object]:
    return {
        str(seed): {"failed": list(one.failed), "broken": one.broken}
        for seed, one in sorted(told.items())
    }
