"""A cluster that the lab has not started keeps no topic of a run, however the run ends.

Stages delete their topics when they are done. A run that is stopped, or breaks off, leaves them;
their names end with the tag of the run, and so they are found without knowing which stage made
them. Where a recorded sequence decides what names look like, they begin with the token of its play.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress

from harness.clients.admin import Refused, brokers_known, delete_topic, topics_known
from harness.clients.raw import RawClient
from harness.errors import LabError
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

ANSWERS_S = 5.0
BETWEEN_S = 0.5
MOST_LOOKS = 6
_LOST = (OSError, TimeoutError, LabError)


def remove_topics(bootstrap: str, tag: str, tokens: Collection[str] = ()) -> bool:
    """Delete every topic of the run with this tag, and of plays with these tokens; whether the
    cluster told of none in the end."""
    with suppress(*_LOST):
        return asyncio.run(_remove(bootstrap, of_run(tag, tokens)))
    return False


def of_run(tag: str, tokens: Collection[str]) -> Callable[[str], bool]:
    """Whether a topic is of the run."""
    plays = frozenset(tokens)
    return lambda name: name.endswith(f"-{tag}") or name.partition("-")[0] in plays


async def _remove(bootstrap: str, is_of_run: Callable[[str], bool]) -> bool:
    """Look and delete, until a look finds none: brokers hear late of what was created last."""
    for look in range(MOST_LOOKS):
        addresses = await _addresses(bootstrap)
        names = {one for one in await _topics(addresses) if is_of_run(one)}
        if look and not names:
            return bool(addresses)
        for name in sorted(names):
            await _delete(name, addresses)
        await asyncio.sleep(BETWEEN_S)
    return False


async def _addresses(bootstrap: str) -> list[Address]:
    """All brokers that those at the bootstrap address know."""
    known: set[Address] = set()
    for place in bootstrap.split(","):
        host, _, port = place.strip().rpartition(":")
        first = Address(host, int(port))
        with suppress(*_LOST):
            known |= {first, *(await brokers_known(_client(first), timeout_s=ANSWERS_S)).values()}
    return sorted(known, key=str)


async def _topics(addresses: list[Address]) -> set[str]:
    """What any of the brokers knows."""
    names: set[str] = set()
    for address in addresses:
        with suppress(*_LOST):
            names |= set(await topics_known(_client(address), timeout_s=ANSWERS_S))
    return names


async def _delete(name: str, addresses: list[Address]) -> None:
    """Ask one broker after the other: some may be down."""
    for address in addresses:
        with suppress(Refused, *_LOST):
            await delete_topic(_client(address), name, timeout_s=ANSWERS_S)
            return


def _client(address: Address) -> RawClient:
    return RawClient(StreamNetwork(), address)
