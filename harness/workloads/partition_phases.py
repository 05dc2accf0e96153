"""The phases of a run on one partition, as steps of the lab.

    lab create       the topic, on all brokers
    lab converge     wait until the cluster is at rest
    lab progress     one request of each kind that clients need, each tried until it succeeds
    lab read-all     the log from its start to its end, at every broker
    lab wait ms=700  time passes; `rest-again` waits for rest, `idle` for clients

Every look and every attempt is recorded, so that rules can say what was seen last when the bound is
over. A cluster that does not come to rest, or whose clients make no progress, is waited for no more
and is hurt no more (`unsound`): what it still shows is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from harness.clients.admin import Leadership, Refused, create_topic
from harness.clients.answers import UnreadableAnswer
from harness.clients.raw import RawClient
from harness.deployments.at_rest import PAUSE_S, Rest, Watcher
from harness.steps.step import LAB, Step
from harness.steps.vocabulary import Vocabulary, verb
from harness.workloads.partition_load import ALL_REPLICAS, LATEST, PRODUCER_IDS, AtWork, Load
from harness.workloads.partition_log import PartitionClients

KEPT = 20  # of the latest records are not deleted
LAST_LOOKS = 20
LAST, WAITING = "lab-last", "lab-waiting"
WAIT_MS = 20_000  # that a reader would wait: longer than a client does
FINISHING = ("i1", "i2", "a", "b3")  # producers that finish in the end what they began
SKIPPED = "skipped"  # in what a step meant: why it was not carried out
NEED_TOPIC = ("converge", "progress", "read-all", "rest-again")
UNSOUND = "the cluster did not recover before"


class NoTopic(Exception):
    """There is no topic, and nothing to go on with; what was answered is in the history."""


class PhaseSteps(Vocabulary):
    """The phases of one partition. `campaign` is how they are called in the history."""

    actors: ClassVar[Sequence[str]] = (LAB,)

    def __init__(
        self,
        clients: PartitionClients,
        load: Load,
        at_work: AtWork,
        watcher: Watcher,
        *,
        campaign: str,
        bound_s: float,
    ) -> None:
        self.unsound = False
        self._clients = clients
        self._on = clients.on
        self._load = load
        self._at_work = at_work
        self._watcher = watcher
        self._campaign = campaign
        self._given_up = False
        self.rest = Rest(brokers=clients.on.brokers, ask=self._ask, bound_s=bound_s)

    @classmethod
    def follow_order(cls) -> Callable[[Step], None]:
        """A cluster without the topic never rests, which is not its fault."""
        created = False

        def follow(step: Step) -> None:
            nonlocal created
            created = created or step.verb == "create"
            if not created and step.verb in NEED_TOPIC:
                raise ValueError(f"{step.verb} is about a topic: lab create comes before it")

        return follow

    async def resolve(self, step: Step) -> Mapping[str, Any]:
        """A cluster that was not sound is not waited for again."""
        if step.verb == "converge":
            self._given_up = self.unsound
        waits = step.verb in ("converge", "progress", "rest-again")
        return {SKIPPED: UNSOUND} if waits and self._given_up else {}

    async def carry_out(self, step: Step, meant: Mapping[str, Any]) -> None:
        """Unless it is skipped."""
        if SKIPPED not in meant:
            await super().carry_out(step, meant)

    @verb(drawn=False)
    async def create(self, step: Step) -> None:
        """Create the topic with a replica on every broker."""
        brokers = self._on.brokers
        client = RawClient(self._on.network, self._on.address(brokers[0]))
        try:
            await create_topic(
                client,
                self._clients.tp.topic,
                assignments=[list(brokers)],
                configs={"min.insync.replicas": "2" if len(brokers) > 2 else "1"},
            )
        except UnreadableAnswer as nonsense:
            self._clients.heard_nonsense(brokers[0], "create_topics", nonsense)
            raise NoTopic(str(nonsense)) from None
        except (OSError, TimeoutError):
            raise Refused(f"broker {brokers[0]} does not answer CreateTopics") from None
        self._watcher.start()

    @verb(drawn=False)
    async def converge(self, step: Step) -> None:
        """Look until the cluster is at rest or the bound is over."""
        end = self._on.recorder.phase(self._campaign, "converge", bound_s=self.rest.bound_s)
        resting = await self.rest.wait()
        await self._look_at_nodes()
        end(at_rest=resting)
        self.unsound = self.unsound or not resting
        if resting:
            await self._watcher.look()

    @verb(drawn=False)
    async def progress(self, step: Step) -> None:
        """Try what clients need, each until it succeeds or the bound is over."""
        end = self._on.recorder.phase(self._campaign, "progress", bound_s=self.rest.bound_s)
        offsets: list[int] = []
        done = await self._appended(offsets)
        for by in () if self._load.on else FINISHING:
            done = await self._finished(by) and done
        asks = {"list_offsets": self._latest, "offset_for_leader_epoch": self._epoch_end}
        for f, ask in asks.items():
            done = (f in self._on.lacks or await self.rest.until_any(ask)) and done
        for offset in offsets:
            done = await self.rest.until_any(partial(self._read_back, offset)) and done
        done = await self.rest.until_any(self._awaited) and done
        end(done=done)
        self.unsound = self.unsound or not done

    @verb(drawn=False)
    async def read_all(self, step: Step) -> None:
        """Read the end of the log, then the log from its start to its end, at every broker."""
        end = self._on.recorder.phase(self._campaign, "final-reads")
        clients = self._clients
        for broker in self._on.brokers:
            await clients.read(LAST, broker, clients.end)
            for _ in range(LAST_LOOKS):  # a follower hears late how far the log is committed
                if await clients.read_all(LAST, broker) >= clients.end:
                    break
                await asyncio.sleep(PAUSE_S)
        end()

    @verb(drawn=False)
    async def wait(self, step: Step, ms: int) -> None:
        """Let time pass."""
        await asyncio.sleep(ms / 1000 * self._on.pace)

    @verb(drawn=False)
    async def rest_again(self, step: Step) -> None:
        """Wait for a cluster at rest where nothing is promised, as a fault may be in force."""
        await self.rest.wait()

    @verb(drawn=False)
    async def idle(self, step: Step) -> None:
        """Wait until no client has anything under way."""
        await self._at_work.idle()

    @verb(drawn=False)
    async def nodes(self, step: Step) -> None:
        """Record which nodes run, where that can be seen."""
        await self._look_at_nodes()

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    async def _look_at_nodes(self) -> None:
        rows = await self._on.probe("nodes") if "nodes" in self._on.probes else []
        if rows:
            self._on.recorder.probe("nodes", rows)

    def _ask(self, broker: int, look: int) -> Any:
        return self._clients.ask_leader(f"lab-{broker}", broker, look=look)

    async def _appended(self, offsets: list[int]) -> bool:
        """Append a record that all replicas have to take; its offset goes to the list."""

        async def append(ask: int) -> bool:
            offset = await self._clients.send(LAST, ask, acks=ALL_REPLICAS)
            offsets.extend([] if offset is None else [offset])
            return offset is not None

        return await self.rest.until_any(append)

    async def _finished(self, by: str) -> bool:
        """Let an idempotent producer try again what it has under way."""
        clients = self._clients

        async def finish(ask: int) -> bool:
            if clients.unfinished(by):
                await clients.send_idempotent(by, ask, producer_id=PRODUCER_IDS[by])
            return not clients.unfinished(by)

        return await self.rest.until_any(finish)

    async def _latest(self, ask: int) -> bool:
        return await self._clients.look(LAST, ask, LATEST) is not None

    async def _epoch_end(self, ask: int) -> bool:
        return await self._clients.ask_epoch_end(LAST, ask, 0)

    async def _awaited(self, ask: int) -> bool:
        """Wait at the end of the log for an append: a reader that waits hears of it."""
        self.rest.looks += 1
        seen: Leadership | None = await self._ask(ask, self.rest.looks)
        if seen is None or seen.leader not in self._on.brokers:
            return False
        end = self._clients.end
        reading = self._clients.read(WAITING, seen.leader, end, max_wait_ms=WAIT_MS)
        waiting = asyncio.get_running_loop().create_task(reading)
        await asyncio.sleep(PAUSE_S * self._on.pace)
        await self._clients.send(LAST, ask, acks=ALL_REPLICAS)
        return await waiting > end

    async def _read_back(self, offset: int, ask: int) -> bool:
        """Read what was appended, or what came after it, where a broker says the leader is."""
        self.rest.looks += 1
        seen: Leadership | None = await self._ask(ask, self.rest.looks)
        if seen is None or seen.leader not in self._on.brokers:
            return False
        start = max(offset, self._clients.end - KEPT)  # what is older may be deleted
        return await self._clients.read(LAST, seen.leader, start) > start
