"""A pytest plugin: every test ends, and one that hangs says where.

A test that runs longer than the ini option `time_limit_s` (with the mark `slow`:
`slow_time_limit_s`) fails with the stacks of all threads, by a signal; the run goes on. Where the
main thread does not come back to Python, because it waits in C code, the process ends after
`time_limit_grace_s` more: its stacks go to stderr, and the run has failed (under xdist that test
alone, and a new process plays the others). A process that is done with its tests and does not end
is ended likewise; under xdist the one that started the workers, and they with it.

The limits are for what would never end; they are far above what any test takes, and say nothing
about speed.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator
from types import FrameType

import pytest

LIMITS_S = {"time_limit_s": 600.0, "slow_time_limit_s": 7200.0, "time_limit_grace_s": 300.0}
FRAMES = 24
_STDERR = pytest.StashKey[int]()


class TimeLimitExceeded(BaseException):
    """A test did not end. Not an Exception: nothing that retries or shrinks may catch it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The limits, which a test of this plugin makes small."""
    for name, limit_s in LIMITS_S.items():
        parser.addini(name, "the seconds after which a test has hung", default=str(limit_s))


def pytest_configure(config: pytest.Config) -> None:
    """Take the terminal's stderr now, before a test's own is captured."""
    config.stash[_STDERR] = os.dup(sys.__stderr__.fileno() if sys.__stderr__ else 2)
    signal.signal(signal.SIGALRM, _fail)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Bound set-up, call and tear-down together."""
    slow = item.get_closest_marker("slow") is not None
    limit_s = _limit(item.config, "slow_time_limit_s" if slow else "time_limit_s")
    _end_the_process_after(item.config, limit_s + _limit(item.config, "time_limit_grace_s"))
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """All is reported; threads and processes that are left get a while, not for ever.

    A worker of xdist waits for the others, and is ended by the process that started it.
    """
    if not hasattr(config, "workerinput"):
        _end_the_process_after(config, _limit(config, "time_limit_s"))


def stacks() -> str:
    """Where each thread is: its innermost frames."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"thread {names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame, FRAMES))}"
        for ident, frame in sys._current_frames().items()
    )


def _fail(_number: int, _frame: FrameType | None) -> None:
    raise TimeLimitExceeded(f"the test did not end in time\n{stacks()}")


def _end_the_process_after(config: pytest.Config, limit_s: float) -> None:
    faulthandler.dump_traceback_later(limit_s, exit=True, file=config.stash[_STDERR])


def _limit(config: pytest.Config, name: str) -> float:
    return float(config.getini(name))
