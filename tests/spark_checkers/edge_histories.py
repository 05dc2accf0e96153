"""Histories for the rules about the edges of a log; `log_lines` says how they are written."""

from __future__ import annotations

NEAR = (
    "settings replica.selector.class=org.apache.kafka.common.replica.RackAwareReplicaSelector => ok"
)
# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    "KFK-150": (
        """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=1 => ok 1
        send c pid=7 seq=0 => ok 2
        """,
        """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=1 => ok 1
        send c pid=7 seq=0 => ok 0
        """,
    ),
    "KFK-151": (
        """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=0 => ok 1
        """,
        """
        send a pid=7 seq=0 => ok 0
        send b pid=8 seq=0 => ok 1
        """,
    ),
    "KFK-172": (
        """
        1-2 delete 5      => ok start=5
        3-6 window restart
        7-8 fetch 9 epoch=1 => ok hw=9 start=4
        """,
        """
        1-2 delete 5      => ok start=5
        3-6 window kill
        7-8 fetch 9 epoch=1 => ok hw=9 start=4
        """,
    ),
    "KFK-152": (
        """
        send a pid=7 seq=2147483647 => ok 0
        send b pid=7 seq=0          => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        """,
        """
        send a pid=7 seq=2147483647 => ok 0
        send b pid=7 seq=1          => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        """,
    ),
    "KFK-153": (
        """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=2 => ok 1
        """,
        """
        send a pid=7 seq=0 => info REQUEST_TIMED_OUT
        send b pid=7 seq=2 => ok 1
        """,
    ),
    "KFK-154": (
        """
        send a pid=7 pe=1 seq=0 => ok 0
        send b pid=7 pe=0 seq=0 => ok 1
        """,
        """
        send a pid=7 pe=1 seq=0 => ok 0
        send b pid=7 pe=2 seq=0 => ok 1
        """,
    ),
    "KFK-155": (
        """
        1-2   wall 5000
        3-4   settings producer.id.expiration.ms=3000 => ok
        5-6   send a pid=7 seq=0 => ok 0
        10-40 phase forget-producer bound=20
        11-12 send b pid=7 seq=5 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        15-16 send c pid=7 seq=5 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        20-21 send d pid=7 seq=5 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        30-31 send e pid=7 seq=5 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        38-39 send f pid=7 seq=5 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        """,
        """
        1-2   wall 5000
        3-4   settings producer.id.expiration.ms=3000 => ok
        5-6   send a pid=7 seq=0 => ok 0
        10-40 phase forget-producer bound=20
        11-12 send b pid=7 seq=5 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        38-39 send f pid=7 seq=5 => ok 1
        """,
    ),
    "KFK-156": (
        "fetch 0 max=100 => ok a@0 hw=1 bytes=150 first=80",
        "fetch 0 max=100 => ok a@0 hw=1 bytes=150 first=150",
    ),
    "KFK-157": (
        """
        fetch 0 epoch=2 => ok hw=0
        fetch 0 epoch=1 => ok hw=0
        """,
        """
        fetch 0 epoch=2 node=2 => ok hw=0
        fetch 0 epoch=1        => ok hw=0
        """,
    ),
    "KFK-158": (
        "epoch_end 3 epoch=2 => ok 2 5",
        "epoch_end 3 epoch=2 => ok -1 -1",
    ),
    "KFK-160": (
        """
        fetch 5  => ok hw=5 start=0
        delete 5 => fail OFFSET_OUT_OF_RANGE
        """,
        """
        fetch 5  => ok hw=5 start=0
        delete 6 => fail OFFSET_OUT_OF_RANGE
        """,
    ),
    "KFK-161": (
        """
        fetch 5 => ok hw=9 start=5
        fetch 4 => ok hw=9 start=5
        """,
        """
        fetch 5 => ok hw=9 start=4
        fetch 4 => ok hw=9 start=4
        """,
    ),
    "KFK-162": (
        """
        fetch 0 => ok a@0!500 hw=1
        at 400  => ok 0 !450
        """,
        """
        fetch 0 => ok a@0!500 hw=1
        at 400  => ok 0 !500
        """,
    ),
    "KFK-163": (
        """
        wall 5000
        created retention.ms=1000 => ok
        send a!4500               => ok 0
        earliest                  => ok 1
        """,
        """
        wall 5000
        created retention.ms=1000 => ok
        send a!3500               => ok 0
        earliest                  => ok 1
        """,
    ),
    "KFK-164": (
        """
        1-2   wall 5000
        3-4   created retention.ms=1000 segment.ms=100 => ok
        5-6   send a!1000 => ok 0
        7-8   send b!4900 => ok 1
        10-40 phase retention bound=20
        11-12 earliest => ok 0
        15-16 earliest => ok 0
        20-21 earliest => ok 0
        30-31 earliest => ok 0
        38-39 earliest => ok 0
        """,
        """
        1-2   wall 5000
        3-4   created retention.ms=1000 segment.ms=100 => ok
        5-6   send a!1000 => ok 0
        7-8   send b!4900 => ok 1
        10-40 phase retention bound=20
        11-12 earliest => ok 0
        38-39 earliest => ok 1
        """,
    ),
    "KFK-190": (
        f"""
        {NEAR}
        brokers look=1 => ok 1:a 2:b 3:c
        fetch 5 epoch=1 rack=b => ok hw=5 prefer=3
        """,
        f"""
        {NEAR}
        brokers look=1 => ok 1:a 2:b 3:c
        fetch 5 epoch=1 rack=b => ok hw=5 prefer=2
        """,
    ),
    "KFK-191": (
        f"""
        {NEAR}
        brokers look=1 => ok 1:a 2:b
        leader look=1  => ok 1 /1 isr=1,2 on=1,2
        fetch 5 epoch=1 rack=b => ok hw=5
        fetch 5 epoch=1 rack=b => ok hw=5
        fetch 5 epoch=1 rack=b => ok hw=5
        leader look=2  => ok 1 /1 isr=1,2 on=1,2
        """,
        f"""
        {NEAR}
        brokers look=1 => ok 1:a 2:b
        leader look=1  => ok 1 /1 isr=1,2 on=1,2
        fetch 5 epoch=1 rack=b => ok hw=5
        fetch 5 epoch=1 rack=b => ok hw=5
        fetch 5 epoch=1 rack=b => ok hw=5
        leader look=2  => ok 1 /1 isr=1 on=1,2
        """,
    ),
    "KFK-166": (
        "send a acks=1 => fail NOT_ENOUGH_REPLICAS",
        "send a        => fail NOT_ENOUGH_REPLICAS",
    ),
}

