"""The seam holds a region below the local log: what clients see of a toy of tiered storage."""

from __future__ import annotations

import pytest

from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.decisions import EpochEntry
from tests.partitions.stories import Seen
from tests.partitions.tier_story import tier_story

pytestmark = pytest.mark.sim
OUT_OF_RANGE, CORRUPT, NOT_LEADER, STORAGE = 1, 2, 6, 56
MOVED = ErrorCode.offset_moved_to_tiered_storage


@pytest.fixture(scope="module")
def seen() -> dict[str, Seen]:
    return tier_story()


def values(seen: Seen) -> list[str]:
    """The records of an answer without error."""
    error, _, _, records = seen
    assert error == 0
    return [one.partition(":")[2] for one in records]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("first", ["t0", "t1", "t2"]),
        ("inside a segment", ["t1", "t2"]),
        ("one batch", ["t1"]),
        ("last of a segment", ["t2"]),
        ("last tiered", ["t4"]),
        ("first local", ["t5", "t6"]),
        ("end", []),
    ],
)
def test_consumers_read_from_either_tier_and_never_across(
    seen: dict[str, Seen], label: str, expected: list[str]
) -> None:
    assert values(seen[label]) == expected


def test_an_offset_beyond_the_end_is_out_of_range_and_a_broker_without_replica_says_so(
    seen: dict[str, Seen],
) -> None:
    assert (seen["beyond"], seen["non-replica"]) == ((OUT_OF_RANGE,), (NOT_LEADER,))


def test_what_both_tiers_have_is_read_from_the_disk(seen: dict[str, Seen]) -> None:
    assert values(seen["both: first"]) == ["t0", "t1", "t2"]  # while the store refuses


def test_the_two_log_starts_and_the_tiers_bounds_are_told_apart(seen: dict[str, Seen]) -> None:
    asked = ("earliest", "local", "latest", "last tiered", "waits for upload")
    assert [seen[f"list: {one}"][1] for one in asked] == [0, 5, 7, 4, 5]
    assert seen["plain: last tiered"] == seen["plain: waits for upload"] == (0, -1, -1)


def test_a_timestamp_is_found_in_the_tier_that_has_it_first(seen: dict[str, Seen]) -> None:
    found = [seen[f"list: stamp {after}"][1] for after in (0, 1, 4, 5, 6, 7)]
    assert found == [0, 1, 4, 5, 6, -1]
    assert seen["list: largest stamp"][1] == 6


def test_a_follower_is_told_to_look_elsewhere_if_it_understands(seen: dict[str, Seen]) -> None:
    assert seen["follower v14 at 4"] == ("Refuse", MOVED, True)
    assert seen["follower v13 at 4"] == ("Refuse", ErrorCode.kafka_storage_error, True)
    assert seen["follower v14 at 5"][0] == seen["follower v13 at 5"][0] == "Serve"


def test_a_store_that_refuses_hurts_nobody_but_readers_of_the_tier(seen: dict[str, Seen]) -> None:
    assert seen["refused: tiered"] == seen["refused: stamp in the tier"] == (STORAGE,)
    assert values(seen["refused: local"]) == ["t5", "t6", "t7"]
    assert seen["refused: another partition"][0] == seen["refused: earliest"][0] == 0


def test_a_slow_store_is_waited_for_as_long_as_the_reader_waits(seen: dict[str, Seen]) -> None:
    assert seen["slow: tiered"] == (STORAGE,)
    assert values(seen["slow: tiered, patient"]) == ["t1", "t2"]
    assert values(seen["slow: local"]) == ["t5", "t6", "t7"]
    assert seen["slow: send"][0] == 0


def test_bytes_are_never_guessed(seen: dict[str, Seen]) -> None:
    for how in ("corrupt", "torn"):
        assert seen[f"{how}: at the leader"] == seen[f"{how}: at a follower"] == (CORRUPT,)
    assert seen["ambiguous"] == (STORAGE,)
    assert values(seen["mended"]) == ["t1", "t2"]


def test_what_is_gone_is_looked_for_once_more(seen: dict[str, Seen]) -> None:
    assert values(seen["copied again under another name"]) == ["t1", "t2"]
    assert seen["vanished: at the leader"] == (STORAGE,)


def test_an_emptied_follower_is_built_from_the_tier_and_joins(seen: dict[str, Seen]) -> None:
    assert seen["emptied: in sync again"] == (1, (1, 2))
    assert seen["emptied: its log"] == (0, 5)
    assert seen["emptied: its epochs"] == (EpochEntry(0, 0),)
    assert values(seen["emptied: from the tier"]) == ["t1", "t2"]
    assert seen["emptied: slow"] == (STORAGE,)


def test_records_are_deleted_in_the_tier_too(seen: dict[str, Seen]) -> None:
    assert seen["delete: earliest"][1] == 4
    assert seen["delete: earliest local"][1] == 5
    assert seen["delete: gone"] == (OUT_OF_RANGE,)
    assert values(seen["delete: there"]) == ["t4"]
    assert seen["objects left"] == (1,)
    assert seen["delete: local above the tier"][1] == seen["delete: above the tier"][1] == 6


def test_a_follower_that_has_not_heard_of_the_tier_sends_readers_away(
    seen: dict[str, Seen],
) -> None:
    assert seen["follower that has not heard of the tier"] == (NOT_LEADER,)


def test_a_follower_that_was_built_from_the_tier_leads(seen: dict[str, Seen]) -> None:
    assert seen["another leader"] == (2, (2,))
    assert seen["another leader: earliest"][1] == 6
    assert values(seen["another leader: first"]) == ["t6", "t7", "t8"]
    assert seen["another leader: send"][:2] == (0, 9)
