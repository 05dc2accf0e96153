"""What a lever of a simulation is, once it is pulled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.levers import Counts, has_acted
from harness.simulation.bell import Bell
from harness.simulation.gate import Condition
from harness.simulation.link_faults import Hold, LinkFault
from reference_impl.ports.effects import Trouble

if TYPE_CHECKING:
    from harness.simulation.simulation import Simulation

_LOOK_S = 0.005  # of virtual time, where no bell rings
_TICK_S = 0.0001  # shorter than the shortest way to a service


class OutOfPlace(ValueError):
    """The node that a lever would act on is down."""


class SimLever:
    """A lever in force. Its counts stand still once it is released."""

    def __init__(
        self, counts: Callable[[], Counts], lift: Callable[[], object], bell: Bell | None = None
    ) -> None:
        self.released = False
        self._counts = counts
        self._lift = lift
        self._bell = bell

    @property
    def counts(self) -> Counts:
        """What it did so far."""
        return self._counts()

    async def acted(self) -> None:
        """Return once a count is above zero."""
        while not has_acted(self.counts):
            await (asyncio.sleep(_LOOK_S) if self._bell is None else self._bell.heard())

    def release(self) -> None:
        """End it; a second time does nothing."""
        if not self.released:
            self.released = True
            last = dict(self._counts())
            self._counts = lambda: last
            self._lift()


class LinkLever(SimLever):
    """A lever on links."""

    def __init__(self, works: LinkFault) -> None:
        self.works = works
        super().__init__(lambda: dict(works.counts), works.heal, works.bell)

    def let_go(self, count: int) -> int:
        """Let deliveries that are held go, oldest first; how many there were."""
        if not isinstance(self.works, Hold):
            raise ValueError("this lever holds nothing that could be let go")
        return self.works.release(count)


class CallHold(SimLever):
    """A lever that keeps the calls of a node to a service in the network."""

    def __init__(self, sim: Simulation, condition: Condition) -> None:
        self._effects = sim.effects
        self._condition = condition
        self._dropped = 0
        sim.effects.conditions.append(condition)
        super().__init__(self._counted, self._let_go, condition.bell)

    async def pass_one(self) -> int:
        """Let one through, until it is over or the next one is held; how many passed."""
        passed = self._condition.release(1)
        node, port = self._condition.node or "", self._condition.port
        moving = passed > 0
        while moving:
            await asyncio.sleep(_TICK_S)
            moving = self._effects.moving(node, port) > 0
        return passed

    def drop(self) -> None:
        """What is held never arrives, and nothing is held any more."""
        if not self.released:
            self._dropped = self._condition.release(trouble=Trouble.REFUSED)
            self.release()

    def _counted(self) -> Counts:
        return {"requests_held": self._condition.hits, "requests_dropped": self._dropped}

    def _let_go(self) -> None:
        self._effects.conditions.remove(self._condition)
        self._condition.release()
