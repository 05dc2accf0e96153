"""More histories of the boundary, each the memory of a wrong verdict.

`test_boundary_rules` says how they are written.
"""

from __future__ import annotations

# what it shows: (the rule that must be flagged, the history)
ALSO_BAD: dict[str, tuple[str, str]] = {
    "a boundary without an epoch replaced at epoch 0": (
        "MIG-003",
        """
        a set b0=17                => ok 17@-1
        b initialize b0=40 epoch=0 => ok 40@0
        """,
    ),
    "a boundary without an epoch replaced in the epoch registered since": (
        "MIG-025",
        """
        a set b0=17          => ok 17@-1
        b register epoch=0   => ok 17@0
        b set b0=40 epoch=0  => ok 40@0
        """,
    ),
    "a boundary set again in the epoch of a second reset": (
        "MIG-012",
        """
        a initialize b0=100 epoch=5 => ok 100@5
        b set b0=-1                 => ok -1@5
        a initialize b0=200 epoch=6 => ok 200@6
        b set b0=-1                 => ok -1@6
        a initialize b0=200 epoch=6 => ok 200@6
        """,
    ),
    "a refusal that reports what stood before the boundary was moved": (
        "MIG-005",
        """
        a initialize b0=100 epoch=5 => ok 100@5
        a initialize b0=200 epoch=5 => ok 200@5
        b initialize b0=300 epoch=6 => fail BOUNDARY_MISMATCH 100@5
        """,
    ),
    "a new log whose creation shows boundary 0": (
        "MIG-020",
        """
        a create       => ok 0@-1
        a seed seeds=A => ok 0@-1
        """,
    ),
}

# what it shows: (the rule that must not be flagged, though others are, the history)
ALSO_GOOD: dict[str, tuple[str, str]] = {
    "an equal epoch is not a higher one": (
        "MIG-003",
        """
        a set b0=17          => ok 17@-1
        b register epoch=0   => ok 17@0
        b set b0=40 epoch=0  => ok 40@0
        """,
    ),
    "a refusal that reports a boundary which nobody set": (
        "MIG-003",
        """
        a register epoch=5          => ok -1@5
        b initialize b0=100 epoch=4 => fail FENCED_LEADER_EPOCH 100@5
        a initialize b0=200 epoch=6 => ok 200@6
        """,
    ),
    "a refusal that reports what the boundary was moved to": (
        "MIG-005",
        """
        a initialize b0=100 epoch=5 => ok 100@5
        a initialize b0=200 epoch=5 => ok 200@5
        b initialize b0=300 epoch=6 => fail BOUNDARY_MISMATCH 200@5
        """,
    ),
    "a refusal while the boundary is being moved": (
        "MIG-005",
        """
        1-2 a initialize b0=100 epoch=5 => ok 100@5
        3-6 a initialize b0=200 epoch=5 => ok 200@5
        4-5 b initialize b0=300 epoch=6 => fail BOUNDARY_MISMATCH 200@5
        """,
    ),
    "seeds of a later attempt": (
        "MIG-008",
        """
        a create                            => ok -1@-1
        a seed seeds=A                      => ok -1@-1
        a initialize b0=100 epoch=5 seeds=A => ok 100@5
        b seed seeds=B                      => ok 100@5
        b producers                         => ok 100@5 seen=B
        """,
    ),
    "seeds of an attempt that no initialization followed": (
        "MIG-008",
        """
        a create       => ok 0@-1
        a seed seeds=A => ok 0@-1
        b producers    => ok 0@-1 seen=A
        """,
    ),
}

# Histories that nothing may be said against.
LEGAL = {
    "a creation whose reply was lost": """
        11-12 a create => info REQUEST_TIMED_OUT
        31-32 b get    => ok -1@-1
    """,
    "a look during the creation": """
        1-5 a create => ok -1@-1
        2-4 b get    => ok -1@-1
    """,
    "a log that was pending before the history began": "a get => ok -1@-1",
    "a log that was set before the history began": """
        a get            => ok 100@5
        a commit count=2 => ok 100@5 base=150
    """,
    "an upgraded log that was reset": """
        lab upgrade        => ok
        a register epoch=5 => ok 0@5
        a set b0=-1        => ok -1@5
        a get              => ok -1@5
    """,
    "an upgraded log that is created again, looked into and written again": """
        lab upgrade        => ok
        a create           => ok 0@-1
        a producers        => ok 0@-1 seen=
        a register epoch=5 => ok 0@5
        a set b0=0         => ok 0@5
    """,
    "two seeds of one process after another, looked at during the second": """
        1-2 a seed seeds=A => ok -1@-1
        3-6 a seed seeds=B => ok -1@-1
        4-5 b producers    => ok -1@-1 seen=A
    """,
    "a boundary set above a second reset, which an epoch registered in between does not mark": """
        a initialize b0=100 epoch=5 => ok 100@5
        b set b0=-1                 => ok -1@5
        a register epoch=7          => ok -1@7
        b set b0=-1                 => ok -1@7
        a initialize b0=200 epoch=7 => ok 200@7
    """,
    "a boundary set above two resets": """
        a initialize b0=100 epoch=5 => ok 100@5
        b set b0=-1                 => ok -1@5
        a initialize b0=200 epoch=6 => ok 200@6
        b set b0=-1                 => ok -1@6
        a initialize b0=200 epoch=7 => ok 200@7
    """,
    "a reply lost while the control plane is broken": """
        21-22 a get => info REQUEST_TIMED_OUT
    """,
}
