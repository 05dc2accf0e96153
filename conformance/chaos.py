"""Chaos from the tables of a campaign file: load, faults that come and go, quiet periods, an end.

    [load]
    mix = "many"             # harness/workloads/partition_load.py; on the partition t-0
    rate = 1.0               # 2.0: clients rest half as long
    producers = 3            # transactional ones, at work beside it; 0: none
    partitions = 4           # over which these spread their records
    tiering = true           # their logs are tiered, a few batches a segment
    [clients]                # confluent-kafka producers and consumers (workloads/librdkafka.py)
    producers = 2
    consumers = 1
    topics = 2
    partitions = 3           # of each topic
    rate = 20.0              # sends a second, all together
    works_s = 0.0            # how long a transaction stays open before its commit
    topic_configs = {"min.insync.replicas" = "2"}
    settings = {acks = "all", "compression.type" = "lz4"}
    [chaos]
    minutes = 3.0            # how long faults come and go, of a world whose pace is 1
    period_s = 12.0          # in each one fault, or two that overlap; one of four is quiet
    overlap = 0.5            # share of periods with two
    recover_every = 2        # periods, after which all is healed and the cluster comes to rest
    faults = ["kill leader of t-0", "cut leader of t-0 <-> everything else", …]

A fault is named with its target, as `nemesis/targets.py` has them. Which comes when is drawn from
the seed; each comes at least once, if there are periods enough. In the end everything is healed,
the cluster comes to rest, producers are fenced by their successors, and every log is read whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from types import MappingProxyType
from typing import Any

from harness.errors import UsageError
from harness.steps.step import LAB, LOAD, NEMESIS, Step
from nemesis.faults import FAULTS
from nemesis.schedule import Entry, Strike, overlapping, periods_for

TRANSACTIONS, LEDGER = "transactions", "ledger"
LIBRDKAFKA, BOOKS = "librdkafka", "books"
LOADED = "t"  # the topic of the load
BEHIND = " behind"  # how targets end that may take a while to come about
REST_MS = 30_000  # in which what producers left behind is aborted
QUIET_S = 2.0
RESTS_MS = 6000  # of a transactional producer between two transactions, at most
_ROLLS = "index.interval.bytes=1,segment.index.bytes=48"
_TIERED = f"remote.storage.enable=true,{_ROLLS},local.retention.bytes=1,retention.ms=-1"
_TABLES: Mapping[str, Mapping[str, type]] = MappingProxyType(
    {
        "load": {
            "mix": str,
            "rate": float,
            "producers": int,
            "partitions": int,
            "tiering": bool,
        },
        "chaos": {
            "minutes": float,
            "period_s": float,
            "overlap": float,
            "recover_every": int,
            "faults": list,
        },
        "clients": {
            "producers": int,
            "consumers": int,
            "topics": int,
            "partitions": int,
            "rate": float,
            "works_s": float,
            "topic_configs": dict,
            "settings": dict,
        },
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """What the table `[clients]` says."""

    producers: int = 2
    consumers: int = 1
    topics: int = 1
    partitions: int = 3
    rate: float = 20.0
    works_s: float = 0.0
    topic_configs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Its topics."""
        return tuple(f"{BOOKS}{number}" for number in range(self.topics))

    def begins(self, seed: int) -> list[Step]:
        """Its topics are created, its clients begin."""
        configs = _pairs(self.topic_configs)
        created = [
            _step(LIBRDKAFKA, "create", topic=one, partitions=self.partitions, configs=configs)
            for one in self.names
        ]
        begun = _step(
            LIBRDKAFKA,
            "begin",
            seed=seed,
            producers=self.producers,
            consumers=self.consumers,
            rate=self.rate,
            works=self.works_s,
            settings=_pairs(self.settings),
        )
        return [*created, begun]


