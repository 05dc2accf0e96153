"""One sound play that branches: where a mutant first answers differently, a copy goes on with it.

Until then a play with the mutant is the sound play, so nothing before has to be played again, and
a mutant that never answers differently costs nothing. The copy is a fork of this process in the
middle of the simulation. It gets a folder of its own with what was recorded so far, and its open
files are those of that folder; the sound play waits until the copy has ended.

For plays in a simulation alone, and for mutants of Python decisions: one answers by its arguments,
so from the first difference on the copy is the play that the mutant would have had from the start.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.derived.plays import Play
from conformance.derived.shadow import Shadow, shadowing
from conformance.derived.work import (
    SIM_LIMIT_S,
    Told,
    TooLong,
    die_with_parent,
    judge,
    told_by,
    within,
)
from reference_impl.decisions import Mutant, load_mutant

SOUND = "sound"
SHADOW_S = 600.0
_ENDED = "ended.json"  # which histories a copy left, or why it left none
_JUDGED = "judged.json"


def play_branches(play: Play, references: Sequence[str], folder: Path) -> tuple[Told, list[Told]]:
    """What a play showed of the sound reference, and of each mutant."""
    mutants = [one for one in map(load_mutant, references) if isinstance(one, Mutant)]
    folder.mkdir(parents=True)
    try:
        _Tree(play, folder).grow(mutants)
        told = _judged_apart(play.profile, folder)
        unreached = Told(reached=False)
        return told[SOUND], [told.get(str(at), unreached) for at in range(len(mutants))]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Tree:
    """A sound play and its copies, each in a folder of its own below one."""

    def __init__(self, play: Play, folder: Path) -> None:
        self._play = play
        self._folder = folder
        self._names: dict[str, str] = {}  # of mutants: the folders of their copies
        self._mine = folder / SOUND

    def grow(self, mutants: Sequence[Mutant]) -> None:
        """Play, and return in the process that plays soundly, once all others have ended."""
        self._names = {one.name: str(at) for at, one in enumerate(mutants)}
        self._mine.mkdir()
        before = Path.cwd()
        os.chdir(self._mine)  # what is recorded has relative paths, so a copy finds its own
        try:
            with shadowing(mutants, self._branch) as shadow:
                self._record(shadow)
        finally:
            os.chdir(before)

    def _record(self, shadow: Shadow) -> None:
        paths: Sequence[Path] = ()
        broken = ""
        try:
            with within(SHADOW_S, of_cpu=True):
                paths = self._play.record(Path(), first_is_enough=True)
        except TooLong:
            broken = f"it did not end within {SIM_LIMIT_S:g} s"
        except (Exception, SystemExit) as error:
            # Whatever a mutant makes the lab do, it proves nothing about a rule.
            broken = f"{type(error).__name__}: {error}"
        except BaseException:
            if shadow.taken is not None:
                os._exit(1)
            raise
        ended = {"histories": [str(one) for one in paths], "broken": broken}
        (self._mine / _ENDED).write_text(json.dumps(ended), "utf-8")
        if shadow.taken is not None:
            os._exit(0)

    def _branch(self, mutant: Mutant) -> bool:
        """Fork; whether this is the copy."""
        number = self._names[mutant.name]
        loop = asyncio._get_running_loop()  # which belongs to this process alone
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return False
        try:
            die_with_parent()
            asyncio._set_running_loop(loop)
            signal.setitimer(signal.ITIMER_PROF, SIM_LIMIT_S)  # a fork has no timers
            _move(self._mine, self._folder / number)
        except BaseException:  # what is no copy yet must not go on as what it was forked from
            (self._folder / number).mkdir(exist_ok=True)  # its mutant is reached, and not judged
            os._exit(1)
        self._mine = self._folder / number
        return True


def _move(old: Path, new: Path) -> None:
    """Go on in a copy of a folder: what is open in the old one is open in the copy instead."""
    shutil.copytree(old, new)
    os.chdir(new)
    inside = f"{old.resolve()}/"
    for name in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # that of the list itself
        if path.startswith(inside) and Path(path).exists():  # not what is deleted and still open
            again = os.open(new / path.removeprefix(inside), os.O_WRONLY | os.O_APPEND)
            os.dup2(again, int(name), inheritable=False)
            os.close(again)


def _judged_apart(profile: str, folder: Path) -> Mapping[str, Told]:
    """Judge all of them, in a process of its own: an engine has threads, which no fork survives."""
    child = os.fork()
    if not child:
        try:
            die_with_parent()
            told = _judge(profile, folder)
            said = {name: [one.failed, one.broken] for name, one in told.items()}
            (folder / _JUDGED).write_text(json.dumps(said), "utf-8")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    found = json.loads((folder / _JUDGED).read_text("utf-8"))
    return {name: Told(failed=tuple(one[0]), broken=one[1]) for name, one in found.items()}


def _judge(profile: str, folder: Path) -> dict[str, Told]:
    paths: dict[str, list[Path]] = {}
    told: dict[str, Told] = {}
    for one in sorted(folder.iterdir()):
        ended = one / _ENDED
        said = json.loads(ended.read_text("utf-8")) if ended.exists() else {}
        if not said or said["broken"]:
            told[one.name] = Told(broken=said.get("broken") or "its process was ended")
        else:
            paths[one.name] = [one / history for history in said["histories"]]
    judged = judge(profile, [path for some in paths.values() for path in some], folder / "judging")
    return told | {name: told_by([judged[one] for one in some]) for name, some in paths.items()}
