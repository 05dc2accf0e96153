"""Histories for the rules of the log; `log_lines` says how they are written."""

from __future__ import annotations

# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    "KFK-030": (
        """
        1-2 send a => ok 5
        3-4 send b => ok 4
        """,
        """
        1-3 send a => ok 5
        2-4 send b => ok 4
        """,
    ),
    "KFK-031": (
        """
        send a    => ok 0
        send b    => ok 1
        send c    => ok 2
        fetch 0   => ok a@0 c@2 hw=3
        """,
        """
        send a        => ok 0
        send b acks=1 => ok 1
        send c        => ok 2
        fetch 0       => ok a@0 c@2 hw=3
        """,
    ),
    "KFK-032": (
        """
        1-2 fetch 0 => ok a@0 hw=1
        3-4 send a  => ok 0
        """,
        """
        1-4 send a  => ok 0
        2-3 fetch 0 => ok a@0 hw=1
        """,
    ),
    "KFK-033": (
        """
        send a  => fail NOT_ENOUGH_REPLICAS
        fetch 0 => ok a@0 hw=1
        """,
        """
        send a  => info REQUEST_TIMED_OUT
        fetch 0 => ok a@0 hw=1
        """,
    ),
    "KFK-034": (
        """
        fetch 0 => ok a@0 hw=1
        fetch 0 => ok b@0 hw=1
        """,
        """
        fetch 0 => ok a@0 hw=1
        fetch 1 => ok b@1 hw=2
        """,
    ),
    "KFK-035": (
        """
        send a  => ok 0
        fetch 0 => ok b@0 hw=1
        """,
        """
        send a acks=1 => ok 0
        fetch 0       => ok b@0 hw=1
        """,
    ),
    "KFK-036": (
        """
        send a#k  => info REQUEST_TIMED_OUT
        fetch 0   => ok a@0#j hw=1
        """,
        """
        send a#k  => info REQUEST_TIMED_OUT
        fetch 0   => ok a@0#k hw=1
        """,
    ),
    "KFK-037": (
        """
        send a  => ok 0
        fetch 0 => ok a@0 a@1 hw=2
        """,
        """
        send a  => info REQUEST_TIMED_OUT
        again a => ok 0
        fetch 0 => ok a@0 a@1 hw=2
        """,
    ),
    "KFK-038": (
        """
        send a pid=7 seq=0  => info REQUEST_TIMED_OUT
        again a pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0             => ok a@0 a@1 hw=2
        """,
        """
        send a  => info REQUEST_TIMED_OUT
        again a => info REQUEST_TIMED_OUT
        fetch 0 => ok a@0 a@1 hw=2
        """,
    ),
    "KFK-039": (
        """
        1-3 send a,b => ok 0
        2-4 send c   => ok 1
        """,
        """
        1-3 send a,b => ok 0
        2-4 send c   => ok 2
        """,
    ),
    "KFK-040": (
        """
        send a,b => info REQUEST_TIMED_OUT
        fetch 0  => ok a@0 x@1 b@2 hw=3
        """,
        """
        send a,b => info REQUEST_TIMED_OUT
        fetch 0  => ok a@0 b@1 x@2 hw=3
        """,
    ),
    "KFK-041": (
        """
        1-4 send a pid=7 seq=0 => ok 1
        2-3 send b pid=7 seq=1 => ok 0
        """,
        """
        1-4 send a pid=7 seq=0 => ok 1
        2-3 send b pid=8 seq=1 => ok 0
        """,
    ),
    "KFK-042": (
        """
        send a  => ok 0
        fetch 0 => ok a@0 stranger@1 hw=2
        """,
        """
        send a  => ok 1
        fetch 0 => ok stranger@0 a@1 hw=2
        """,
    ),
    "KFK-045": (
        "fetch 5 => ok a@4 b@5 hw=6",
        "fetch 4 => ok a@4 b@5 hw=6",
    ),
    "KFK-046": (
        """
        fetch 0 => ok a@0 b@1 c@2 hw=3
        fetch 0 => ok a@0 c@2 hw=3
        """,
        """
        fetch 0           => ok a@0 b@1 c@2 hw=3
        fetch 0 committed => ok a@0 c@2 hw=3 lso=3
        """,
    ),
    "KFK-047": (
        "fetch 0 committed => ok a@0 b@1 hw=2 lso=1",
        "fetch 0           => ok a@0 b@1 hw=2 lso=1",
    ),
    "KFK-048": (
        """
        fetch 0 => ok a@0 hw=1
        fetch 0 => ok hw=1
        """,
        """
        fetch 0 => ok a@0 hw=1
        fetch 0 => ok hw=1 prefer=2
        """,
    ),
    "KFK-049": (
        """
        fetch 0 epoch=1 => ok a@0 hw=5 start=0
        fetch 5 epoch=1 => fail OFFSET_OUT_OF_RANGE
        fetch 0 epoch=1 => ok a@0 hw=5 start=0
        """,
        """
        fetch 0 epoch=1 => ok a@0 hw=5 start=0
        fetch 6 epoch=1 => fail OFFSET_OUT_OF_RANGE
        fetch 0 epoch=1 => ok a@0 hw=5 start=0
        """,
    ),
    "KFK-050": (
        """
        1-2 fetch 5 epoch=1 => ok hw=5
        3-4 fetch 4 epoch=1 => ok hw=4
        """,
        """
        1-2 fetch 5 epoch=1 => ok hw=5
        3-4 fetch 4 epoch=2 => ok hw=4
        """,
    ),
    "KFK-051": (
        """
        1-2 fetch 5 epoch=1 => ok hw=9 lso=5
        3-4 fetch 4 epoch=1 => ok hw=9 lso=4
        """,
        """
        1-3 fetch 5 epoch=1 => ok hw=9 lso=5
        2-4 fetch 4 epoch=1 => ok hw=9 lso=4
        """,
    ),
    "KFK-052": (
        """
        1-2 earliest epoch=1 node=1 => ok 3
        3-4 fetch 9 epoch=1 node=1  => ok hw=9 start=2
        """,
        """
        1-2 earliest epoch=1 node=1 => ok 3
        3-4 fetch 9 epoch=1 node=2  => ok hw=9 start=2
        """,
    ),
    "KFK-053": (
        "fetch 5 => ok hw=5 lso=6 start=0",
        "fetch 5 => ok hw=5 lso=5 start=0",
    ),
    "KFK-054": (
        """
        1-2 send a => ok 5
        3-4 latest => ok 5
        """,
        """
        1-4 send a => ok 5
        3-5 latest => ok 5
        """,
    ),
    "KFK-060": ("at 500 => ok 3 !400", "at 500 => ok 3 !500"),
    "KFK-061": (
        """
        fetch 0 => ok a@0!600 b@1!700 hw=2 start=0
        at 500  => ok 1 !700
        fetch 1 => ok b@1!700 hw=2 start=0
        """,
        """
        fetch 0 => ok a@0!600 b@1!700 hw=2 start=0
        at 500  => ok 1 !700
        fetch 1 => ok b@1!700 hw=2 start=1
        """,
    ),
    "KFK-062": (
        """
        send a!600 => ok 0
        at 500     => ok -1
        fetch 0    => ok a@0!600 hw=1 start=0
        """,
        """
        send a!600 => ok 0
        at 601     => ok -1
        fetch 0    => ok a@0!600 hw=1 start=0
        """,
    ),
    "KFK-063": (
        """
        send a!600 => ok 0
        max        => ok 1 !500
        fetch 0    => ok a@0!600 b@1!500 hw=2 start=0
        """,
        """
        send a!600 => ok 0
        max        => ok 0 !600
        fetch 0    => ok a@0!600 b@1!500 hw=2 start=0
        """,
    ),
    "KFK-065": (
        """
        1-2 delete 5 => ok start=5
        3-4 fetch 4  => ok a@4 hw=9
        """,
        """
        1-4 delete 5 => ok start=5
        3-5 fetch 4  => ok a@4 hw=9
        """,
    ),
    "KFK-066": (
        """
        delete 5 => ok start=5
        fetch 9  => ok hw=9 start=4
        """,
        """
        delete 5 => ok start=5
        fetch 9  => ok hw=9 start=6
        """,
    ),
    "KFK-067": ("delete 5 => ok start=4", "delete 5 => ok start=5"),
    "KFK-070": (
        "fetch 0 => ok a@0/2 b@1/1 hw=2",
        "fetch 0 => ok a@0/1 b@1/2 hw=2",
    ),
    "KFK-071": (
        """
        latest node=1 => ok 5 /3
        latest node=2 => ok 5 /3
        """,
        """
        latest node=1 => ok 5 /3
        latest node=2 => ok 5 /4
        """,
    ),
    "KFK-072": (
        """
        fetch 0             => ok a@0/1 b@1/2 hw=2
        epoch_end 1 epoch=2 => ok 1 2
        fetch 2             => ok hw=2 start=0
        """,
        """
        fetch 0             => ok a@0/1 b@1/2 hw=2
        epoch_end 1 epoch=2 => ok 1 2
        fetch 2             => ok hw=2 start=2
        """,
    ),
    "KFK-073": (
        """
        fetch 5 epoch=1 => ok hw=5
        fetch 4 epoch=2 => ok a@4/2 hw=5
        """,
        """
        fetch 5 epoch=1 => ok hw=5
        fetch 5 epoch=2 => ok a@5/2 hw=6
        """,
    ),
    "KFK-075": (
        """
        1-2 commit g 5 => ok
        3-4 commit g 9 => ok
        5-6 told g     => ok 5
        """,
        """
        1-2 commit g 5 => ok
        3-6 commit g 9 => ok
        4-5 told g     => ok 5
        """,
    ),
    "KFK-080": (
        """
        send a tx=T       => ok 0
        send b tx=T       => ok 1
        end T commit      => ok
        fetch 0 committed => ok a@0 c@3 hw=4 lso=4
        """,
        """
        send a tx=T       => ok 0
        send b tx=T       => ok 1
        end T commit      => ok
        fetch 0 committed => ok a@0 hw=4 lso=4
        """,
    ),
    "KFK-081": (
        """
        send a tx=T       => ok 0
        end T abort       => ok
        fetch 0 committed => ok a@0 hw=2 lso=2
        """,
        """
        send a tx=T => ok 0
        end T abort => ok
        fetch 0     => ok a@0 hw=2 lso=2
        """,
    ),
    "KFK-082": (
        """
        1-2 send a tx=T       => ok 0
        3-4 fetch 0 committed => ok a@0 hw=2 lso=2
        5-6 end T commit      => ok
        """,
        """
        1-2 send a tx=T       => ok 0
        3-6 end T commit      => ok
        4-5 fetch 0 committed => ok a@0 hw=2 lso=2
        """,
    ),
    "KFK-096": (
        """
        latest => fail UNREADABLE_ANSWER
        """,
        """
        latest => fail NOT_LEADER_OR_FOLLOWER
        """,
    ),
}

