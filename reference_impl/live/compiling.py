"""Compiling the walk over records (``kafka.record_walk``), for nodes that are worth it.

The compiler takes a second of CPU to load and run. So it is asked only once a process has walked
many records, and in a thread of its own, from where it takes over when it is ready. The event loop
walks on as before until then; a worker that has many records to walk waits for it, because the
interpreted walk would take the interpreter from the loop.
"""

from __future__ import annotations

import threading

from reference_impl.kafka import record_walk
from reference_impl.kafka.batches import Bytes
from reference_impl.kafka.record_walk import Walk, Walked, interpreted

WORTH_IT = 10_000
"""Records; interpreted they take less than a tenth of a second."""


def compile_walk_when_busy() -> None:
    """From now on count the records that this process walks, and compile the walk after many."""
    seen = 0
    compiling = _Compiling()

    def counting(data: Bytes, at: int, end: int, count: int, sized: bool) -> Walked:
        nonlocal seen
        seen += count
        walk: Walk = interpreted
        if seen >= WORTH_IT:
            compiling.begin()
            if count >= WORTH_IT and threading.current_thread() is not threading.main_thread():
                walk = compiling.result()
        return walk(data, at, end, count, sized)

    record_walk.use(counting)


class _Compiling:
    """The walk while it is compiled, once."""

    def __init__(self) -> None:
        self._thread = threading.Thread(target=self._compile, name="compiling", daemon=True)
        self._once = threading.Lock()
        self._ended = threading.Event()
        self._compiled: Walk = interpreted

    def begin(self) -> None:
        """Compile it from now on, if that has not begun."""
        if self._once.acquire(blocking=False):
            self._thread.start()

    def result(self) -> Walk:
        """The compiled walk, once there is one."""
        self._ended.wait()
        return self._compiled

    def _compile(self) -> None:
        try:
            self._compiled = record_walk.compile_walk()
        finally:
            self._ended.set()
