"""Further histories that break rules of the log; `log_lines` says how they are written."""

from __future__ import annotations

from tests.spark_checkers.log_copies import COPIES

# Further ways to break a rule.
ALSO_BAD: dict[str, tuple[str, str]] = COPIES | {
    "an append that was only read takes part as the later one": (
        "KFK-030",
        """
        1-2 send a  => ok 5
        3-4 send b  => info REQUEST_TIMED_OUT
        5-6 fetch 4 => ok b@4 a@5 hw=6
        """,
    ),
    "an append of the leader alone that is read where another was acknowledged": (
        "KFK-030",
        """
        1-2 send a        => ok 0
        3-4 send b acks=1 => ok 0
        5-6 fetch 0       => ok b@0 hw=1
        """,
    ),
    "an append of the leader alone that is read where a log had been shown": (
        "KFK-032",
        """
        1-2 fetch 1       => ok hw=1
        3-4 send b acks=1 => ok 0
        5-6 fetch 0       => ok b@0 hw=1
        """,
    ),
    "the offset of an append that was acknowledged before": (
        "KFK-030",
        """
        1-2 send a => ok 5
        3-4 send b => ok 5
        """,
    ),
    "an acknowledged record that another was read instead of": (
        "KFK-031",
        """
        send a  => ok 0
        fetch 0 => ok b@0 hw=1
        """,
    ),
    "an acknowledged record that one reader finds and another passes": (
        "KFK-031",
        """
        send a  => ok 0
        send b  => ok 1
        send c  => ok 2
        fetch 0 => ok a@0 b@1 c@2 hw=3
        fetch 0 => ok a@0 c@2 hw=3
        """,
    ),
    "one of two records acknowledged at an offset that a reader does not find": (
        "KFK-031",
        """
        1-3 send a => ok 0
        2-4 send b => ok 0
        fetch 0    => ok a@0 hw=1
        """,
    ),
    "two records acknowledged at one offset and each read there": (
        "KFK-034",
        """
        1-3 send a => ok 0
        2-4 send b => ok 0
        fetch 0    => ok a@0 hw=1
        fetch 0    => ok b@0 hw=1
        """,
    ),
    "two records that their leaders alone acknowledged and that are both read": (
        "KFK-034",
        """
        send a acks=1 => ok 0
        fetch 0       => ok a@0 hw=1
        send b acks=1 => ok 0
        fetch 0       => ok b@0 hw=1
        """,
    ),
    "an acknowledged record and one that was not, each read there": (
        "KFK-034",
        """
        send a  => ok 0
        send b  => info REQUEST_TIMED_OUT
        fetch 0 => ok a@0 hw=1
        fetch 0 => ok b@0 hw=1
        fetch 0 => ok b@0 hw=1
        """,
    ),
    "one of two records acknowledged at an offset is read there": (
        "KFK-035",
        """
        1-3 send a => ok 0
        2-4 send b => ok 0
        fetch 0    => ok a@0 hw=1
        """,
    ),
    "an unacknowledged append between two that overlap": (
        "KFK-039",
        """
        1-9 send a,b,c,d => ok 0
        2-8 send x       => info REQUEST_TIMED_OUT
        3-7 send e       => ok 3
        10-11 fetch 1    => ok x@1 hw=4
        """,
    ),
    "a short append between two that overlap": (
        "KFK-039",
        """
        1-9 send a,b,c,d => ok 0
        2-8 send x       => ok 1
        3-7 send e       => ok 3
        """,
    ),
    "a batch of the same sequence number that is longer": (
        "KFK-039",
        """
        1-4 send a pid=7 seq=0   => ok 0
        2-3 send b,c pid=7 seq=0 => ok 0
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
    "an acknowledged record that is read in two places": (
        "KFK-038",
        """
        send a  => ok 0
        fetch 0 => ok a@0 a@1 hw=2
        """,
    ),
    "a send of which one record was read, and another behind it": (
        "KFK-040",
        """
        1-9 send a,b  => info REQUEST_TIMED_OUT
        2-8 send x    => ok 1
        10-11 fetch 0 => ok a@0 x@1 hw=2
        """,
    ),
    "an append of the leader alone that was read, and its offset given away": (
        "KFK-039",
        """
        send a acks=1 => ok 0
        fetch 0       => ok a@0 hw=1
        send b        => ok 0
        """,
    ),
    "a sequence number that is read in two places": (
        "KFK-041",
        """
        send a pid=7 seq=0  => info REQUEST_TIMED_OUT
        again a pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0             => ok a@0 a@1 hw=2
        """,
    ),
    "sequence numbers of one send in the wrong order": (
        "KFK-041",
        """
        send a,b pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0              => ok b@0 a@1 hw=2
        """,
    ),
    "a stranger at the offset of the first append": (
        "KFK-042",
        """
        send a  => ok 0
        fetch 0 => ok stranger@0 hw=1
        """,
    ),
    "a stranger between records that nobody acknowledged": (
        "KFK-042",
        """
        send a,b => info REQUEST_TIMED_OUT
        fetch 0  => ok a@0 stranger@1 b@2 hw=3
        """,
    ),
    "a committed transaction that a reader of committed records passes over": (
        "KFK-046",
        """
        send a tx=T       => ok 0
        send b tx=T       => ok 1
        end T commit      => ok
        fetch 0 committed => ok a@0 c@3 hw=4 lso=4
        """,
    ),
    "a committed transaction that is not served": (
        "KFK-048",
        """
        send a tx=T       => ok 0
        end T commit      => ok
        fetch 0 committed => ok hw=2 lso=2
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
    "an acknowledged end that is lost, by a request that names no isolation": (
        "KFK-054",
        """
        send a        => ok 0
        send b        => ok 1
        latest unsaid => ok 1
        """,
    ),
    "a skipped record, and a fetch that names no isolation": (
        "KFK-046",
        """
        send a            => ok 0
        send b tx=T       => ok 1
        fetch 0 unsaid    => ok a@0 c@3 hw=4
        """,
    ),
    "a record read below the log start its replica showed": (
        "KFK-052",
        """
        fetch 9 epoch=1 => ok hw=9 start=5
        fetch 4 epoch=1 => ok a@4 hw=9 start=5
        """,
    ),
    "an offset that was in range in the epoch before": (
        "KFK-049",
        """
        fetch 4 epoch=1 => ok hw=5 start=0
        fetch 5 epoch=2 => fail OFFSET_OUT_OF_RANGE
        fetch 5 epoch=2 => ok hw=5 start=0
        """,
    ),
    "an end of epoch below a record of it that was deleted later": (
        "KFK-072",
        """
        epoch_end 2 epoch=3 => ok 2 5
        fetch 7 epoch=3     => ok a@7/2 hw=8 start=3
        delete 9            => ok start=9
        fetch 9 epoch=4     => ok hw=9 start=9
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

# What is near to breaking the first rule, and breaks the second.
OTHERS_SEE_IT: dict[str, tuple[str, str, str]] = {
    "records that are all there, in the wrong order": (
        "KFK-046",
        "KFK-045",
        """
        send a  => ok 0
        send b  => ok 1
        send c  => ok 2
        fetch 0 => ok a@0 c@2 b@1 hw=3
        """,
    ),
    "a last stable offset above a high watermark that stays": (
        "KFK-050",
        "KFK-053",
        """
        fetch 0 epoch=1 => ok hw=1 lso=2 start=0
        fetch 0 epoch=1 => ok hw=1 lso=2 start=0
        """,
    ),
    "an offset out of range that was only served, above the end that was named": (
        "KFK-049",
        "KFK-047",
        """
        fetch 4 epoch=1 => ok a@4 hw=3 start=0
        fetch 5 epoch=2 => fail OFFSET_OUT_OF_RANGE
        fetch 3 epoch=2 => ok hw=3 start=0
        """,
    ),
    "a batch torn apart, with its sequence numbers in their order": (
        "KFK-041",
        "KFK-040",
        """
        send a,b pid=7 seq=0 => info REQUEST_TIMED_OUT
        fetch 0              => ok a@0 x@1 b@2 hw=3
        """,
    ),
    "an acknowledged record that is read once, elsewhere": (
        "KFK-038",
        "KFK-037",
        """
        send a  => ok 0
        fetch 1 => ok a@1 hw=2
        """,
    ),
}
