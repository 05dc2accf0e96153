"""Faults: what can be done to a simulated cluster, and the evidence that it bit.

Each method injects one fault and gives it back; ``heal`` ends it. A fault is told to the observer
three times: when it begins, when it lands (as soon as its evidence counts something), and when it
ends. The names and the meaning of the evidence are in ``nemesis.faults``.

Killing and losing power differ as they do in the world. A process that is *killed* leaves what it
wrote in the care of its machine, whose kernel closes its connections at once. A machine that *loses
power* forgets what was not synced, and says nothing to anybody: its peers find out by its silence,
or by a reset when it is back and does not know them any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from harness.simulation.clock import NS
from harness.simulation.gate import Act, Condition
from harness.simulation.link_faults import Hold, Hosts, LinkFault
from harness.simulation.network import SimNetwork
from harness.simulation.object_store import Damage
from harness.simulation.observer import Evidence, Observer
from reference_impl.ports.effects import Trouble

if TYPE_CHECKING:
    from harness.simulation.process import Process
    from harness.simulation.simulation import Simulation

Looks = Callable[[], Evidence]

# The ports that are somebody else's machine, by their role.
_ROLE = {"control_plane": "control-plane", "object_store": "object-store"}


class OutOfPlace(ValueError):
    """The fault is in force already, or the node that it would hit is down."""


class Fault:
    """One fault from its begin to its end."""

    def __init__(
        self, observer: Observer, name: str, target: str, evidence: Looks, lift: Callable[[], None]
    ) -> None:
        self.name = name
        self.target = target
        self.landed = False
        self.healed = False
        self._observer = observer
        self._evidence = evidence
        self._lift = lift

    def look(self) -> None:
        """Tell the observer if it has landed meanwhile."""
        if not self.landed and not self.healed:
            evidence = self._evidence()
            self.landed = any(isinstance(count, int) and count > 0 for count in evidence.values())
            if self.landed:
                self._observer.fault(self.name, self.target, "landed", evidence)

    def heal(self) -> None:
        """End it; a second time does nothing."""
        if self.healed:
            return
        self.look()
        self._observer.fault(self.name, self.target, "end", self._evidence())
        self.healed = True
        self._lift()


class LinkOutage(Fault):
    """A fault of links."""

    def __init__(self, observer: Observer, name: str, target: str) -> None:
        self.works: LinkFault | None = None
        super().__init__(observer, name, target, self._counts, self._end)

    def release(self, count: int) -> int:
        """Let deliveries that are held go, oldest first; how many there were."""
        if not isinstance(self.works, Hold):
            raise ValueError(f"{self.name} holds nothing that could be released")
        return self.works.release(count)

    def _counts(self) -> Evidence:
        return {} if self.works is None else dict(self.works.counts)

    def _end(self) -> None:
        if self.works is not None:
            self.works.heal()


class Faults:
    """Injects faults into one simulation and keeps those that last."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._active: list[Fault] = []

    def look(self) -> None:
        """See which faults have landed meanwhile."""
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

    # Nodes.

    def kill(self, name: str) -> Fault:
        """`kill -9`: the process is gone, its machine is not. Healing starts it again."""
        return self._down("kill-node", name, lambda: self._sim.kill(name))

    def lose_power(self, name: str, *, lose: Literal["some", "all"] = "some") -> Fault:
        """The machine goes dark, and with it what was not synced. Healing starts it again."""
        return self._down("lose-power", name, lambda: self._sim.lose_power(name, lose=lose))

    def reimage(self, name: str) -> Fault:
        """The machine goes dark and comes back, once healed, with an empty disk."""
        return self._down("reimage-node", name, lambda: self._emptied(name))

    def pause(self, name: str) -> Fault:
        """The process stands still and does not know it. Healing resumes it."""
        self._check_up(name)
        paused: list[Process] = []
        fault = self._begin(
            "pause-node",
            name,
            lambda: {"callbacks_stalled": sum(len(process.parked) for process in paused)},
            lambda: self._sim.resume(paused[0]),
        )
        paused.append(self._sim.pause(name))
        return fault

    def _emptied(self, name: str) -> dict[str, int]:
        ended = self._sim.lose_power(name, lose="all")["tasks_ended"]
        return {"tasks_ended": ended, "bytes_wiped": self._sim.nodes[name].disk.wipe()}

    def _down(self, kind: str, name: str, act: Callable[[], dict[str, int]]) -> Fault:
        self._check_up(name)
        counts = {"tasks_ended": 0}
        fault = self._begin(kind, name, lambda: counts, lambda: self._start_again(name))
        counts.update(act())
        fault.look()
        return fault

    def _check_up(self, name: str) -> None:
        if not self._sim.nodes[name].up:
            raise OutOfPlace(f"{name} is down already")

    def _start_again(self, name: str) -> None:
        if not self._sim.nodes[name].up:
            self._sim.start(name)

    # Links.

    def cut(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> LinkOutage:
        """Nothing gets through. Bytes wait, as TCP's do, until it heals or the sender gives up."""
        return self._link(
            "cut-link", sources, targets, both, lambda n: n.cut(sources, targets, both=both)
        )

    def hold(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> LinkOutage:
        """What is sent waits until it is released, one by one, or all of it is healed."""
        return self._link(
            "hold-link", sources, targets, both, lambda n: n.hold(sources, targets, both=both)
        )

    def delay(
        self, sources: Hosts, targets: Hosts, seconds: float, *, both: bool = True
    ) -> LinkOutage:
        """Everything takes this much longer."""
        return self._link(
            "delay-link",
            sources,
            targets,
            both,
            lambda n: n.delay(sources, targets, seconds, both=both),
        )

    # Disks.

    def disk_full(self, name: str, *, room: int = 0) -> Fault:
        """There is this much room left, and no more."""
        disk = self._sim.nodes[name].disk
        before = disk.counts.writes_without_room

        def lift() -> None:
            disk.capacity = None

        fault = self._begin(
            "disk-full",
            name,
            lambda: {"writes_without_room": disk.counts.writes_without_room - before},
            lift,
        )
        disk.capacity = disk.used + room
        return fault

    def disk_slow(self, name: str, seconds: float) -> Fault:
        """Everything that changes the disk takes this long."""
        condition = Condition(port="disk", node=name, slower_ns=int(seconds * NS))
        return self._condition("disk-slow", name, "calls_delayed", condition)

    def disk_failing(self, name: str) -> Fault:
        """Whatever would change the disk answers EIO and changes nothing."""
        condition = Condition(port="disk", node=name, trouble=Trouble.BROKEN)
        return self._condition("disk-failing", name, "calls_failed", condition)

    def sync_failing(self, name: str, *, times: int | None = None) -> Fault:
        """Syncs answer EIO, and what they should have synced never will be."""
        disk = self._sim.nodes[name].disk
        before = disk.counts.syncs_failed
        fault = self._begin(
            "sync-failing",
            name,
            lambda: {"syncs_failed": disk.counts.syncs_failed - before},
            disk.mend_sync,
        )
        disk.break_sync(times=times)
        return fault

    # The object store and the database, for one node or for all.

    def refused(self, port: str, node: str | None = None) -> Fault:
        """Nobody answers there, and nothing is done."""
        condition = Condition(port=port, node=node, trouble=Trouble.REFUSED)
        return self._outage(f"{_ROLE[port]}-refused", "refusals", condition)

    def broken(self, port: str, node: str | None = None) -> Fault:
        """It answers every call with a hard error and does nothing."""
        condition = Condition(port=port, node=node, trouble=Trouble.BROKEN)
        return self._outage(f"{_ROLE[port]}-broken", "errors_answered", condition)

    def conflicts(self, port: str, node: str | None = None, *, times: int | None = None) -> Fault:
        """It gives up on calls, in favour of others, and has done nothing."""
        condition = Condition(port=port, node=node, trouble=Trouble.CONFLICT, left=times)
        return self._outage(f"{_ROLE[port]}-conflict", "conflicts", condition)

    def slow(self, port: str, seconds: float, node: str | None = None) -> Fault:
        """Every call takes this much longer before it is carried out."""
        condition = Condition(port=port, node=node, slower_ns=int(seconds * NS))
        return self._outage(f"{_ROLE[port]}-slow", "calls_delayed", condition)

    def replies_lost(
        self, port: str, node: str | None = None, *, times: int | None = None
    ) -> Fault:
        """Calls are carried out, and nobody hears of it."""
        condition = Condition(port=port, node=node, loses_replies=True, left=times)
        return self._outage(f"{_ROLE[port]}-reply-lost", "replies_dropped", condition)

    def damaged(self, how: Literal["vanished", "torn", "corrupt"], key: str) -> Fault:
        """An object is not what was put. It lands when somebody meets it; nothing mends it."""
        store = self._sim.store
        counts: list[Damage] = []
        fault = self._begin(
            f"object-{how}", key, lambda: {_READS[how]: sum(d.reads for d in counts)}, _nothing
        )
        harms = {"vanished": store.vanish, "torn": store.tear, "corrupt": store.corrupt}
        counts.append(harms[how](key))
        return fault

    # Clocks.

    def shift_clock(self, name: str, milliseconds: int) -> Fault:
        """The time of day jumps; healing sets it right again."""
        clock = self._sim.nodes[name].clock
        return self._clock(
            "clock-shift",
            name,
            lambda: clock.shift(milliseconds),
            lambda: clock.shift(-milliseconds),
        )

    def drift_clock(self, name: str, rate: float) -> Fault:
        """Both clocks run at this rate; healing lets them run true, from where they are."""
        clock = self._sim.nodes[name].clock
        return self._clock("clock-drift", name, lambda: clock.drift(rate), lambda: clock.drift(1.0))

    # One effect.

    def at_effect(self, node: str, number: int, act: Act) -> Fault:
        """Do something to one effect of a node, by its number. Healing starts what was killed."""
        effects = self._sim.effects
        order = (node, number, act)

        def lift() -> None:
            effects.orders.pop((node, number), None)
            if act in (Act.KILL, Act.KILL_AFTER) and order in effects.obeyed:
                self._start_again(node)

        fault = self._begin(
            f"effect-{act.value}",
            f"{node} effect {number}",
            lambda: {"orders_obeyed": effects.obeyed.count(order)},
            lift,
        )
        effects.order(node, number, act)
        return fault

    # What they have in common.

    def _begin(self, name: str, target: str, evidence: Looks, lift: Callable[[], None]) -> Fault:
        fault = Fault(self._sim.observer, name, target, evidence, lift)
        self._register(fault)
        return fault

    def _register(self, fault: Fault) -> None:
        if any((one.name, one.target) == (fault.name, fault.target) for one in self.active):
            raise OutOfPlace(f"{fault.name} is in force on {fault.target} already")
        self._sim.observer.fault(fault.name, fault.target, "begin", {})
        self._active = [*self.active, fault]

    def _outage(self, name: str, evidence: str, condition: Condition) -> Fault:
        target = _ROLE[condition.port]
        if condition.node is not None:
            target = f"{condition.node} to {target}"
        return self._condition(name, target, evidence, condition)

    def _condition(self, name: str, target: str, evidence: str, condition: Condition) -> Fault:
        conditions = self._sim.effects.conditions
        fault = self._begin(
            name,
            target,
            lambda: {evidence: condition.hits},
            lambda: conditions.remove(condition),
        )
        conditions.append(condition)
        return fault

    def _clock(
        self, name: str, target: str, wrong: Callable[[], None], right: Callable[[], None]
    ) -> Fault:
        clock = self._sim.nodes[target].clock
        before = clock.reads
        fault = self._begin(name, target, lambda: {"clock_reads": clock.reads - before}, right)
        wrong()
        return fault

    def _link(
        self,
        name: str,
        sources: Hosts,
        targets: Hosts,
        both: bool,
        inject: Callable[[SimNetwork], LinkFault],
    ) -> LinkOutage:
        target = f"{_named(sources)} {'↔' if both else '→'} {_named(targets)}"
        fault = LinkOutage(self._sim.observer, name, target)
        self._register(fault)
        fault.works = inject(self._sim.network)
        return fault


def _nothing() -> None:
    pass


def _named(hosts: Hosts) -> str:
    return hosts if isinstance(hosts, str) else ",".join(hosts)


_READS = {"vanished": "reads_missed", "torn": "reads_torn", "corrupt": "reads_corrupt"}
