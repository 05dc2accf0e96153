"""What a broker has learned from the metadata topic, and how far it has read.

A metadata partition is read from one position on. It has the events of many user partitions; kept
are those that the broker was told of or, where it leads the metadata partition, all (C-30). What a
user partition's file contains is not applied again: it has a *floor*, the offset below which
everything is in its cache. So when another one is added that knows less, the position goes back and
the others wait at their floors (C-33).

No input, no output: ``topic_consumer`` reads, this says what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.tiered.flat_file import Kept
from reference_impl.tiered.life_cycles import Outcome
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import MetadataEvent, TopicIdPartition, partition_of


class Seen(NamedTuple):
    """A record whose turn has come; ``outcome`` is None if its partition is not followed."""

    event: MetadataEvent | None
    outcome: Outcome | None


@dataclass(slots=True, kw_only=True)
class UserPartition:
    """One user partition.

    ``target`` is the end of the metadata partition when following it began, None until it is known;
    ``written`` the offset that its file has.
    """

    cache: SegmentCache
    floor: int = 0
    told: bool = False
    target: int | None = None
    announced: bool = False
    written: int | None = None
    changed: bool = False


@dataclass(slots=True, kw_only=True)
class MetadataPartition:
    """One partition of the topic; ``everything``: all user partitions in it are followed."""

    position: int
    users: dict[TopicIdPartition, UserPartition] = field(default_factory=dict)
    everything: bool = False
    target: int | None = None
    expecting: int = 0
    outcomes: dict[int, Seen] = field(default_factory=dict)


@decision("tiered-metadata-start", rules=("TS-132",))
def start_position(committed: int | None, kept: int | None) -> int:
    """Where reading begins: at the smaller of the committed offset and the file's; at the beginning
    if either is missing."""
    if committed is None or kept is None:
        return 0
    return min(committed, kept)


@decision("tiered-applied-before")
def applied_before(floor: int, offset: int) -> bool:
    """Whether a record is contained in what was kept of its partition."""
    return offset < floor


@decision("tiered-metadata-initialised", rules=("TS-129",))
def initialised(target: int | None, applied_up_to: int) -> bool:
    """Whether everything is applied that was there when following began."""
    return target is not None and applied_up_to >= target


class TopicState:
    """All metadata partitions that are read. ``number_of`` says which one a partition is in."""

    def __init__(self, number_of: Callable[[TopicIdPartition], int]) -> None:
        self.number_of = number_of
        self.partitions: dict[int, MetadataPartition] = {}

    # What is followed.

    def user(self, partition: TopicIdPartition) -> UserPartition | None:
        """A user partition, if it is followed or has events in one that is led."""
        found = self.partitions.get(self.number_of(partition))
        return None if found is None else found.users.get(partition)

    def holds(self, partition: TopicIdPartition) -> bool:
        """Whether its file would say nothing new: all its events are read here anyway."""
        found = self.partitions.get(self.number_of(partition))
        return found is not None and (found.everything or partition in found.users)

    def follow(self, partition: TopicIdPartition, kept: Kept | None, committed: int | None) -> None:
        """From now on, beginning with what was kept of it."""
        number = self.number_of(partition)
        start = start_position(committed, None if kept is None else kept.next_offset)
        found = self.partitions.get(number)
        if found is None:
            found = self.partitions[number] = MetadataPartition(position=start)
        user = found.users.get(partition)
        if user is None:
            user = found.users[partition] = UserPartition(cache=SegmentCache(partition))
            if kept is not None and not found.everything:
                user.cache, user.floor, user.written = (
                    kept.cache,
                    kept.next_offset,
                    kept.next_offset,
                )
            if not found.everything and user.floor < found.position:
                self._go_back(found, user.floor, new=user)
        user.told, user.target, user.announced = True, None, False

    def unfollow(self, partition: TopicIdPartition) -> None:
        """Not any more, unless all of its metadata partition is followed."""
        number = self.number_of(partition)
        found = self.partitions.get(number)
        if found is not None and partition in found.users:
            found.users[partition].told = False
            self._drop(number, found)

    def follow_everything(self, number: int) -> None:
        """This broker leads a metadata partition: what it has not read of it is read now."""
        found = self.partitions.setdefault(number, MetadataPartition(position=0))
        if not found.everything:
            found.everything, found.target = True, None
            self._go_back(found, 0)

    def unfollow_everything(self, number: int) -> None:
        """It leads it no longer."""
        found = self.partitions[number]
        found.everything = False
        self._drop(number, found)

    def _drop(self, number: int, found: MetadataPartition) -> None:
        if not found.everything:
            found.users = {key: one for key, one in found.users.items() if one.told}
        if not found.users and not found.everything:
            del self.partitions[number]

    def _go_back(
        self, found: MetadataPartition, position: int, *, new: UserPartition | None = None
    ) -> None:
        for user in found.users.values():
            if user is not new:
                user.floor = max(user.floor, found.position)
        found.position = position

    # What is read.

    def positions(self, numbers: list[int]) -> dict[int, int]:
        """Where to go on in each of these."""
        return {one: self.partitions[one].position for one in numbers if one in self.partitions}

    def take(self, number: int, offset: int, event: MetadataEvent | None) -> Outcome | None:
        """The next record; None stands for one that says nothing."""
        found = self.partitions[number]
        found.position = offset + 1
        outcome = None
        user = None if event is None else self._user_of(found, event)
        if event is not None and user is not None and not applied_before(user.floor, offset):
            outcome = user.cache.apply(event)
            user.changed = user.changed or outcome is Outcome.APPLIED
        if found.expecting:
            found.outcomes.setdefault(offset, Seen(event, outcome))
        return outcome

    def _user_of(self, found: MetadataPartition, event: MetadataEvent) -> UserPartition | None:
        partition = partition_of(event)
        if found.everything and partition not in found.users:
            found.users[partition] = UserPartition(cache=SegmentCache(partition))
        return found.users.get(partition)

    def read_up_to(self, number: int, offset: int) -> None:
        """There is nothing more below this offset."""
        found = self.partitions[number]
        found.position = max(found.position, offset)

    def start_over(self, number: int, log_start_offset: int) -> None:
        """The topic has not what was read of it: it was replaced, or lost what it had."""
        found = self.partitions[number]
        for partition, user in found.users.items():
            found.users[partition] = UserPartition(
                cache=SegmentCache(partition), told=user.told, changed=True
            )
        found.position, found.target = log_start_offset, None

    def numbers_without_end(self) -> dict[int, int]:
        """Metadata partitions whose end has to be asked for, and how much of each is known."""
        return {
            number: max([one.position, *(user.floor for user in one.users.values())])
            for number, one in self.partitions.items()
            if _wants_end(one)
        }

    def end_known(self, number: int, end: int, *, known_up_to: int) -> None:
        """The end of a metadata partition, and how much was known when it was asked for."""
        found = self.partitions.get(number)
        if found is None:
            return
        if known_up_to > end:
            self.start_over(number, 0)
        if found.everything and found.target is None:
            found.target = end
        for user in found.users.values():
            if user.told and user.target is None:
                user.target = end

    @contextmanager
    def expecting(self, number: int) -> Iterator[dict[int, Seen]]:
        """While this lasts, what became of records is noted by offset."""
        found = self.partitions[number]
        found.expecting += 1
        try:
            yield found.outcomes
        finally:
            found.expecting -= 1
            if not found.expecting:
                found.outcomes.clear()

    # What is known.

    def applied_up_to(self, partition: TopicIdPartition) -> int:
        """The offset below which everything is applied to a partition that is followed."""
        found = self.partitions[self.number_of(partition)]
        user = found.users.get(partition)
        return max(found.position, 0 if user is None else user.floor)

    def is_initialised(self, partition: TopicIdPartition) -> bool:
        """Whether everything is applied that was there when following it began."""
        found = self.partitions.get(self.number_of(partition))
        if found is None:
            return False
        user = found.users.get(partition)
        if user is not None and user.told:
            return initialised(user.target, max(found.position, user.floor))
        return found.everything and initialised(found.target, found.position)

    def newly_initialised(self) -> list[TopicIdPartition]:
        """Those told of that have become so since the last time."""
        fresh = []
        for found in self.partitions.values():
            for partition, user in found.users.items():
                if user.told and not user.announced and self.is_initialised(partition):
                    user.announced = True
                    fresh.append(partition)
        return fresh


def _wants_end(found: MetadataPartition) -> bool:
    if found.everything and found.target is None:
        return True
    return any(user.told and user.target is None for user in found.users.values())
