"""What can be done to links, and what it did.

    Cut     nothing passes; nothing is lost
    Hold    the same, and the lab lets single deliveries go
    Delay   everything takes longer

A fault names hosts on two sides, one, several or all (``"*"``), and works on the links from the
first to the second, usually both ways. It also meets links that are used for the first time while
it lasts. The way from a host to itself is never touched. ``counts`` says what it did, which is the
evidence that it landed:

    deliveries_held, bytes_held     what waited because of it, ever
    connects_stalled                of these, steps of connections to be made
    connections_broken              given up by a kernel while it lasted
    deliveries_delayed              what took longer because of it
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from harness.simulation.bell import Bell
from harness.simulation.clock import NS
from harness.simulation.links import Delivery, Kind, Link, in_order

EVERYBODY = "*"

Hosts = str | Sequence[str]


class LinkFault:
    """Something that lasts on some links until it is healed."""

    COUNTED: ClassVar[tuple[str, ...]] = ()

    def __init__(self, sources: Hosts, targets: Hosts, *, both: bool) -> None:
        self.counts = dict.fromkeys(self.COUNTED, 0)
        self.bell = Bell()  # rings when something is counted
        self.sources = sources
        self.targets = targets
        self.both = both
        self.links: list[Link] = []
        self.over = False

    def meets(self, link: Link) -> bool:
        """Whether it works on that link."""
        here, there = link.source, link.target
        if here == there:
            return False
        forth = _within(here, self.sources) and _within(there, self.targets)
        back = self.both and _within(there, self.sources) and _within(here, self.targets)
        return forth or back

    def begin(self, link: Link) -> None:
        """Work on one more link."""
        self.links.append(link)

    def heal(self) -> None:
        """Undo it; calling it twice is harmless."""
        if self.over:
            return
        self.over = True
        for link in self.links:
            self.end(link)

    def end(self, link: Link) -> None:
        """Leave one link alone."""
        raise NotImplementedError


class Cut(LinkFault):
    """Links on which nothing passes."""

    COUNTED = ("deliveries_held", "bytes_held", "connects_stalled", "connections_broken")

    def begin(self, link: Link) -> None:
        """Block it."""
        super().begin(link)
        link.block(self)

    def end(self, link: Link) -> None:
        """Let everything pass that nobody else blocks."""
        link.unblock(self)

    def kept(self, delivery: Delivery) -> None:
        """Count what waits."""
        self.counts["deliveries_held"] += 1
        self.counts["bytes_held"] += len(delivery.data)
        if delivery.kind in (Kind.SYN, Kind.ACCEPTED):
            self.counts["connects_stalled"] += 1
        self.bell.ring()

    def broke(self) -> None:
        """Count connections that did not survive it."""
        self.counts["connections_broken"] += 1


class Hold(Cut):
    """Links on which nothing passes but what the lab lets go."""

    def release(self, count: int) -> int:
        """Let the oldest go on, at most that many; how many there were."""
        held = [(d, link) for link in self.links if link.blockers == [self] for d in link.held]
        held.sort(key=lambda pair: in_order(pair[0]))
        for delivery, link in held[:count]:
            link.release(delivery)
        return min(count, len(held))


class Delay(LinkFault):
    """Links on which everything that is sent from now on takes longer."""

    COUNTED = ("deliveries_delayed",)

    def __init__(self, sources: Hosts, targets: Hosts, *, both: bool, extra_s: float) -> None:
        super().__init__(sources, targets, both=both)
        self._extra_ns = round(extra_s * NS)

    def begin(self, link: Link) -> None:
        """Slow it down."""
        super().begin(link)
        link.brakes.append(self)

    def end(self, link: Link) -> None:
        """No longer; what is on its way keeps its time."""
        link.brakes.remove(self)

    def slowed(self, delivery: Delivery) -> int:
        """How much longer; counted."""
        self.counts["deliveries_delayed"] += 1
        self.bell.ring()
        return self._extra_ns


def _within(name: str, hosts: Hosts) -> bool:
    return hosts == EVERYBODY or (name == hosts if isinstance(hosts, str) else name in hosts)
