"""The stage `life-cycle` of the profile `classic` as steps: topics and their replicas.

Topics are created, enlarged, reassigned, deleted and created again, while brokers stop, die, stand
still and come back: one, two, all of them. After each change the cluster is given time to settle;
what it says then is for rules to judge. Which broker is which, and in which order the situations
come, is drawn from the seed. What needs a lever that is not offered is left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.deployments.plan import CONTROLLER, QUICK_TO_NOTICE, DeploymentPlan, broker_name
from harness.history.plan import Part
from harness.steps.step import ADMIN, LAB, NEMESIS, Step
from nemesis.schedule import Strike

LIFE_CYCLE = "life-cycle"  # the stage and its first topic
LATE_S = 0.7  # shorter than a session
LONGER_S = 3.0  # than a replica may be behind
CUT = "follower-is-cut"  # the last situation: it begins with everybody in sync
BEHIND = "follower of three-0 <-> leader of three-0"
LASTING = 3  # topics that are created just before power is lost
CLASSIC = "classic"
TOPICS = "topics"  # what needs no lever
MEASURED = "metrics"  # what the metrics of nodes say of it
SITUATIONS: Mapping[str, Strike] = MappingProxyType(
    {
        "broker-dies": Strike("kill", "broker-1"),
        "brokers-stop": Strike("restart", "broker-1"),
        "news-travel-slowly": Strike("delay", f"{CONTROLLER} -> broker-1"),
        "two-die": Strike("kill", "broker-1"),
        "two-take-turns": Strike("kill", "broker-1"),
        "all-die": Strike("kill", "broker-1"),
        "controller-dies": Strike("kill", CONTROLLER),
        "controller-loses-power": Strike("lose-power", CONTROLLER),
        "broker-stands-still": Strike("pause", "broker-1"),
        "disk-is-emptied": Strike("reimage", "broker-1"),
        CUT: Strike("cut", BEHIND),
    }
)
ALSO: Mapping[str, Strike] = MappingProxyType({"news-travel-slowly": Strike("restart", "broker-1")})
"""What else a situation does."""
STEERED = {
    "news-travel-slowly": "a link that is slow enough to tell is slow enough to end a session there"
}
"""What is played in a simulation alone, where time is the lab's, and why."""
# Rules by what exercises them; those of a broker that is gone, by every situation that has one.
OF_TOPICS = (
    *("KFK-130", "KFK-131", "KFK-132", "KFK-133", "KFK-134", "KFK-135", "KFK-136"),
    *("KFK-139", "KFK-140", "KFK-142", "KFK-143", "KFK-144", "KFK-145", "KFK-147", "KFK-171"),
)
OF_METRICS = ("KFK-210", "KFK-211", "KFK-212", "KFK-213", "KFK-214", "KFK-215")
OF_LOSS = ("KFK-137", "KFK-138", "KFK-149", "KFK-168", "KFK-170")
RULES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "broker-dies": (*OF_LOSS, "KFK-141", "KFK-148"),
        "brokers-stop": (*OF_LOSS, "KFK-146"),
        "news-travel-slowly": ("KFK-146",),
        "two-die": OF_LOSS,
        "broker-stands-still": OF_LOSS,
    }
)


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that the stage plays on, where the lab starts it."""
    return DeploymentPlan(
        brokers=3, racks=("a", "b", "c"), properties=QUICK_TO_NOTICE, mutants=mutants
    )


def part_name(situation: str) -> str:
    """What the plan calls a situation of the stage."""
    return f"{CLASSIC}/{LIFE_CYCLE}/{situation}"


def planned_parts() -> tuple[Part, ...]:
    """What needs no lever, and the situations that do."""
    parts = {TOPICS: OF_TOPICS, MEASURED: OF_METRICS}
    return *(
        Part(name=part_name(name), profile=CLASSIC, rules=rules, required=name == TOPICS)
        for name, rules in parts.items()
    ), *(
        Part(
            name=part_name(name),
            profile=CLASSIC,
            rules=RULES.get(name, ()),
            faults=(strike.fault,),
            required=False,
        )
        for name, strike in SITUATIONS.items()
    )


def life_cycle_steps(
    seed: int,
    brokers: Sequence[int],
    situations: Sequence[str] = tuple(SITUATIONS),
) -> list[Step]:
    """The steps of the stage on three brokers, of which each plays a part that the seed gives."""
    chance = random.Random(f"{seed}/life-cycle")
    parts = list(brokers[:3])
    chance.shuffle(parts)
    story = _Story(parts)
    told = [one for one in _STORIES if one in situations]
    chance.shuffle(told)
    story.begin()
    story.move()
    for one in told:
        story.part = part_name(one)
        _STORIES[one](story)
        story.steps.append(_step(LAB, "nodes"))
    if CUT in situations:
        story.part = part_name(CUT)
        story.follower_is_cut()
    story.delete_and_create()
    story.end()
    return story.steps


def topics_of(steps: Iterable[Step]) -> list[str]:
    """The topics that they create."""
    named = [LIFE_CYCLE, *(str(one.arguments["name"]) for one in steps if "name" in one.arguments)]
    return list(dict.fromkeys(named))


class _Story:
    """Writes down steps; brokers are a, b and c."""

    def __init__(self, brokers: Sequence[int]) -> None:
        self.brokers = dict(zip("abc", brokers, strict=True))
        self.steps: list[Step] = []
        self.part = ""

    # ── words ────────────────────────────────────────────────────────────────────────────────────

    def ids(self, letters: str) -> str:
        """`ab;bc` as `1,2;2,3`."""
        return ";".join(
            ",".join(str(self.brokers[one]) for one in each) for each in letters.split(";")
        )

    def admin(self, verb: str, **arguments: Any) -> None:
        self.steps.append(_step(ADMIN, verb, **arguments))

    def settle(self) -> None:
        self.steps.append(_step(LAB, "settle"))

    def measure(self) -> None:
        self.steps.append(_step(LAB, "settle-and-measure"))

    def look(self) -> None:
        self.steps.append(_step(LAB, "look-at-topics"))

    def fault(self, fault: str, letter: str) -> None:
        target = CONTROLLER if letter == CONTROLLER else broker_name(self.brokers[letter])
        self.steps.append(_step(NEMESIS, fault, target=target, part=self.part))

    def heal(self, fault: str, letter: str) -> None:
        target = CONTROLLER if letter == CONTROLLER else broker_name(self.brokers[letter])
        self.steps.append(_step(NEMESIS, "end", fault=fault, target=target))

    def reassign(self, topic: str, partition: int, letters: str) -> None:
        replicas = None if letters == "none" else self.ids(letters)
        self.admin("reassign", topic=topic, partition=partition, replicas=replicas)

    def appends(self, topic: str, *partitions: int) -> None:
        """One that all replicas have to take, one that the leader alone does."""
        for partition in partitions:
            self.admin("append-to", topic=topic, partition=partition, acks=-1)
            self.admin("append-to", topic=topic, partition=partition, acks=1)

    def elect(self, topic: str, partition: int, how: str = "preferred") -> None:
        self.admin("elect", topic=topic, partition=partition, how=how)

    # ── situations ───────────────────────────────────────────────────────────────────────────────

    def begin(self) -> None:
        """Topics with one, two and three replicas, with names that are easily mixed up."""
        self.steps += [_step(LAB, "create"), _step(LAB, "converge")]
        self.admin("create-topic", name="x", partitions=11, factor=2, min_isr=1)
        self.admin("create-topic", name="x1", partitions=3, factor=3, min_isr=2)
        self.admin("create-topic", name="X", on=self.ids("a;b"), min_isr=1)
        self.admin("create-topic", name="three", on=self.ids("abc;bca;cab;acb"), min_isr=2)
        self.admin("create-topic", name="two", on=self.ids("ab;bc;ca"), min_isr=2)
        self.admin("create-topic", name="loose", on=self.ids("ab;bc;ca"), min_isr=1)
        self.admin("create-topic", name="one", on=self.ids("a;b;b"), min_isr=1)
        self.admin("create-topic", name="swap", on=self.ids("ab;ba;ab"), min_isr=1)
        self.admin("create-topic", name="fewer", on=self.ids("abc;abc;abc"), min_isr=1)
        self.admin("create-topic", name="lossy", on=self.ids("ab;bc;ca"), min_isr=1, unclean=True)
        self.admin("create-topic", name="forked", on=self.ids("ab;ab"), min_isr=1, unclean=True)
        self.measure()
        self.appends("three", 0, 1)
        self.appends("two", 0, 1)
        self.appends("x", 0, 1, 10)

    def move(self) -> None:
        """Replicas are added, taken away, swapped and put into another order."""
        self.admin("add-partitions", topic="x1", count=5)
        self.admin("create-topic", name="moved", on=self.ids("ab;ab;ab;ab;ab"), min_isr=1)
        self.settle()
        self.appends("moved", 0, 1, 2, 3, 4)
        self.reassign("moved", 0, "abc")
        self.reassign("moved", 1, "b")
        self.reassign("moved", 2, "bc")
        self.reassign("moved", 3, "ba")
        self.reassign("moved", 4, "c")
        self.settle()
        self.appends("moved", 0, 1, 2, 3, 4)
        self.reassign("moved", 0, "cb")
        self.reassign("moved", 4, "ca")
        self.elect("moved", 3)
        self.settle()

    def broker_dies(self) -> None:
        """One of three: what has too few replicas takes nothing, what is to go there waits."""
        self.fault("kill", "c")
        self.measure()
        self.appends("three", 0, 2)
        self.appends("two", 0, 1, 2)
        self.appends("loose", 1)
        self.elect("three", 2)
        self.elect("three", 0)
        self.reassign("one", 0, "ac")
        self.reassign("one", 1, "cb")
        self.reassign("swap", 0, "ac")
        self.reassign("swap", 1, "c")
        self.reassign("swap", 2, "cba")
        self.reassign("fewer", 0, "ac")
        self.reassign("fewer", 1, "ab")
        self.reassign("fewer", 2, "b")
        self.admin("create-topic", name="short", partitions=4, factor=2, min_isr=1)
        self.admin("create-topic", name="without", on=self.ids("ca;cb;ac"), min_isr=2)
        self.settle()
        self.reassign("one", 0, "none")
        self.reassign("swap", 2, "none")
        self.admin("configure", topic="two", min_isr=1)
        self.settle()
        self.appends("two", 1)
        self.heal("kill", "c")
        self.measure()
        self.admin("configure", topic="two", min_isr=2)
        self.elect("three", 2)
        self.elect("two", 2)
        self.reassign("one", 1, "b")
        self.settle()

    def brokers_stop(self) -> None:
        """One after the other in good order: leaders move before their broker goes."""
        for letter in "ab":
            self.fault("restart", letter)
            self.look()
            self.settle()
        self.appends("three", 0)
        self.heal("restart", "b")
        self.settle()
        self.elect("three", 0)
        self.settle()
        self.heal("restart", "a")
        self.settle()
        for partition in range(3):
            self.elect("three", partition)
        self.settle()

    def news_travel_slowly(self) -> None:
        """A broker stops while another hears late who leads in its place."""
        self.elect("three", 0)
        self.settle()
        slow = f"{CONTROLLER} -> {broker_name(self.brokers['b'])}"
        self.steps.append(_step(NEMESIS, "delay", target=slow, seconds=LATE_S, part=self.part))
        self.fault("restart", "a")
        self.look()
        self.steps.append(_step(NEMESIS, "end", fault="delay"))
        self.heal("restart", "a")
        self.settle()

    def two_die(self) -> None:
        """One after the other; the one that comes back first may have lost what it had."""
        self.fault("kill", "b")
        self.settle()
        self.fault("kill", "a")
        self.measure()
        self.appends("three", 0, 2)
        self.heal("kill", "b")
        self.settle()
        self.elect("loose", 0, "unclean")
        self.elect("lossy", 1, "unclean")
        self.settle()
        self.heal("kill", "a")
        self.settle()
        self.appends("two", 0)

    def two_take_turns(self) -> None:
        """Each leads without what the other wrote; of their epochs neither knows all (KIP-279)."""
        self.fault("kill", "b")
        self.settle()
        # Of one log the later epoch is the longer one, of the other the shorter one.
        written = (("", "", (1, 3)), ("a", "b", (2, 1)), ("b", "a", (1, 1)))
        for gone, back, counts in written:
            if gone:
                self.fault("kill", gone)
                self.heal("kill", back)
                self.settle()
            for partition, times in enumerate(counts):
                self.admin("append-to", topic="forked", partition=partition, acks=1, times=times)
        self.heal("kill", "b")
        self.settle()

    def all_die(self) -> None:
        """All at once, and back one after the other."""
        for letter in "abc":
            self.fault("kill", letter)
        for letter in "cab":
            self.heal("kill", letter)
            self.settle()

    def controller_dies(self) -> None:
        """Between requests: what was answered is known to it when it is back."""
        self.admin("create-topic", name="kept", on=self.ids("bca"), min_isr=2)
        self.reassign("kept", 0, "cb")
        self.fault("kill", CONTROLLER)
        self.heal("kill", CONTROLLER)
        self.settle()

    def controller_loses_power(self) -> None:
        """What it answered it had synced."""
        for number in range(LASTING):
            self.admin("create-topic", name=f"lasting{number}", on=self.ids("ab;ca"), min_isr=1)
        self.fault("lose-power", CONTROLLER)
        self.heal("lose-power", CONTROLLER)
        self.settle()

    def broker_stands_still(self) -> None:
        """Longer than its session."""
        self.fault("pause", "b")
        self.settle()
        self.appends("three", 1)
        self.heal("pause", "b")
        self.settle()

    def disk_is_emptied(self) -> None:
        """A follower of what has records; it comes back with nothing.

        No partition has its only replica there: a replica that lost what it had need not lead.
        """
        self.fault("reimage", "c")
        self.settle()
        self.heal("reimage", "c")
        self.settle()

    def follower_is_cut(self) -> None:
        """Leaders drop who does not fetch what is appended, though its session goes on."""
        self.measure()
        self.steps.append(_step(NEMESIS, "cut", target=BEHIND, part=self.part))
        self.admin("append-to", topic="three", partition=0, acks=1)
        self.steps.append(_step(LAB, "wait", ms=int(LONGER_S * 1000)))
        self.look()
        self.steps.append(_step(NEMESIS, "end", fault="cut"))
        self.measure()

    def delete_and_create(self) -> None:
        """A topic is gone for every broker; one with its name is another topic."""
        self.admin("delete-topic", topic="x")
        self.admin("delete-topic", topic="two")
        self.measure()
        self.admin("create-topic", name="x", partitions=4, factor=3, min_isr=1)
        self.admin("create-topic", name="two", on=self.ids("ba;cb"), min_isr=2)
        self.settle()
        self.appends("x", 0, 1)
        self.appends("two", 0)

    def end(self) -> None:
        """All is healed; what was written is read."""
        self.steps.append(_step(NEMESIS, "heal-all"))
        self.measure()
        self.admin("read-all-of")
        self.steps += [_step(LAB, verb) for verb in ("converge", "progress", "read-all")]


_STORIES: Mapping[str, Callable[[_Story], None]] = {
    "broker-dies": _Story.broker_dies,
    "brokers-stop": _Story.brokers_stop,
    "news-travel-slowly": _Story.news_travel_slowly,
    "two-die": _Story.two_die,
    "two-take-turns": _Story.two_take_turns,
    "all-die": _Story.all_die,
    "controller-dies": _Story.controller_dies,
    "controller-loses-power": _Story.controller_loses_power,
    "broker-stands-still": _Story.broker_stands_still,
    "disk-is-emptied": _Story.disk_is_emptied,
}


def _step(actor: str, verb: str, **arguments: Any) -> Step:
    return Step(actor=actor, verb=verb, arguments=MappingProxyType(arguments))
