"""Waiting for a signal whose handler raises.

`signal.pause` is not enough: a signal that arrives just before it is handled, or only noted, before
the pause begins, which then does not end. Here it leaves a byte in a pipe.
"""

from __future__ import annotations

import os
import select
import signal


def wait_for_signal() -> None:
    """Return, or raise what the handler raises, once a signal has come. For the main thread."""
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    before = signal.set_wakeup_fd(wake)
    try:
        select.select([awake], [], [])
    finally:
        signal.set_wakeup_fd(before)
        os.close(awake)
        os.close(wake)
