"""What clients of one partition do by steps: alone, one thing after the other, or all at once.

    a        append  what=plain ask=broker-1      one client, waited for
    clients  send    ask=broker-1 acks=-1 ms=100  all producers that are idle; 100 ms pass
    load     begin   mix=many seed=1              clients that go on until `load end`

A client asks a broker who leads (`ask`), or asks a broker itself (`at`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from harness.clients.admin import elect_preferred
from harness.clients.operations import Defect
from harness.clients.raw import RawClient
from harness.deployments.at_rest import Elections
from harness.deployments.deployment import Role
from harness.deployments.plan import broker_id
from harness.errors import UsageError
from harness.steps.step import LOAD, Step
from harness.steps.vocabulary import Vocabulary, verb
from harness.workloads.partition_load import (
    ALL_REPLICAS,
    EARLIEST,
    IDEMPOTENT,
    LATEST,
    LEADER_ALONE,
    MAX_TIMESTAMP,
    PRODUCER_IDS,
    PRODUCERS,
    AtWork,
    Load,
)
from harness.workloads.partition_log import PartitionClients

A_WHILE = (0, 10, 100, 700)  # milliseconds
PATIENCE_S = 10.0  # for one request
CLIENTS = "clients"
_LOST = (OSError, TimeoutError)


def a_broker(trial: Any) -> Sequence[str]:
    """One of the brokers of a trial."""
    names: Sequence[str] = trial.system.nodes(Role.BROKER)
    return names


class PartitionSteps(Vocabulary):
    """One client does one thing; the step is over when that is."""

    def __init__(self, clients: PartitionClients, at_work: AtWork, elections: Elections) -> None:
        self._clients = clients
        self._at_work = at_work
        self._elections = elections

    @verb(drawn=False)
    async def append(self, step: Step, what: str, ask: str) -> None:
        """Append something, and hear what became of it."""
        clients, by, at = self._clients, step.actor, broker_id(ask)
        kinds: dict[str, Callable[[], Awaitable[object]]] = {
            "plain": lambda: clients.send(by, at, acks=ALL_REPLICAS),
            "leader": lambda: clients.send(by, at, acks=LEADER_ALONE),
            "spread": lambda: clients.send_spread(by, at),
            "torn": lambda: clients.send_defective(by, at, Defect.TORN),
            "misnumbered": lambda: clients.send_defective(by, at, Defect.MISNUMBERED),
            "idempotent": lambda: clients.send_idempotent(by, at, producer_id=_producer_id(by)),
            "early": lambda: clients.send_too_early(by, at, producer_id=_producer_id(by)),
        }
        if what not in kinds:
            raise UsageError(f"no client appends {what!r}; there are {', '.join(kinds)}")
        await self._do(by, kinds[what])

    @verb(drawn=False)
    async def append_blindly(
        self, step: Step, at: str, defect: str = "none", answered: bool = False
    ) -> None:
        """Send the one batch of a producer, perhaps again; unless `answered`, no answer comes."""
        by, on = step.actor, self._clients.on
        send = partial(
            self._clients.send_blindly,
            by,
            broker_id(at),
            producer_id=_producer_id(by),
            defect=Defect(defect),
        )
        if answered:
            await self._do(by, send)
            return
        node = (await on.client(by)).node
        fault = on.recorder.begin_fault("cut", f"{at} → {node}")
        cut: list[Any] = []

        async def silence() -> None:
            cut.append(await on.levers.cut([at], [node], both=False))

        await self._do(by, lambda: send(once_connected=silence))
        for lever in cut:
            if lever.counts.get("deliveries_held"):
                on.recorder.landed(fault, lever.counts)
        on.recorder.end_fault(fault, cut[0].counts if cut else {})
        for lever in cut:
            await lever.release()

    @verb(drawn=False)
    async def fetch(self, step: Step, at: str, offset: int = 0, max_bytes: int = 1 << 20) -> None:
        """Read from an offset."""
        read = partial(self._clients.read, step.actor, broker_id(at), offset, max_bytes=max_bytes)
        await self._do(step.actor, read)

    @verb(drawn=False)
    async def list_offset(self, step: Step, ask: str, timestamp: int) -> None:
        """Ask for an offset by a timestamp, or for one that has a name (-1, -2, -3)."""
        look = partial(self._clients.look, step.actor, broker_id(ask), timestamp)
        await self._do(step.actor, look)

    @verb(drawn=False)
    async def find_time(self, step: Step, ask: str, which: int, later: int = 0) -> None:
        """Look for the latest timestamp of an append, or for one beside it."""
        stamps = self._clients.stamps
        if stamps:
            await self.list_offset(step, ask, stamps[which % len(stamps)] + later)

    @verb(drawn=False)
    async def find_epoch(self, step: Step, ask: str, back: int) -> None:
        """Ask where an epoch ended: the last, or an earlier one."""
        found = partial(self._clients.ask_epoch_end, step.actor, broker_id(ask), back)
        await self._do(step.actor, found)

    @verb(drawn=False)
    async def delete_to(self, step: Step, ask: str, offset: int) -> None:
        """Delete what is below an offset."""
        await self._do(
            step.actor, partial(self._clients.delete, step.actor, broker_id(ask), offset)
        )

    @verb(drawn=False)
    async def elect_preferred(self, step: Step, ask: str) -> None:
        """Ask for the preferred leader."""
        await self._do(step.actor, partial(self.elect, step.actor, broker_id(ask)))

    async def elect(self, by: str, ask: int) -> None:
        """Ask for the preferred leader; a deposed leader may not know it for a while."""
        clients = self._clients
        self._elections.begin(clients.topic)
        client = await clients.on.client(by)
        with suppress(*_LOST):
            await client.kafka(
                lambda network: elect_preferred(
                    RawClient(network, clients.on.address(ask)), clients.tp, timeout_s=1.0
                )
            )

    async def _do(self, by: str, work: Callable[[], Awaitable[object]]) -> None:
        """Wait for it, but not for ever: a client may stand still, and goes on later."""
        doing = asyncio.ensure_future(self._at_work.do(by, work))
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S * self._clients.on.pace):
                await asyncio.shield(doing)


class ClientsSteps(Vocabulary):
    """All clients that are idle begin something, and some time passes."""

    actors: ClassVar[Sequence[str]] = (CLIENTS,)

    def __init__(
        self, alone: PartitionSteps, clients: PartitionClients, load: Load, at_work: AtWork
    ) -> None:
        self._alone = alone
        self._clients = clients
        self._load = load
        self._start = at_work.start

    @verb(ask=a_broker, acks=(-1, 1), ms=A_WHILE)
    async def send(self, step: Step, ask: str, acks: int, ms: int) -> None:
        """Every producer appends something, where one broker says the leader is."""
        self.send_all(ask, acks)
        await self._pass(ms)

    @verb(back=(0, 1, 4, 1000), ms=A_WHILE)
    async def read(self, step: Step, back: int, ms: int) -> None:
        """Consumers read, one at each broker, whatever it is to the partition."""
        self._load.read_everywhere(max(0, self._clients.end - back))
        await self._pass(ms)

    @verb(ask=a_broker, back=(0, 1, 2), ms=A_WHILE)
    async def look(self, step: Step, ask: str, back: int, ms: int) -> None:
        """Ask for offsets: of the ends, of times, of epochs."""
        clients, at = self._clients, broker_id(ask)
        for by, timestamp in {
            "latest": LATEST,
            "earliest": EARLIEST,
            "max": MAX_TIMESTAMP,
            "ago": clients.on.now_ms() - 100 * back,
        }.items():
            self._start(by, partial(clients.look, by, at, timestamp))
        self._start("epochs", partial(clients.ask_epoch_end, "epochs", at, back))
        await self._pass(ms)

    @verb(ask=a_broker, back=(1, 4), ms=A_WHILE)
    async def delete(self, step: Step, ask: str, back: int, ms: int) -> None:
        """Delete what is old, and send what must be refused."""
        clients, at, offset = self._clients, broker_id(ask), self._clients.end - back
        if offset > 0:
            self._start("deleter", partial(clients.delete, "deleter", at, offset))
        self._start("torn", partial(clients.send_defective, "torn", at, Defect.TORN))
        await self._pass(ms)

    @verb(ask=a_broker, ms=A_WHILE)
    async def elect(self, step: Step, ask: str, ms: int) -> None:
        """Ask for the preferred leader, while producers send."""
        self.send_all(ask, ALL_REPLICAS)
        self._start("e1", partial(self._alone.elect, "e1", broker_id(ask)))
        await self._pass(ms)

    def send_all(self, ask: str, acks: int = ALL_REPLICAS) -> None:
        """Every producer that is idle sends."""
        clients, at = self._clients, broker_id(ask)
        for by in PRODUCERS:
            self._start(by, partial(clients.send, by, at, acks=acks))
        for by in IDEMPOTENT:
            send = partial(clients.send_idempotent, by, at, producer_id=PRODUCER_IDS[by])
            self._start(by, send)

    async def _pass(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000 * self._clients.on.pace)


class LoadSteps(Vocabulary):
    """Clients that go on working while other steps are played."""

    actors: ClassVar[Sequence[str]] = (LOAD,)

    def __init__(self, load: Load, clients: PartitionClients, campaign: str) -> None:
        self._load = load
        self._phase = partial(clients.on.recorder.phase, campaign, "load")
        self._ended: Callable[[], None] | None = None

    @verb(drawn=False)
    async def begin(self, step: Step, mix: str, seed: int, pace: float = 1.0) -> None:
        """Let the clients of a mix begin."""
        if not self._load.on:
            self._ended = self._phase()
            self._load.begin(mix, seed, pace)

    @verb(drawn=False)
    async def end(self, step: Step) -> None:
        """Let every client finish what it does."""
        await self._load.end()
        if self._ended is not None:
            self._ended()
            self._ended = None


def _producer_id(by: str) -> int:
    if by not in PRODUCER_IDS:
        raise UsageError(f"{by} has no producer id; those that have: {', '.join(PRODUCER_IDS)}")
    return PRODUCER_IDS[by]
