"""The stage `tier-wire`: recorded sequences about tiered topics, asked of one broker that tiers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.history.plan import Part

STAGE = "tier-wire"
RULE = "TS-210"
ONLY_STARTED = "its sequences need a broker of their own, with settings that the lab gives it"
ONE_COPY: Mapping[str, str] = MappingProxyType(
    {"rlmm.config.remote.log.metadata.topic.replication.factor": "1"}
)
"""Of the metadata topic, where there is one broker."""


def planned_parts() -> tuple[Part, ...]:
    """The family as a part of the plan of a run."""
    return (Part(name=STAGE, profile="tiered", rules=(RULE,)),)
