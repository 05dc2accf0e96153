"""Waiting until a cluster has done what it acknowledged.

CreateTopics is answered when the controller has decided; a broker serves the partitions a moment
later. What comes next in a sequence is about something else, so the player waits here. A topic is
there when every broker's Metadata says so and ListOffsets is answered for each of its partitions by
its leader; it is gone when no broker's Metadata knows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from harness.clients.connection import Connection

SETTLE_S = 20.0
PAUSES_S = (0.02,) * 50 + (0.25,)
"""Between looks; the last one again and again."""
AFTER_DELETING_S = 0.03
"""A broker closes a partition a moment after it has forgotten its name."""

METADATA_VERSION = 12
LIST_OFFSETS_VERSION = 7

Answer = Mapping[str, Any]
Everywhere = Callable[[], Awaitable[Mapping[int, Connection]]]
"""A connection to each broker."""


class NotPrepared(RuntimeError):
    """A cluster did not do what a sequence needs: nothing after it would mean anything."""


async def wait_for(condition: Callable[[], Awaitable[bool]], otherwise: str) -> None:
    """Return when the condition is true; `NotPrepared` if it does not become so in time."""
    now = asyncio.get_running_loop().time
    deadline = now() + SETTLE_S
    for pause_s in pauses():
        if await _true(condition):
            return
        if now() > deadline:
            raise NotPrepared(f"{otherwise} within {SETTLE_S:g} s")
        await asyncio.sleep(pause_s)


def pauses() -> Iterator[float]:
    """How long to wait between looks at what is bound to come, in seconds, without end."""
    return chain(PAUSES_S, repeat(PAUSES_S[-1]))


async def _true(condition: Callable[[], Awaitable[bool]]) -> bool:
    """An answer without what every answer has does not fulfil it."""
    try:
        return await condition()
    except KeyError:
        return False


async def cluster_of(connection: Connection, *, at_least: int = 1) -> Answer:
    """Metadata without topics, once the broker that is asked knows so many of them."""
    answers: list[Answer] = []

    async def some() -> bool:
        answers.append(await connection.ask("metadata", METADATA_VERSION, {"topics": []}))
        return len(answers[-1]["brokers"]) >= at_least

    await wait_for(some, f"the cluster does not name {at_least} brokers")
    return answers[-1]


async def metadata(connection: Connection, topics: Sequence[str]) -> list[Answer]:
    """What the cluster says of these topics, without making them."""
    fields = {"topics": [{"name": one} for one in topics], "allow_auto_topic_creation": False}
    answer = await connection.ask("metadata", METADATA_VERSION, fields)
    found: list[Answer] = answer["topics"]
    return found


async def await_there(everywhere: Everywhere, counts: Mapping[str, int]) -> None:
    """Return when each topic has as many partitions as wanted, at every broker, and is served."""
    names = list(counts)

    async def known() -> bool:
        for one in (await everywhere()).values():
            if not all(_is_there(topic, counts) for topic in await metadata(one, names)):
                return False
        return True

    async def served() -> bool:
        for broker, one in (await everywhere()).items():
            if not await _is_served(broker, one, names):
                return False
        return True

    await wait_for(known, f"not every broker knows {', '.join(names)}")
    await wait_for(served, f"not every leader serves {', '.join(names)}")


async def await_gone(everywhere: Everywhere, names: Sequence[str]) -> None:
    """Return when no topic has one of these names."""

    async def unknown() -> bool:
        for one in (await everywhere()).values():
            for topic in await metadata(one, names):
                if topic["error_code"] != "UNKNOWN_TOPIC_OR_PARTITION":
                    return False
        return True

    await wait_for(unknown, f"not every broker has forgotten {', '.join(names)}")
    await asyncio.sleep(AFTER_DELETING_S)


def _is_there(topic: Answer, counts: Mapping[str, int]) -> bool:
    return (
        topic["error_code"] == "NONE"
        and len(topic["partitions"]) >= counts[topic["name"]]
        and all(one["error_code"] == "NONE" for one in topic["partitions"])
    )


async def _is_served(broker: int, connection: Connection, names: Sequence[str]) -> bool:
    """Whether a broker answers for every partition that it leads."""
    asked = [
        {
            "name": topic["name"],
            "partitions": [
                {"partition_index": one["partition_index"], "timestamp": -1}
                for one in topic["partitions"]
                if one["leader_id"] == broker
            ],
        }
        for topic in await metadata(connection, names)
    ]
    fields = {"replica_id": -1, "topics": asked}
    answer = await connection.ask("list_offsets", LIST_OFFSETS_VERSION, fields)
    return all(
        one["error_code"] == "NONE" for topic in answer["topics"] for one in topic["partitions"]
    )
