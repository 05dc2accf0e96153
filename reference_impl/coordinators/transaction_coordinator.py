"""The transaction coordinator of a broker: of every id whose partition of the log it leads.

    request ─► choice (transactions.py) ─► append to __transaction_state ─► answer
                                                  │ decided: PrepareCommit, PrepareAbort
                                                  ▼
                                    markers to all partitions ─► append: CompleteCommit, …Abort

Nothing is answered before it is committed. A broker that takes over reads the log; what it finds
decided it completes, what it finds open for too long it aborts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, replace

from reference_impl.coordinators.ending import Ending, completed, end_transaction
from reference_impl.coordinators.markers import Markers
from reference_impl.coordinators.placement import TRANSACTION_STATE, coordinated_by
from reference_impl.coordinators.transaction_log import Entry, Led, compact, load, write
from reference_impl.coordinators.transactions import (
    BUMPS_EPOCHS,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    PREPARED,
    Answered,
    Moves,
    Partition,
    ProducerIdEpoch,
    Refused,
    Transaction,
    TransactionState,
    add_partitions,
    expired,
    fenced,
    init_producer,
    timed_out,
    timeout_may_be,
    verify_partitions,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.log import Log
from reference_impl.metadata.image import Image
from reference_impl.partitions.catalog import Partitions
from reference_impl.ports import Clock

UNKNOWN = ProducerIdEpoch(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
SERVER_VERSION = BUMPS_EPOCHS
_RETRY_S = 0.1
_COMPACT_S = 30.0  # for the replicas to have what was appended again


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSettings:
    """Times in milliseconds."""

    max_timeout_ms: int
    expiration_ms: int
    check_interval_ms: int


class TransactionCoordinator:
    """See the module. Its calls raise a KafkaError where they are refused."""

    def __init__(
        self,
        *,
        partitions: Partitions,
        image: Image,
        clock: Clock,
        markers: Markers,
        settings: Callable[[], CoordinatorSettings],
        new_producer_id: Callable[[], Awaitable[int]],
    ) -> None:
        self._partitions = partitions
        self._image = image
        self._clock = clock
        self._markers = markers
        self._settings = settings
        self._new_producer_id = new_producer_id
        self._led: dict[int, Led] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._tasks: dict[asyncio.Task[None], None] = {}

    # ── what this broker coordinates ─────────────────────────────────────────────────────────────

    async def run(self) -> None:
        """Abort what takes too long and forget what is not used any more, until cancelled."""
        try:
            while True:
                await self._clock.sleep(self._settings().check_interval_ms / 1000)
                await self._look_after()
        finally:
            for task in list(self._tasks):
                task.cancel()
            self._markers.close()

    async def roles_changed(self) -> None:
        """Begin with what this broker leads now, and let go of what it does not."""
        topic = self._image.topics.get(TRANSACTION_STATE)
        for index in () if topic is None else topic.partitions:
            partition = await self._partitions.find(TRANSACTION_STATE, index)
            epoch = partition.state.leader_epoch
            known = self._led.get(index)
            if not partition.leads:
                self._led.pop(index, None)
            elif known is None or known.epoch != epoch:
                turn = self._turns.setdefault(index, asyncio.Lock())
                led = self._led[index] = Led(index=index, epoch=epoch, turn=turn)
                self._begin(self._load(led))
        if topic is None:
            self._led.clear()

    async def _load(self, led: Led) -> None:
        async def committed(log: Log, end: int) -> None:
            while log.high_watermark < end and self._is_current(led):
                await self._clock.sleep(_RETRY_S)

        while self._is_current(led):
            try:
                found = await self._partitions.find(TRANSACTION_STATE, led.index)
                await load(found, led, committed)
                break
            except KafkaError:
                await self._clock.sleep(_RETRY_S)
        for entry in led.entries.values() if self._is_current(led) else ():
            if entry.transaction.state in PREPARED:
                self._complete(led, entry)

    def _is_current(self, led: Led) -> bool:
        return self._led.get(led.index) is led

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def _coordinated(self, transactional_id: str) -> Led:
        topic = self._image.topics.get(TRANSACTION_STATE)
        if topic is None:
            raise KafkaError(ErrorCode.not_coordinator)
        led = self._led.get(coordinated_by(transactional_id, len(topic.partitions)))
        if led is None:
            raise KafkaError(ErrorCode.not_coordinator)
        if not led.loaded:
            raise KafkaError(ErrorCode.coordinator_load_in_progress)
        return led

    def _known(self, transactional_id: str, missing: ErrorCode) -> tuple[Led, Entry]:
        led = self._coordinated(transactional_id)
        entry = led.entries.get(transactional_id)
        if entry is None:
            raise KafkaError(missing)
        return led, entry

    # ── requests ─────────────────────────────────────────────────────────────────────────────────

    async def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdEpoch | None
    ) -> ProducerIdEpoch:
        """A producer begins, or begins anew: who it is from now on."""
        if not timeout_may_be(timeout_ms, self._settings().max_timeout_ms):
            raise KafkaError(ErrorCode.invalid_transaction_timeout)
        led = self._coordinated(transactional_id)
        entry = led.entries.get(transactional_id)
        fresh = NO_PRODUCER_ID
        if entry is None or entry.transaction.epochs_exhausted:
            fresh = await self._new_producer_id()
            led = self._coordinated(transactional_id)
            entry = led.entries.get(transactional_id)
        if entry is None:
            created = Transaction(
                transactional_id=transactional_id,
                producer_id=fresh,
                timeout_ms=timeout_ms,
                updated_ms=self._clock.now_ms(),
            )
            entry = led.entries[transactional_id] = Entry(transaction=created)
        choice = init_producer(
            entry.transaction,
            entry.pending is not None,
            expected,
            timeout_ms,
            fresh,
            self._clock.now_ms(),
        )
        if isinstance(choice, Refused):
            raise KafkaError(choice.error)
        assert isinstance(choice, Moves)
        if choice.to.state is TransactionState.PREPARE_EPOCH_FENCE:
            await self._fence(led, entry, SERVER_VERSION)
            raise KafkaError(ErrorCode.concurrent_transactions)
        await self._move(led, entry, choice.to)
        return ProducerIdEpoch(choice.to.producer_id, choice.to.epoch)

    async def add(
        self,
        transactional_id: str,
        producer: ProducerIdEpoch,
        partitions: Iterable[Partition],
        client_version: int,
    ) -> None:
        """Partitions join a producer's transaction."""
        missing = ErrorCode.invalid_producer_id_mapping
        led, entry = self._known(transactional_id, missing)
        choice = add_partitions(
            entry.transaction,
            entry.pending is not None,
            producer,
            tuple(partitions),
            client_version,
            self._clock.now_ms(),
        )
        if isinstance(choice, Refused):
            raise KafkaError(choice.error)
        if isinstance(choice, Moves):
            await self._move(led, entry, choice.to)

    def verify(
        self, transactional_id: str, producer: ProducerIdEpoch, partitions: Iterable[Partition]
    ) -> dict[Partition, ErrorCode]:
        """Which partitions are in a producer's transaction."""
        missing = ErrorCode.invalid_producer_id_mapping
        _, entry = self._known(transactional_id, missing)
        return verify_partitions(entry.transaction, producer, partitions)

    async def end(self, transactional_id: str, ending: Ending) -> ProducerIdEpoch:
        """Commit or abort; who the producer is from now on, if that changes with every end."""
        missing = ErrorCode.invalid_producer_id_mapping
        led, entry = self._known(transactional_id, missing)
        fresh = NO_PRODUCER_ID
        if ending.client_version >= BUMPS_EPOCHS and entry.transaction.epochs_exhausted:
            fresh = await self._new_producer_id()
            led, entry = self._known(transactional_id, missing)
        fences = entry.pending is TransactionState.PREPARE_EPOCH_FENCE
        choice = end_transaction(
            entry.transaction, entry.pending, ending, fresh, self._clock.now_ms()
        )
        if isinstance(choice, Refused):
            raise KafkaError(choice.error)
        if isinstance(choice, Answered):
            return choice.producer
        entry.pending = None
        try:
            await self._move(led, entry, choice.to)
        except KafkaError:
            entry.failed_fence = fences and ending.client_version < BUMPS_EPOCHS
            raise
        entry.failed_fence = False
        after = self._complete(led, entry)
        bumps = ending.client_version >= BUMPS_EPOCHS
        return ProducerIdEpoch(after.producer_id, after.epoch) if bumps else UNKNOWN

    def describe(self, transactional_id: str) -> Transaction:
        """What is known of an id."""
        _, entry = self._known(transactional_id, ErrorCode.transactional_id_not_found)
        return entry.transaction

    def all(self) -> list[Transaction]:
        """Everything that this broker coordinates; COORDINATOR_LOAD_IN_PROGRESS if it does not
        know all of it yet."""
        if any(not led.loaded for led in self._led.values()):
            raise KafkaError(ErrorCode.coordinator_load_in_progress)
        return [entry.transaction for led in self._led.values() for entry in led.entries.values()]

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    async def _move(self, led: Led, entry: Entry, to: Transaction) -> None:
        """Write what is to be; it is so when that is committed, and nothing changed if not."""
        entry.pending = to.state
        try:
            partition = await self._partitions.find(TRANSACTION_STATE, led.index)
            error = await write(
                partition,
                led,
                self._is_current,
                to.transactional_id,
                to,
                now_ms=self._clock.now_ms(),
                timeout_s=to.timeout_ms / 1000,
            )
        except KafkaError:
            error = ErrorCode.not_coordinator
        finally:
            entry.pending = None
        if not self._is_current(led):
            error = ErrorCode.not_coordinator
        if error is not ErrorCode.none:
            raise KafkaError(error)
        entry.transaction = to

    def _complete(self, led: Led, entry: Entry) -> Transaction:
        """Send the markers of a decided transaction; what it is once they are written."""
        after = completed(entry.transaction, self._clock.now_ms())
        entry.pending = after.state
        self._begin(self._mark(led, entry, entry.transaction, after))
        return after

    async def _mark(self, led: Led, entry: Entry, decided: Transaction, after: Transaction) -> None:
        def still() -> bool:
            return self._is_current(led)

        def written(one: Partition) -> None:
            left = tuple(other for other in entry.transaction.partitions if other != one)
            entry.transaction = replace(entry.transaction, partitions=left)

        if not await self._markers.send(decided, led.epoch, still, written):
            return
        while still():
            try:
                await self._move(led, entry, after)
                return
            except KafkaError:  # while it coordinates, nothing else would complete it
                entry.pending = after.state
                await self._clock.sleep(_RETRY_S)

    async def _fence(self, led: Led, entry: Entry, version: int) -> None:
        """Shut the producer of an open transaction out, and abort it."""
        shut_out = fenced(entry.transaction, entry.failed_fence)
        entry.pending = TransactionState.PREPARE_EPOCH_FENCE
        ending = Ending(
            ProducerIdEpoch(shut_out.producer_id, shut_out.epoch), False, version, from_client=False
        )
        try:
            await self.end(entry.transaction.transactional_id, ending)
        finally:
            if entry.pending is TransactionState.PREPARE_EPOCH_FENCE:
                entry.pending = None

    # ── time ─────────────────────────────────────────────────────────────────────────────────────

    async def _look_after(self) -> None:
        await self.roles_changed()
        now_ms, expiration_ms = self._clock.now_ms(), self._settings().expiration_ms
        for led in [one for one in self._led.values() if one.loaded]:
            for entry in list(led.entries.values()):
                if entry.pending is not None:
                    continue
                if timed_out(entry.transaction, now_ms):
                    self._begin(self._time_out(led, entry))
                elif expired(entry.transaction, now_ms, expiration_ms):
                    self._begin(self._forget(led, entry))
            self._begin(self._compact(led))

    async def _compact(self, led: Led) -> None:
        try:
            partition = await self._partitions.find(TRANSACTION_STATE, led.index)
            now_ms = self._clock.now_ms()
            await compact(partition, led, self._is_current, now_ms=now_ms, timeout_s=_COMPACT_S)
        except KafkaError:
            return  # who leads now does it, or the next look

    async def _time_out(self, led: Led, entry: Entry) -> None:
        if entry.pending is None and entry.transaction.state is TransactionState.ONGOING:
            try:
                await self._fence(led, entry, SERVER_VERSION)
            except KafkaError:
                return  # the next look tries again

    async def _forget(self, led: Led, entry: Entry) -> None:
        entry.pending = TransactionState.DEAD
        transactional_id = entry.transaction.transactional_id
        try:
            partition = await self._partitions.find(TRANSACTION_STATE, led.index)
            now_ms = self._clock.now_ms()
            error = await write(
                partition,
                led,
                self._is_current,
                transactional_id,
                None,
                now_ms=now_ms,
                timeout_s=30.0,
            )
            if error is ErrorCode.none and self._is_current(led):
                led.entries.pop(transactional_id, None)
        except KafkaError:
            return
        finally:
            entry.pending = None
