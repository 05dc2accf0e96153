"""Histories of a log that keep every rule; `log_lines` says how they are written."""

from __future__ import annotations

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
    "an offset that another replica had not reached": """
        fetch 4 node=1 => ok hw=5 start=0
        fetch 5 node=2 => fail OFFSET_OUT_OF_RANGE
        fetch 5 node=2 => ok hw=5 start=0
    """,
    "retention between two fetches": """
        send a          => ok 0
        send z          => ok 8
        fetch 0 epoch=1 => ok a@0 hw=9 start=0
        fetch 1 epoch=1 => fail OFFSET_OUT_OF_RANGE
        fetch 8 epoch=1 => ok z@8 hw=9 start=8
        at 500          => ok 8 !1000
    """,
    "a high watermark that falls, and nobody tells in which epoch": """
        send a              => ok 0
        fetch 0             => ok a@0 hw=1
        fetch 1 epoch=-1    => ok hw=1
        fetch 1             => ok hw=0
        fetch 1 epoch=-1    => ok hw=0
    """,
    "a new leader whose high watermark lags": """
        send a epoch=1  node=1 => ok 0
        fetch 0 epoch=1 node=1 => ok a@0/1 hw=1
        fetch 0 epoch=2 node=2 => ok hw=0
        fetch 0 epoch=2 node=2 => ok a@0/1 hw=1
        latest epoch=2  node=2 => ok 1 /2
    """,
    "what was known before a window, and all that comes after it": """
        1-2   send a!900 => ok 9
        1-2   fetch 9 epoch=1 => ok hw=9 lso=9 start=9
        3-8   window one-leader
        3-8   window replica-up
        10-11 latest          => ok 5
        10-11 fetch 5 epoch=1 => ok hw=5 lso=5 start=0
        12-13 at 800          => ok -1
        14-15 fetch 5 epoch=1 => ok hw=6 lso=6 start=0
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
    "an append that its leader alone acknowledged, and lost, while another stays": """
        send a acks=1 => ok 0
        send b acks=1 => ok 0
        send c        => ok 1
        fetch 0       => ok b@0 c@1 hw=2
        fetch 0       => ok b@0 c@1 hw=2
    """,
    "readers of which one tells no key and no timestamp": """
        send a#k!5 => info REQUEST_TIMED_OUT
        fetch 0    => ok a@0#k!5 hw=1
        fetch 0    => ok a@0!- hw=1
        fetch 0    => ok a@0#k!5 hw=1
    """,
    "transactions whose end is not known": """
        send a tx=T       => ok 0
        send b tx=U       => ok 1
        end T commit      => info REQUEST_TIMED_OUT
        end U abort       => ok
        send c            => ok 4
        fetch 0 committed => ok c@4 hw=5 lso=5
        fetch 1 committed => ok hw=5 lso=2
    """,
    "a log start that moves while a fetch is answered": """
        send a,b,c => ok 0
        fetch 0    => ok a@0 b@1 c@2 hw=3 start=0
        fetch 0    => ok c@2 hw=3 start=2
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
        send c             => ok 1
        fetch 0            => ok a@0 c@1 hw=2
        fetch 0            => ok a@0 c@1 hw=2
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
    "a gap that another reader fills across an unclean election": """
        1-2   fetch 0 => ok a@0 b@1 c@2 hw=3
        3-8   window clean-election
        10-11 fetch 0 => ok a@0 c@2 hw=3
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
    "an append of the leader alone at an offset that was given before, and lost": """
        1-2 send a        => ok 0
        3-4 send b acks=1 => ok 0
        5-6 fetch 0       => ok a@0 hw=1
    """,
    "a send of which not all was read yet": """
        1-9 send a,b   => info REQUEST_TIMED_OUT
        10-11 fetch 0  => ok a@0 hw=2
        12-13 send -,c => info REQUEST_TIMED_OUT
        14-15 fetch 1  => ok b@1 -@2 c@3 hw=4
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
