"""Tests everywhere see the project and the lab.

Hypothesis explores anew on each run at home; in CI the examples are the same each time, so that a
landing does not depend on luck. How long an example takes is never a reason to fail.

A background job inherits SIGINT as ignored; tests and what they start get the default back.
"""

import os
import signal

from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["conformance.plugin", "pytester"]

_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("home", _PATIENT)
settings.register_profile("ci", _PATIENT, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "home")
