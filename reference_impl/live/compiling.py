"""Compiling the walk over records (``kafka.record_walk``), for nodes that are worth it.

The compiler takes a second of CPU to load and run. So it is asked only once a process has walked
many records, and in a thread of its own, from where it takes over when it is ready. The thread and
the event loop share one interpreter; while both run they take turns often, or each answer would
wait for several of the usual turns.
"""

from __future__ import annotations

import sys
import threading

from reference_impl.kafka import record_walk
from reference_impl.kafka.batches import Bytes
from reference_impl.kafka.record_walk import Walked, interpreted

WORTH_IT = 10_000
"""Records; interpreted they take less than a tenth of a second."""
_TURN_S = 0.0002


def compile_walk_when_busy() -> None:
    """From now on count the records that this process walks, and compile the walk after many."""
    seen = 0

    def counting(data: Bytes, at: int, end: int, count: int, sized: bool) -> Walked:
        nonlocal seen
        seen += count
        if seen >= WORTH_IT:
            record_walk.use(interpreted)
            threading.Thread(target=_compile, name="compiling", daemon=True).start()
        return interpreted(data, at, end, count, sized)

    record_walk.use(counting)


def _compile() -> None:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        record_walk.compile_walk()
    finally:
        sys.setswitchinterval(usual)