# Further ways to break a rule.
ALSO_BAD: dict[str, tuple[str, str]] = {
    "a batch that is refused when it is sent again": (
        "KFK-150",
        """
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=0 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
        """,
    ),
    "a new epoch that does not begin at 0": (
        "KFK-153",
        """
        send a pid=7 pe=0 seq=0 => ok 0
        send b pid=7 pe=1 seq=1 => ok 1
        """,
    ),
    "a producer that is forgotten too soon": (
        "KFK-153",
        """
        wall 5000
        settings producer.id.expiration.ms=6000 => ok
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=5 => ok 1
        """,
    ),
    "a reader in the rack of the leader who is sent away": (
        "KFK-190",
        f"""
        {NEAR}
        brokers look=1 => ok 1:b 2:b
        fetch 5 epoch=1 rack=b => ok hw=5 prefer=2
        """,
    ),
    "a reader in no rack of the cluster who is not served": (
        "KFK-191",
        f"""
        {NEAR}
        brokers look=1 => ok 1:a 2:b
        leader look=1  => ok 1 /1 isr=1,2 on=1,2
        fetch 5 epoch=1 rack=x => fail UNKNOWN_SERVER_ERROR
        fetch 5 epoch=1 rack=x => fail UNKNOWN_SERVER_ERROR
        fetch 5 epoch=1 rack=x => fail UNKNOWN_SERVER_ERROR
        leader look=2  => ok 1 /1 isr=1,2 on=1,2
        """,
    ),
    "an epoch that nobody has begun, and that is confirmed": (
        "KFK-157",
        """
        fetch 0 epoch=3 => ok hw=0
        leader look=1   => ok 1 /2 isr=1
        """,
    ),
    "an epoch that is current, and called old": (
        "KFK-157",
        """
        fetch 0 epoch=2 => fail FENCED_LEADER_EPOCH
        leader look=1   => ok 1 /2 isr=1
        """,
    ),
    "no epoch at all, and refused for it": ("KFK-157", "fetch 0 => fail UNKNOWN_LEADER_EPOCH"),
    "the end of an earlier epoch that is not known": (
        "KFK-158",
        "epoch_end 1 epoch=2 => ok -1 -1",
    ),
    "a deletion beyond the high watermark": (
        "KFK-160",
        """
        delete 9 => ok start=9
        fetch 5  => ok hw=5 start=0
        """,
    ),
    "a deletion up to the high watermark that stops before it": (
        "KFK-160",
        """
        fetch 5   => ok hw=5 start=0
        delete -1 => ok start=4
        """,
    ),
    "a fetch far beyond the end": (
        "KFK-161",
        """
        fetch 900 => ok hw=5 start=0
        fetch 5   => ok hw=5 start=0
        """,
    ),
    "more deleted than retention.bytes asks for": (
        "KFK-163",
        """
        wall 5000
        created retention.bytes=500 => ok
        send a!4500                 => ok 0
        send b!4500                 => ok 1
        earliest                    => ok 1
        """,
    ),
}

