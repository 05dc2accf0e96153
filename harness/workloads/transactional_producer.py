"""A transactional producer that asks one thing at a time, every attempt recorded.

It believes what it was told last: of a zombie that is the past. What is answered with an error that
passes is asked again, until a bound; so is what is not answered. A send has one sequence number,
however often it is tried. Clients of transaction version 1 announce partitions and groups, those of
version 2 are given a new epoch by every end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from harness.clients import transactions
from harness.clients.answers import UNREADABLE_ANSWER, UnreadableAnswer
from harness.clients.raw import RawClient
from harness.clients.transactions import GROUP, TRANSACTION, Identity
from harness.deployments.deployment import Deployment
from harness.history import classify
from harness.history.outcome import Outcome
from harness.workloads.transactional_log import TransactionalLog
from reference_impl.ports import Network

Work = Callable[[RawClient], Awaitable[Outcome]]
PAUSE_S = 0.1
LOST = (OSError, TimeoutError)
# No answer; metadata is not there yet; a coordinator or leader moves; markers are on their way.
ELSEWHERE = (None, 15, 16)
ANOTHER_TURN = 4  # so often it is asked again before others are asked who coordinates
PASSES = (None, 3, 5, 6, 7, 13, 14, 15, 16, 19, 20, 51)


@dataclass(slots=True, kw_only=True)
class TransactionalProducer:
    """See the module. `transaction` is the one that it has begun; empty if there is none."""

    on: Deployment
    name: str
    id: str  # before the recorder adds what sets this run apart
    version: int = 2
    timeout_ms: int = 60_000
    patience_s: float = 3.0  # in which most of what passes has passed
    recorded: bool = True
    who: Identity = field(init=False)
    transaction: str = ""
    unsure: bool = False  # of what it sent or ended last
    _added: dict[str, None] = field(default_factory=dict)
    _sequences: dict[str, int] = field(default_factory=dict)
    _count: int = 0
    _sends: int = 0
    # By what they coordinate: a group and a transactional id may have one name.
    _coordinators: dict[tuple[int, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.who = Identity(transactional_id=self.on.recorder.topic(self.id), version=self.version)

    # ── transactions ─────────────────────────────────────────────────────────────────────────────

    async def init(self, *, same: bool = False) -> Outcome:
        """Begin anew; as the `same` producer it says who it was (KIP-360)."""
        bare = Identity(transactional_id=self.who.transactional_id, version=self.version)
        asks = self.who if same else bare
        outcome = await self._at_coordinator(
            "init_producer_id",
            lambda client: transactions.init_producer(client, asks, timeout_ms=self.timeout_ms),
            who=asks,
            timeout_ms=self.timeout_ms,
        )
        if outcome.type == "ok":
            self._becomes(outcome)
            self.transaction, self.unsure = "", False
            self._added.clear()
        return outcome

    def begin(self) -> str:
        """Begin a transaction, of which no broker hears yet."""
        self._count += 1
        self.transaction = f"{self.who.transactional_id}/{self.name}-{self._count}"
        self._added.clear()
        return self.transaction

    async def add(self, *logs: TransactionalLog) -> Outcome:
        """Announce partitions, as clients of version 1 do."""
        outcome = await self._at_coordinator(
            transactions.ADD_PARTITIONS,
            lambda client: transactions.add_partitions(client, self.who, [one.tp for one in logs]),
            added=[[one.tp.topic, one.partition] for one in logs],
        )
        if outcome.type == "ok":
            self._added |= dict.fromkeys(one.name for one in logs)
        return outcome

    async def send(
        self, log: TransactionalLog, many: int = 1, values: Sequence[str] = ()
    ) -> Outcome:
        """Append a batch to a partition of the transaction: these values, or new ones."""
        if self.version == 1 and log.name not in self._added:
            added = await self.add(log)
            if added.type != "ok":
                return added
        self._sends += 1
        send = f"{self.transaction or self.name}/{self._sends}"
        said = values or [f"{send}.{number}" for number in range(many)]
        records = [(value, self.on.now_ms()) for value in said]
        sequence = self._sequences.get(log.name, 0)
        outcome = await self._sent(log, send, records, sequence)
        if outcome.type == "ok":
            self._sequences[log.name] = sequence + len(records)
        self.unsure = self.unsure or outcome.type == "info"
        return outcome

    async def _sent(
        self, log: TransactionalLog, send: str, records: list[tuple[str, int]], sequence: int
    ) -> Outcome:
        attempt = 0

        async def tried() -> Outcome:
            nonlocal attempt
            if log.leader is None and await log.locate() is None:
                return Outcome("fail", {"error": None})
            assert log.leader is not None
            attempt += 1
            outcome = await self._ask(
                log.leader.leader,
                "produce",
                lambda client: transactions.produce(
                    client, self.who, log.tp, records=records, sequence=sequence
                ),
                topic=log.topic,
                partition=log.partition,
                send=send,
                attempt=attempt,
                acks=-1,
                producer=[self.who.producer_id, self.who.epoch, sequence],
                records=[list(one) for one in records],
                transaction=self.transaction,
                version=self.version,
            )
            if outcome.type != "ok":
                log.leader = None
            return outcome

        return await self._until_over(tried)

    async def send_offset(self, group: str, log: TransactionalLog, offset: int) -> Outcome:
        """Commit an offset of a group within the transaction."""
        wire = self.on.recorder.topic(group)
        if self.version == 1:
            added = await self._at_coordinator(
                transactions.ADD_OFFSETS,
                lambda client: transactions.add_offsets(client, self.who, wire),
                group=wire,
            )
            if added.type != "ok":
                return added
        outcome = await self._at_coordinator(
            "txn_offset_commit",
            lambda client: transactions.commit_offset(client, self.who, wire, log.tp, offset),
            key=wire,
            kind=GROUP,
            group=wire,
            offset=offset,
            topic=log.topic,
            partition=log.partition,
        )
        self.unsure = self.unsure or outcome.type == "info"
        return outcome

    async def end(self, *, commit: bool, once: bool = False) -> Outcome:
        """Commit or abort; asked once only, its answer may be lost."""
        outcome = await self._at_coordinator(
            "end_txn",
            lambda client: transactions.end(client, self.who, commit=commit),
            once=once,
            committed=commit,
        )
        if outcome.type == "ok" and self.version > 1:
            self._becomes(outcome)
        self.unsure = outcome.type != "ok"
        if outcome.type == "ok":
            self.transaction = ""
        return outcome

    async def ask_end(self, who: Identity, *, commit: bool) -> Outcome:
        """Ask for an end as someone else would, or as before; what is answered it does not heed."""
        return await self._at_coordinator(
            "end_txn",
            lambda client: transactions.end(client, who, commit=commit),
            who=who,
            committed=commit,
        )

    async def ask_init(self, who: Identity) -> Outcome:
        """Ask to begin anew as someone else would, or as before, without heeding the answer."""
        return await self._at_coordinator(
            "init_producer_id",
            lambda client: transactions.init_producer(client, who, timeout_ms=self.timeout_ms),
            who=who,
            timeout_ms=self.timeout_ms,
        )

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def _becomes(self, told: Outcome) -> None:
        before = (self.who.producer_id, self.who.epoch)
        given, epoch = int(told.fields["given_id"]), int(told.fields["given_epoch"])
        self.who = replace(self.who, producer_id=given, epoch=epoch)
        if before != (given, epoch):
            self._sequences.clear()

    async def _at_coordinator(
        self,
        f: str,
        work: Work,
        *,
        who: Identity | None = None,
        key: str = "",
        kind: int = TRANSACTION,
        once: bool = False,
        **about: Any,
    ) -> Outcome:
        asks = who or self.who

        async def tried() -> Outcome:
            at = await self._coordinates(key or asks.transactional_id, kind)
            if at is None:
                return Outcome("fail", {"error": None})
            outcome = await self._ask(
                at,
                f,
                work,
                transactional_id=asks.transactional_id,
                transaction=self.transaction,
                version=self.version,
                producer_id=asks.producer_id,
                producer_epoch=asks.epoch,
                **about,
            )
            if outcome.fields.get("error") in ELSEWHERE:
                self._coordinators.clear()
            return outcome

        return await tried() if once else await self._until_over(tried)

    async def _coordinates(self, key: str, kind: int) -> int | None:
        """The coordinator that is remembered, or as the first broker says that answers."""
        known = (kind, key)
        for broker in () if known in self._coordinators else self.on.brokers:
            try:
                found = await self._connected(
                    broker, lambda client: transactions.find_coordinator(client, key, kind)
                )
            except LOST:
                continue
            if found is not None:
                self._coordinators[known] = found
                break
        return self._coordinators.get(known)

    async def _until_over(self, tried: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Ask again while the answer is one that passes, or patience is at its end."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.patience_s * self.on.pace
        for turn in count(1):
            outcome = await tried()
            if outcome.type == "ok" or outcome.fields.get("error") not in PASSES:
                break
            if loop.time() >= deadline:
                break
            if turn % ANOTHER_TURN == 0:
                self._coordinators.clear()
            await asyncio.sleep(PAUSE_S * self.on.pace)
        return outcome

    async def _ask(self, at: int, f: str, work: Work, **about: Any) -> Outcome:
        recorder = self.on.recorder
        operation = recorder.invoke(self.name, f, {"node": at, **about}) if self.recorded else None
        try:
            outcome: Outcome = await self._connected(at, work)
        except UnreadableAnswer as nonsense:
            fields = {"error": UNREADABLE_ANSWER, "detail": str(nonsense)}
            outcome = Outcome(classify(f, UNREADABLE_ANSWER), fields)
        except LOST:
            outcome = Outcome(classify(f, None), {"error": None})
        if operation is not None:
            recorder.finish(operation, outcome.type, outcome.fields)
        return outcome

    async def _connected(self, at: int, work: Callable[[RawClient], Awaitable[Any]]) -> Any:
        async def over(network: Network) -> Any:
            client = RawClient(network, self.on.address(at))
            try:
                return await work(client)
            finally:
                client.abort()

        return await (await self.on.client(self.name)).kafka(over)
