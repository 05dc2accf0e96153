"""What transactional producers do, by steps of the actor `transactions`: all verbs of `edges`, and

transactions create   topic=ledger partitions=3
transactions init     by=p id=a version=2 timeout=60000    again: `same=true` says who it was
transactions begin    by=p                                 a transaction; no broker hears of it
transactions add      by=p log=ledger-*                    announce partitions (version 1)
transactions send     by=p log=ledger-0 count=2            append within it
transactions offsets  by=p group=g log=ledger-0            commit where the log ends, within it
transactions end      by=p commit=true                     `once=true`: the answer may be lost
transactions repeat   by=p f=end back=1 commit=true    once more; answers are not heeded
transactions commit   group=g log=ledger-0 offset=5        commit it outside of transactions
transactions told     group=g log=ledger-0                 the committed offset
transactions inspect  by=p log=ledger-*                    what its coordinator and leaders say
transactions read     log=ledger-*                         readers of both kinds, at every broker
transactions close                                         who is not done begins anew
transactions rest     bound=10000                          until nothing is open
transactions work     seed=1 producers=3                   producers of their own, until `finish`
transactions linger   log=ledger-* timeout=2000            one at work beyond its time-out
transactions micro    seed=1 clients=3 topic=t most=12     sends and polls, as Jepsen records them

What a producer is told it believes: `init by=q id=a` makes a zombie of p, which goes on. A verb of
a producer that is not there does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from harness.clients import transactions
from harness.clients.raw import RawClient
from harness.clients.transactions import GROUP
from harness.history import classify
from harness.history.outcome import Outcome
from harness.steps.step import Step
from harness.steps.vocabulary import verb
from harness.workloads.edge_log import BY
from harness.workloads.edge_steps import LOST, EdgeSteps
from harness.workloads.micro_transactions import MicroTransactions
from harness.workloads.transactional_load import (
    MOST,
    RESTS_S,
    LingeringTransaction,
    TransactionalLoad,
)
from harness.workloads.transactional_log import TransactionalLog
from harness.workloads.transactional_producer import TransactionalProducer

TRANSACTIONS = "transactions"
REST = "transactions-rest"
LONGEST_MS = 60_000
_OPEN = ("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence")


class TransactionSteps(EdgeSteps):
    """The transactional producers of one deployment, and the logs they write to."""

    actors: ClassVar[Sequence[str]] = (TRANSACTIONS,)

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._producers: dict[str, TransactionalProducer] = {}
        self._ids: dict[str, None] = {}
        self._loads = 0
        self._at_work: list[TransactionalLoad | LingeringTransaction | MicroTransactions] = []

    def _log(self, topic: str, number: int) -> TransactionalLog:
        return TransactionalLog(on=self._on, topic=topic, partition=number, asking=self._asking)

    # ── producers ────────────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def init(
        self,
        step: Step,
        by: str,
        id: str = "",  # noqa: A002
        version: int = 2,
        timeout: int = LONGEST_MS,
        same: bool = False,
    ) -> None:
        """A producer begins, or begins anew; another one with its id becomes a zombie."""
        known = self._producers.get(by)
        if known is None or (id and known.id != id):
            known = self._producers[by] = TransactionalProducer(
                on=self._on, name=by, id=id or by, version=version
            )
        known.timeout_ms = timeout
        self._ids[known.id] = None
        await known.init(same=same)

    @verb(drawn=False)
    async def begin(self, step: Step, by: str) -> None:
        """Begin a transaction; who is unsure of the last one begins anew first."""
        if by in self._producers:
            producer = self._producers[by]
            if producer.unsure:
                await producer.init()
            producer.begin()

    @verb(drawn=False)
    async def add(self, step: Step, by: str, log: str) -> None:
        """Announce partitions in one request."""
        if by in self._producers:
            await self._producers[by].add(*self._written(log))

    @verb(drawn=False)
    async def send(self, step: Step, by: str, log: str, count: int = 1) -> None:
        """Append a batch to each of these partitions, up to the first that does not take it."""
        for one in self._written(log) if by in self._producers else ():
            if (await self._producers[by].send(one, count)).type != "ok":
                return

    @verb(drawn=False)
    async def offsets(self, step: Step, by: str, group: str, log: str, offset: int = -1) -> None:
        """Commit an offset of a group for each of these partitions, or where they end."""
        for one in self._written(log) if by in self._producers else ():
            at = one.end if offset < 0 else offset
            await self._producers[by].send_offset(group, one, at)

    @verb(drawn=False)
    async def end(self, step: Step, by: str, commit: bool, once: bool = False) -> None:
        """Commit or abort."""
        if by in self._producers:
            await self._producers[by].end(commit=commit, once=once)

    @verb(drawn=False)
    async def repeat(
        self, step: Step, by: str, f: str, back: int = 0, other: int = 0, commit: bool = False
    ) -> None:
        """Ask for an `end` or an `init` once more: so many epochs back, with another producer id.

        The producer does not heed the answer.
        """
        if by not in self._producers:
            return
        producer = self._producers[by]
        who, epoch = producer.who, producer.who.epoch - back
        if epoch < 0:
            return
        asks = replace(who, producer_id=who.producer_id + other, epoch=epoch)
        if f == "end":
            await producer.ask_end(asks, commit=commit)
        else:
            await producer.ask_init(asks)

    # ── others ───────────────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def told(self, step: Step, group: str, log: str) -> None:
        """Ask for the committed offset of a group, once it is stable."""
        wire = self._on.recorder.topic(group)
        for one in self._written(log):

            async def settled(one: TransactionalLog = one) -> bool:
                return await self._of_group(wire, one, "offset_fetch", transactions.fetch_offset)

            await self._until(settled, self._rest_ms)

    @verb(drawn=False)
    async def commit(self, step: Step, group: str, log: str, offset: int) -> None:
        """Commit an offset of a group outside of transactions."""
        wire = self._on.recorder.topic(group)
        for one in self._written(log):

            async def done(one: TransactionalLog = one) -> bool:
                ask = partial(transactions.commit_alone, offset=offset)
                return await self._of_group(wire, one, "offset_commit", ask, offset=offset)

            await self._until(done, self._rest_ms)

    @verb(drawn=False)
    async def inspect(self, step: Step, by: str, log: str) -> None:
        """Ask the coordinator of a producer and the leaders of logs what is open."""
        if by in self._producers:
            await self._described(self._producers[by].id)
        for one in self._written(log):
            await one.producers()

    @verb(drawn=False)
    async def read(self, step: Step, log: str = "*", most: int = 60) -> None:
        """All of logs at every broker, as readers of both kinds, and in small pieces."""
        for one in self._written(log):
            await one.locate()
            for broker in self._on.brokers:
                await one.read_whole(at=broker)
            await one.walk(most=most)

    @verb(drawn=False)
    async def look(self, step: Step, log: str = "*") -> None:
        """All of logs at their leaders, as readers of both kinds."""
        for one in self._written(log):
            if one.leader is not None or await one.locate() is not None:
                await one.read_whole()

    @verb(drawn=False)
    async def rest(self, step: Step, bound: int) -> None:
        """Ask until nothing is open and all of the logs is stable, or time is up."""
        end = self._on.recorder.phase(self._campaign, REST, bound_s=bound / 1000)
        done = await self._until(self._nothing_open, bound)
        end(done=done)
        self.unsound = self.unsound or not done

    @verb(drawn=False)
    async def work(
        self,
        step: Step,
        seed: int,
        producers: int,
        log: str = "*",
        most: int = MOST,
        rests: float = 1000 * RESTS_S,
    ) -> None:
        """Let producers begin, send and end, each for itself, until they are to finish.

        Each has so many transactions at most (0: no end), and rests up to `rests` ms between two.
        """
        self._loads += 1
        names = [f"work{self._loads}-{number}" for number in range(producers)]
        load = TransactionalLoad(
            self._on,
            self._written(log),
            seed=seed,
            names=names,
            most=most,
            rests_s=rests / 1000,
        )
        self._ids |= dict.fromkeys(names)
        load.begin()
        self._at_work.append(load)

    @verb(drawn=False)
    async def linger(self, step: Step, timeout: int, log: str = "*") -> None:
        """Let a producer append within one transaction for longer than that may take."""
        self._loads += 1
        name = f"linger{self._loads}"
        load = LingeringTransaction(self._on, self._written(log), name=name, timeout_ms=timeout)
        self._ids[name] = None
        await load.begin()
        self._at_work.append(load)

    @verb(drawn=False)
    async def micro(self, step: Step, seed: int, clients: int, topic: str, most: int = 12) -> None:
        """Let clients send and poll within transactions on a topic that no other step is about."""
        logs = self._written(f"{topic}-*")
        for one in logs:
            del self._logs[one.name]
        self._loads += 1
        names = [f"micro{self._loads}-{number}" for number in range(clients)]
        load = MicroTransactions(self._on, logs, seed=seed, names=names, most=most)
        self._ids |= dict.fromkeys(names)
        load.begin()
        self._at_work.append(load)

    @verb(drawn=False)
    async def finish(self, step: Step, kind: str = "") -> None:
        """Let those that work finish what they began: all, or one kind (`work`, `micro`)."""
        over = [one for one in self._at_work if kind in ("", one.kind)]
        self._at_work = [one for one in self._at_work if one not in over]
        for load in over:
            await load.finish()

    @verb(drawn=False)
    async def close(self, step: Step) -> None:
        """Let every producer that has a transaction open, or is unsure of one, begin anew."""
        for one in self._producers.values():
            if one.transaction or one.unsure:
                await one.init()

    @verb(drawn=False)
    async def await_stable(self, step: Step, log: str) -> None:
        """Read the logs until no transaction is open in them, or time is up."""

        async def stable() -> bool:
            for one in self._written(log):
                await one.read_whole()
            return all(one.stable >= one.end for one in self._written(log))

        await self._until(stable, self._rest_ms)

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def _written(self, name: str) -> list[TransactionalLog]:
        return [one for one in self._named(name) if isinstance(one, TransactionalLog)]

    async def _of_group(
        self, wire: str, log: TransactionalLog, f: str, ask: Callable[..., Any], **more: Any
    ) -> bool:
        """Whether the coordinator of a group did what it was asked."""
        at = await self._coordinates(wire, GROUP)
        if at is None:
            return False
        about = {"topic": log.topic, "partition": log.partition, "group": wire, **more}
        outcome = await self._looked(at, f, lambda c: ask(c, wire, log.tp), **about)
        return outcome.type == "ok"

    async def _nothing_open(self) -> bool:
        """Ask all brokers, the coordinator of each id and the leader of each log."""
        closed = True
        for broker in self._on.brokers:
            told = await self._looked(broker, "list_transactions", transactions.list_transactions)
            listed = told.fields.get("transactions", [[None, _OPEN[0], 0]])
            closed = closed and not any(state in _OPEN for _, state, _ in listed)
        for one in self._ids:
            closed = await self._described(one) and closed
        for log in self._written("*"):
            if log.leader is None:
                await log.locate()
            told_of = await log.producers()
            known = told_of is not None and told_of.type == "ok"
            opened = [] if told_of is None else told_of.fields.get("producers", [])
            await log.read_whole()
            closed = closed and known and all(one[4] < 0 for one in opened)
            closed = closed and log.stable >= log.end
        return closed

    async def _described(self, name: str) -> bool:
        wire = self._on.recorder.topic(name)
        at = await self._coordinates(wire)
        if at is None:
            return False
        outcome = await self._looked(
            at,
            "describe_transactions",
            lambda client: transactions.describe_transaction(client, wire),
            transactional_id=wire,
        )
        return outcome.type == "ok" and outcome.fields["state"] not in _OPEN

    async def _coordinates(self, key: str, kind: int = transactions.TRANSACTION) -> int | None:
        for broker in self._on.brokers:
            client = RawClient(self._on.network, self._on.address(broker))
            try:
                return await transactions.find_coordinator(client, key, kind)
            except LOST:
                continue
            finally:
                client.abort()
        return None

    async def _looked(self, at: int, f: str, ask: Any, **about: Any) -> Outcome:
        """Ask a broker over the lab's own network, and record it."""
        on = self._on
        operation = on.recorder.invoke(BY, f, {"node": at, **about})
        client = RawClient(on.network, on.address(at))
        try:
            outcome: Outcome = await ask(client)
        except LOST:
            outcome = Outcome(classify(f, None), {"error": None})
        finally:
            client.abort()
        on.recorder.finish(operation, outcome.type, outcome.fields)
        return outcome
