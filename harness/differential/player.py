"""Plays a sequence against a cluster and returns its answers, normalised.

It works over any Network, so in a simulation as on real sockets. After each request that makes,
grows or deletes topics it waits until the cluster has done so (`settling.py`); that is not part of
the answers. Everything else that needs waiting says so in the sequence, by `until`.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from harness.clients.connection import Connection, Silence, connected
from harness.differential.coordination import AT_COORDINATOR, Coordinators
from harness.differential.placement import Placement
from harness.differential.sequence import RequestSequence, Step, lookup
from harness.differential.settling import (
    SETTLE_S,
    NotPrepared,
    await_gone,
    await_there,
    cluster_of,
    metadata,
    pauses,
)
from harness.differential.symbols import Symbols, UnknownSymbol
from reference_impl.ports import Address, Network

AFTER_WAITING_S = 0.05
"""A broker names a new config a moment before its logs obey it."""

PATIENCE_S = 20.0
TIDY_UP_MS = 5_000
SILENT: Mapping[str, Any] = {"connection": "silent"}
SETTLING = "settling"
AT_BROKER = re.compile(r"broker:(\d+)(?:/\w+)?")

Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayContext:
    """Where sequences are played: how to reach a cluster, the time of day, and a seed.

    Every play has a token of its own, by which its topics are known; the same seed at the same time
    of day gives the same tokens. In a run whose topics carry a `tag` the tag gives them, so that
    what the run leaves can be found when it is gone.
    """

    network: Network
    bootstrap: Address
    now_ms: int
    seed: int = 0
    tag: str = ""
    alone: int | None = None
    """The broker at `bootstrap`, where the others of a cluster are to be left out of account."""
    settle_s: float = SETTLE_S
    """How long a step is asked again for what it waits for."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """What topics that a sequence begins with are told, unless it tells them something else."""

    def token(self, sequence: str) -> str:
        """What the names of the topics of a play begin with."""
        return token_of(self.tag or f"{self.seed}/{self.now_ms}", sequence)


def token_of(told_apart_by: str, sequence: str) -> str:
    """The token of a play; its form is part of recorded answers."""
    told = f"{told_apart_by}/{sequence}"
    return "d" + hashlib.sha256(told.encode()).hexdigest()[:8]


async def play(
    sequence: RequestSequence, context: PlayContext, *, timeout_s: float = PATIENCE_S
) -> list[Answer | None]:
    """The answer of each step, None for the steps that are not compared."""
    async with Play(context, sequence, timeout_s=timeout_s) as game:
        return [await game.take(step) for step in sequence.steps]


async def size_of(context: PlayContext) -> int:
    """How many brokers a cluster has."""
    connection = await connected(context.network, context.bootstrap, timeout_s=SETTLE_S)
    try:
        return len((await cluster_of(connection))["brokers"])
    finally:
        connection.abort()


class Play:
    """One play of a sequence, step by step; leaving it closes its connections.

    `NotPrepared` and `ConnectionError` end it: what follows would mean nothing.
    """

    symbols: Symbols

    def __init__(
        self, context: PlayContext, sequence: RequestSequence, *, timeout_s: float = PATIENCE_S
    ) -> None:
        self.timeout_s = timeout_s
        self.late = False  # whether an answer, or what it was to show, did not come in time
        self._context = context
        self._sequence = sequence
        self._connections: dict[str, Connection] = {}
        self._addresses: dict[int, Address] = {}
        self._placement = Placement(context.alone, context.configs)
        self._coordinators = Coordinators()

    async def __aenter__(self) -> Play:
        try:
            asked = await self._connection(SETTLING)
            cluster = await cluster_of(asked, at_least=self._sequence.brokers)
        except BaseException:
            self._hang_up()
            raise
        addresses = {
            one["node_id"]: Address(one["host"], one["port"]) for one in cluster["brokers"]
        }
        alone = self._context.alone
        self._addresses = addresses if alone is None else {alone: self._context.bootstrap}
        self.symbols = Symbols(
            token=self._context.token(self._sequence.name),
            now_ms=self._context.now_ms,
            brokers=sorted(self._addresses),
            cluster_id=cluster["cluster_id"],
            left_out=frozenset(addresses) - frozenset(self._addresses),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        for one in self._connections.values():
            one.abort()

    async def _connection(self, name: str) -> Connection:
        known = self._connections.get(name)
        if known is None or known.closed:
            broker = await self.broker_of(name)
            address = self._context.bootstrap if broker is None else self._addresses[broker]
            known = await connected(self._context.network, address, timeout_s=self.timeout_s)
            self._connections[name] = known
        known.timeout_s = self.timeout_s
        return known

    async def broker_of(self, connection: str) -> int | None:
        """The broker that a connection is to; None for the one that the play began with."""
        found = AT_BROKER.fullmatch(connection)
        if found:
            return self.symbols.brokers[int(found[1])]
        if not AT_COORDINATOR.fullmatch(connection):
            return None
        asked = await self._connection(SETTLING)
        return await self._coordinators.broker_of(connection, asked, self.symbols)

    async def _everywhere(self) -> dict[int, Connection]:
        """A connection to each broker, for waiting."""
        return {
            broker: await self._connection(f"broker:{at}/{SETTLING}")
            for at, broker in enumerate(self.symbols.brokers)
        }

    async def take(self, step: Step) -> Answer | None:
        """One step, asked as often as its `until` wants."""
        try:
            answer = await self._ask_until(step)
        except UnknownSymbol as problem:
            return {"not_asked": str(problem)} if step.compared else None
        except Silence:
            self.late = True
            if step.on in self._connections:
                self._connections.pop(step.on).abort()
            return SILENT if step.compared else None
        return answer if step.compared else None

    async def tidy_up(self) -> None:
        """Delete every topic that this play may have made; no matter what becomes of it."""
        names = [{"name": name} for name in self.symbols.topics]
        with suppress(OSError):
            settling = await self._connection(SETTLING)
            await settling.ask("delete_topics", 6, {"topics": names, "timeout": TIDY_UP_MS})

    async def _ask_until(self, step: Step) -> Answer:
        now = asyncio.get_running_loop().time
        settle_s = self._context.settle_s
        deadline = now() + settle_s
        for pause_s in pauses():
            raw = await self._ask(step)
            self.symbols.learn_topic_ids(raw)
            self._save(step, raw)
            await self._settle(step, raw)
            shown = self.symbols.only_own_topics(raw) if step.own_topics else raw
            answer: Answer = self.symbols.normalise(shown)
            if _has(answer, step.until):
                if step.until and not step.compared:
                    await asyncio.sleep(AFTER_WAITING_S)
                return answer
            if now() > deadline:
                self.late = True
                if not step.compared:
                    wanted = ", ".join(f"{path}={value}" for path, value in step.until.items())
                    raise NotPrepared(f"{step.api} does not show {wanted} within {settle_s:g} s")
                return answer
            await asyncio.sleep(pause_s)
        raise AssertionError("pauses have no end")

    async def _ask(self, step: Step) -> Answer:
        fields = await self._resolve(step.fields)
        fields = self._placement.place(step.api, fields, compared=step.compared)
        connection = await self._connection(step.on)
        if step.frame is not None:
            return await connection.ask_frame(step.api, step.version, bytes.fromhex(step.frame))
        if step.body is not None:
            return await connection.ask_raw(step.api, step.version, bytes.fromhex(step.body))
        return await connection.ask(step.api, step.version, fields)

    async def _resolve(self, fields: Mapping[str, Any]) -> Any:
        """Topic ids are looked up when first needed, if no answer has told them yet."""
        try:
            return self.symbols.resolve(fields)
        except UnknownSymbol as problem:
            missing = str(problem).split()[0]
            if not missing.startswith("$topic_id:"):
                raise
            name = self.symbols.topic(missing.removeprefix("$topic_id:"))
            told = await metadata(await self._connection(SETTLING), [name])
            self.symbols.learn_topic_ids(told)
            return self.symbols.resolve(fields)

    def _save(self, step: Step, answer: Answer) -> None:
        for name, path in step.save.items():
            try:
                self.symbols.references[name] = lookup(answer, path)
            except KeyError:
                self.symbols.references.pop(name, None)

    async def _settle(self, step: Step, answer: Answer) -> None:
        if step.api not in ("create_topics", "create_partitions", "delete_topics"):
            return
        if "connection" in answer and not step.compared:
            raise NotPrepared(f"the cluster hung up on {step.api} v{step.version}")
        results = answer.get("topics", answer.get("results", answer.get("responses", [])))
        bad = [one for one in results if one["error_code"] != "NONE"]
        if bad and not step.compared:
            raise NotPrepared(f"the cluster refused what a sequence begins with: {bad[0]}")
        done = [one["name"] for one in results if one not in bad and one["name"]]
        if not done or step.fields.get("validate_only"):
            return
        if step.api == "delete_topics":
            await await_gone(self._everywhere, done)
        else:
            asked = self.symbols.resolve(step.fields["topics"])
            counts = {one["name"]: one.get("count", 1) for one in asked if one["name"] in done}
            await await_there(self._everywhere, counts)


def _has(answer: Answer, until: Mapping[str, Any]) -> bool:
    for path, value in until.items():
        try:
            shown = lookup(answer, path)
            if shown not in value if isinstance(value, list) else shown != value:
                return False
        except KeyError:
            return False
    return True
