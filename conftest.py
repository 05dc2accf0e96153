"""Tests everywhere see the project and the lab, and none of them runs for ever.

Hypothesis draws the same examples on every run, so that a pass does not depend on luck. The
profile `explore` (`./tidemark test explore`) draws them anew, and says how to draw a failing one
again; what it finds becomes an `@example`, or a test of its own. How long an example takes is
never a reason to fail.

A background job inherits SIGINT as ignored; tests and what they start get the default back. What
a user has set for the command line does not steer them.
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)
for _setting in ("TIDEMARK_RUNS", "TIDEMARK_DESIGNS", "TIDEMARK_CALLED_AS"):
    os.environ.pop(_setting, None)

pytest_plugins = ["conformance.plugin", "harness.time_limit", "pytester"]

_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _UNTIMED, derandomize=True)
settings.register_profile(  # named, as Hypothesis itself turns it on where `CI` is set
    "explore", _UNTIMED, derandomize=False, max_examples=300, print_blob=True
)
settings.load_profile("same")

MARKS = ("sim", "spark", "process", "docker", "foreign", "slow")
_BENCHES = "_benches import"  # modules of that name mark the ways in which a test runs


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without the mark that is asked for are not even imported: that takes seconds."""
    asked = str(config.getoption("markexpr")).partition(" ")[0]
    if collection_path.suffix != ".py" or asked not in (*MARKS, "hypothesis"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    sign = f"mark.{asked}" if asked in MARKS else "from hypothesis"
    return None if sign in text or _BENCHES in text else True
