"""Histories of which the views once said something else than the sentences of the rules.

Written as `tests/spark_checkers/log_lines.py` says; with each the rules that it breaks.
"""

from __future__ import annotations

HISTORIES: dict[str, tuple[str, set[str]]] = {
    "two acks at one offset both read": (
        """
        1-3 send a => ok 0
        2-4 send b => ok 0
        5-6 fetch 0 node=1 => ok a@0 hw=1
        7-8 fetch 0 node=2 => ok b@0 hw=1
        """,
        {"KFK-031", "KFK-034", "KFK-035", "KFK-039"},
    ),
    "two leader acks at one offset both read": (
        """
        1-3 send a acks=1 => ok 0
        2-4 send b acks=1 => ok 0
        5-6 fetch 0 node=1 => ok a@0 hw=1
        7-8 fetch 0 node=2 => ok b@0 hw=1
        """,
        {"KFK-034", "KFK-039"},
    ),
    "leader ack read and full ack at one offset": (
        """
        1-3 send a acks=1 => ok 0
        2-4 send b => ok 0
        5-6 fetch 0 node=1 => ok a@0 hw=1
        7-8 fetch 0 node=2 => ok b@0 hw=1
        """,
        {"KFK-031", "KFK-034", "KFK-035", "KFK-039"},
    ),
    "another record where one was acknowledged": (
        """
        send a  => ok 0
        fetch 0 => ok b@0 hw=1
        """,
        {"KFK-031", "KFK-035", "KFK-042"},
    ),
    "another record below others": (
        """
        1-3 send a  => ok 0
        2-4 send b  => ok 1
        5-6 fetch 0 => ok b@0 b2@1 hw=2
        """,
        {"KFK-031", "KFK-035", "KFK-037", "KFK-042"},
    ),
    "record found by one reader and passed over by another": (
        """
        send a => ok 0
        send b => ok 1
        send c => ok 2
        fetch 0 node=1 => ok a@0 b@1 c@2 hw=3
        fetch 0 node=2 => ok a@0 c@2 hw=3
        """,
        {"KFK-031", "KFK-046"},
    ),
    "unacknowledged append between two that overlap": (
        """
        1-9 send a,b,c,d => ok 0
        2-8 send x => info REQUEST_TIMED_OUT
        3-7 send e => ok 2
        10-11 fetch 1 => ok x@1 hw=4
        """,
        {"KFK-031", "KFK-035", "KFK-039"},
    ),
    "long append over a short one and a later one": (
        """
        1-9 send a,b,c,d,e => ok 0
        2-8 send f => ok 1
        3-7 send g => ok 3
        """,
        {"KFK-039"},
    ),
    "copy of an acknowledged record": (
        """
        send a  => ok 0
        fetch 0 => ok a@0 a@1 hw=2
        """,
        {"KFK-037", "KFK-038"},
    ),
    "sequence number twice": (
        """
        send a pid=7 seq=0  => info REQUEST_TIMED_OUT
        again a pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0             => ok a@0 a@1 hw=2
        """,
        {"KFK-038", "KFK-041"},
    ),
    "record of nobody between unacknowledged appends": (
        """
        send a,b => info REQUEST_TIMED_OUT
        fetch 0  => ok a@0 x@1 b@2 hw=3
        """,
        {"KFK-040", "KFK-042"},
    ),
    "committed transaction passed over": (
        """
        send a tx=T       => ok 0
        send b tx=T       => ok 1
        end T commit      => ok
        fetch 0 committed => ok a@0 c@3 hw=4 lso=4
        """,
        {"KFK-031", "KFK-042", "KFK-046", "KFK-080"},
    ),
    "acknowledged at the same offset later": (
        """
        1-2 send a => ok 1
        3-4 send b => ok 1
        """,
        {"KFK-030", "KFK-039"},
    ),
    "acknowledged at the same offset later and read": (
        """
        1-2 send a => ok 1
        3-4 send b => ok 1
        5-6 fetch 1 => ok b@1 hw=2
        """,
        {"KFK-030", "KFK-031", "KFK-035", "KFK-039"},
    ),
    "committed records replaced": (
        """
        1-2   send a        => ok 0
        3-4   send b acks=1 => ok 1
        5-6   fetch 0 node=3 epoch=1 => ok a@0/0 b@1/0 hw=2
        7-8   send c        => ok 1
        9-10  fetch 0 node=3 epoch=1 => ok a@0/0 c@1/1 hw=2
        """,
        {"KFK-031", "KFK-032", "KFK-034", "KFK-035", "KFK-039", "KFK-070"},
    ),
    "sequence numbers of one send out of order": (
        """
        send a,b pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0 => ok b@0 a@1 hw=2
        """,
        {"KFK-040", "KFK-041"},
    ),
    "all records in the wrong order": (
        """
        1-2 send a => ok 0
        3-4 send b => ok 1
        5-6 send c => ok 2
        fetch 0 => ok a@0 c@2 b@1 hw=3
        """,
        {"KFK-045"},
    ),
    "last stable offset above the high watermark": (
        """
        fetch 0 epoch=1 => ok hw=1 lso=2 start=0
        fetch 0 epoch=1 => ok hw=1 lso=2 start=0
        """,
        {"KFK-053"},
    ),
    "latest below an acknowledgement after a window": (
        """
        1-2   send a => ok 0
        3-8   window one-leader
        4-5   send b => ok 9
        10-11 send c => ok 5
        12-13 latest => ok 3
        """,
        {"KFK-030", "KFK-054"},
    ),
    "high watermark falls after a window": (
        """
        3-8   window one-leader
        0-9   window replica-up
        4-5   fetch 0 epoch=1 => ok hw=9
        10-11 fetch 0 epoch=1 => ok hw=5
        12-13 fetch 0 epoch=1 => ok hw=3
        """,
        {"KFK-050"},
    ),
    "last stable offset falls after a window": (
        """
        0-9   window replica-up
        4-5   fetch 0 epoch=1 => ok hw=9 lso=9
        10-11 fetch 0 epoch=1 => ok hw=9 lso=5
        12-13 fetch 0 epoch=1 => ok hw=9 lso=3
        """,
        {"KFK-051"},
    ),
    "log start falls after a window": (
        """
        0-9   window replica-up
        4-5   fetch 9 epoch=1 => ok hw=9 start=9
        10-11 fetch 9 epoch=1 => ok hw=9 start=5
        12-13 fetch 9 epoch=1 => ok hw=9 start=3
        """,
        {"KFK-052"},
    ),
    "deleted records served after a window": (
        """
        3-8   window one-leader
        4-5   delete 9 => ok start=9
        10-11 delete 5 => ok start=9
        12-13 fetch 4 => ok a@4 hw=9 start=4
        """,
        {"KFK-065", "KFK-066"},
    ),
    "search by time after a window": (
        """
        3-8   window one-leader
        4-5   send a!900 => ok 0
        10-11 send b!500 => ok 1
        12-13 at 400     => ok -1
        14-15 max        => ok 0 !400
        16-17 fetch 2    => ok hw=2 start=0
        """,
        {"KFK-062", "KFK-063"},
    ),
    "out of range after a window": (
        """
        0-9   window replica-up
        4-5   fetch 0 => ok hw=9 start=0
        10-11 fetch 0 => ok hw=5 start=0
        12-13 fetch 3 => fail OFFSET_OUT_OF_RANGE
        14-15 fetch 3 => ok hw=5 start=0
        """,
        {"KFK-049"},
    ),
    "out of range in the next epoch": (
        """
        fetch 4 epoch=1 => ok hw=5 start=0
        fetch 5 epoch=2 => fail OFFSET_OUT_OF_RANGE
        fetch 5 epoch=2 => ok hw=5 start=0
        """,
        {"KFK-049"},
    ),
    "end of an epoch below its records deleted later": (
        """
        epoch_end 2 epoch=3 => ok 2 5
        fetch 7 epoch=2 => ok a@7/2 hw=8 start=3
        delete 9 => ok start=9
        fetch 9 epoch=4 => ok hw=9 start=9
        """,
        {"KFK-072"},
    ),
    "leader ack read below an earlier ack": (
        """
        1-2 send a         => ok 0
        3-4 fetch 0 node=1 => ok a@0 hw=1
        5-6 send b acks=1  => ok 0
        7-8 fetch 0 node=2 => ok b@0 hw=1
        """,
        {"KFK-030", "KFK-031", "KFK-032", "KFK-034", "KFK-035", "KFK-039"},
    ),
    "send torn within one answer": (
        """
        1-9 send a,b => info REQUEST_TIMED_OUT
        2-8 send x   => info REQUEST_TIMED_OUT
        10-11 fetch 0 => ok a@0 x@1 hw=2
        """,
        {"KFK-040"},
    ),
    "out of range after records above the high watermark": (
        """
        fetch 4 epoch=1 => ok a@4 hw=3 start=0
        fetch 5 epoch=2 => fail OFFSET_OUT_OF_RANGE
        fetch 3 epoch=2 => ok hw=3 start=0
        """,
        {"KFK-047"},
    ),
    "answers that cannot be read are no refusals": (
        """
        1-40 phase converge bound=20
        2-3   latest => fail UNREADABLE_ANSWER
        8-9   latest => fail UNREADABLE_ANSWER
        14-15 latest => fail UNREADABLE_ANSWER
        20-21 latest => fail UNREADABLE_ANSWER
        26-27 latest => fail UNREADABLE_ANSWER
        """,
        {"KFK-096"},
    ),
    "refusals between answers that cannot be read": (
        """
        1-40 phase converge bound=20
        2-3   latest => fail UNKNOWN_SERVER_ERROR
        8-9   latest => fail UNKNOWN_SERVER_ERROR
        14-15 latest => fail UNKNOWN_SERVER_ERROR
        16-17 latest => fail UNREADABLE_ANSWER
        20-21 latest => fail UNKNOWN_SERVER_ERROR
        26-27 latest => fail UNKNOWN_SERVER_ERROR
        """,
        {"KFK-094", "KFK-096"},
    ),
    "search finds nothing of what is deleted later": (
        """
        send a!500 => ok 0
        at 400     => ok -1
        fetch 0    => ok a@0!500 hw=1 start=0
        delete 1   => ok start=1
        fetch 1    => ok hw=1 start=1
        """,
        {"KFK-062"},
    ),
    "search finds nothing of what a follower still has": (
        """
        1-2   send a!500     => ok 0
        3-20  delete 1       => ok start=1
        5-6   at 400         => ok -1
        7-8   fetch 0 node=2 => ok a@0!500 hw=1 start=0
        21-22 fetch 1        => ok hw=1 start=1
        """,
        set(),
    ),
    "end of an epoch beyond records that are deleted later": (
        """
        fetch 0             => ok a@0/1 b@1/2 hw=2
        epoch_end 1 epoch=2 => ok 1 2
        fetch 0             => ok a@0/1 b@1/2 hw=2 start=0
        delete 2            => ok start=2
        fetch 2             => ok hw=2 start=2
        """,
        {"KFK-072"},
    ),
    "end of an epoch at the log start, which a follower does not have yet": (
        """
        1-2   fetch 0             => ok a@0/1 b@1/2 hw=2
        3-20  delete 2            => ok start=2
        5-6   epoch_end 1 epoch=2 => ok 1 2
        7-8   fetch 0 node=2      => ok a@0/1 b@1/2 hw=2 start=0
        21-22 fetch 2             => ok hw=2 start=2
        """,
        set(),
    ),
    "deletion that is answered with less than was asked for": (
        """
        1-2 send a           => ok 0
        3-4 delete 1         => ok start=0
        5-6 fetch 0 node=2   => ok a@0 hw=1 start=0
        """,
        {"KFK-065", "KFK-066", "KFK-067"},
    ),
    "deletion that is still under way": (
        """
        1-2 send a           => ok 0
        3-7 delete 1         => ok start=1
        5-6 fetch 0 node=2   => ok a@0 hw=1 start=0
        """,
        set(),
    ),
}
