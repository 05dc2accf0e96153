"""One batch of mutants in one process: play each within its limit, judge what was recorded."""

from __future__ import annotations

import ctypes
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from conformance.derived.plays import Play
from conformance.profiles import find_profile
from harness.history.sources import Source
from harness.rules import Judgement, Verdict
from spark_checkers.engine import InlineEngine
from spark_checkers.many import judge_many
from spark_checkers.side_by_side import JudgingProfile

SIM_LIMIT_S, LIVE_LIMIT_S = 60.0, 400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a play showed: rules that fail, why the lab broke, whether the mutant ever mattered."""

    failed: tuple[str, ...] = ()
    broken: str = ""
    reached: bool = True


class TooLong(BaseException):
    """A play did not end within its limit."""


@contextmanager
def within(limit_s: float, *, of_cpu: bool) -> Iterator[None]:
    """Raise `TooLong` where the block does not end in time; in the main thread only.

    A simulation is given time of the processor: how busy the machine is decides nothing. Elsewhere
    a play may also wait for what never comes.
    """
    timer = signal.ITIMER_PROF if of_cpu else signal.ITIMER_REAL
    number = signal.SIGPROF if of_cpu else signal.SIGALRM

    def late(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"it did not end within {limit_s:g} s")

    before = signal.signal(number, late)
    signal.setitimer(timer, limit_s)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


def die_with_parent() -> None:
    """End this process when the one that started it is gone."""
    ask_for_signal_at_parent_death = 1
    ctypes.CDLL(None).prctl(ask_for_signal_at_parent_death, signal.SIGKILL)


def play_and_judge(play: Play, references: Sequence[str | None], folder: Path) -> list[Told]:
    """What a play showed of each mutant; None is the sound reference."""
    folder.mkdir(parents=True)
    recorded = [_record(play, one, folder / str(at)) for at, one in enumerate(references)]
    judged = judge(play.profile, [p for one in recorded for p in _paths(one)], folder / "judged")
    try:
        return [
            Told(broken=one) if isinstance(one, str) else told_by([judged[path] for path in one])
            for one in recorded
        ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _paths(recorded: Sequence[Path] | str) -> Sequence[Path]:
    return () if isinstance(recorded, str) else recorded


def _record(play: Play, reference: str | None, folder: Path) -> Sequence[Path] | str:
    """The run folders, or why there are none."""
    folder.mkdir()
    mutants = () if reference is None else (reference,)
    try:
        if reference is None:
            return play.record(folder, mutants)
        simulated = play.world == "sim" and find_profile(play.profile).simulates(play.name)
        with within(SIM_LIMIT_S if simulated else LIVE_LIMIT_S, of_cpu=simulated):
            return play.record(folder, mutants)
    except TooLong as late:
        return str(late)
    except (Exception, SystemExit) as error:
        # Whatever a mutant makes the lab do, it proves nothing about a rule.
        return f"{type(error).__name__}: {error}"


def judge(profile: str, paths: Sequence[Path], folder: Path) -> dict[Path, Judgement | str]:
    """Each history by itself; a sentence instead of one that was not judged."""
    ground = JudgingProfile(profiles=(profile,), reference=True)
    rules = find_profile(profile).rules
    engine = InlineEngine()
    try:
        found = judge_many(
            [Source(name=str(path), address=str(path)) for path in paths],
            lambda _: ground,
            lambda _: rules,
            engine,
            folder,
            workers=1,
            kept=1,
        )
        return {
            Path(one.source.address): one.judgement or one.unreadable or "it was not judged"
            for one in found
        }
    finally:
        engine.close()


def told_by(found: Sequence[Judgement | str]) -> Told:
    """What the histories of one play show."""
    unread = [one for one in found if isinstance(one, str)]
    judged = [one for each in found if not isinstance(each, str) for one in each.judged]
    failed = {one.rule.id for one in judged if one.verdict is Verdict.FAIL}
    unjudged = [one.reason for one in judged if one.verdict is Verdict.BROKEN]
    broken = "; ".join([*unread, *unjudged])
    return Told(failed=tuple(sorted(failed)), broken="" if failed else broken)
