"""Every run twice: the second is compared with the first, callback by callback, as it goes.

What would make a simulation differ from itself is never in the code one looks at. So the first
difference is caught where it shows: which callback of whom ran at what time, or which effect left a
node, and what it was the time before.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from harness.simulation.errors import Diverged
from harness.simulation.simulation import Simulation

_BEFORE = 3  # lines shown ahead of the difference


def twice(
    program: Callable[[Simulation], None],
    *,
    seed: int = 0,
    make: Callable[[int], Simulation] = Simulation,
) -> int:
    """Run a program twice from the same seed; how many callbacks were compared.

    Diverged is raised at the first that differs, from within the second run.
    """
    first: list[str] = []
    with make(seed) as sim:
        sim.loop.watch = first.append
        program(sim)
    places = count()

    def compare(line: str) -> None:
        place = next(places)
        expected = first[place] if place < len(first) else "nothing more"
        if line != expected:
            raise _difference(first, place, expected, line)

    with make(seed) as sim:
        sim.loop.watch = compare
        program(sim)
    compared = next(places)
    if compared < len(first):
        raise _difference(first, compared, first[compared], "nothing more")
    return compared


def _difference(first: list[str], place: int, expected: str, seen: str) -> Diverged:
    before = "".join(f"\n  {line}" for line in first[max(0, place - _BEFORE) : place])
    return Diverged(
        f"the second run differs at callback {place + 1} (time in ns, whose, what):{before}\n"
        f"  first:  {expected}\n  second: {seen}"
    )
