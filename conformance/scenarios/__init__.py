"""Every scenario of every profile."""

from conformance.scenarios import boundary, edges, overlaps, register

SCENARIOS = (*boundary.SCENARIOS, *edges.SCENARIOS, *register.SCENARIOS, *overlaps.SCENARIOS)
