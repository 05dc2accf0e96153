"""Every scenario of every profile."""

from conformance.scenarios import boundary

SCENARIOS = boundary.SCENARIOS
