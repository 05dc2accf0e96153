"""Second copies of repeated batches that no deletion explains, with the rule each breaks."""

from __future__ import annotations

COPIES: dict[str, tuple[str, str]] = {
    "a repeated batch of which both copies stood in the log before one was deleted": (
        "KFK-038",
        """
        send a,b pid=7 seq=0  => info REQUEST_TIMED_OUT
        again a,b pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0               => ok a@0 b@1 a@2 b@3 hw=4 start=0
        delete 2              => ok start=2
        fetch 2               => ok a@2 b@3 hw=4 start=2
        """,
    ),
    "a batch that is repeated when only its first record was deleted": (
        "KFK-038",
        """
        send a,b pid=7 seq=0  => info REQUEST_TIMED_OUT
        fetch 0               => ok a@0 b@1 hw=2 start=0
        delete 1              => ok start=1
        again a,b pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 1               => ok b@1 a@2 b@3 hw=4 start=1
        """,
    ),
    "a third copy beside one that was not deleted": (
        "KFK-038",
        """
        send a pid=7 seq=0  => info REQUEST_TIMED_OUT
        fetch 0             => ok a@0 hw=1 start=0
        delete 1            => ok start=1
        again a pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 1             => ok a@1 hw=2 start=1
        again a pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 1             => ok a@1 a@2 hw=3 start=1
        """,
    ),
    "a send tried once with a second copy after the first was deleted": (
        "KFK-038",
        """
        send a pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0            => ok a@0 hw=1 start=0
        delete 1           => ok start=1
        fetch 1            => ok a@1 hw=2 start=1
        """,
    ),
    "a sequence number again, acknowledged before its first copy was deleted": (
        "KFK-041",
        """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=0 => ok 1
        delete 1           => ok start=1
        """,
    ),
    "a record read above its acknowledged offset before that was deleted": (
        "KFK-037",
        """
        send a pid=7 seq=0  => info REQUEST_TIMED_OUT
        again a pid=7 seq=0 => ok 0
        fetch 1             => ok a@1 hw=2 start=0
        delete 1            => ok start=1
        """,
    ),
}