# Further ways to break a rule.
ALSO_BAD: dict[str, tuple[str, str]] = {
    "an append that was only read takes part as the later one": (
        "KFK-030",
        """
        1-2 send a  => ok 5
        3-4 send b  => info REQUEST_TIMED_OUT
        5-6 fetch 4 => ok b@4 a@5 hw=6
        """,
    ),
    "an acknowledged record that lost its key": (
        "KFK-036",
        """
        send a#k => ok 0
        fetch 0  => ok a@0#j hw=1
        """,
    ),
    "a timestamp that changes on the way": (
        "KFK-036",
        """
        send a!5 => ok 0
        fetch 0  => ok a@0!6 hw=1
        """,
    ),
    "an acknowledged record that is read elsewhere only": (
        "KFK-037",
        """
        send a pid=7 seq=0 => ok 0
        fetch 1            => ok a@1 hw=2
        """,
    ),
    "a record of an unacknowledged send in two places": (
        "KFK-038",
        """
        send a,b => info REQUEST_TIMED_OUT
        fetch 0  => ok a@0 b@1 a@2 b@3 hw=4
        """,
    ),
    "a sequence number that is acknowledged twice": (
        "KFK-041",
        """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=0 => ok 1
        """,
    ),
    "a skipped record that was only acknowledged, and a reader of everything": (
        "KFK-046",
        """
        send b  => ok 1
        fetch 0 => ok a@0 c@2 hw=3
        """,
    ),
    "readers who may be kept from transactions and skip what is in none": (
        "KFK-046",
        """
        fetch 0 committed => ok a@0 b@1 c@2 hw=3 lso=3
        fetch 0 committed => ok a@0 c@2 hw=3 lso=3
        """,
    ),
    "an acknowledgement beyond the high watermark that its leader shows later": (
        "KFK-050",
        """
        send a epoch=1  => ok 5
        fetch 5 epoch=1 => ok hw=5
        """,
    ),
    "a record served above the high watermark": (
        "KFK-050",
        """
        fetch 5 epoch=1 => ok a@5 hw=5
        latest epoch=1  => ok 5
        """,
    ),
    "latest that goes back after a change of leader": (
        "KFK-054",
        """
        fetch 5 node=1 => ok hw=5
        latest node=2  => ok 4
        """,
    ),
    "a record read below the log start its replica showed": (
        "KFK-052",
        """
        fetch 9 epoch=1 => ok hw=9 start=5
        fetch 4 epoch=1 => ok a@4 hw=9 start=5
        """,
    ),
    "an end of epoch below its own records": (
        "KFK-072",
        """
        fetch 0             => ok a@0/1 b@1/1 hw=2
        epoch_end 1 epoch=2 => ok 1 1
        fetch 2             => ok hw=2 start=0
        """,
    ),
    "an epoch that the answer leaves out": (
        "KFK-072",
        """
        fetch 0             => ok a@0/1 b@1/2 c@2/3 hw=3
        epoch_end 2 epoch=3 => ok 1 1
        fetch 3             => ok hw=3 start=0
        """,
    ),
    "a latest offset below what an earlier epoch committed": (
        "KFK-073",
        """
        latest node=1 => ok 5 /1
        latest node=2 => ok 4 /2
        """,
    ),
    "a committed offset that is gone": (
        "KFK-075",
        """
        commit g 5 => ok
        told g     => ok -1
        """,
    ),
    "a transaction of two partitions of which one has nothing": (
        "KFK-080",
        """
        send a tx=T p=0       => ok 0
        send b tx=T p=1       => ok 0
        end T commit          => ok
        fetch 0 committed p=0 => ok a@0 hw=2 lso=2
        fetch 0 committed p=1 => ok c@2 hw=3 lso=3
        """,
    ),
    "a transaction whose commit failed": (
        "KFK-081",
        """
        send a tx=T       => info REQUEST_TIMED_OUT
        end T commit      => fail TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        fetch 0 committed => ok a@0 hw=2 lso=2
        """,
    ),
}

