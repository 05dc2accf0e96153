"""Saying who waits for what, and what keeps running: for people who read a failed simulation."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from harness.simulation.process import Process, Tasks

_SHOWN = 12


def named(function: Any) -> str:
    """A callback by the name of its task or function."""
    if isinstance(function, functools.partial):
        return named(function.func)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return f"{owner.get_name()} ({_coroutine_name(owner.get_coro())})"
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def explain(why: str, lab: Tasks, processes: Iterable[Process], timers: int) -> str:
    """Who waits for what, one line each."""
    lines = [_waiting("the lab", task) for task in lab]
    for process in processes:
        if process.paused:
            lines.append(f"  {process.name} is paused with {len(process.parked)} callbacks waiting")
        lines += [_waiting(process.name, task) for task in process.tasks]
    if len(lines) > _SHOWN:
        lines[_SHOWN:] = [f"  … and {len(lines) - _SHOWN} more"]
    lines = lines or ["  nobody waits"]
    return "\n".join([f"{why}; {timers} timers are set. Waiting:", *lines])


def busiest(names: Counter[str]) -> str:
    """What ran most, for a runaway."""
    return ", ".join(f"{name} × {count}" for name, count in names.most_common(3))


def _waiting(who: str, task: asyncio.Task[Any]) -> str:
    frames = [*_frames(task.get_coro())]
    ours = [frame for frame in frames if "asyncio" not in Path(frame.f_code.co_filename).parts]
    chain = " → ".join(frame.f_code.co_name for frame in frames[-4:])
    if not ours:
        return f"  {who}: {task.get_name()} has not started"
    place = f"{Path(ours[-1].f_code.co_filename).name}:{ours[-1].f_lineno}"
    return f"  {who}: {task.get_name()} at {place}, in {chain}"


def _frames(awaited: Any) -> Iterator[FrameType]:
    """The frames of a suspended coroutine, outermost first."""
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            yield frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)


def _coroutine_name(coroutine: Any) -> str:
    return str(getattr(coroutine, "__qualname__", type(coroutine).__qualname__))
