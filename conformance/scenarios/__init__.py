"""Every scenario of every profile."""

from conformance.scenarios import boundary, register

SCENARIOS = (*boundary.SCENARIOS, *register.SCENARIOS)
