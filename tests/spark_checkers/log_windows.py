"""Histories that break a rule on one side of a time in which its assumption was broken.

`log_lines` says how they are written.
"""

from __future__ import annotations

# name: (rule, history)
BESIDE_WINDOWS: dict[str, tuple[str, str]] = {
    "readers that disagree before an unclean election, and one after it": (
        "KFK-034",
        """
        1-2 fetch 0   => ok a@0 hw=1
        3-4 fetch 0   => ok b@0 hw=1
        5-9 window clean-election
        10-11 fetch 0 => ok b@0 hw=1
        """,
    ),
    "an acknowledged record that was replaced long before an unclean election": (
        "KFK-035",
        """
        1-2 send a    => ok 0
        3-4 fetch 0   => ok b@0 hw=1
        5-9 window clean-election
        10-11 fetch 0 => ok b@0 hw=1
        """,
    ),
    "a record that is passed over before an unclean election, and read after it": (
        "KFK-046",
        """
        1-2   fetch 0 => ok a@0 b@1 c@2 hw=3
        3-4   fetch 0 => ok a@0 c@2 hw=3
        5-8   window clean-election
        10-11 fetch 0 => ok a@0 b@1 c@2 hw=3
        """,
    ),
    "a search by time after a window, that a record acknowledged after it contradicts": (
        "KFK-062",
        """
        3-8   window one-leader
        4-5   send a!900 => ok 0
        10-11 send b!500 => ok 1
        12-13 at 400     => ok -1
        14-15 fetch 1    => ok b@1!500 hw=2 start=0
        """,
    ),
    "a search for the greatest time after a window, that a later record contradicts": (
        "KFK-063",
        """
        3-8   window one-leader
        4-5   send a!900 => ok 0
        10-11 send b!500 => ok 1
        12-13 max        => ok 0 !400
        14-15 fetch 1    => ok b@1!500 hw=2 start=0
        """,
    ),
    "deleted records that are served after a window": (
        "KFK-065",
        """
        3-8   window one-leader
        4-5   delete 9 => ok start=9
        10-11 delete 5 => ok start=5
        12-13 fetch 4  => ok a@4 hw=9 start=5
        """,
    ),
    "a log start below a deletion after a window": (
        "KFK-066",
        """
        3-8   window one-leader
        4-5   delete 9 => ok start=9
        10-11 delete 5 => ok start=5
        12-13 fetch 6  => ok hw=9 start=4
        """,
    ),
    "a high watermark that falls after a window": (
        "KFK-050",
        """
        3-8   window replica-up
        4-5   fetch 0 epoch=1 => ok hw=9
        10-11 fetch 0 epoch=1 => ok hw=5
        12-13 fetch 0 epoch=1 => ok hw=3
        """,
    ),
    "a high watermark that falls before a window, and is the same in it": (
        "KFK-050",
        """
        1-2   fetch 0 epoch=1 => ok hw=5
        3-4   fetch 0 epoch=1 => ok hw=3
        5-8   window replica-up
        6-7   fetch 0 epoch=1 => ok hw=3
        """,
    ),
    "a last stable offset that falls after a window": (
        "KFK-051",
        """
        3-8   window replica-up
        4-5   fetch 0 epoch=1 => ok hw=9 lso=9
        10-11 fetch 0 epoch=1 => ok hw=9 lso=5
        12-13 fetch 0 epoch=1 => ok hw=9 lso=3
        """,
    ),
    "a log start that falls after a window": (
        "KFK-052",
        """
        3-8   window replica-up
        4-5   fetch 0 epoch=1 => ok hw=9 start=9
        10-11 fetch 0 epoch=1 => ok hw=9 start=5
        12-13 fetch 0 epoch=1 => ok hw=9 start=3
        """,
    ),
    "latest below what was acknowledged after a window": (
        "KFK-054",
        """
        1-2   send a => ok 0
        3-8   window one-leader
        4-5   send b => ok 9
        10-11 send c => ok 5
        12-13 latest => ok 3
        """,
    ),
    "latest below what was acknowledged, before a window and in it": (
        "KFK-054",
        """
        1-2   send a => ok 5
        3-4   latest => ok 3
        5-8   window one-leader
        6-7   latest => ok 3
        """,
    ),
    "an offset that was in range after a window": (
        "KFK-049",
        """
        3-8   window replica-up
        4-5   fetch 0 => ok hw=9 start=0
        10-11 fetch 0 => ok hw=5 start=0
        12-13 fetch 3 => fail OFFSET_OUT_OF_RANGE
        14-15 fetch 3 => ok hw=5 start=0
        """,
    ),
    "an append after an unclean election, below one after it": (
        "KFK-030",
        """
        1-2   send a => ok 9
        3-8   window clean-election
        10-11 send b => ok 5
        12-13 send c => ok 4
        """,
    ),
}
