"""The nemesis: what can be done to a system, and what shows that it was really done."""

from nemesis.fault import Fault, Role
from nemesis.faults import FAULTS, fault_of_verb, has_landed

__all__ = ["FAULTS", "Fault", "Role", "fault_of_verb", "has_landed"]
