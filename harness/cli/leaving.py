"""What a run leaves behind in a system that is not ours: nothing, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.deployments.external_journal import TOPICS, journal_of
from harness.differential.answers import names_of_recordings
from harness.sut import Sut


@contextmanager
def leaving_no_topics(sut: Sut, tag: str) -> Iterator[None]:
    """Delete the topics of the run with this tag if the block ends badly.

    If it does not end at all, because the lab was killed, the next run on that address does.
    """
    with journal_of(sut) as journal:
        if not tag or journal is None:
            yield
            return
        # Not before it is needed: Kafka's messages take a second to import.
        from harness.differential.player import token_of

        tokens = [token_of(tag, name) for name in names_of_recordings()]
        journal.owes(TOPICS, tag, *tokens)
        try:
            yield
        except BaseException:
            from harness.deployments.external_topics import remove_topics

            if remove_topics(sut.bootstrap or "", tag, tokens):
                journal.paid(tag, *tokens)
            raise
        journal.paid(tag, *tokens)
