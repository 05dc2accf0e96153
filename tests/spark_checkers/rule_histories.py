"""Histories for the rules of the boundary; `test_boundary_rules` says how they are written."""

from __future__ import annotations

# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    "MIG-001": (
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b get                       => ok 200@5
        """,
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b get                       => ok 200@6
        """,
    ),
    "MIG-002": (
        """
        a initialize b0=100 epoch=7 => ok 100@7
        b initialize b0=90 epoch=5  => ok 90@7
        """,
        """
        a initialize b0=100 epoch=7 => ok 100@7
        b initialize b0=90 epoch=5  => fail FENCED_LEADER_EPOCH 100@7
        """,
    ),
    "MIG-003": (
        """
        1-2 a initialize b0=100 epoch=5 => ok 100@5
        3-4 b initialize b0=200 epoch=6 => ok 200@6
        """,
        """
        1-2 a initialize b0=100 epoch=5 => ok 100@5
        2-9 c set b0=-1                 => info
        3-4 b initialize b0=200 epoch=6 => ok 200@6
        """,
    ),
    "MIG-004": (
        """
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b initialize b0=100 epoch=6 seeds=A => fail BOUNDARY_MISMATCH 100@5
        """,
        """
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        c register epoch=7                  => info
        b initialize b0=100 epoch=6 seeds=A => fail FENCED_LEADER_EPOCH 100@7
        """,
    ),
    "MIG-005": (
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b initialize b0=200 epoch=5 => fail BOUNDARY_MISMATCH 200@5
        """,
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b initialize b0=200 epoch=5 => fail BOUNDARY_MISMATCH 100@5
        """,
    ),
    "MIG-006": (
        """
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b initialize b0=100 epoch=5 seeds=B => ok 100@5
        """,
        """
        1-2 a initialize b0=100 epoch=5 seeds=A => ok 100@5
        1-3 b initialize b0=100 epoch=5 seeds=B => ok 100@5
        """,
    ),
    "MIG-007": (
        """
        1-2 a create                            => ok -1@-1
        3-4 b producers                         => ok 100@5 seen=A
        5-6 a initialize b0=100 epoch=5 seeds=A => info
        """,
        """
        1-2 a create                            => ok -1@-1
        3-4 a initialize b0=100 epoch=5 seeds=A => info
        5-6 b producers                         => ok 100@5 seen=A
        """,
    ),
    "MIG-008": (
        """
        a create                            => ok -1@-1
        a seed seeds=B                      => ok -1@-1
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b producers                         => ok 100@5 seen=AB
        """,
        """
        a create                            => ok -1@-1
        a seed seeds=B                      => ok -1@-1
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b producers                         => ok 100@5 seen=A
        """,
    ),
    "MIG-009": (
        """
        a seed seeds=A => ok -1@-1
        a seed seeds=B => ok -1@-1
        b producers    => ok -1@-1 seen=A
        """,
        """
        1-2 a seed seeds=A => ok -1@-1
        3-5 a seed seeds=B => ok -1@-1
        4-6 b producers    => ok -1@-1 seen=B
        """,
    ),
    "MIG-010": (
        """
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b seed seeds=B                      => ok 100@5
        """,
        """
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b seed seeds=A                      => ok 100@5
        """,
    ),
    "MIG-011": (
        """
        1-2 a commit count=1 => ok 100@5 base=100
        3-4 b set b0=-1      => ok -1@5
        """,
        """
        1-5 a commit count=1 => ok 100@5 base=100
        3-4 b set b0=-1      => ok -1@5
        """,
    ),
    "MIG-012": (
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b set b0=-1                 => ok -1@5
        a initialize b0=100 epoch=5 => ok 100@5
        """,
        """
        a register epoch=5          => ok -1@5
        b set b0=-1                 => ok -1@5
        a initialize b0=100 epoch=5 => ok 100@5
        """,
    ),
    "MIG-013": (
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b set b0=-1                 => ok -1@-1
        a get                       => ok -1@-1
        """,
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b set b0=-1                 => ok -1@5
        a get                       => ok -1@5
        """,
    ),
    "MIG-014": (
        """
        1-2 a register epoch=5 => ok -1@5
        3-4 b get              => ok -1@4
        """,
        """
        1-4 a register epoch=5 => ok -1@5
        3-5 b get              => ok -1@4
        """,
    ),
    "MIG-015": (
        """
        a register epoch=5 => ok -1@5
        b set b0=70        => ok 70@5
        """,
        """
        b set b0=70        => ok 70@-1
        a register epoch=5 => ok 70@5
        b set b0=70        => ok 70@5
        """,
    ),
    "MIG-016": (
        """
        1-6 old initialize b0=100 epoch=5 => ok 100@6
        2-3 new register epoch=6          => ok -1@6
        """,
        """
        1-6 old initialize b0=100 epoch=5 => ok 100@5
        2-3 new register epoch=6          => ok 100@6
        """,
    ),
    "MIG-017": (
        """
        a create         => ok -1@-1
        a commit count=1 => ok -1@-1 base=0
        """,
        """
        a create                    => ok -1@-1
        b initialize b0=0 epoch=1   => info
        a commit count=1            => ok 0@1 base=0
        """,
    ),
    "MIG-018": (
        """
        a commit count=2 => ok 100@5 base=100
        b commit count=2 => ok 100@5 base=101
        """,
        """
        a commit count=2 => ok 100@5 base=100
        c commit count=3 => info
        b commit count=2 => ok 100@5 base=105
        """,
    ),
    "MIG-019": (
        """
        lab upgrade => ok
        a get       => ok -1@-1
        """,
        """
        lab upgrade => ok
        a get       => ok 0@-1
        """,
    ),
    "MIG-020": (
        """
        a create => ok -1@-1
        a get    => ok 0@-1
        """,
        """
        a create                  => ok -1@-1
        b initialize b0=0 epoch=1 => info
        a get                     => ok 0@1
        """,
    ),
    "MIG-021": (
        """
        a create                    => ok -1@-1
        a initialize b0=100 epoch=5 => ok 100@5
        b get                       => ok -1@-1
        """,
        """
        1-2 a create                    => ok -1@-1
        3-6 a initialize b0=100 epoch=5 => ok 100@5
        4-5 b get                       => ok -1@-1
        """,
    ),
    "MIG-022": (
        """
        a create p=1                    => ok -1@-1
        a initialize b0=100 epoch=5 p=0 => ok 100@5
        b get p=1                       => ok 100@5
        """,
        """
        a create p=1                    => ok -1@-1
        a initialize b0=100 epoch=5 p=0 => ok 100@5
        b get p=1                       => ok -1@-1
        """,
    ),
    "MIG-023": (
        """
        a initialize b0=100 epoch=7 => ok 100@7
        b initialize b0=100 epoch=5 => ok 100@7
        """,
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b initialize b0=100 epoch=5 => ok 100@5
        """,
    ),
    "MIG-024": (
        "11-12 a get => info KAFKA_STORAGE_ERROR",
        "11-12 a get => info REQUEST_TIMED_OUT",
    ),
    "MIG-025": (
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b initialize b0=200 epoch=5 => ok 200@5
        """,
        """
        1-3 a initialize b0=100 epoch=5 => ok 100@5
        2-4 b initialize b0=200 epoch=5 => ok 200@5
        """,
    ),
    "MIG-026": (
        """
        a initialize b0=100 epoch=7 => ok 100@-1
        b set b0=-1 epoch=5         => ok -1@5
        """,
        """
        a initialize b0=100 epoch=7 => ok 100@7
        b set b0=-1 epoch=7         => ok -1@7
        """,
    ),
    "MIG-027": (
        """
        1-2 a register epoch=5 => ok -1@5
        3-4 a register epoch=6 => info KAFKA_STORAGE_ERROR
        """,
        """
        1-2 a register epoch=5   => ok -1@5
        3-12 a register epoch=6  => info KAFKA_STORAGE_ERROR
        """,
    ),
    "MIG-028": (
        """
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b set b0=-1                         => ok -1@5
        b producers                         => ok -1@5 seen=A
        """,
        """
        1-2 a initialize b0=100 epoch=5 seeds=A => ok 100@5
        3-5 b set b0=-1                         => ok -1@5
        4-6 c producers                         => ok -1@5 seen=A
        """,
    ),
    "MIG-030": (
        """
        a create p=0 => ok -1@-1
        b get p=1    => ok -1@-1
        """,
        """
        a create p=0   => ok -1@-1
        b get p=1      => fail UNKNOWN_TOPIC_OR_PARTITION -1@-1
        5-9 c create p=1 => ok -1@-1
        6-8 b get p=1  => ok -1@-1
        """,
    ),
    "MIG-031": (
        """
        look p=0 b0=100 hw=103 first=100 next=104
        """,
        """
        look p=0 b0=100 hw=103 first=100 next=103
        look p=1 b0=50 hw=50
        look p=2 b0=-1 hw=50
        """,
    ),
    "MIG-032": (
        """
        a create => ok -1@-1
        b create => fail INVALID_REQUEST -1@-1
        """,
        """
        a create => ok -1@-1
        b create => info
        """,
    ),
    "MIG-033": (
        """
        a create p=0           => ok -1@-1
        a create p=1           => ok -1@-1
        a register epoch=6 p=1 => ok -1@6
        7-8 a initialize b0=100 epoch=5 p=0 together=x => fail FENCED_LEADER_EPOCH -1@-1
        7-8 b initialize b0=100 epoch=5 p=1 together=x => fail FENCED_LEADER_EPOCH -1@6
        """,
        """
        a create p=0           => ok -1@-1
        a create p=1           => ok -1@-1
        a register epoch=6 p=1 => ok -1@6
        7-8 a initialize b0=100 epoch=5 p=0 together=x => ok 100@5
        7-8 b initialize b0=100 epoch=5 p=1 together=x => fail FENCED_LEADER_EPOCH -1@6
        """,
    ),
}
