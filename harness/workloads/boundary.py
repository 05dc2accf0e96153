"""Random workloads for the boundary register: many leaders, few partitions, one seed.

Everything comes from `random.Random(seed)`: the same arguments give the same steps anywhere. Each
partition lives a whole life (created, fought over, reset, fought over again, finally written to),
clients keep operations open across each other's steps, and faults happen as far as `verbs` allows.

Unknown outcomes are bounded per partition (`unknowns`), and every second partition is spared them.
Each one stays open for ever in the eyes of a checker, and a history with too many of them can be
explained by anything.

The result is legal by construction: it satisfies the order table, leaves nothing held, paused or
broken, and ends with a look at every partition. `operations` counts the random operations; creating
the logs and the last look come on top.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from harness.errors import UsageError
from harness.steps.order import ALL_VERBS, CLIENT_VERBS, OUTAGES, Order, Stand, Takes
from harness.steps.step import LAB, Step
from harness.sut.calls import Value
from harness.workloads.belief import CREATE, GET, PRODUCERS, Belief, Question
from harness.workloads.boundary_text import call_many_step, call_step
from harness.workloads.races import RACES, Move, Race

# How an idle client asks, and what happens next to what is open. Weights, not probabilities.
_ASKING = {"call": 52, "begin": 26, "hold": 7, "lose": 6, "drop": 3, "pause": 3}
_GOING_ON = {
    "end": 60,
    "release": 50,
    "step": 12,
    "lose": 8,
    "drop": 5,
    "kill": 6,
    "pause": 4,
    "resume": 60,
    "begin": 30,
}
_UNKNOWN_OUTCOMES = ("lose", "drop", "kill")
_TOGETHER_CHANCE = 0.25  # that a question is asked of all partitions in one call
_RACE_CHANCE = 0.07
_BYSTANDER_CHANCE = 0.3
_OUTAGE_CHANCE = 0.018
_PROBE_CHANCE = 0.02
_PATIENCE = {Stand.SENT: 0.45, Stand.HELD: 0.3}  # chance that an open operation moves on


def generate(
    seed: int,
    *,
    clients: int = 4,
    partitions: int = 2,
    operations: int = 100,
    verbs: Iterable[str] = ALL_VERBS,
    unknowns: int = 8,
) -> list[Step]:
    """A workload of about this size that a world with these verbs can play."""
    if clients < 1 or partitions < 1 or operations < 0:
        raise UsageError("a workload needs at least one client, one partition and no debts")
    if "call" not in (allowed := frozenset(verbs)):
        raise UsageError("a workload needs at least the verb 'call'")
    return _Author(seed, clients, partitions, allowed, unknowns).write(operations)


class _Author:
    """Writes one workload, step by step."""

    def __init__(
        self, seed: int, clients: int, partitions: int, verbs: frozenset[str], unknowns: int
    ) -> None:
        self._random = Random(seed)
        self._clients = [f"c{number}" for number in range(1, clients + 1)]
        self._lives = [
            Belief(random=self._random, partition=p, unknowns_left=0 if p % 2 else unknowns)
            for p in range(partitions)
        ]
        self._verbs = verbs
        self._order = Order()
        self._about: dict[str, tuple[Belief, ...]] = {}  # what a client has asked
        self._steps: list[Step] = []
        self._asked = 0

    def write(self, operations: int) -> list[Step]:
        """The whole workload."""
        for life in self._lives:
            self._say(self._clients[0], "call", life, (CREATE, {}))
        self._asked = 0
        while self._asked < operations:
            self._lab()
            if self._random.random() < _RACE_CHANCE:
                self._plot()
            else:
                self._act(self._random.choice(self._clients))
        self._come_to_rest()
        for life in self._lives:
            self._say(self._clients[0], "call", life, (GET, {}))
            self._say(self._clients[-1], "call", life, (PRODUCERS, {}))
        if "probe" in self._verbs:
            self._add(Step(actor=LAB, verb="probe"))
        return self._steps

    def _act(self, client: str) -> None:
        """One client does something that is legal where it stands, or nothing yet."""
        stand = self._order.stand(client)
        if self._random.random() > _PATIENCE.get(stand, 1.0):
            return
        weights = _ASKING if stand is Stand.IDLE else _GOING_ON
        about = self._about.get(client, ())
        if not about or stand in (Stand.IDLE, Stand.IDLE_PAUSED):
            about = (self._random.choice(self._lives),)
        life = about[0]
        legal = [verb for verb in self._order.legal(client) if self._may(verb, *about)]
        if not legal:
            return
        verb = self._random.choices(legal, [weights.get(one, 1) for one in legal])[0]
        asks = CLIENT_VERBS[verb] is Takes.A_CALL or (
            CLIENT_VERBS[verb] is Takes.MAYBE_A_CALL and stand is Stand.IDLE
        )
        question = life.ask() if asks else None
        if question is not None and self._random.random() < _TOGETHER_CHANCE:
            self._say_together(client, verb, life, question)
        else:
            self._say(client, verb, life, question)

    def _say_together(self, client: str, verb: str, life: Belief, question: Question) -> None:
        """The same call on other partitions, each with arguments of its own that make sense."""
        f, arguments = question
        asked: dict[int, dict[str, Value]] = {life.partition: arguments}
        for other in self._lives:
            found = other.ask_for(f) if other is not life and self._may(verb, other) else None
            if found is not None:
                asked[other.partition] = found
        partitions = [{**given, "partition": partition} for partition, given in asked.items()]
        self._random.shuffle(partitions)
        self._about[client] = tuple(one for one in self._lives if one.partition in asked)
        self._asked += len(partitions)
        self._use_up(verb, self._about[client])
        if len(partitions) == 1:
            self._add(call_step(client, verb, f, **partitions[0]))
        else:
            self._add(call_many_step(client, verb, f, partitions))

    def _may(self, verb: str, *lives: Belief) -> bool:
        closing = {"hold": "release", "begin": "end", "pause": "resume"}.get(verb, verb)
        if not {verb, closing} <= self._verbs:
            return False
        return verb not in _UNKNOWN_OUTCOMES or all(life.unknowns_left > 0 for life in lives)

    def _use_up(self, verb: str, lives: Iterable[Belief]) -> None:
        if verb in _UNKNOWN_OUTCOMES:
            for life in lives:
                life.unknowns_left -= 1

    def _say(self, client: str, verb: str, life: Belief, question: Question | None) -> None:
        if question is None:
            step = Step(actor=client, verb=verb)
        else:
            f, arguments = question
            given: dict[str, Value] = {**arguments, "partition": life.partition}
            step = call_step(client, verb, f, **given)
            self._about[client] = (life,)
            self._asked += 1
        self._use_up(verb, self._about.get(client, (life,)))
        self._add(step)

    def _add(self, step: Step) -> None:
        self._order.advance(step.actor, step.verb, with_call=step.f is not None)
        self._steps.append(step)

    def _plot(self) -> None:
        """Two idle clients play a story; the others go on with their lives in between."""
        idle = [one for one in self._clients if self._order.stand(one) is Stand.IDLE]
        if len(idle) < 2:
            return
        cast = dict(zip(("old", "new"), self._random.sample(idle, 2), strict=True))
        life = self._random.choice(self._lives)
        for who, verb, question in self._choose(life)(life):
            if question is not None:
                life.believe(*question)
            self._say(cast[who], verb, life, question)
            others = [one for one in self._clients if one not in cast.values()]
            if others and self._random.random() < _BYSTANDER_CHANCE:
                self._act(self._random.choice(others))

    def _choose(self, life: Belief) -> Race:
        """A plot that this world can play, that leaves few unknowns, and spares the suffix."""
        able = []
        for name, plot in RACES.items():
            moves = plot(_scratch(life))
            if not all(self._may(verb, life) for _, verb, _ in moves):
                continue
            if name == "reset-of-a-suffix" and life.resets < 3 and self._random.random() < 0.8:
                continue
            able.append(plot)
        return self._random.choice(able) if able else _nothing

    def _lab(self) -> None:
        """Outages are rare and short; probes happen now and then."""
        if "probe" in self._verbs and self._random.random() < _PROBE_CHANCE:
            self._add(Step(actor=LAB, verb="probe"))
        if self._random.random() >= _OUTAGE_CHANCE:
            return
        able = [verb for verb, closing in OUTAGES.items() if {verb, closing} <= self._verbs]
        idle = [one for one in self._clients if self._order.stand(one) is Stand.IDLE]
        if not able or not idle:
            return
        verb = self._random.choice(able)
        self._add(Step(actor=LAB, verb=verb))
        for client in self._random.sample(idle, min(2, len(idle))):
            life = self._random.choice(self._lives)
            if life.unknowns_left > 0:
                life.unknowns_left -= 1
                self._say(client, "call", life, life.ask())
        self._add(Step(actor=LAB, verb=OUTAGES[verb]))

    def _come_to_rest(self) -> None:
        """Nothing stays paused, held or open."""
        closing = {"resume": 0, "release": 1, "end": 1}
        for client in self._clients:
            while self._order.stand(client) is not Stand.IDLE:
                legal = [verb for verb in self._order.legal(client) if verb in closing]
                verb = min(legal, key=lambda one: closing[one])
                self._add(Step(actor=client, verb=verb))


def _scratch(life: Belief) -> Belief:
    """A copy to try a plot on, whose dice are its own."""
    return Belief(
        random=Random(0), partition=life.partition, epoch=life.epoch, proposals=life.proposals[:]
    )


def _nothing(life: Belief) -> list[Move]:
    """No plot fits."""
    return []
