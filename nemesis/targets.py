"""Whom a fault hits: targets by name or by what they are right now, and finding them.

    broker-1   controller   client a   all brokers   all clients   everything but broker-1
    leader of t-0   follower of t-0   followers of t-0          asked when the fault begins
    leader of t-0 with 2 followers behind                       only while so many are out of sync
    coordinator of a   coordinator of group g                   of a transactional id, of a group
    rack a                                                      its brokers, as Metadata has them
    broker-1, broker-2                                          several nodes
    broker-1 -> controller   leader of t-0 <-> everything else  links, one way or both
    broker-1                                                    as a link: to all other nodes
    ring   bridge over broker-2                                 links of the whole cluster
    control-plane   broker-1 -> control-plane                   a service, for all or one caller
    an object   object wal/ab12   an object like */*.log        of the object store

Who leads is asked of the brokers over the lab's own network, which no fault reaches. What is left
open ("a follower", "an object") is the first in order, or drawn from a given `random.Random`.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatch
from itertools import combinations
from typing import TypeVar

from harness.clients.admin import Leadership, racks_known
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.clients.transactions import GROUP, TRANSACTION, find_coordinator
from harness.deployments.at_rest import who_leads
from harness.deployments.deployment import Deployment, Role
from harness.deployments.plan import broker_name

_One = TypeVar("_One")
ELSE = "everything else"
LIKE = "an object like "
SERVICES = (Role.CONTROL_PLANE.value, Role.OBJECT_STORE.value)
_NODE_ROLES = (Role.CONTROLLER, Role.BROKER, Role.CLIENT)
_ARROWS = {"->": False, "→": False, "<->": True, "↔": True}
_ARROW = re.compile(r"\s*(<->|->|→|↔)\s*")
COORDINATOR, OF_GROUP, RACK = "coordinator of ", "group ", "rack "
_BY_PARTITION = re.compile(
    r"(leader|followers|follower) of (\S+)(?: with ([1-9]) followers? behind)?"
)


class Takes(Enum):
    """What kind of target a fault takes."""

    NODES = "nodes"
    LINKS = "links"
    CALLS = "calls of a service"
    CALLER = "calls of one node"
    OBJECT = "an object"


class NoTarget(ValueError):
    """Nothing that could be hit is called that, at the moment."""


@dataclass(frozen=True, slots=True)
class Link:
    """From some nodes to others, and back if `both`."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    both: bool

    def __str__(self) -> str:
        arrow = "↔" if self.both else "→"
        return f"{','.join(self.sources)} {arrow} {','.join(self.targets)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target that was found; `label` is how fault lines call it."""

    label: str
    nodes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    service: str = ""
    caller: str | None = None
    key: str = ""
    partition: TopicPartition | None = None  # if it was found by what it is to a partition

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every node and service that is named."""
        ends = [end for link in self.links for end in (*link.sources, *link.targets)]
        return tuple(dict.fromkeys((*self.nodes, *ends)))


class Finder:
    """Finds the targets of one deployment."""

    def __init__(self, deployment: Deployment, chance: random.Random | None = None) -> None:
        self._on = deployment
        self._chance = chance
        self.silent: Iterable[str] = ()  # nodes that would not answer

    async def find(self, text: str, takes: Takes, service: str = "") -> Target:
        """What a text names now, for a fault that takes such targets."""
        text = " ".join(text.split())
        if takes is Takes.NODES:
            return await self._nodes(text)
        if takes is Takes.LINKS:
            return await self._links(text)
        if takes is Takes.OBJECT:
            return await self._object(text)
        return await self._calls(text, takes, service)

    def cluster(self) -> tuple[str, ...]:
        """The controller and the brokers."""
        return (*self._on.nodes(Role.CONTROLLER), *self._on.nodes(Role.BROKER))

    async def _nodes(self, text: str) -> Target:
        found: list[str] = []
        partition: TopicPartition | None = None
        for one in text.split(","):
            nodes, about = await self._named(one.strip())
            found += [node for node in nodes if node not in found]
            partition = about or partition
        return Target(label=",".join(found), nodes=tuple(found), partition=partition)

    async def _named(self, text: str) -> tuple[tuple[str, ...], TopicPartition | None]:
        if by_partition := _BY_PARTITION.fullmatch(text):
            return await self._of_partition(*by_partition.groups())
        if text.startswith(COORDINATOR):
            return (await self._coordinator(text.removeprefix(COORDINATOR)),), None
        if text.startswith(RACK):
            nodes = await self._rack(text.removeprefix(RACK))
        elif text in ("all brokers", "all clients"):
            nodes = self._on.nodes(Role.BROKER if text == "all brokers" else Role.CLIENT)
        elif text.startswith("everything but "):
            spared = (await self._nodes(text.removeprefix("everything but "))).nodes
            nodes = tuple(one for one in self.cluster() if one not in spared)
        else:
            nodes = (_node_name(text),)
            if not any(nodes[0] in self._on.nodes(role) for role in _NODE_ROLES):
                raise NoTarget(f"there is no node {text!r}")
        if not nodes:
            raise NoTarget(f"there are no nodes that are {text!r}")
        return nodes, None

    async def _of_partition(
        self, what: str, named: str, behind: str | None
    ) -> tuple[tuple[str, ...], TopicPartition | None]:
        tp = partition_named(self._on, named)
        seen = await self.leadership(tp)
        if seen is None:
            raise NoTarget(f"no broker names a leader of {named}")
        followers = [one for one in sorted(seen.replicas) if one != seen.leader]
        lag = sum(one not in seen.isr for one in followers)
        if behind is not None and lag < int(behind):
            raise NoTarget(f"{lag} followers of {named} are behind, not {behind}")
        if what != "leader" and not followers:
            raise NoTarget(f"{named} has no followers")
        chosen = {
            "leader": [seen.leader],
            "followers": followers,
            "follower": [] if what == "leader" else [self._one_of(followers)],
        }[what]
        return tuple(broker_name(one) for one in chosen), tp

    async def _coordinator(self, text: str) -> str:
        """The broker that coordinates an id or a group, as the first one says that answers."""
        kind = GROUP if text.startswith(OF_GROUP) else TRANSACTION
        key = self._on.recorder.topic(text.removeprefix(OF_GROUP))
        for broker in self._on.brokers:
            client = RawClient(self._on.network, self._on.address(broker))
            try:
                found = await find_coordinator(client, key, kind)
            except (OSError, TimeoutError):
                continue
            finally:
                client.abort()
            if found in self._on.brokers:
                return broker_name(found)
        raise NoTarget(f"no broker names a coordinator of {text}")

    async def _rack(self, rack: str) -> tuple[str, ...]:
        """The brokers of a rack, as the first broker says that answers."""
        for broker in self._on.brokers:
            if broker_name(broker) in tuple(self.silent):
                continue
            client = RawClient(self._on.network, self._on.address(broker))
            try:
                known = await racks_known(client)
            except (OSError, TimeoutError):
                continue
            there = sorted(one for one, its in known.items() if its == rack)
            return tuple(broker_name(one) for one in there if one in self._on.brokers)
        raise NoTarget(f"no broker names who is in rack {rack}")

    async def leadership(self, tp: TopicPartition) -> Leadership | None:
        """Who leads by the latest epoch that a broker tells; None if no leader is known."""
        asked = [one for one in self._on.brokers if broker_name(one) not in tuple(self.silent)]
        told = await asyncio.gather(*(who_leads(self._on, one, tp) for one in asked))
        known = [one for one in told if one is not None and one.leader in self._on.brokers]
        return max(known, key=lambda one: one.epoch, default=None)

    async def _links(self, text: str) -> Target:
        links = [link for one in text.split(";") for link in await self._shape(one.strip())]
        label = "; ".join(str(link) for link in links)
        return Target(label=label, links=tuple(links))

    async def _shape(self, text: str) -> list[Link]:
        if text == "ring":
            return self._ring()
        if text.startswith("bridge over "):
            return self._bridge((await self._nodes(text.removeprefix("bridge over "))).nodes)
        sides = _ARROW.split(text)
        if len(sides) == 1:
            sides = [text, "<->", ELSE]
        if len(sides) != 3:
            raise NoTarget(f"{text!r} is not a link")
        here, arrow, there = sides
        sources, targets = await self._side(here), await self._side(there)
        sources = sources or self._else(targets)
        targets = targets or self._else(sources)
        targets = tuple(one for one in targets if one not in sources)
        if not sources or not targets:
            raise NoTarget(f"{text!r} has only one end")
        return [Link(sources, targets, _ARROWS[arrow])]

    async def _side(self, text: str) -> tuple[str, ...]:
        if text == ELSE:
            return ()
        if text in SERVICES:
            return (self._service(text),)
        if text in self._on.levers.further_ends:
            return (text,)
        return (await self._nodes(text)).nodes

    def _ends(self) -> tuple[str, ...]:
        """What links of the cluster join."""
        return (*self._on.levers.further_ends, *self.cluster())

    def _else(self, side: Sequence[str]) -> tuple[str, ...]:
        return tuple(one for one in self._ends() if one not in side)

    def _ring(self) -> list[Link]:
        """Every node hears its two neighbours and no other node."""
        nodes = self._ends()
        far = [
            Link((nodes[here],), (nodes[there],), both=True)
            for here, there in combinations(range(len(nodes)), 2)
            if there - here not in (1, len(nodes) - 1)
        ]
        if not far:
            raise NoTarget("a ring of so few nodes leaves every link whole")
        return far

    def _bridge(self, over: Sequence[str]) -> list[Link]:
        """Two halves that hear each other only by way of one node."""
        rest = self._else(over)
        half = len(rest) // 2
        if not half:
            raise NoTarget("a bridge needs a node on either side")
        return [Link(rest[:half], rest[half:], both=True)]

    async def _calls(self, text: str, takes: Takes, service: str) -> Target:
        self._service(service)
        caller: str | None = None
        asked = re.sub(rf"\s*(->|→)\s*{service}$", "", text)
        if asked not in ("", service):
            (caller, *more) = (await self._nodes(asked)).nodes
            if more:
                raise NoTarget(f"{text!r} is more than one caller")
        elif takes is Takes.CALLER:
            raise NoTarget(f"whose calls of the {service} is not said")
        label = service if caller is None else f"{caller} → {service}"
        return Target(label=label, service=service, caller=caller)

    def _service(self, name: str) -> str:
        if not self._on.nodes(Role(name)):
            raise NoTarget(f"there is no {name}")
        return name

    async def _object(self, text: str) -> Target:
        self._service(Role.OBJECT_STORE)
        seen = "objects" in self._on.probes
        rows = await self._on.probe("objects") if seen else []
        keys = sorted(str(row["key"]) for row in rows if row["size"])  # others have nothing to lose
        key = text.removeprefix("object ")
        if text.startswith(LIKE):
            keys = [one for one in keys if fnmatch(one, text.removeprefix(LIKE))]
        if text == "an object" or text.startswith(LIKE):
            if not keys:
                raise NoTarget("there are no objects")
            key = self._one_of(keys)
        elif seen and key not in keys:
            raise NoTarget(f"there is no object {key!r}")
        return Target(label=key, key=key)

    def _one_of(self, many: Sequence[_One]) -> _One:
        return self._chance.choice(many) if self._chance else many[0]


def partition_named(on: Deployment, text: str) -> TopicPartition:
    """The partition that is called ``t-0`` in this part of the run."""
    topic, dash, number = text.rpartition("-")
    if not dash or not number.isdecimal():
        raise NoTarget(f"{text!r} is not a partition: topic-number")
    return TopicPartition(on.recorder.topic(topic), int(number))


def _node_name(text: str) -> str:
    return f"client-{text.removeprefix('client ')}" if text.startswith("client ") else text
