"""The life of one partition, as far as a generator has to know it to ask interesting questions.

A generator does not know the answers it will get. It keeps a belief of where the partition stands,
as if every call had taken effect in the order it was written, and uses it only to choose: a stale
epoch is one below the belief, a conflict another boundary than the believed one. If the belief is
wrong the workload is still legal, only a little less to the point.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from harness.sut.calls import SEEDS, UNDEFINED, Entries, Value

Question = tuple[str, dict[str, Value]]

TRIES = 8  # to come to a question of some kind
_SEED_CHOICES = ("none", "A", "B", "C", "D", "E", "F", "FIVE")

INITIALIZE = "initialize_diskless_migration"
SET = "set_diskless_log_start_offset"
GET = "get_diskless_log_start_offset"
SEED = "seed_producer_state"
REGISTER = "register_leader_epoch"
PRODUCERS = "describe_producers"
COMMIT = "commit_batch"
CREATE = "create_log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What one leader wants the boundary to be."""

    boundary: int
    leader_epoch: int
    entries: Entries

    def question(self) -> Question:
        """As a call."""
        return INITIALIZE, {
            "boundary": self.boundary,
            "leader_epoch": self.leader_epoch,
            "entries": self.entries,
        }


@dataclass(slots=True, kw_only=True)
class Belief:
    """One partition's believed past."""

    random: Random
    partition: int
    epoch: int = 0
    boundary: int | None = None
    suffix: bool = False
    resets: int = 0
    unknowns_left: int = 0
    proposals: list[Proposal] = field(default_factory=list)

    def seeds(self) -> Entries:
        """Some set of seeds."""
        return SEEDS[self.random.choice(_SEED_CHOICES)]

    def fresh(self, leader_epoch: int) -> Proposal:
        """A boundary not proposed yet, or now and then one that was."""
        boundary = 10 + 10 * len(self.proposals) + self.random.randrange(10)
        if self.proposals and self.random.random() < 0.15:
            boundary = self.random.choice(self.proposals).boundary
        proposal = Proposal(boundary=boundary, leader_epoch=leader_epoch, entries=self.seeds())
        self.proposals.append(proposal)
        return proposal

    def earlier(self) -> Proposal:
        """Something that was proposed before, the latest one most likely."""
        if not self.proposals:
            return self.fresh(self.epoch)
        return (
            self.proposals[-1] if self.random.random() < 0.6 else self.random.choice(self.proposals)
        )

    def elect(self) -> int:
        """The epoch of the next leader."""
        self.epoch += 1
        return self.epoch

    def some_epoch(self) -> int:
        """Mostly the current epoch; often an older one; now and then that of a new leader."""
        dice = self.random.random()
        if dice < 0.45:
            return self.epoch
        return self.elect() if dice < 0.65 else self.random.randrange(self.epoch + 1)

    def believe(self, f: str, arguments: dict[str, Value]) -> None:
        """Take a call as if it had been carried out."""
        boundary = arguments.get("boundary")
        if f == COMMIT and self.boundary is not None:
            self.suffix = True
        elif f == SET and boundary == UNDEFINED and self.boundary is not None and not self.suffix:
            self.boundary, self.resets = None, self.resets + 1
        elif f in (INITIALIZE, SET) and isinstance(boundary, int) and boundary >= 0:
            self.boundary = boundary if self.boundary is None else self.boundary

    def ask(self) -> Question:
        """One call that makes sense, or interesting nonsense, where the partition stands."""
        weights = _SETTLED if self.boundary is not None else _RESET if self.resets else _PENDING
        kinds = list(weights)
        young = self.boundary is not None and not self.suffix and self.resets < 3
        if young and self.random.random() < 0.85:  # a first batch ends all resets: not too early
            kinds.remove("commit")
        kind = self.random.choices(kinds, [weights[one] for one in kinds])[0]
        question = self._question(kind)
        self.believe(*question)
        return question

    def ask_for(self, f: str) -> dict[str, Value] | None:
        """Arguments of this call that make sense, if a few questions come to it."""
        for _ in range(TRIES):
            tried = replace(self, proposals=[*self.proposals])
            asked, arguments = tried.ask()
            if asked == f:
                self.epoch, self.proposals = tried.epoch, tried.proposals
                self.believe(asked, arguments)
                return arguments
        return None

    def _question(self, kind: str) -> Question:
        random = self.random
        if kind == "propose":
            return self.fresh(self.some_epoch()).question()
        if kind == "repeat":
            return self.earlier().question()
        if kind == "repeat-newer":
            was = self.earlier()
            return Proposal(
                boundary=was.boundary, leader_epoch=self.some_epoch(), entries=was.entries
            ).question()
        if kind == "other-seeds":
            f, arguments = self.earlier().question()
            return f, {**arguments, "entries": self.seeds()}
        if kind == "register":
            return REGISTER, {"leader_epoch": self.some_epoch()}
        if kind == "seed":
            entries = self.earlier().entries if random.random() < 0.5 else self.seeds()
            return SEED, {"entries": entries}
        if kind == "reset":
            epoch = self.some_epoch() if random.random() < 0.5 else None
            return SET, {"boundary": UNDEFINED, "leader_epoch": epoch}
        if kind == "set":
            boundary = (
                self.earlier().boundary if random.random() < 0.6 else 1000 + random.randrange(9)
            )
            epoch = self.some_epoch() if random.random() < 0.6 else None
            return SET, {"boundary": boundary, "leader_epoch": epoch}
        if kind == "commit":
            return COMMIT, {"record_count": random.randrange(1, 6)}
        return {"get": GET, "producers": PRODUCERS, "create": CREATE}[kind], {}


_PENDING = {
    "propose": 26,
    "repeat": 6,
    "register": 14,
    "seed": 14,
    "set": 6,
    "reset": 4,
    "commit": 4,
    "get": 10,
    "producers": 10,
    "create": 1,
}
_SETTLED = {
    "propose": 14,
    "repeat": 10,
    "repeat-newer": 8,
    "other-seeds": 7,
    "register": 8,
    "seed": 6,
    "set": 8,
    "reset": 14,
    "commit": 12,
    "get": 10,
    "producers": 8,
    "create": 1,
}
_RESET = {
    "propose": 24,
    "repeat": 12,
    "repeat-newer": 8,
    "register": 8,
    "seed": 6,
    "set": 8,
    "reset": 4,
    "commit": 4,
    "get": 10,
    "producers": 8,
}
