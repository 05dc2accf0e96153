"""What an offset index says of the end of a read."""

from __future__ import annotations

import pytest

from reference_impl.log.indexes import OffsetIndex


@pytest.mark.parametrize(
    ("place", "offset"),
    [
        (70, 11),
        (71, 12),  # as Kafka's search, which passes over a first entry that lies just there
        (72, 12),
        (142, 12),
        (143, 13),
        (213, 13),
        (214, None),
    ],
)
def test_the_offset_behind_a_read_is_that_of_the_first_entry_behind_it(
    place: int, offset: int | None
) -> None:
    index = OffsetIndex(10)
    for each in (1, 2, 3):
        index.add(10 + each, 71 * each)

    assert index.offset_at_or_behind(place) == offset


def test_nothing_lies_behind_the_only_entry() -> None:
    index = OffsetIndex(10)
    index.add(11, 71)

    assert index.offset_at_or_behind(71) is None
    assert OffsetIndex(10).offset_at_or_behind(0) is None
