"""The registers of a simulation in memory, as the lab reaches them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.errors import LabBroken
from harness.simulation.gate import Condition
from harness.simulation.simulation import Simulation
from harness.steps.order import ALL_VERBS
from reference_impl.ports.effects import Trouble

if TYPE_CHECKING:
    from harness.processes.database import Log, Row


class MemoryStore:
    """The registers that the nodes of a simulation share; they cannot break, so gates play it."""

    verbs = ALL_VERBS - {"upgrade"}

    def __init__(self, sim: Simulation) -> None:
        self._registers = sim.registers
        self._conditions = sim.effects.conditions
        self._failure = Condition(port="control_plane", trouble=Trouble.BROKEN)

    @property
    def errors_answered(self) -> int:
        """What gates answered in its name."""
        return self._failure.hits

    def break_down(self) -> None:
        """Whatever gets here is answered with a hard error."""
        self._failure = Condition(port="control_plane", trouble=Trouble.BROKEN)
        self._conditions.append(self._failure)

    def mend(self) -> None:
        """It gets here again."""
        self._conditions.remove(self._failure)

    def probe(self) -> list[Row]:
        """The objects themselves, not what a call says about them."""
        return self._registers.rows()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Memory has no schema."""
        raise LabBroken("the in-memory control plane has no schema to upgrade")

    def close(self) -> None:
        """Nothing to let go of."""
