"""Cuts between containers: packets that the kernel drops, and counts.

A rule stands at the receiving end, in the network namespace of its machine (``container.py``):
packets from there are dropped. So a cut is one-way in IP, outlives the programs at both ends, and
nothing of the host's own tables is touched: rules go with their machine.

The namespace is entered by `nsenter`, which needs root on the machine of the engine; where that
cannot be, the container that is the machine carries `iptables` out itself.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from harness.deployments.docker.container import Machine
from harness.deployments.docker.images import IPTABLES
from harness.errors import LabBroken

Direction = tuple[str, str]
_WAIT = ("-w", "5")
_COUNTED = re.compile(r"^\s*(\d+)\s+(\d+)\s+DROP\s.*/\* (tidemark-\d+) \*/", re.MULTILINE)


class Place(Protocol):
    """A machine: an address, and a network of its own."""

    @property
    def host(self) -> str:
        """Its address."""
        ...


Way = Callable[[Any, Sequence[str]], str | None]
"""How a command is carried out in the network of a machine; None if it failed."""


def enter(machine: Machine, command: Sequence[str]) -> str | None:
    """Enter from outside, as root."""
    pid = machine.pid()
    if pid is None:
        return None
    entered = ["nsenter", "--target", str(pid), "--net", "--", *command]
    done = subprocess.run(entered, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def from_inside(machine: Machine, command: Sequence[str]) -> str | None:
    """Let the machine do it: it may change its own network."""
    return machine.carry_out(command)


def way_into(machine: Machine) -> Way | None:
    """The quick way, where that works; None if none does."""
    tools = all(map(shutil.which, ("nsenter", IPTABLES)))
    look = [IPTABLES, *_WAIT, "-nL", "INPUT"]
    if os.geteuid() == 0 and tools and enter(machine, look) is not None:
        return enter
    return from_inside if from_inside(machine, look) is not None else None


class KernelCut:
    """Directions in which packets are dropped, and how many were."""

    def __init__(self, mark: str, directions: Iterable[Direction], fraction: float) -> None:
        self.mark = mark
        self.fraction = fraction
        self.directions = tuple(dict.fromkeys(directions))
        self.seen: dict[str, tuple[int, int]] = {}  # packets and bytes, by the target

    @property
    def counts(self) -> Mapping[str, int]:
        """Packets and bytes that were dropped."""
        packets, count = (sum(one[at] for one in self.seen.values()) for at in (0, 1))
        return {"packets_dropped": packets, "bytes_dropped": count}


class KernelCuts:
    """All cuts between the machines of a deployment."""

    def __init__(self, machines: Mapping[str, Place], way: Way) -> None:
        self._way = way
        self._machines = machines
        self._cuts: list[KernelCut] = []
        self._lock = threading.RLock()
        self._marks = (f"tidemark-{number}" for number in itertools.count(1))

    def begin(self, directions: Iterable[Direction], *, fraction: float = 1.0) -> KernelCut:
        """Drop what comes from each source to its target, or this part of it, by chance."""
        with self._lock:
            cut = KernelCut(next(self._marks), directions, fraction)
            self._cuts.append(cut)
            for source, target in cut.directions:
                if not self._rule("-A", cut, source, target):
                    self.end(cut)
                    raise LabBroken(f"no rule can be set in the network of {target}")
            return cut

    def end(self, cut: KernelCut) -> None:
        """Let everything pass again; a second time does nothing."""
        with self._lock:
            if cut in self._cuts:
                self.look([cut])
                self._cuts.remove(cut)
                for source, target in cut.directions:
                    self._rule("-D", cut, source, target)

    def look(self, cuts: Sequence[KernelCut] | None = None) -> None:
        """Read the kernel's counters, of cuts that hold."""
        with self._lock:
            chosen = [cut for cut in self._cuts if cuts is None or cut in cuts]
            for target in sorted({target for cut in chosen for _, target in cut.directions}):
                found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
                told = self._at(target, [IPTABLES, *_WAIT, "-nvxL", "INPUT"]) or ""
                for packets, count, mark in _COUNTED.findall(told):
                    found[mark][0] += int(packets)
                    found[mark][1] += int(count)
                for cut in chosen:
                    if cut.mark in found:
                        cut.seen[target] = (found[cut.mark][0], found[cut.mark][1])

    def _rule(self, do: str, cut: KernelCut, source: str, target: str) -> bool:
        rule = ["INPUT", "-s", self._machines[source].host]
        if cut.fraction < 1:
            rule += ["-m", "statistic", "--mode", "random", "--probability", f"{cut.fraction:.4f}"]
        rule += ["-m", "comment", "--comment", cut.mark, "-j", "DROP"]
        return self._at(target, [IPTABLES, *_WAIT, do, *rule]) is not None

    def _at(self, name: str, command: Sequence[str]) -> str | None:
        return self._way(self._machines[name], command)
