"""A process that outlives its lab by seconds: it removes what the lab left in the engine.

It waits for its input to close. A lab that has removed its things itself says `done` before; one
that was killed says nothing. What the engine was still making then appears a moment later, so it
looks again until there was nothing twice.
"""

from __future__ import annotations

import signal
import sys
import time

PAUSE_S = 1.0
MOST_LOOKS = 60


def main(owner: str) -> None:
    """Wait for the end of the lab, and clean up after it."""
    if sys.stdin.buffer.read() == b"done\n":
        return
    import docker  # type: ignore[import-untyped]  # not loaded where it is not needed

    from harness.deployments.docker.removal import remove_owned

    client = docker.from_env()
    nothing = 0
    for _ in range(MOST_LOOKS):
        nothing = 0 if remove_owned(client, owner) else nothing + 1
        if nothing == 2:
            return
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(sys.argv[1])
