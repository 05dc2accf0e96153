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
    "KFK-171": (
        """
        1-9 suspend clean-election
        1-9 phase reads-at-rest
        2-3 fetch 0 node=1 => ok a@0/1 hw=1
        4-5 fetch 0 node=2 => ok b@0/2 hw=1
        """,
        """
        1-9 suspend clean-election
        1-6 phase reads-at-rest
        2-3 fetch 0 node=1 => ok a@0 hw=1
        4-5 fetch 0 node=2 => ok a@0 hw=1
        7-8 fetch 0 node=2 => ok b@0 hw=1
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
