"""Clients of one partition, in any deployment: each asks one thing at a time, and is recorded.

Each is a node of its own, with its own network. A client asks *some* broker who leads, and believes
it: a broker that was cut off or paused sends it to the past. What it learns nothing from is not
recorded as asked. Producers are plain, with one attempt for each send, or idempotent: they try one
sequence number again until they know what became of it. Values are unique, so that every copy in
the log can be told from every other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from harness.clients import operations
from harness.clients.admin import Leadership, leadership
from harness.clients.answers import UNREADABLE_ANSWER, UnreadableAnswer
from harness.clients.operations import NO_PRODUCER, Defect, TopicPartition
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment
from harness.history import classify
from harness.history.outcome import Outcome
from reference_impl.ports import Network

Result = TypeVar("Result")
EARLIEST = -2
UNSUPPORTED_VERSION = 35
LAB = "lab"  # how names of clients begin that use the lab's own network, and are no nodes
SPREAD_MS = (200, 0, 100)  # how old the records of a batch are
_WITH_EPOCH = ("list_offsets", "offset_for_leader_epoch")
_LOST = (OSError, TimeoutError)


def _unreadable(f: str, nonsense: UnreadableAnswer) -> Outcome:
    fields = {"error": UNREADABLE_ANSWER, "detail": str(nonsense)}
    return Outcome(classify(f, UNREADABLE_ANSWER), fields)


@dataclass(slots=True)
class _Trying:
    """A send of an idempotent producer whose fate is not known yet."""

    name: str
    sequence: int
    records: list[tuple[str, int]]
    attempt: int = 0
    known: bool = False  # it was acknowledged


@dataclass(slots=True, kw_only=True)
class PartitionClients:
    """What the clients of a partition share. ``end`` is beyond all that anybody heard of."""

    on: Deployment
    topic: str  # before the recorder adds what sets this run apart
    partition: int = 0
    tp: TopicPartition = field(init=False)
    timeout_s: float = 1.5
    end: int = 0
    sends: int = 0
    log_starts: dict[int, int] = field(default_factory=dict)  # by broker, as last heard
    stamps: list[int] = field(default_factory=list)  # of what was acknowledged: the latest of each
    _sequences: dict[str, int] = field(default_factory=dict)
    _trying: dict[str, list[_Trying]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tp = TopicPartition(self.on.recorder.topic(self.topic), self.partition)

    async def send(self, by: str, ask: int, *, acks: int) -> int | None:
        """Append a new record; its offset if it was acknowledged."""
        name = self._fresh()
        outcome = await self._produce(by, ask, name, [(f"{name}-0", self.on.now_ms())], acks=acks)
        known = outcome is not None and outcome.type == "ok"
        return int(outcome.fields["offset"]) if outcome is not None and known else None

    async def send_too_early(self, by: str, ask: int, *, producer_id: int) -> None:
        """Send two records of a producer before the two that come first, which were not sent.

        They must be refused, if anything of that producer was acknowledged before.
        """
        queue = self._trying.setdefault(by, [])
        if not queue:
            queue.append(self._next_of(by))
        early = self._next_of(by)
        await self._produce(
            by, ask, early.name, early.records, acks=-1, producer=(producer_id, 0, early.sequence)
        )

    async def send_idempotent(
        self, by: str, ask: int, *, producer_id: int, ahead: bool = False
    ) -> None:
        """Append the next two records of a producer, or try the last two again.

        A producer that looks ``ahead`` does not wait for those whose fate it does not know, and
        sends the two after them: they must not get in before, if anything of it was acknowledged
        already. A log that knows nothing of a producer takes what comes first.
        """
        queue = self._trying.setdefault(by, [])
        place = 1 if ahead and queue and queue[0].attempt and queue[0].sequence else 0
        if place == len(queue):
            queue.append(self._next_of(by))
        trying = queue[place]
        if trying.known:
            return
        outcome = await self._produce(
            by,
            ask,
            trying.name,
            trying.records,
            acks=-1,
            attempt=trying.attempt + 1,
            producer=(producer_id, 0, trying.sequence),
        )
        if outcome is not None:  # else no broker was asked
            trying.attempt += 1
            trying.known = outcome.type == "ok"
        while queue and queue[0].known:
            del queue[0]

    def unfinished(self, by: str) -> bool:
        """Whether an idempotent producer has something to try again, and nothing got in since."""
        queue = self._trying.get(by, [])
        return bool(queue) and not any(one.known for one in queue)

    def _next_of(self, by: str, count: int = 2) -> _Trying:
        name = self._fresh()
        records = [(f"{name}-{number}", self.on.now_ms()) for number in range(count)]
        sequence = self._sequences.get(by, 0)
        self._sequences[by] = sequence + len(records)
        return _Trying(name, sequence, records)

    async def send_spread(self, by: str, ask: int) -> None:
        """Append three records in one batch; their timestamps do not rise with their offsets."""
        name, now = self._fresh(), self.on.now_ms()
        records = [(f"{name}-{number}", now - ago) for number, ago in enumerate(SPREAD_MS)]
        await self._produce(by, ask, name, records, acks=-1)

    async def send_defective(self, by: str, ask: int, defect: Defect) -> None:
        """Send a batch that must be refused."""
        name = self._fresh()
        records = [(f"{name}-{number}", self.on.now_ms()) for number in range(3)]
        await self._produce(by, ask, name, records, acks=-1, defect=defect)

    async def send_blindly(
        self,
        by: str,
        at: int,
        *,
        producer_id: int,
        defect: Defect = Defect.NONE,
        once_connected: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Send the one batch of a producer, perhaps again, and ask no broker who leads.

        Where no answer comes through, the client never learns what became of it.
        """
        queue = self._trying.setdefault(by, [])
        if not queue:
            queue.append(self._next_of(by, 3))
        trying = queue[0]
        if trying.known and defect is Defect.NONE:
            return  # no producer sends again what was acknowledged
        trying.attempt += 1
        outcome = await self._produce_at(
            by,
            at,
            trying.name,
            trying.records,
            acks=-1,
            attempt=trying.attempt,
            producer=(producer_id, 0, trying.sequence),
            defect=defect,
            once_connected=once_connected,
        )
        # What must be refused is not to be finished later.
        trying.known = trying.known or outcome.type == "ok" or defect is not Defect.NONE

    async def read(self, by: str, at: int, offset: int, **limits: Any) -> int:
        """Read at a broker, whatever it is to the partition, in the leader epoch that it believes
        in, within the ``limits`` of a fetch; where to read on from."""
        seen = await self._leadership(by, at)
        if seen is None:
            return offset
        said: dict[str, Any] = {"offset": offset, "leader_epoch": seen.epoch}
        outcome = await self._asked(
            by,
            at,
            "fetch",
            lambda client: operations.fetch(client, self.tp, **said, **limits),
            **said,
            isolation="read_uncommitted",
        )
        if outcome.type != "ok":
            return offset
        self.end = max(self.end, int(outcome.fields["high_watermark"]))
        self.log_starts[at] = int(outcome.fields["log_start_offset"])
        records = outcome.fields["records"]
        return int(records[-1][0]) + 1 if records else offset

    async def look(self, by: str, ask: int, timestamp: int) -> int | None:
        """Ask the leader for an offset."""
        outcome = await self._at_leader(
            by,
            ask,
            "list_offsets",
            lambda client, epoch: operations.list_offsets(
                client, self.tp, timestamp=timestamp, leader_epoch=epoch
            ),
            timestamp=timestamp,
            isolation="read_uncommitted",
        )
        known = outcome is not None and outcome.type == "ok"
        return int(outcome.fields["offset"]) if outcome is not None and known else None

    async def ask_epoch_end(self, by: str, ask: int, back: int) -> bool:
        """Ask the leader where an epoch ended, its own or an earlier one; whether it said so."""
        seen = await self._leadership(by, ask)
        epoch = 0 if seen is None else max(0, seen.epoch - back)
        outcome = await self._at_leader(
            by,
            ask,
            "offset_for_leader_epoch",
            lambda client, current: operations.offset_for_leader_epoch(
                client, self.tp, epoch=epoch, current=current
            ),
            epoch=epoch,
        )
        return outcome is not None and outcome.type == "ok"

    async def delete(self, by: str, ask: int, offset: int) -> None:
        """Move the log start up to an offset."""
        await self._at_leader(
            by,
            ask,
            "delete_records",
            lambda client, _: operations.delete_records(client, self.tp, offset=offset),
            offset=offset,
        )

    async def ask_leader(self, by: str, at: int, *, look: int) -> Leadership | None:
        """Ask a broker who leads, and record what it says; None if it does not answer."""
        told: list[Leadership] = []

        async def ask(client: RawClient) -> Outcome:
            seen = await leadership(client, self.tp, timeout_s=self.timeout_s)
            told.append(seen)
            kind = classify("metadata", seen.error) if seen.error else "ok"
            fields = {"error": seen.error, "leader": seen.leader, "leader_epoch": seen.epoch}
            members = {"isr": [*seen.isr], "replicas": [*seen.replicas]}
            return Outcome(kind, {**fields, **members})

        await self._asked(by, at, "metadata", ask, look=look)
        return told[0] if told else None

    async def read_all(self, by: str, at: int, *, most: int = 10_000) -> int:
        """Read the log at one broker from its start to its end; which offset that was.

        A follower may have followed a deletion of which a new leader knows nothing.
        """
        start = await self.look(by, at, EARLIEST)
        offset, before = max(start or 0, self.log_starts.get(at, 0)), -1
        while offset != before and most > 0:
            before, offset, most = offset, await self.read(by, at, offset), most - 1
        return offset

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    async def _produce(
        self, by: str, ask: int, name: str, records: list[tuple[str, int]], **said: Any
    ) -> Outcome | None:
        """Produce where a broker says the leader is; None if it could not say."""
        seen = await self._leadership(by, ask)
        if seen is None or seen.leader < 0:
            return None
        return await self._produce_at(by, seen.leader, name, records, **said)

    async def _produce_at(
        self,
        by: str,
        at: int,
        name: str,
        records: list[tuple[str, int]],
        *,
        acks: int,
        attempt: int = 1,
        producer: tuple[int, int, int] = NO_PRODUCER,
        once_connected: Callable[[], Awaitable[None]] | None = None,
        **how: Any,
    ) -> Outcome:
        async def produce(client: RawClient) -> Outcome:
            if once_connected is not None:
                await client.connect()
                await once_connected()
            return await operations.produce(
                client,
                self.tp,
                records=records,
                acks=acks,
                producer=producer,
                **how,
            )

        said: dict[str, Any] = {"producer": list(producer)} if producer != NO_PRODUCER else {}
        said |= {"transaction": within.transaction} if (within := how.get("within")) else {}
        outcome = await self._asked(
            by,
            at,
            "produce",
            produce,
            send=name,
            attempt=attempt,
            acks=acks,
            records=[list(one) for one in records],
            **said,
        )
        if outcome.type == "ok":
            self.end = max(self.end, int(outcome.fields["offset"]) + len(records))
            self.stamps.append(max(timestamp for _, timestamp in records))
        return outcome

    async def _at_leader(
        self,
        by: str,
        ask: int,
        f: str,
        work: Callable[[RawClient, int], Awaitable[Outcome]],
        **arguments: Any,
    ) -> Outcome | None:
        """Ask whom a broker takes for the leader, in its epoch; None if it could not say."""
        seen = await self._leadership(by, ask)
        if seen is None or seen.leader < 0:
            return None
        if f in _WITH_EPOCH:
            arguments["leader_epoch"] = seen.epoch
        return await self._asked(
            by, seen.leader, f, lambda client: work(client, seen.epoch), **arguments
        )

    async def _leadership(self, by: str, ask: int) -> Leadership | None:
        def asked(client: RawClient) -> Awaitable[Leadership]:
            return leadership(client, self.tp, timeout_s=self.timeout_s)

        try:
            return await self._over_network(by, ask, asked)
        except UnreadableAnswer as nonsense:
            self.heard_nonsense(ask, "metadata", nonsense)
            return None
        except _LOST:
            return None

    def heard_nonsense(self, at: int, f: str, nonsense: UnreadableAnswer) -> None:
        """Record a request that would not be recorded if its answer could be read."""
        operation = self.on.recorder.invoke(f, f, self._about(at))
        outcome = _unreadable(f, nonsense)
        self.on.recorder.finish(operation, outcome.type, outcome.fields)

    async def _asked(
        self,
        by: str,
        at: int,
        f: str,
        work: Callable[[RawClient], Awaitable[Outcome]],
        **arguments: Any,
    ) -> Outcome:
        if f in self.on.lacks:
            return Outcome("fail", {"error": UNSUPPORTED_VERSION})
        operation = self.on.recorder.invoke(by, f, {**self._about(at), **arguments})
        try:
            outcome = await self._over_network(by, at, work)
        except UnreadableAnswer as nonsense:
            outcome = _unreadable(f, nonsense)
        except _LOST:
            outcome = Outcome(classify(f, None), {"error": None})
        self.on.recorder.finish(operation, outcome.type, outcome.fields)
        return outcome

    def _about(self, at: int) -> dict[str, Any]:
        return {"topic": self.topic, "partition": self.tp.partition, "node": at}

    async def _over_network(
        self, by: str, at: int, work: Callable[[RawClient], Awaitable[Result]]
    ) -> Result:
        """Talk to a broker over the network of a client, or the lab's own."""

        async def carried_out(network: Network) -> Result:
            client = RawClient(network, self.on.address(at))
            try:
                return await work(client)
            finally:
                client.abort()

        if by.startswith(LAB):
            return await carried_out(self.on.network)
        return await (await self.on.client(by)).kafka(carried_out)

    def _fresh(self) -> str:
        """A name for a send that no other has in this run: every driver has a topic of its own."""
        self.sends += 1
        return f"{self.topic}-{self.sends}"
