"""What a run leaves behind in a system that is not ours: nothing, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.sut import Sut


@contextmanager
def leaving_no_topics(sut: Sut, tag: str) -> Iterator[None]:
    """Delete the topics that carry the tag of the run if the block ends badly."""
    try:
        yield
    except BaseException:
        if tag and sut.bootstrap:
            # Not before it is needed: Kafka's messages take a second to import.
            from harness.deployments.external_topics import remove_topics

            remove_topics(sut.bootstrap, tag)
        raise
