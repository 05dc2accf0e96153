"""Every scenario of every profile."""

from conformance.scenarios import boundary, edges, overlaps, register, together

SCENARIOS = (
    *boundary.SCENARIOS,
    *edges.SCENARIOS,
    *register.SCENARIOS,
    *overlaps.SCENARIOS,
    *together.SCENARIOS,
)
