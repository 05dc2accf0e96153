"""Faults: levers of a simulation with a name, told to the observer.

Each method injects one fault and gives it back; ``heal`` ends it. A fault is told to the observer
three times: when it begins, when it lands (as soon as its lever counts something), and when it
ends. The names and the meaning of the evidence are in ``nemesis.faults``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from harness.levers import has_acted
from harness.simulation.gate import Act
from harness.simulation.lever import OutOfPlace, SimLever
from harness.simulation.link_faults import Hosts
from harness.simulation.observer import Observer

if TYPE_CHECKING:
    from harness.simulation.simulation import Simulation

__all__ = ["Fault", "Faults", "OutOfPlace"]

Pull = Callable[[], SimLever]

# The ports that are somebody else's machine, by their role.
_ROLE = {"control_plane": "control-plane", "object_store": "object-store"}


class Fault:
    """One fault from its begin to its end."""

    def __init__(self, observer: Observer, name: str, target: str, lever: SimLever) -> None:
        self.name = name
        self.target = target
        self.lever = lever
        self.landed = False
        self.healed = False
        self._observer = observer

    def look(self) -> None:
        """Tell the observer if it has landed."""
        if not self.landed and not self.healed:
            self.landed = has_acted(self.lever.counts)
            if self.landed:
                self._observer.fault(self.name, self.target, "landed", self.lever.counts)

    def heal(self) -> None:
        """End it; a second time does nothing."""
        if self.healed:
            return
        self.look()
        self._observer.fault(self.name, self.target, "end", self.lever.counts)
        self.healed = True
        self.lever.release()


class Faults:
    """Injects faults into one simulation and keeps those that last."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._levers = sim.levers
        self._active: list[Fault] = []

    def look(self) -> None:
        """See which faults have landed."""
        for fault in self._active:
            fault.look()

    def heal_all(self) -> None:
        """End every fault, the latest first: what was down starts with its links whole."""
        for fault in reversed(self._active):
            fault.heal()
        self._active.clear()

    @property
    def active(self) -> tuple[Fault, ...]:
        """Those that last, oldest first."""
        self._active = [fault for fault in self._active if not fault.healed]
        return tuple(self._active)

    def kill(self, name: str) -> Fault:
        """See `SimLevers.kill`."""
        return self._down("kill-node", name, lambda: self._levers.kill(name))

    def lose_power(self, name: str, *, lose: Literal["some", "all"] = "some") -> Fault:
        """See `SimLevers.lose_power`."""
        return self._down("lose-power", name, lambda: self._levers.lose_power(name, lose=lose))

    def reimage(self, name: str) -> Fault:
        """See `SimLevers.wipe`."""
        return self._down("reimage-node", name, lambda: self._levers.wipe(name))

    def pause(self, name: str) -> Fault:
        """See `SimLevers.pause`."""
        self._levers.check_up(name)
        return self._begin("pause-node", name, lambda: self._levers.pause(name))

    def cut(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> Fault:
        """See `SimLevers.cut`."""
        link = _link(sources, targets, both=both)
        return self._begin("cut-link", link, lambda: self._levers.cut(sources, targets, both=both))

    def hold(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> Fault:
        """See `SimLevers.hold`."""
        link = _link(sources, targets, both=both)
        return self._begin(
            "hold-link", link, lambda: self._levers.hold(sources, targets, both=both)
        )

    def delay(self, sources: Hosts, targets: Hosts, seconds: float, *, both: bool = True) -> Fault:
        """See `SimLevers.delay`."""
        link = _link(sources, targets, both=both)
        return self._begin(
            "delay-link", link, lambda: self._levers.delay(sources, targets, seconds, both=both)
        )

    def disk_full(self, name: str, *, room: int = 0) -> Fault:
        """See `SimLevers.disk_full`."""
        return self._begin("disk-full", name, lambda: self._levers.disk_full(name, room=room))

    def disk_slow(self, name: str, seconds: float) -> Fault:
        """See `SimLevers.disk_slow`."""
        return self._begin("disk-slow", name, lambda: self._levers.disk_slow(name, seconds))

    def disk_failing(self, name: str) -> Fault:
        """See `SimLevers.disk_failing`."""
        return self._begin("disk-failing", name, lambda: self._levers.disk_failing(name))

    def sync_failing(self, name: str, *, times: int | None = None) -> Fault:
        """See `SimLevers.sync_failing`."""
        return self._begin(
            "sync-failing", name, lambda: self._levers.sync_failing(name, times=times)
        )

    def refused(self, port: str, node: str | None = None) -> Fault:
        """See `SimLevers.refuse`."""
        return self._outage(port, node, "refused", lambda: self._levers.refuse(port, node))

    def broken(self, port: str, node: str | None = None) -> Fault:
        """See `SimLevers.fail`."""
        return self._outage(port, node, "broken", lambda: self._levers.fail(port, node))

    def conflicts(self, port: str, node: str | None = None, *, times: int | None = None) -> Fault:
        """See `SimLevers.conflicts`."""
        return self._outage(
            port, node, "conflict", lambda: self._levers.conflicts(port, node, times=times)
        )

    def slow(self, port: str, seconds: float, node: str | None = None) -> Fault:
        """See `SimLevers.slow`."""
        return self._outage(port, node, "slow", lambda: self._levers.slow(port, seconds, node))

    def replies_lost(
        self, port: str, node: str | None = None, *, times: int | None = None
    ) -> Fault:
        """See `SimLevers.lose_replies`."""
        return self._outage(
            port, node, "reply-lost", lambda: self._levers.lose_replies(port, node, times=times)
        )

    def damaged(self, how: Literal["vanished", "torn", "corrupt"], key: str) -> Fault:
        """See `SimLevers.damage`."""
        return self._begin(f"object-{how}", key, lambda: self._levers.damage(how, key))

    def shift_clock(self, name: str, milliseconds: int) -> Fault:
        """See `SimLevers.shift_clock`."""
        return self._begin(
            "clock-shift", name, lambda: self._levers.shift_clock(name, milliseconds)
        )

    def drift_clock(self, name: str, rate: float) -> Fault:
        """See `SimLevers.drift_clock`."""
        return self._begin("clock-drift", name, lambda: self._levers.drift_clock(name, rate))

    def at_effect(self, node: str, number: int, act: Act) -> Fault:
        """See `SimLevers.at_effect`."""
        return self._begin(
            f"effect-{act.value}",
            f"{node} effect {number}",
            lambda: self._levers.at_effect(node, number, act),
        )

    def _begin(self, name: str, target: str, pull: Pull) -> Fault:
        if any((one.name, one.target) == (name, target) for one in self.active):
            raise OutOfPlace(f"{name} is in force on {target} already")
        self._sim.observer.fault(name, target, "begin", {})
        fault = Fault(self._sim.observer, name, target, pull())
        self._active = [*self.active, fault]
        return fault

    def _down(self, kind: str, name: str, pull: Pull) -> Fault:
        self._levers.check_up(name)
        fault = self._begin(kind, name, pull)
        fault.look()
        return fault

    def _outage(self, port: str, node: str | None, how: str, pull: Pull) -> Fault:
        target = _ROLE[port] if node is None else f"{node} to {_ROLE[port]}"
        return self._begin(f"{_ROLE[port]}-{how}", target, pull)


def _link(sources: Hosts, targets: Hosts, *, both: bool) -> str:
    return f"{_named(sources)} {'↔' if both else '→'} {_named(targets)}"


def _named(hosts: Hosts) -> str:
    return hosts if isinstance(hosts, str) else ",".join(hosts)
