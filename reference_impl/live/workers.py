"""Long computations in threads.

The codecs of record batches and the compiled walk over records release the interpreter, so the
event loop goes on beside them. What does not release it takes turns with the loop, and often, or
each answer would wait for several of the usual turns. Threads start when there is work for them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

Result = TypeVar("Result")

AT_ONCE: Final = 2
"""Each may hold an unpacked batch; that bounds their memory together."""
_TURN_S: Final = 0.0002


class ThreadWorkers:
    """Workers that are threads of this process."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        sys.setswitchinterval(_TURN_S)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="worker")

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work returns or raises, from one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
