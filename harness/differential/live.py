"""Sequences against clusters by address, from code that has no loop: commands and explorations."""

from __future__ import annotations

import asyncio
import secrets
import time

from harness.differential.player import Answer, PlayContext, play, size_of
from harness.differential.sequence import RequestSequence
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address


def here_and_now(bootstrap: tuple[str, int]) -> PlayContext:
    """A cluster here and now; no two plays share topics."""
    return PlayContext(
        network=StreamNetwork(),
        bootstrap=Address(*bootstrap),
        now_ms=time.time_ns() // 1_000_000,
        seed=secrets.randbits(32),
    )


def play_now(sequence: RequestSequence, bootstrap: tuple[str, int]) -> list[Answer | None]:
    """The answer of each step, None for the steps that are not compared."""
    return asyncio.run(play(sequence, here_and_now(bootstrap)))


def size_now(bootstrap: tuple[str, int]) -> int:
    """How many brokers a cluster has."""
    return asyncio.run(size_of(here_and_now(bootstrap)))
