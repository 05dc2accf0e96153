"""The table of all faults. The harness carries them out; tests hold the two together."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nemesis.cluster_faults import CLUSTER_FAULTS
from nemesis.fault import Fault
from nemesis.request_faults import REQUEST_FAULTS

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {fault.name: fault for fault in (*REQUEST_FAULTS, *CLUSTER_FAULTS)}
)


def fault_of_verb(verb: str) -> Fault | None:
    """The fault that a verb of the script language is, if it is one."""
    return next((fault for fault in REQUEST_FAULTS if fault.verb == verb), None)


def has_landed(name: str, evidence: Mapping[str, object]) -> bool:
    """Whether the evidence of a fault line shows that it bit; an unknown fault never did."""
    fault = FAULTS.get(name)
    return fault is not None and fault.has_landed(evidence)
