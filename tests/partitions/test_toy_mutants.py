"""The toy tells a wrong choice of the seam from a right one, by what clients are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from conformance.derived import find_mutant
from reference_impl.decisions import Mutant, mutated
from tests.partitions.stories import Seen
from tests.partitions.wal_story import wal_story

pytestmark = pytest.mark.sim
Story = Callable[[], Mapping[str, Seen]]
SEEN_BY: Mapping[str, Story] = {
    "after-refresh/neighbour-601b": wal_story,  # a hard failure is asked about once more
    "after-refresh/neighbour-aeb4": wal_story,  # a late authority is asked once more
    "boundary-reached/answers-fa5b": wal_story,  # a follower never stops
    "choose-writer/dropped-7404": wal_story,  # a leader appends before it knows the boundary
    "merge-search/dropped-740f": wal_story,  # an error hides nothing
    "region-at/shifted-ca1b": wal_story,  # a region ends one offset later
    "search-asks-first/answers-c0ff": wal_story,  # the end of the local log is the log's end
    "route-search/never-3c74": wal_story,  # a copy that is assembled is searched
}


@cache
def sound(story: Story) -> Mapping[str, Seen]:
    return story()


def differs(mutant: Mutant, story: Story) -> bool:
    """Whether any client is answered otherwise, or the story does not come to its end."""
    try:
        expected = sound(story)
        with mutated(mutant):
            return story() != expected
    except Exception:
        return True


@pytest.mark.parametrize("name", SEEN_BY)
def test_a_wrong_choice_is_seen_by_clients_of_the_toy(name: str) -> None:
    mutant, story = find_mutant(name), SEEN_BY[name]
    assert isinstance(mutant, Mutant)
    assert differs(mutant, story)


def test_a_story_told_twice_is_the_same() -> None:
    assert wal_story() == sound(wal_story)