# Histories that nothing may be said against.
LEGAL: dict[str, str] = {
    "a log that had records before the history began": """
        fetch 100 => ok old@100 older@101 hw=103 start=90
        send a    => ok 103
        fetch 102 => ok oldest@102 a@103 hw=104 start=90
    """,
    "records below a log start that moved": """
        send a             => ok 0
        send b             => ok 1
        delete 1           => ok start=1
        fetch 0 epoch=1    => fail OFFSET_OUT_OF_RANGE
        fetch 1 epoch=1    => ok b@1 hw=2 start=1
    """,
    "retention between two fetches": """
        send a          => ok 0
        send z          => ok 8
        fetch 0 epoch=1 => ok a@0 hw=9 start=0
        fetch 1 epoch=1 => fail OFFSET_OUT_OF_RANGE
        fetch 8 epoch=1 => ok z@8 hw=9 start=8
        at 500          => ok 8 !1000
    """,
    "a new leader whose high watermark lags": """
        send a epoch=1  node=1 => ok 0
        fetch 0 epoch=1 node=1 => ok a@0/1 hw=1
        fetch 0 epoch=2 node=2 => ok hw=0
        fetch 0 epoch=2 node=2 => ok a@0/1 hw=1
        latest epoch=2  node=2 => ok 1 /2
    """,
    "a deposed leader that does not know it": """
        1-2 send a node=1 epoch=1  => ok 0
        3-9 window one-leader
        4-5 send b node=2 epoch=2  => ok 1
        6-7 latest node=1 epoch=1  => ok 1 /1
        8-9 fetch 1 node=1 epoch=1 => ok hw=1
    """,
    "an append that its leader alone acknowledged, and lost": """
        send a acks=1 => ok 0
        send b        => ok 0
        fetch 0       => ok b@0 hw=1
    """,
    "a retry that is not idempotent, read twice": """
        send a  => info REQUEST_TIMED_OUT
        again a => ok 1
        fetch 0 => ok a@0 a@1 hw=2
    """,
    "an idempotent retry that is answered with the first offset": """
        send a pid=7 seq=0  => info REQUEST_TIMED_OUT
        send b pid=7 seq=1  => ok 1
        again a pid=7 seq=0 => ok 0
        fetch 0             => ok a@0 b@1 hw=2
    """,
    "a repeated batch that is answered with the offset it has": """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=0 => ok 0
    """,
    "an unclean election between two appends that contradict each other": """
        1-2 send a pid=7 seq=1    => ok 8
        3-9 window clean-election
        10-11 send b,c pid=7 seq=0 => ok 7
        12-13 latest              => ok 9
    """,
    "an unclean election between two readers": """
        1-2 fetch 0   => ok a@0 hw=1
        3-9 window clean-election
        10-11 fetch 0 => ok b@0 hw=1
    """,
    "the end of an epoch that was deleted": """
        fetch 10            => ok a@10/4 b@11/4 c@12/4 d@13/4 hw=14 start=10
        delete 13           => ok start=13
        epoch_end 2 epoch=4 => ok 2 13
        fetch 13            => ok d@13/4 hw=14 start=13
    """,
    "a value that was sent twice": """
        send a    => ok 0
        send x,a  => ok 1
        fetch 0   => ok a@0 x@1 a@2 hw=3
    """,
    "a failed send whose value another send brought in": """
        send a   => fail NOT_ENOUGH_REPLICAS
        send a,b => info REQUEST_TIMED_OUT
        fetch 0  => ok a@0 b@1 hw=2
    """,
    "an aborted transaction among others": """
        send a            => ok 0
        send b tx=T       => ok 1
        send c tx=U       => ok 2
        end T abort       => ok
        end U commit      => ok
        fetch 0           => ok a@0 b@1 c@2 hw=5 lso=5
        fetch 0 committed => ok a@0 c@2 hw=5 lso=5
    """,
    "a transaction that is still open": """
        send a tx=T       => ok 0
        send b            => ok 1
        fetch 0           => ok a@0 b@1 hw=2 lso=0
        fetch 0 committed => ok hw=2 lso=0
    """,
    "a value that is sent again after its transaction was aborted": """
        send a tx=T       => ok 0
        end T abort       => ok
        send a,b tx=U     => ok 2
        end U commit      => ok
        fetch 0 committed => ok a@2 b@3 hw=5 lso=5
    """,
    "a tombstone and a record that the broker stamps": """
        send -#k!- => ok 0
        send a!-   => ok 1
        fetch 0    => ok -@0#k!77 a@1!78 hw=2
        fetch 0    => ok -@0#k!77 a@1!78 hw=2
    """,
    "an unclean election": """
        1-2 send a        => ok 0
        3-9 window clean-election
        4-5 send b        => ok 0
        6-7 fetch 0       => ok b@0 hw=1
        10-11 latest      => ok 1
    """,
    "compaction": """
        1-2 send a    => ok 0
        3-4 send b    => ok 1
        5-6 send c    => ok 2
        1-9 window log-kept
        7-8 fetch 0   => ok a@0 c@2 hw=3 start=0
    """,
    "a commit whose outcome nobody knows": """
        commit g 5 => ok
        commit g 9 => info REQUEST_TIMED_OUT
        told g     => ok 5
        told g     => ok 9
        commit g 2 => ok
        told g     => ok 2
    """,
    "partitions that share a request and its byte limit": """
        fetch 0           => ok a@0 hw=1
        fetch 0 request=r => ok hw=1
    """,
    "an end of the present epoch that grows": """
        fetch 0             => ok a@0/1 hw=1
        epoch_end 1 epoch=1 => ok 1 1
        fetch 1             => ok b@1/1 hw=2
        epoch_end 1 epoch=1 => ok 1 2
    """,
    "an acknowledgement that does not know its offset": """
        send a  => ok -1
        send b  => ok 1
        send c  => ok -1
        fetch 0 => ok a@0 b@1 c@2 hw=3
    """,
    "producers that are not idempotent and say so by -1": """
        send a pid=-1 pe=-1 seq=-1  => info REQUEST_TIMED_OUT
        again a pid=-1 pe=-1 seq=-1 => ok 1
        send b pid=-1 pe=-1 seq=-1  => ok 2
        fetch 0                     => ok a@0 a@1 b@2 hw=3
    """,
    "a producer that raises its epoch and counts from 0 again": """
        send a pid=7 seq=9      => ok 0
        send b pid=7 pe=1 seq=0 => ok 1
        send c pid=7 pe=1 seq=1 => ok 2
        fetch 0                 => ok a@0 b@1 c@2 hw=3
    """,
    "a retry under a new producer epoch, read twice": """
        send a pid=7 seq=3       => info REQUEST_TIMED_OUT
        again a pid=7 pe=1 seq=0 => ok 1
        fetch 0                  => ok a@0 a@1 hw=2
    """,
    "a client that tries again by itself": """
        send a attempt=- => ok 1
        send b attempt=- => info REQUEST_TIMED_OUT
        fetch 0          => ok a@0 a@1 b@2 b@3 hw=4
    """,
    "sequence numbers that begin again after the last one": """
        send a,b pid=7 seq=2147483646 => ok 0
        send c pid=7 seq=0            => ok 2
        fetch 0                       => ok a@0 b@1 c@2 hw=3
    """,
    "requests in flight of which the first is lost and sent again": """
        1-4 send a pid=7 seq=0  => info REQUEST_TIMED_OUT
        2-3 send b pid=7 seq=1  => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        5-6 again a pid=7 seq=0 => ok 0
        7-8 again b pid=7 seq=1 => ok 1
        9-10 fetch 0            => ok a@0 b@1 hw=2
    """,
    "an append that takes place long after its client gave up": """
        1-2 send a   => info REQUEST_TIMED_OUT
        3-4 latest   => ok 0
        5-6 send b   => ok 0
        7-8 fetch 0  => ok b@0 hw=1
        9-10 fetch 1 => ok a@1 hw=2
    """,
    "a send of which nobody knows the partition": """
        send a     => ok 0
        send b p=- => info REQUEST_TIMED_OUT
        fetch 0    => ok a@0 b@1 hw=2
    """,
    "nobody waits for an acknowledgement": """
        send a acks=0 => ok
        send b acks=1 => ok 1
        fetch 0       => ok a@0 b@1 hw=2
    """,
    "markers of transactions between the records": """
        send a tx=T       => ok 0
        send b            => ok 1
        end T commit      => ok
        send c tx=U       => ok 3
        end U commit      => ok
        send d            => ok 5
        fetch 0           => ok a@0 b@1 c@3 d@5 hw=6 lso=6
        fetch 0 committed => ok a@0 b@1 c@3 d@5 hw=6 lso=6
        fetch 2 committed => ok c@3 d@5 hw=6 lso=6
        latest            => ok 6
    """,
    "a search by time beyond the last stable offset": """
        send a!500 tx=T  => ok 0
        send b!600       => ok 1
        at 600 committed => ok -1
        latest committed => ok 0
        fetch 0          => ok a@0!500 b@1!600 hw=2 lso=0 start=0
    """,
    "a client that is told no timestamps": """
        send a!500,b!600 => ok 0
        at 550           => ok 1
        max              => ok 1
        fetch 0          => ok a@0!500 b@1!600 hw=2 start=0
    """,
    "a commit that is asked for again": """
        send a tx=T       => ok 0
        end T commit      => info REQUEST_TIMED_OUT
        end T commit      => info PRODUCER_FENCED
        fetch 0 committed => ok a@0 hw=2 lso=2
    """,
    "a follower that lags behind its leader, and one that begins anew": """
        send a epoch=1 node=1   => ok 0
        fetch 1 epoch=1 node=1  => ok hw=1 start=0
        fetch 0 epoch=1 node=2  => ok hw=0 start=0
        fetch 0 epoch=1 node=2  => ok a@0/1 hw=1 start=0
        window replica-up
        fetch 0 epoch=1 node=2  => ok hw=0 start=0
    """,
    "a follower that has not heard of a new log start": """
        fetch 9 epoch=1 node=1 => ok hw=9 start=5
        fetch 0 epoch=1 node=2 => ok a@0 hw=9 start=0
        earliest node=1        => ok 5
    """,
    "everything deleted": """
        send a,b  => ok 0
        delete -1 => ok start=2
        fetch 0   => fail OFFSET_OUT_OF_RANGE
        fetch 2   => ok hw=2 start=2
        at 0      => ok -1
        fetch 2   => ok hw=2 start=2
    """,
    "a fetch that is overtaken by retention": """
        send a    => ok 0
        send b    => ok 1
        fetch 0   => ok a@0 b@1 hw=2 start=0
        fetch 0   => ok hw=2 start=2
        latest    => ok 2
    """,
    "a consumer that goes back, and a group that was there before": """
        told g     => ok 40
        commit g 9 => ok
        commit g 5 => ok
        told g     => ok 5
        told h     => ok -1
    """,
    "an election before the new leader has told its high watermark": """
        send a epoch=1 node=1  => ok 0
        fetch 1 epoch=1 node=1 => ok hw=1 lso=1
        latest epoch=2 node=2  => fail OFFSET_NOT_AVAILABLE
        fetch 1 epoch=2 node=2 => ok hw=0 lso=0
        send b epoch=2 node=2  => ok 1
        fetch 0 epoch=2 node=2 => ok a@0/1 b@1/2 hw=2 lso=2
        latest epoch=2 node=2  => ok 2 /2
    """,
}
