"""Memory of a node that moves batches of a megabyte.

Left alone, glibc takes each such block from the system and gives it back at once; the kernel clears
it page by page every time, which costs more than everything a broker does to a batch. So some of it
is kept. Elsewhere (no glibc) nothing happens.
"""

from __future__ import annotations

import contextlib
import ctypes

KEPT_BYTES = 64 << 20
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of malloc.h
_LARGEST_THRESHOLD = 32 << 20


def keep_freed_memory() -> None:
    """Let this process keep so many bytes that it has freed, for what it needs next."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST_THRESHOLD)
        libc.mallopt(_TRIM_THRESHOLD, KEPT_BYTES)