def _pairs(given: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in given.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Chaos:
    """What the tables say."""

    faults: tuple[Strike, ...]
    minutes: float = 2.0
    period_s: float = 12.0
    overlap: float = 0.5
    recover_every: int = 2
    mix: str = "many"
    rate: float = 1.0
    producers: int = 0
    partitions: int = 3
    tiering: bool = False
    clients: Real | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """All that its clients use."""
        real = self.clients.names if self.clients is not None else ()
        return (LOADED, LEDGER, *real)

    @property
    def periods(self) -> int:
        """How many there are: enough for each fault to come once."""
        return max(periods_for(len(self.faults)), ceil(60 * self.minutes / self.period_s))

    def without(self, strikes: Sequence[Strike]) -> Chaos:
        """The same with fewer faults, in as many periods."""
        return replace(self, faults=tuple(one for one in self.faults if one not in strikes))


def read_chaos(given: Mapping[str, Mapping[str, Any]]) -> Chaos:
    """What the tables of a file say; a sentence says what is wrong with them."""
    told = {table: _told(table, given.get(table, {})) for table in _TABLES}
    faults = tuple(_strike(str(one)) for one in told["chaos"].pop("faults", ()))
    clients = Real(**told["clients"]) if "clients" in given else None
    chaos = Chaos(faults=faults, clients=clients, **told["chaos"], **told["load"])
    if not 0 < chaos.minutes <= 24 * 60 or not 1 <= chaos.period_s <= 600:
        raise UsageError("[chaos] lasts up to a day, its periods one second to ten minutes")
    if not 0 < chaos.rate <= 100 or not 0 <= chaos.producers <= 50 or not 0 < chaos.partitions < 50:
        raise UsageError("[load] rate is up to 100, producers and partitions up to 50")
    if chaos.recover_every < 1 or not 0 <= chaos.overlap <= 1:
        raise UsageError("[chaos] recover_every is 1 or more, overlap 0 to 1")
    return chaos


def _told(table: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of one table."""
    known, told = _TABLES[table], dict(given)
    for name, value in told.items():
        if name not in known:
            raise UsageError(f"[{table}] has no {name!r}; it has {', '.join(known)}")
        if type(value) is int and known[name] is float:
            told[name] = float(value)
        elif type(value) is not known[name]:
            raise UsageError(f"[{table}] {name} is {known[name].__name__}, not {value!r}")
    return told


def _strike(text: str) -> Strike:
    fault, _, target = text.partition(" ")
    if fault not in FAULTS:
        raise UsageError(f"[chaos] there is no fault {fault!r}; there are: {', '.join(FAULTS)}")
    if not target:
        raise UsageError(f"[chaos] faults: {text!r} does not say on whom, as in 'kill broker-1'")
    return Strike(fault, target)


def part_name(campaign: str, strike: Strike) -> str:
    """What the plan calls a fault of a campaign."""
    return f"{campaign}/{strike.fault} {strike.target}"


def chaos_steps(campaign: str, chaos: Chaos, seed: int, *, lasting_s: float = 1.0) -> list[Step]:
    """A campaign as steps. Faults last so many times as long where brokers are slower to notice."""
    wait = _Waits()
    steps = [_step(LAB, "create"), *_recovers()]
    if chaos.producers:
        configs = "min.insync.replicas=2" + (f",{_TIERED}" if chaos.tiering else "")
        steps += [
            _step(
                TRANSACTIONS, "create", topic=LEDGER, partitions=chaos.partitions, configs=configs
            ),
            _step(TRANSACTIONS, "settle"),
            _step(
                TRANSACTIONS,
                "work",
                seed=seed,
                producers=chaos.producers,
                log=f"{LEDGER}-*",
                most=0,
                rests=RESTS_MS / chaos.rate,
            ),
        ]
    if chaos.clients is not None:
        steps += chaos.clients.begins(seed)
    steps += [_step(LOAD, "begin", mix=chaos.mix, seed=seed, pace=1 / chaos.rate)]
    period_s = chaos.period_s * lasting_s
    entries = overlapping(
        seed,
        chaos.faults,
        periods=chaos.periods,
        period_s=period_s,
        pairs=chaos.overlap,
        each=True,
    )
    looked = -1
    for number in range(chaos.periods):
        begins, ends = number * period_s, (number + 1) * period_s
        for entry in [one for one in entries if begins <= one.at_s < ends]:
            steps += wait.until(entry.at_s)
            if chaos.tiering and entry.act == "end" and looked != number:
                looked = number  # in the middle of it: what was moved to the store is read
                steps.append(_step(TRANSACTIONS, "look"))
            steps.append(_acts(campaign, entry, round(1000 * period_s / 3)))
        steps += wait.until(ends)
        if (number + 1) % chaos.recover_every == 0:
            steps += [_step(NEMESIS, "heal-all"), _step(LAB, "nodes"), *_recovers()]
    return [*steps, *_ending(chaos)]


def _ending(chaos: Chaos) -> list[Step]:
    """Heal, converge, fence, read."""
    healed = [_step(NEMESIS, "heal-all"), *_recovers(), *_Waits().until(QUIET_S)]
    healed += [_step(LOAD, "end"), _step(LAB, "idle")]
    if chaos.producers:
        healed += [
            _step(TRANSACTIONS, "finish"),
            _step(TRANSACTIONS, "close"),
            _step(TRANSACTIONS, "rest", bound=REST_MS),
            _step(TRANSACTIONS, "read"),
        ]
    if chaos.clients is not None:
        healed.append(_step(LIBRDKAFKA, "finish"))
    return [*healed, *_recovers(), _step(LAB, "nodes"), _step(LAB, "read-all")]


class _Waits:
    """Waiting from one time to the next."""

    def __init__(self) -> None:
        self._now = 0.0

    def until(self, at_s: float) -> list[Step]:
        """The step that waits for it, if any."""
        ms = round(1000 * (at_s - self._now))
        self._now = at_s
        return [_step(LAB, "wait", ms=ms)] if ms > 0 else []


def _acts(campaign: str, entry: Entry, wait_ms: int) -> Step:
    if entry.act == "end":
        return _step(NEMESIS, "end", fault=entry.fault, target=entry.target)
    part = part_name(campaign, Strike(entry.fault, entry.target))
    waits = {"wait": wait_ms} if BEHIND in entry.target else {}
    return _step(NEMESIS, entry.fault, target=entry.target, part=part, **waits)


def _recovers() -> list[Step]:
    return [_step(LAB, "converge"), _step(LAB, "progress")]


def _step(actor: str, verb: str, **arguments: Any) -> Step:
    return Step(actor=actor, verb=verb, arguments=MappingProxyType(arguments))
