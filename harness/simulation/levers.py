"""Levers: what can be done to a simulated cluster, counted where it acts.

A lever is in force when it is given back, and until `release`. It has no name and tells no
observer: the nemesis does that.

    kill, lose_power, wipe      processes_ended, tasks_ended (bytes_lost…, bytes_wiped)
    pause                       callbacks_stalled
    cut, hold, delay            deliveries_held…, deliveries_delayed (`link_faults`)
    disk_full, sync_failing     writes_without_room, syncs_failed
    disk_slow, disk_failing     calls_delayed, calls_failed
    refuse, fail, disturb       refusals, errors_answered, calls_given_up
    fail_writes                 writes_failed
    slow, lose_replies          calls_delayed, replies_dropped
    drop_requests, hold_calls   requests_dropped, requests_held
    kill_service                calls_broken
    cut_calls                   deliveries_held
    damage                      reads_missed, reads_torn, reads_corrupt
    shift_clock, drift_clock    clock_reads
    at_effect                   orders_obeyed

Killing and losing power differ as they do in the world. A process that is *killed* leaves what it
wrote in the care of its machine, whose kernel closes its connections at once. A machine that *loses
power* forgets what was not synced, and says nothing to anybody: its peers find out by its silence,
or by a reset when it is back and does not know them any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from harness.levers import Counts
from harness.simulation.bell import Bell
from harness.simulation.clock import NS
from harness.simulation.gate import Act, Condition
from harness.simulation.lever import CallHold, LinkLever, OutOfPlace, SimLever
from harness.simulation.link_faults import Hosts
from harness.simulation.object_store import Damage
from harness.simulation.patience import GIVE_UP_S
from reference_impl.ports.effects import LASTING, PASSING, Trouble

if TYPE_CHECKING:
    from harness.simulation.simulation import Simulation

_READS = {"vanished": "reads_missed", "torn": "reads_torn", "corrupt": "reads_corrupt"}


class SimLevers:
    """Pulls levers of one simulation. A port is `control_plane` or `object_store`."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim

    # Nodes.

    def kill(self, name: str) -> SimLever:
        """`kill -9`: the process is gone, its machine is not. Released, it starts again."""
        self.check_up(name)
        return self._down(name, self._sim.kill(name))

    def lose_power(self, name: str, *, lose: Literal["some", "all"] = "some") -> SimLever:
        """The machine goes dark, and with it what was not synced. Released, it starts again."""
        self.check_up(name)
        return self._down(name, self._sim.lose_power(name, lose=lose))

    def wipe(self, name: str) -> SimLever:
        """The machine goes dark and comes back, once released, with an empty disk."""
        self.check_up(name)
        ended = self._sim.lose_power(name, lose="all")
        counts = {one: ended[one] for one in ("processes_ended", "tasks_ended")}
        counts["bytes_wiped"] = self._sim.nodes[name].disk.wipe()
        return self._down(name, counts)

    def pause(self, name: str) -> SimLever:
        """The process stands still and does not know it. Released, it goes on."""
        self.check_up(name)
        process = self._sim.pause(name)
        before = process.stalled
        return SimLever(
            lambda: {"callbacks_stalled": process.stalled - before},
            lambda: self._sim.resume(process),
            process.bell,
        )

    def check_up(self, name: str) -> None:
        """OutOfPlace if a node is down."""
        if not self._sim.nodes[name].up:
            raise OutOfPlace(f"{name} is down already")

    def start_again(self, name: str) -> None:
        """Start a node, unless it runs."""
        if not self._sim.nodes[name].up:
            self._sim.start(name)

    def _down(self, name: str, counts: Counts) -> SimLever:
        return SimLever(lambda: counts, lambda: self.start_again(name))

    # Links.

    def cut(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> LinkLever:
        """Nothing gets through. Bytes wait, as TCP's do, until it ends or the sender gives up."""
        return LinkLever(self._sim.network.cut(sources, targets, both=both))

    def hold(self, sources: Hosts, targets: Hosts, *, both: bool = True) -> LinkLever:
        """What is sent waits until it is let go, one by one, or all of it is released."""
        return LinkLever(self._sim.network.hold(sources, targets, both=both))

    def delay(
        self, sources: Hosts, targets: Hosts, seconds: float, *, both: bool = True
    ) -> LinkLever:
        """Everything takes this much longer."""
        return LinkLever(self._sim.network.delay(sources, targets, seconds, both=both))

    # Disks.

    def disk_full(self, name: str, *, room: int = 0) -> SimLever:
        """There is this much room left, and no more."""
        disk = self._sim.nodes[name].disk
        before = disk.counts.writes_without_room
        disk.capacity = disk.used + room

        def lift() -> None:
            disk.capacity = None

        return SimLever(
            lambda: {"writes_without_room": disk.counts.writes_without_room - before}, lift
        )

    def disk_slow(self, name: str, seconds: float) -> SimLever:
        """Everything that changes the disk takes this long."""
        return self.impose(
            "calls_delayed", Condition(port="disk", node=name, slower_ns=int(seconds * NS))
        )

    def disk_failing(self, name: str) -> SimLever:
        """Whatever would change the disk answers EIO and changes nothing."""
        return self.impose(
            "calls_failed", Condition(port="disk", node=name, trouble=Trouble.BROKEN)
        )

    def sync_failing(self, name: str, *, times: int | None = None) -> SimLever:
        """Syncs answer EIO, and what they should have synced never will be."""
        disk = self._sim.nodes[name].disk
        before = disk.counts.syncs_failed
        disk.break_sync(times=times)
        return SimLever(lambda: {"syncs_failed": disk.counts.syncs_failed - before}, disk.mend_sync)

    # The object store and the control plane, for one node or for all.

    def refuse(self, port: str, node: str | None = None) -> SimLever:
        """Nobody answers there, and nothing is done."""
        return self.impose("refusals", self._calls(port, node, trouble=Trouble.REFUSED))

    def fail(self, port: str, node: str | None = None) -> SimLever:
        """It answers every call with a hard error and does nothing; a database has several."""
        lasting = LASTING if port == "control_plane" else ()
        condition = self._calls(port, node, trouble=Trouble.BROKEN, in_turn=lasting)
        return self.impose("errors_answered", condition)

    def fail_writes(self, port: str, like: str) -> SimLever:
        """It writes no object with a key like this, and says so; it does everything else."""
        writes = frozenset({"put", "put_if_absent"})
        condition = Condition(port=port, calls=writes, like=like, trouble=Trouble.BROKEN)
        return self.impose("writes_failed", condition)

    def disturb(self, port: str, node: str | None = None, *, times: int | None = None) -> SimLever:
        """It gives up on calls for reasons that pass, one after the other, and has done nothing."""
        condition = self._calls(port, node, trouble=PASSING[0], in_turn=PASSING, left=times)
        return self.impose("calls_given_up", condition)

    def slow(self, port: str, seconds: float, node: str | None = None) -> SimLever:
        """Every call takes this much longer before it is carried out."""
        return self.impose("calls_delayed", self._calls(port, node, slower_ns=int(seconds * NS)))

    def lose_replies(
        self, port: str, node: str | None = None, *, times: int | None = None
    ) -> SimLever:
        """Calls are carried out, and their replies are lost."""
        condition = self._calls(port, node, loses_replies=True, left=times)
        return self.impose("replies_dropped", condition)

    def drop_requests(
        self, port: str, node: str | None = None, *, times: int | None = None
    ) -> SimLever:
        """Calls never get there."""
        condition = self._calls(port, node, trouble=Trouble.REFUSED, left=times)
        return self.impose("requests_dropped", condition)

    def kill_service(self, port: str) -> SimLever:
        """It is gone: calls are refused, and replies that are under way are lost."""
        gone = Condition(port=port, trouble=Trouble.REFUSED, severs=True)
        return self.impose("calls_broken", gone)

    def hold_calls(self, port: str, node: str) -> CallHold:
        """Calls of a node stay in the network; they go down with its process."""
        return CallHold(self._sim, self._calls(port, node, holds=True))

    def cut_calls(
        self, ports: Sequence[str], nodes: Sequence[str], *, there: bool, back: bool
    ) -> SimLever:
        """Requests wait on their way there, replies on their way back, until callers give up."""
        conditions = [
            self._calls(port, node, holds=there, holds_replies=back)
            for port in ports
            for node in nodes
        ]
        for condition in conditions:
            condition.gives_up_ns = GIVE_UP_S * NS
        return self._all("deliveries_held", conditions)

    def delay_calls(self, ports: Sequence[str], nodes: Sequence[str], seconds: float) -> SimLever:
        """Calls take this much longer."""
        conditions = [
            self._calls(port, node, slower_ns=int(seconds * NS)) for port in ports for node in nodes
        ]
        return self._all("deliveries_delayed", conditions)

    def impose(self, count: str, condition: Condition) -> SimLever:
        """Let a condition act on effects."""
        return self._all(count, [condition])

    def _all(self, count: str, conditions: Sequence[Condition]) -> SimLever:
        """One bell for several conditions."""
        in_force, bell = self._sim.effects.conditions, Bell()
        for condition in conditions:
            condition.bell = bell
            in_force.append(condition)

        def lift() -> None:
            for condition in conditions:
                in_force.remove(condition)
                condition.release()

        return SimLever(lambda: {count: sum(one.hits for one in conditions)}, lift, bell)

    def _calls(
        self,
        port: str,
        node: str | None,
        *,
        trouble: Trouble | None = None,
        in_turn: tuple[Trouble, ...] = (),
        slower_ns: int = 0,
        holds: bool = False,
        holds_replies: bool = False,
        loses_replies: bool = False,
        left: int | None = None,
    ) -> Condition:
        """Of a node, those of its present life and later ones: what left before is past it."""
        return Condition(
            port=port,
            node=node,
            since_life=0 if node is None else self._sim.nodes[node].lives,
            trouble=trouble,
            in_turn=in_turn,
            slower_ns=slower_ns,
            holds=holds,
            holds_replies=holds_replies,
            loses_replies=loses_replies,
            left=left,
        )

    def damage(self, how: Literal["vanished", "torn", "corrupt"], key: str) -> SimLever:
        """An object is not what was put, until that is released; counted when a read meets it."""
        store = self._sim.store
        harms = {"vanished": store.vanish, "torn": store.tear, "corrupt": store.corrupt}
        damage: Damage = harms[how](key)
        return SimLever(
            lambda: {_READS[how]: damage.reads}, lambda: store.mend(damage), damage.bell
        )

    # Clocks.

    def shift_clock(self, name: str, milliseconds: int) -> SimLever:
        """The time of day jumps; released, it is right again."""
        clock = self._sim.nodes[name].clock
        clock.shift(milliseconds)
        return self._clock(name, lambda: clock.shift(-milliseconds))

    def drift_clock(self, name: str, rate: float) -> SimLever:
        """Both clocks run at this rate; released, they run true, from where they are."""
        clock = self._sim.nodes[name].clock
        clock.drift(rate)
        return self._clock(name, lambda: clock.drift(1.0))

    def _clock(self, name: str, right: Callable[[], None]) -> SimLever:
        clock = self._sim.nodes[name].clock
        before = clock.reads
        return SimLever(lambda: {"clock_reads": clock.reads - before}, right)

    # One effect.

    def at_effect(self, node: str, number: int, act: Act) -> SimLever:
        """Do something to one effect of a node, by its number; released, what died starts again."""
        effects = self._sim.effects
        order = (node, number, act)
        before = effects.obeyed.count(order)
        effects.order(node, number, act)

        def obeyed() -> int:
            return effects.obeyed.count(order) - before

        def lift() -> None:
            effects.orders.pop((node, number), None)
            if act in (Act.KILL, Act.KILL_AFTER) and obeyed():
                self.start_again(node)

        return SimLever(lambda: {"orders_obeyed": obeyed()}, lift)
