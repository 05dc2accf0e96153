"""Whether a cluster is settled, by what its brokers say of its topics.

It is when all brokers that are up answer and say the same, and what they say fits which brokers are
up: those that are not are offline, in no ISR and lead nothing, the others are in every ISR that has
a leader, what can have a leader has one, what is reassigned to brokers that are up has arrived.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from harness.clients.topic_admin import ToldPartition, ToldTopic

UNKNOWN_TOPIC = 3
Told = Mapping[str, ToldTopic]  # by the name that brokers know
Fenced = Mapping[int, bool]


@dataclass(slots=True, kw_only=True)
class KnownTopic:
    """A topic of this run: what histories call it, what brokers do, what was asked for."""

    called: str
    name: str
    partitions: int
    min_isr: int | None = None
    unclean: bool = False
    gone: bool = False
    adopted: bool = False  # it was there already; nothing is known of what was asked for
    targets: dict[int, tuple[int, ...]] = field(default_factory=dict)  # of reassignments
    elected: list[int] = field(default_factory=list)  # partitions whose preferred leader was


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What every broker that is up said, None where it did not answer."""

    topics: Mapping[int, Told | None]
    fenced: Mapping[int, Fenced | None]


def is_settled(look: Look, known: Sequence[KnownTopic], down: Collection[int]) -> bool:
    """Whether all that were asked say the same, and it fits which brokers are down."""
    told = [one for one in look.topics.values() if one is not None]
    fenced = [one for one in look.fenced.values() if one is not None]
    if len(told) < len(look.topics) or len(fenced) < len(look.fenced) or not told:
        return False
    if any(one != told[0] for one in told):
        return False
    if any((one in down) != is_fenced for each in fenced for one, is_fenced in each.items()):
        return False
    if any(one not in each for each in fenced for one in look.topics):
        return False
    newest = {topic.name: topic for topic in known}
    return all(_topic_settled(told[0].get(name), topic, down) for name, topic in newest.items())


def _topic_settled(told: ToldTopic | None, topic: KnownTopic, down: Collection[int]) -> bool:
    if topic.gone:
        return told is None or told.error == UNKNOWN_TOPIC
    if topic.adopted:
        return told is not None and not told.error
    if told is None or told.error or sorted(told.partitions) != list(range(topic.partitions)):
        return False
    return all(
        _partition_settled(one, topic.targets.get(index), topic.unclean, down)
        and _preferred_leads(one, down, asked=index in topic.elected)
        for index, one in told.partitions.items()
    )


def _partition_settled(
    told: ToldPartition,
    target: tuple[int, ...] | None,
    unclean: bool,
    down: Collection[int],
) -> bool:
    alive = [one for one in told.replicas if one not in down]
    if sorted(told.offline) != sorted(one for one in told.replicas if one in down):
        return False
    held = any(one in down for one in target or ())
    if target is not None and not held and told.replicas != target:
        return False
    if told.leader >= 0:
        return told.leader not in down and sorted(told.isr) == sorted(alive)
    electable = [*told.isr, *told.elr]
    if not electable and len(told.last_known_elr) == 1:
        electable = [*told.last_known_elr]
    return all(one in down for one in electable) and not (unclean and alive)


def _preferred_leads(told: ToldPartition, down: Collection[int], *, asked: bool) -> bool:
    """An election that was answered is known to all brokers a little later."""
    preferred = told.replicas[0]
    return not asked or preferred in down or told.leader == preferred