# Histories that nothing may be said against.
LEGAL: dict[str, str] = {
    "a rack that is named where no broker looks for replicas near a reader": """
        settings replica.selector.class=none => ok
        brokers look=1 => ok 1:a 2:b
        leader look=1  => ok 1 /1 isr=1,2 on=1,2
        fetch 5 epoch=1 rack=b => ok hw=5
        fetch 5 epoch=1 rack=b => ok hw=5
        fetch 5 epoch=1 rack=b => ok hw=5
        leader look=2  => ok 1 /1 isr=1,2 on=1,2
    """,
    "a search that ends in the segment of a record deleted before an election": """
        1-2   send a!900,b!500 => ok 0
        3-4   delete 1   => ok start=1
        5-8   window one-leader
        10-11 send c!950 => ok 2
        12-13 at 800     => ok -1 !-1
        14-15 earliest   => ok 1
    """,
    "a producer of which everything was deleted begins anywhere": """
        send a pid=7 seq=0 => ok 0
        delete 1           => ok start=1
        send b pid=7 seq=5 => ok 1
    """,
    "a producer that one replica has forgotten, and another has not": """
        send a pid=7 seq=0 => ok 0
        delete 1           => ok start=1
        send b pid=7 seq=0 => ok 1
        send c pid=7 seq=0 => ok 0
    """,
    "a producer that was silent for too long begins anywhere": """
        wall 5000
        settings producer.id.expiration.ms=4000 => ok
        send a pid=7 seq=0 => ok 0
        send b pid=7 seq=5 => ok 1
    """,
    "two attempts of a producer at once": """
        1-2 send a pid=7 seq=0 => ok 0
        3-6 send b pid=7 seq=1 => ok 1
        4-5 send c pid=7 seq=2 => fail OUT_OF_ORDER_SEQUENCE_NUMBER
    """,
    "a log of which more is left than retention.bytes": """
        wall 5000
        created retention.bytes=100 => ok
        send a!4500                 => ok 0
        send b!4500                 => ok 1
        earliest                    => ok 1
    """,
}

# What the first violation is told as, after the line it is told of.
WORDS: dict[str, str] = {
    "KFK-150": (
        "op 4: producer 7 sends sequence 0 in epoch 0; its last was 1 in epoch 0, at offset "
        "1; the batch was acknowledged offset 0 before, 1 batches ago; it is answered NONE; "
        "it is given offset 2"
    ),
    "KFK-151": (
        "op 2: producer 7 sends sequence 0 in epoch 0; its last was 0 in epoch 0, at offset "
        "0; the batch was acknowledged offset 0 before, 0 batches ago; it is answered NONE; "
        "it is given offset 1"
    ),
    "KFK-152": (
        "op 2: producer 7 sends sequence 0 in epoch 0; its last was 2147483647 in epoch 0, at"
        " offset 0; it is answered OUT_OF_ORDER_SEQUENCE_NUMBER"
    ),
    "KFK-153": (
        "op 2: producer 7 sends sequence 2 in epoch 0; its last was 0 in epoch 0, at offset "
        "0; it is answered NONE; it is given offset 1"
    ),
    "KFK-154": (
        "op 2: producer 7 sends sequence 0 in epoch 0; its last was 0 in epoch 1, at offset "
        "0; it is answered NONE; it is given offset 1"
    ),
    "KFK-155": (
        "op 6: producer 7 is silent for 4000 ms of 3000; the last of 5 attempts to begin "
        "elsewhere is answered OUT_OF_ORDER_SEQUENCE_NUMBER; the bound is 2e-08 s"
    ),
    "KFK-156": (
        "op 0: node 1 serves 150 bytes from offset 0; asked for 100; the first batch has 80"
    ),
    "KFK-157": (
        "op 2: node 1 answers fetch that names epoch 1 with NONE; it had confirmed epoch 2"
    ),
    "KFK-158": ("op 0: asked about epoch 3 in epoch 2; node 1 answers with epoch 2; and the end 5"),
    "KFK-160": (
        "op 2: node 1 answers delete_records of offset 5 with OFFSET_OUT_OF_RANGE; it had "
        "named the log start 0; it had shown the log up to 5"
    ),
    "KFK-161": (
        "op 2: node 1 answers fetch of offset 4 with NONE; with the log start 5; it had named"
        " the log start 5; it had shown the log up to 9"
    ),
    "KFK-162": (
        "op 2: the search for timestamp 400 finds offset 0; of timestamp 450; the record "
        "there was read with timestamp 500"
    ),
    "KFK-163": (
        "op 5: node 1 names the log start 1; a record below it is 500 ms old at most, "
        "retention.ms is 1000; 0 bytes are left at most"
    ),
    "KFK-164": (
        "op 16: in the last of 5 looks the log starts at 0; what is below 1 is older than "
        "retention.ms, 1000; the bound is 2e-08 s"
    ),
    "KFK-190": (
        "op 4: node 1 in rack a is asked by a reader in b; it names node 3; which is in rack c"
    ),
    "KFK-191": (
        "op 6: node 1 in rack a is asked 3 times from b; node 2 is in sync there; it names "
        "another replica 0 times; it serves 3 times"
    ),
    "KFK-172": (
        "op 0: records below 5 were deleted; after a stop in good order node 1 names the log start 4"
    ),
    "KFK-166": ("op 0: node 1 answers an append with acks=1 with NOT_ENOUGH_REPLICAS"),
}
