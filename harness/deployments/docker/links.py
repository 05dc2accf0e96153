"""The links of a deployment in containers: between nodes the kernel cuts, to clients the proxy.

Nodes talk to each other on their network and are cut off by the kernel (``cuts.py``). Clients are
the lab's own and come in by the link proxy, each from an address of its own, as in every other
world. A cut that is about both counts what both did.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.deployments.deployment import Levers
from harness.deployments.docker.container import Machine
from harness.deployments.docker.cuts import KernelCut, KernelCuts, way_into
from harness.errors import LabBroken
from harness.proxies.links import Cut, LinkProxy

NO_DELAY = (
    "links between containers are cut, not slowed down: tc netem is missing in many kernels, and"
    " no proxy stands between containers"
)
NO_CUT = "no packets can be dropped between containers: `./tidemark doctor` says what is missing"
LOOK_S = 0.2  # reading counters costs milliseconds of CPU


@dataclass(slots=True)
class CutInBoth(Cut):
    """A cut in the proxy, and one in the kernel."""

    cuts: KernelCuts | None = None
    kernel: KernelCut | None = None
    proxied: Cut | None = None
    looked: float = 0.0

    @property
    def evidence(self) -> dict[str, int]:
        """What both did."""
        found = dict(self.proxied.evidence) if self.proxied else {}
        if self.kernel and self.cuts:
            if time.monotonic() - self.looked > LOOK_S:
                self.cuts.look([self.kernel])
                self.looked = time.monotonic()
            found |= self.kernel.counts
        return found


class ContainerLinks(LinkProxy):
    """The ways to all nodes, and what cuts them off from each other."""

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        super().__init__(list(machines))
        self.kernel: KernelCuts | None = None
        for first in list(machines.values())[:1]:
            if (way := way_into(first)) is not None:
                self.kernel = KernelCuts(machines, way)
        self._nodes = tuple(machines)

    def cut_between(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        both: bool,
        seconds: float | None = None,
    ) -> Cut:
        """Let nothing pass from any source to any target, nor back if ``both``."""
        proxied = super().cut_between(sources, targets, both=both, seconds=seconds)
        between = self._between(proxied.directions)
        if seconds is not None or not between or self.kernel is None:
            return proxied
        try:
            kernel = self.kernel.begin(between)
        except BaseException:
            super().heal(proxied)
            raise
        return CutInBoth(proxied.directions, cuts=self.kernel, kernel=kernel, proxied=proxied)

    def lose_between(
        self, sources: Sequence[str], targets: Sequence[str], fraction: float, *, both: bool
    ) -> Cut:
        """Lose this part of the packets between nodes; links to clients lose nothing."""
        directions = [(one, other) for one in sources for other in targets if one != other]
        directions += [(other, one) for one, other in directions] if both else []
        if self.kernel is None:
            raise LabBroken(NO_CUT)
        kernel = self.kernel.begin(self._between(directions), fraction=fraction)
        return CutInBoth(kernel.directions, cuts=self.kernel, kernel=kernel)

    def heal(self, cut: Cut) -> None:
        """Let everything pass."""
        if not isinstance(cut, CutInBoth):
            super().heal(cut)
            return
        try:
            if cut.cuts is not None and cut.kernel is not None:
                cut.cuts.end(cut.kernel)
        finally:
            if cut.proxied is not None:
                super().heal(cut.proxied)

    def _between(self, directions: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those from node to node."""
        return [(a, b) for a, b in directions if a in self._nodes and b in self._nodes]


def limit(levers: Levers, links: ContainerLinks) -> None:
    """Offer what the proxy and the kernel can do both, and what the kernel can do alone."""
    why = {"delay": NO_DELAY} if links.kernel else {"delay": NO_DELAY, "cut": NO_CUT}
    levers.offered -= why.keys()
    levers.offered |= {"lose_packets"} if links.kernel else frozenset()
    levers.not_offered = {**levers.not_offered, **why}
