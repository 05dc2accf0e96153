"""What a run leaves behind in a system that is not ours: nothing, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.deployments.external_journal import TOPICS, journal_of
from harness.sut import Sut


@contextmanager
def leaving_no_topics(sut: Sut, tag: str) -> Iterator[None]:
    """Delete the topics that carry the tag of the run if the block ends badly.

    If it does not end at all, because the lab was killed, the next run on that address does.
    """
    with journal_of(sut) as journal:
        if not tag or journal is None:
            yield
            return
        journal.owes(TOPICS, tag)
        try:
            yield
        except BaseException:
            # Not before it is needed: Kafka's messages take a second to import.
            from harness.deployments.external_topics import remove_topics

            if remove_topics(sut.bootstrap or "", tag):
                journal.paid(tag)
            raise
        journal.paid(tag)
