"""A replicated register over the ports: some nodes, one of them leading, and one value.

What is promised: reads, writes and compare-and-set are linearizable, whatever happens to nodes and
links, as long as a disk gives back what it synced. While a majority is up and its members reach
each other, requests to the leader are answered; any other node names the one it takes for leader.

What a node decides is in ``register_decisions``, what it keeps in ``register_journal``; here is
what it does. Whatever changes its state or its disk takes its *turn*, one after the other; state is
changed after the disk. A node whose disk fails stops.

Messages are JSON with their length before it. Each node calls each other one over a connection of
its own, one call at a time; a call that takes too long is given up with its connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import astuple, dataclass, field
from typing import Any

import register_decisions as decide
from register_decisions import Entry, Promise, Role, Tip, tip_of
from register_journal import Journal

from harness.simulation.node import Program
from reference_impl.ports import Address, Connection, Network, Ports

HEARTBEAT_S = 0.12
ELECTION_S = 0.3  # at least; at most twice as long
CALL_S = 0.3  # from one node to another
REQUEST_S = 1.5  # how long a client's request may wait for other nodes
IDLE_S = 10.0  # how long a connection may be silent

Message = dict[str, Any]


async def send_message(connection: Connection, message: Message) -> None:
    """Its length, then itself."""
    data = json.dumps(message, separators=(",", ":")).encode()
    await connection.send(len(data).to_bytes(4, "big") + data)


async def read_message(connection: Connection) -> Message:
    """The next one."""
    size = int.from_bytes(await connection.read_exactly(4), "big")
    message: Message = json.loads(await connection.read_exactly(size))
    return message


class Unreached(ConnectionError):
    """There was no connection, so nothing was asked."""


async def ask(network: Network, address: Address, request: Message, *, within_s: float) -> Message:
    """What a client does: one request over a connection of its own."""
    async with asyncio.timeout(within_s):
        try:
            connection = await network.connect(address)
        except OSError as problem:
            raise Unreached(str(problem)) from problem
        try:
            await send_message(connection, request)
            return await read_message(connection)
        finally:
            connection.abort()


def register_node(
    members: Mapping[str, Address], herald: Callable[[str], None] = lambda name: None
) -> Program:
    """The program of each node of a cluster; the herald is told who begins to lead."""

    async def run(ports: Ports) -> None:
        with suppress(_DiskFailed):
            await Replica(ports, members, herald).run()

    return run


class _DiskFailed(Exception):
    """This process may not go on."""


@dataclass(slots=True, kw_only=True)
class _Peer:
    """Another node, as this one sees it."""

    name: str
    address: Address
    news: asyncio.Event = field(default_factory=asyncio.Event)
    connection: Connection | None = None
    stood_in: int = 0  # the epoch in which it last answered a candidate
    match: int = 0  # up to where its log is known to be the leader's
    next: int = 1  # the entry it is sent next
    confirmed: int = 0  # the last round in which it took this node for leader


class Replica:
    """One life of one node."""

    def __init__(
        self, ports: Ports, members: Mapping[str, Address], herald: Callable[[str], None]
    ) -> None:
        self._ports = ports
        self._herald = herald
        self._name = ports.name
        self._address = members[ports.name]
        self._replicas = len(members)
        others = {name: at for name, at in members.items() if name != ports.name}
        self._peers = {name: _Peer(name=name, address=at) for name, at in others.items()}
        self._lock = asyncio.Lock()
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lively = asyncio.Event()  # somebody leads, or may soon
        self._promise = Promise()
        self._log: list[Entry] = []
        self._role = Role.FOLLOWER
        self._leader: str | None = None
        self._votes: list[str] = []
        self._opening = 0  # the index of the entry with which this leader began
        self._round = 0
        self._committed = 0
        self._value: Any = None
        self._writes: dict[int, tuple[int, asyncio.Future[Message]]] = {}
        self._reads: list[tuple[int, int, asyncio.Future[Message]]] = []

    async def run(self) -> None:
        """Until the disk fails or somebody ends the process."""
        try:
            self._journal, self._promise, self._log = await Journal.recover(self._ports.disk)
        except OSError as error:
            raise _DiskFailed from error
        await self._ports.network.listen(self._address, self._serve)
        loop = asyncio.get_running_loop()
        work = [self._stand_for_election(), *(self._talk(peer) for peer in self._peers.values())]
        self._tasks = [loop.create_task(self._minded(one)) for one in work]
        await self._end

    async def _minded(self, work: Coroutine[Any, Any, None]) -> None:
        """A node goes on with all of its parts or not at all."""
        try:
            await work
        except Exception as problem:
            self._give_up(problem)

    def _give_up(self, problem: Exception) -> None:
        if not self._end.done():
            self._end.set_exception(problem)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Alone with state and disk. Nothing here may be cancelled in the middle."""
        async with self._lock:
            if self._end.done():
                raise _DiskFailed
            try:
                yield
            except OSError as error:
                self._give_up(_DiskFailed(str(error)))
                raise _DiskFailed from error

    # Elections.

    async def _stand_for_election(self) -> None:
        patience_s = self._patience_s()
        while True:
            self._lively.clear()
            try:
                async with asyncio.timeout(patience_s):
                    await self._lively.wait()
            except TimeoutError:
                if self._role is not Role.LEADER:
                    await self._stand()
                    patience_s = self._patience_s()

    def _patience_s(self) -> float:
        return ELECTION_S * (1 + self._ports.rng.random())

    async def _stand(self) -> None:
        async with self._turn():
            epoch = decide.epoch_to_stand_in(self._promise.epoch)
            await self._promise_to(Promise(epoch, self._name))
            self._role, self._leader, self._votes = Role.CANDIDATE, None, [self._name]
        self._tell_peers()

    async def _promise_to(self, promise: Promise) -> None:
        """Hold to this from now on; in a newer epoch nobody leads yet."""
        if promise != self._promise:
            await self._journal.promise(promise)
        if promise.epoch > self._promise.epoch:
            self._role, self._leader = decide.role_in_a_newer_epoch(self._role), None
        self._promise = promise
        self._settle()

    async def _hear(self, epoch: int) -> None:
        """Somebody knows this epoch."""
        if epoch > self._promise.epoch:
            await self._promise_to(Promise(epoch))

    async def _on_vote(self, request: Message) -> Message:
        epoch, candidate = request["epoch"], request["from"]
        async with self._turn():
            promise = Promise(epoch) if epoch > self._promise.epoch else self._promise
            granted = epoch == promise.epoch and decide.grants_vote(
                promise, candidate, Tip(*request["tip"]), tip_of(self._log)
            )
            await self._promise_to(Promise(epoch, candidate) if granted else promise)
            if granted:
                self._lively.set()
            return {"epoch": promise.epoch, "granted": granted}

    async def _lead(self) -> None:
        await self._write(len(self._log), [Entry(self._promise.epoch, None)])
        self._role, self._leader, self._opening = Role.LEADER, self._name, len(self._log)
        for peer in self._peers.values():
            peer.match, peer.next, peer.confirmed = 0, self._opening, 0
        self._herald(self._name)

    # The log.

    async def _write(self, keep: int, entries: Sequence[Entry]) -> None:
        await self._journal.write(keep, entries)
        self._log[keep:] = entries

    async def _on_append(self, request: Message) -> Message:
        epoch, previous = request["epoch"], Tip(*request["previous"])
        async with self._turn():
            if not decide.heeds_leader(self._promise.epoch, epoch):
                return {"epoch": self._promise.epoch}
            await self._hear(epoch)
            self._role, self._leader = Role.FOLLOWER, request["from"]
            self._lively.set()
            answer = {"epoch": epoch, "match": None, "end": len(self._log)}
            if decide.fits_behind(self._log, previous):
                sent = [Entry(*one) for one in request["entries"]]
                keep = decide.entries_kept(self._log, previous.index, sent)
                fresh = sent[keep - previous.index :]
                if fresh or keep < len(self._log):
                    await self._write(keep, fresh)
                answer["match"] = match = previous.index + len(sent)
                self._commit(min(request["committed"], match))
            self._settle()
            return answer

    def _commit(self, index: int) -> None:
        """Carry out what is committed, and tell whoever waits for it."""
        while self._committed < index:
            entry = self._log[self._committed]
            self._committed += 1
            self._value, fits = decide.carried_out(self._value, entry.command)
            epoch, waiting = self._writes.pop(self._committed, (0, None))
            if waiting is not None and not waiting.done():
                # An entry of another epoch in its place: that one will never be committed.
                done = fits and epoch == entry.epoch
                waiting.set_result({"done": done, "by": self._name})

    def _settle(self) -> None:
        """Look what can be committed and answered now."""
        if self._role is Role.LEADER:
            matches = sorted([len(self._log), *(peer.match for peer in self._peers.values())])
            index = matches[-decide.replicas_to_commit(self._replicas)]
            epoch = self._promise.epoch
            self._commit(decide.commit_index(self._log, index, epoch, self._committed))
        waiting, self._reads = self._reads, []
        for asked, index, answer in waiting:
            if answer.done():
                continue  # nobody waits for it any more
            if self._role is not Role.LEADER:
                answer.set_result(self._refusal())
            elif self._committed >= index and decide.serves_read(asked, self._confirmed()):
                answer.set_result({"done": True, "value": self._value, "by": self._name})
            else:
                self._reads.append((asked, index, answer))

    def _confirmed(self) -> int:
        rounds = sorted([self._round, *(peer.confirmed for peer in self._peers.values())])
        return rounds[-decide.majority(self._replicas)]

    # Other nodes.

    def _tell_peers(self) -> None:
        for peer in self._peers.values():
            peer.news.set()

    async def _talk(self, peer: _Peer) -> None:
        """Call a peer whenever there is something to say, and now and then while leading."""
        while True:
            peer.news.clear()
            request = self._request_to(peer)
            reply = None if request is None else await self._call(peer, request)
            more = request and reply and await self._on_reply(peer, request, reply)
            if not more:
                with suppress(TimeoutError):
                    async with asyncio.timeout(HEARTBEAT_S):
                        await peer.news.wait()

    def _request_to(self, peer: _Peer) -> Message | None:
        common = {"epoch": self._promise.epoch, "from": self._name}
        if self._role is Role.CANDIDATE and peer.stood_in < self._promise.epoch:
            return {"ask": "vote", **common, "tip": astuple(tip_of(self._log))}
        if self._role is not Role.LEADER:
            return None
        before = self._log[: peer.next - 1]
        entries = self._log[peer.next - 1 : peer.next]  # one at a time
        return {
            "ask": "append",
            **common,
            "round": self._round,
            "previous": astuple(tip_of(before)),
            "entries": [astuple(entry) for entry in entries],
            "committed": self._committed,
        }

    async def _call(self, peer: _Peer, request: Message) -> Message | None:
        try:
            async with asyncio.timeout(CALL_S):
                if peer.connection is None:
                    peer.connection = await self._ports.network.connect(peer.address)
                await send_message(peer.connection, request)
                return await read_message(peer.connection)
        except OSError:
            if peer.connection is not None:
                peer.connection.abort()
                peer.connection = None
            return None

    async def _on_reply(self, peer: _Peer, request: Message, reply: Message) -> bool:
        """Take a peer's word; whether there is more to say to it at once."""
        async with self._turn():
            await self._hear(reply["epoch"])
            if not request["epoch"] == reply["epoch"] == self._promise.epoch:
                return False
            if request["ask"] == "vote":
                peer.stood_in = request["epoch"]
                await self._count_vote(peer, granted=reply["granted"])
            elif self._role is Role.LEADER:
                self._take_match(peer, request, reply)
            self._settle()
            leading = self._role is Role.LEADER
            return leading and (peer.next <= len(self._log) or peer.confirmed < self._round)

    async def _count_vote(self, peer: _Peer, *, granted: bool) -> None:
        if granted and self._role is Role.CANDIDATE:
            self._votes.append(peer.name)
            if len(self._votes) >= decide.votes_to_lead(self._replicas):
                await self._lead()
                self._tell_peers()

    def _take_match(self, peer: _Peer, request: Message, reply: Message) -> None:
        peer.confirmed = max(peer.confirmed, request["round"])
        if reply["match"] is None:
            peer.next = max(peer.match, min(request["previous"][1] - 1, reply["end"])) + 1
        else:
            peer.match = max(peer.match, reply["match"])
            peer.next = peer.match + 1

    # Whoever connects.

    async def _serve(self, connection: Connection) -> None:
        """Answer one request after the other."""
        with suppress(OSError, _DiskFailed):
            while True:
                async with asyncio.timeout(IDLE_S):
                    request = await read_message(connection)
                answer = await self._answer(request)
                async with asyncio.timeout(CALL_S):
                    await send_message(connection, answer)

    async def _answer(self, request: Message) -> Message:
        match request:
            case {"ask": "vote"}:
                return await self._on_vote(request)
            case {"ask": "append"}:
                return await self._on_append(request)
            case {"ask": "read"}:
                waiting = self._read()
            case _:
                waiting = await self._change(request["command"])
        try:
            async with asyncio.timeout(REQUEST_S):
                return await waiting
        except TimeoutError:
            return {"done": None, "by": self._name}

    def _refusal(self) -> Message:
        """Nothing was done and nothing will be."""
        return {"done": False, "leader": self._leader, "by": self._name}

    def _read(self) -> asyncio.Future[Message]:
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._round += 1
        index = decide.read_index(self._committed, self._opening)
        self._reads.append((self._round, index, answer))
        self._settle()
        self._tell_peers()
        return answer

    async def _change(self, command: Sequence[Any]) -> asyncio.Future[Message]:
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        async with self._turn():
            if self._role is not Role.LEADER:
                answer.set_result(self._refusal())
                return answer
            epoch = self._promise.epoch
            await self._write(len(self._log), [Entry(epoch, command)])
            self._writes[len(self._log)] = (epoch, answer)
            self._settle()
        self._tell_peers()
        return answer
