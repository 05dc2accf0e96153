"""Transactions on tiered partitions, by steps of the actor `tiers`:

tiers transact         log=paid-* by=one batches=2 end=commit      commit, abort, open
                       version=2                                   whose ends bump its epoch
tiers end-transaction  by=one end=abort                            of what was left open
tiers committed        log=paid-*                                  read at every replica
tiers committed-from   log=paid-*                                  at the leader, from each batch on
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from harness.clients import transactions
from harness.clients.operations import Within
from harness.clients.raw import RawClient
from harness.clients.transactions import Identity
from harness.history.outcome import Outcome
from harness.steps.step import Step
from harness.steps.vocabulary import verb
from harness.workloads.edge_log import BY
from harness.workloads.edge_steps import LOST
from harness.workloads.tier_log import LATEST, TierLog
from harness.workloads.tier_reads import TierReads

LASTS_MS = 600_000  # a transaction; longer than any run
TRIES, PAUSE_S = 40, 0.25


@dataclass(slots=True, kw_only=True)
class TransactionalProducer:
    """A producer with a transactional id: what its coordinator gave it, and how far it is."""

    who: Identity
    number: int = 0  # of its transactions
    within: list[str] = field(default_factory=list)  # the logs that take part
    sequences: dict[str, int] = field(default_factory=dict)

    @property
    def transaction(self) -> str:
        """The transaction that is going on, by a name of its own."""
        return f"{self.who.transactional_id}-{self.number}"


class TierTransactions(TierReads):
    """Transactional producers, and readers of what they commit."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._producers: dict[str, TransactionalProducer] = {}

    @verb(drawn=False)
    async def transact(
        self, step: Step, log: str, by: str, batches: int, end: str, version: int = 1
    ) -> None:
        """Append batches of two records within one transaction, and end it or leave it open."""
        who = Identity(transactional_id=f"{self._campaign}-{by}", version=version)
        one = self._producers.setdefault(by, TransactionalProducer(who=who))
        if one.who.producer_id < 0 and not await self._begun(one):
            return
        for each in self._tiers(log):
            for _ in range(batches):
                await self._appended(one, each)
        await self._ended(one, end)

    @verb(drawn=False)
    async def end_transaction(self, step: Step, by: str, end: str) -> None:
        """End the transaction that a producer left open."""
        if by in self._producers:
            await self._ended(self._producers[by], end)

    @verb(drawn=False)
    async def committed(self, step: Step, log: str) -> None:
        """Read what is committed, at every replica, and everything at the leader."""
        for one in self._tiers(log):
            await one.bounds()
            await one.search(LATEST)
            for broker in self._on.brokers:
                await self._read_transactions(one, at=broker, committed=True)
            await self._read_transactions(one, at=-1, committed=False)

    @verb(drawn=False)
    async def committed_from(self, step: Step, log: str) -> None:
        """Read what is committed at the leader, from each batch on, whatever it is part of."""
        for one in self._tiers(log):
            for batch in one.batches:
                await one.fetch(batch.offset, committed=True)

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    async def _begun(self, one: TransactionalProducer) -> bool:
        found = await self._asked_coordinator(
            one,
            lambda client: transactions.init_producer(client, one.who, timeout_ms=LASTS_MS),
        )
        if found is not None:
            given = found.fields
            one.who = replace(one.who, producer_id=given["given_id"], epoch=given["given_epoch"])
        return found is not None

    async def _appended(self, one: TransactionalProducer, log: TierLog) -> None:
        name = f"{log.topic}-{log.partition}"
        if name not in one.within and one.who.version == 1:
            added = await self._asked_coordinator(
                one, lambda client: transactions.add_partitions(client, one.who, (log.tp,))
            )
            if added is None:
                return
        if name not in one.within:
            one.within.append(name)
        sequence = one.sequences.get(name, 0)
        within = Within(
            transactional_id=one.who.transactional_id,
            transaction=one.transaction,
            version=one.who.version,
        )
        stamps = [self._on.now_ms()] * 2
        producer = (one.who.producer_id, one.who.epoch, sequence)
        outcome = await log.append(stamps, producer=producer, within=within)
        if outcome is not None and outcome.type == "ok":
            one.sequences[name] = sequence + len(stamps)

    async def _ended(self, one: TransactionalProducer, how: str) -> None:
        if how == "open" or not one.within:
            return
        committed = how == "commit"
        asked = {"transaction": one.transaction, "committed": committed}
        node = self._on.brokers[0]
        operation = self._on.recorder.invoke(BY, "end_txn", {**asked, "node": node})
        found = await self._asked_coordinator(
            one, lambda client: transactions.end(client, one.who, commit=committed)
        )
        outcome = found or Outcome("info", {"error": None})
        self._on.recorder.finish(operation, outcome.type, outcome.fields)
        if one.who.version > 1:
            told = outcome.fields  # who is not told begins anew
            given, epoch = told.get("given_id", -1), told.get("given_epoch", -1)
            one.who = replace(one.who, producer_id=given, epoch=epoch)
            one.sequences.clear()
        one.number += 1
        one.within.clear()

    async def _asked_coordinator(
        self, one: TransactionalProducer, ask: Callable[[RawClient], Awaitable[Outcome]]
    ) -> Outcome | None:
        """Ask the coordinator until it does it; None if it does not within the tries."""
        on = self._on
        for number in range(TRIES):
            client = RawClient(on.network, on.address(on.brokers[number % len(on.brokers)]))
            try:
                node = await transactions.find_coordinator(client, one.who.transactional_id)
                if node is not None:
                    client.abort()
                    client = RawClient(on.network, on.address(node))
                    outcome = await ask(client)
                    if outcome.type == "ok":
                        return outcome
            except (*LOST, KeyError):
                pass
            finally:
                client.abort()
            await asyncio.sleep(PAUSE_S * on.pace)
        return None

    async def _read_transactions(self, log: TierLog, *, at: int, committed: bool) -> None:
        """From the log start to the end of what such a reader sees; markers are passed over."""
        offset, tries = log.log_start, 0
        while tries < TRIES:
            outcome = await log.fetch(offset, at=at, committed=committed)
            if outcome is None or outcome.fields.get("error") is None:
                return
            if outcome.type == "ok" and outcome.fields["bytes"]:
                records = outcome.fields["records"]
                offset = (int(records[-1][0]) if records else offset) + 1
            bound = "last_stable_offset" if committed else "high_watermark"
            if offset >= int(outcome.fields.get(bound, offset + 1)):
                if committed and offset < int(outcome.fields.get("high_watermark", offset)):
                    await log.fetch(offset, at=at, committed=True)  # what is open, if it is shown
                return
            if outcome.type == "ok" and outcome.fields["bytes"]:
                continue
            tries += 1
            await asyncio.sleep(PAUSE_S * self._on.pace)
