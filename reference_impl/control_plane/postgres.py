"""The control plane on PostgreSQL: every call is one statement, one transaction, one round trip.

The choices are made by the SQL functions of ``sql/``, under locks on the rows of the logs, which
are taken in the order that the port states. This module sends a call to its function, an array per
argument, and reads an answer per partition. What it decides itself is only
what a broken connection or a failed statement means to the caller (``classify_failure``).

A call never hangs: the server gives up after ``statement_timeout`` and on locks after
``lock_timeout``; if no answer comes at all (a proxy that swallows it) the connection is torn down
after ``call_s``. A lost connection answers REQUEST_TIMED_OUT, since the call may have
been committed, and the next call connects again. An object has one connection, so the transactions
of its calls run one after the other; use one object per concurrent caller.

    Unreachable       connect() could not reach the database; the lazy constructor never raises it
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.rows import DictRow, TupleRow, dict_row
from psycopg.types.json import Jsonb

from reference_impl.control_plane.boundary import LogRow, classify_failure, log_key
from reference_impl.control_plane.flow import Transaction, carry_out, refuse_form
from reference_impl.control_plane.form import can_exist, problem_with
from reference_impl.control_plane.migrations import apply_sql_mutant, install
from reference_impl.ports.control_plane import (
    AnswerT,
    AnyRequest,
    BoundaryError,
    GetDisklessLogStartOffset,
    PartitionAnswer,
    Request,
    Seed,
    TopicIdPartition,
)
from reference_impl.ports.effects import Gate, OpenGate

__all__ = ["PostgresControlPlane", "Timeouts", "Unreachable", "apply_sql_mutant", "install", "rows"]

INTERNAL_ERROR = "XX000"  # stands for failures on our side of the connection: not worth retrying
INVALID_AUTHORIZATION = "28000"
_NO_SUCH_LOGIN = ("does not exist", "authentication failed", "not permitted to log in")

_TP = "%(topic_id)s::text[], %(partition)s::integer[]"
_ANSWER = "SELECT error, boundary, epoch, reset_epoch, seeds, base_offset FROM "
_BOUNDARY = ", %(boundary)s::bigint[], %(leader_epoch)s::integer[]"

_STATEMENTS: Mapping[str, bytes] = MappingProxyType(
    {
        f: f"{_ANSWER}{function}({_TP}{arguments})".encode()
        for f, function, arguments in (
            ("create_log", "create_logs", ", %(topic)s::text[]"),
            (
                "initialize_diskless_migration",
                "initialize_diskless_migrations",
                f"{_BOUNDARY}, %(entries)s::jsonb[], %(steps)s::text[], %(admits)s",
            ),
            ("set_diskless_log_start_offset", "set_diskless_log_start_offsets", _BOUNDARY),
            ("get_diskless_log_start_offset", "get_diskless_log_start_offsets", ""),
            ("seed_producer_state", "seed_producer_states", ", %(entries)s::jsonb[]"),
            ("register_leader_epoch", "register_leader_epochs", ", %(leader_epoch)s::integer[]"),
            ("describe_producers", "describe_all_producers", ""),
            ("commit_batch", "commit_batches", ", %(record_count)s::bigint[]"),
        )
    }
)

_ROWS = b"""
SELECT coalesce(topics.name, logs.topic_id) AS topic, partition,
       diskless_log_start_offset AS boundary, diskless_log_start_epoch AS epoch,
       diskless_log_start_reset_epoch AS reset_epoch, high_watermark, log_start_offset,
       stored_seeds(logs.topic_id, partition) AS seeds,
       (SELECT coalesce(jsonb_agg(ARRAY[base_offset, last_offset] ORDER BY batch_id), '[]')
        FROM batches WHERE (batches.topic_id, batches.partition) = (logs.topic_id, logs.partition)
       ) AS batches
FROM logs LEFT JOIN topics USING (topic_id)
ORDER BY coalesce(topics.name, logs.topic_id) COLLATE "C", logs.topic_id COLLATE "C", partition
"""


class Unreachable(ConnectionError):
    """The database could not be reached; the message names it and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long a call may take, from the inside out."""

    lock_ms: int = 3_000
    statement_ms: int = 5_000
    call_s: float = 8.0
    connect_s: float = 5.0

    @classmethod
    def within(cls, call_s: float) -> Timeouts:
        """Limits that end a call within ``call_s``, the inner ones first."""
        inner = call_s * 5 / 8
        return cls(
            lock_ms=max(1, int(call_s * 3 / 8 * 1000)),
            statement_ms=max(1, int(inner * 1000)),
            call_s=call_s,
            connect_s=inner,
        )


class PostgresControlPlane:
    """A ControlPlane on a database that ``install`` has prepared. Connects at the first call."""

    def __init__(
        self, dsn: str, *, timeouts: Timeouts | None = None, gate: Gate | None = None
    ) -> None:
        self._dsn = dsn
        self._timeouts = timeouts or Timeouts()
        self._gate = gate or OpenGate()
        self._connection: psycopg.AsyncConnection[DictRow] | None = None
        self._lock = asyncio.Lock()

    @classmethod
    async def connect(
        cls, dsn: str, *, timeouts: Timeouts | None = None, gate: Gate | None = None
    ) -> PostgresControlPlane:
        """A control plane that is connected already; Unreachable if that cannot be done."""
        plane = cls(dsn, timeouts=timeouts, gate=gate)
        try:
            await plane._connected()
        except (psycopg.Error, TimeoutError) as problem:
            raise Unreachable(f"no control plane at {dsn}: {problem}") from problem
        return plane

    async def call(self, request: Request[Any, AnswerT]) -> AnswerT:
        """Carry out one call; failures of the database come back as indefinite answers."""
        return await carry_out(request, self._transact, self._gate)

    async def close(self) -> None:
        """Close the connection; a later call would open another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _transact(self, request: AnyRequest, transaction: Transaction) -> Any:
        """Those partitions in one statement that are asked for something in range; the others are
        only looked at."""
        problems = [problem_with(asked) for asked in request.partitions]
        async with self._lock:
            if not any(problems):
                return await self._guarded(request, transaction)
            sound = [at for at, problem in enumerate(problems) if problem is None]
            rest = replace(request, partitions=tuple(request.partitions[at] for at in sound))
            answers: dict[int, PartitionAnswer] = {}
            if sound:
                told = await self._guarded(rest, transaction)
                answers.update(zip(sound, told.partitions, strict=True))
            for at, problem in enumerate(problems):
                if problem is not None:
                    asked = request.partitions[at]
                    answers[at] = await self._refuse_form(request, asked, problem)
        return request.answered([answers[at] for at in range(len(problems))])

    async def _refuse_form(
        self, request: AnyRequest, asked: TopicIdPartition, problem: str
    ) -> PartitionAnswer:
        if not can_exist(asked):
            return refuse_form(request, asked, None, problem)
        look = GetDisklessLogStartOffset(
            partitions=(TopicIdPartition(topic_id=asked.topic_id, partition=asked.partition),)
        )
        answer = await self._guarded(look, Transaction(steps=(), admits=True))
        stored: PartitionAnswer = answer.partitions[0]
        if stored.error is BoundaryError.UNKNOWN_TOPIC_OR_PARTITION:
            return refuse_form(request, asked, None, problem)
        if stored.boundary is None or stored.epoch is None or stored.reset_epoch is None:
            state = {one.name: getattr(stored, one.name) for one in fields(stored)}
            return request.answer.one(**state)
        row = LogRow(boundary=stored.boundary, epoch=stored.epoch, reset_epoch=stored.reset_epoch)
        return refuse_form(request, asked, row, problem)

    async def _guarded(self, request: AnyRequest, transaction: Transaction) -> Any:
        try:
            rows = await self._execute(request, transaction)
            return request.answered([_answer(request, row) for row in rows])
        except (psycopg.Error, OSError) as failure:  # a TimeoutError is an OSError
            error = classify_failure(sqlstate_of(failure))
            return request.unknown(error, f"{type(failure).__name__}: {failure}".strip())

    async def _execute(self, request: AnyRequest, transaction: Transaction) -> list[DictRow]:
        connection = await self._connected()
        with _deadline(connection, self._timeouts.call_s):
            cursor = await connection.execute(
                _STATEMENTS[request.f], _parameters(request, transaction)
            )
            rows = await cursor.fetchall()
        if len(rows) != len(request.partitions):
            wanted = len(request.partitions)
            raise psycopg.InternalError(f"{request.f} returned {len(rows)} rows, not {wanted}")
        return rows

    async def _connected(self) -> psycopg.AsyncConnection[DictRow]:
        if self._connection is not None and not self._connection.closed:
            return self._connection
        limits = self._timeouts
        given = psycopg.conninfo.conninfo_to_dict(self._dsn).get("options") or ""
        options = (
            f"{given} -c statement_timeout={limits.statement_ms} -c lock_timeout={limits.lock_ms}"
        )
        async with asyncio.timeout(limits.connect_s):
            self._connection = await psycopg.AsyncConnection.connect(
                self._dsn, autocommit=True, row_factory=dict_row, options=options.strip()
            )
        return self._connection


def rows(dsn: str) -> list[dict[str, object]]:
    """The complete stored state, read from the tables: one row per log, by topic and partition."""
    with psycopg.connect(dsn) as connection:
        return read_rows(connection)


def read_rows(connection: psycopg.Connection[TupleRow]) -> list[dict[str, object]]:
    """The same over a connection that is open already."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return list(cursor.execute(_ROWS))


def sqlstate_of(failure: Exception) -> str | None:
    """The SQLSTATE of a failure; None if the connection broke or timed out without one."""
    if not isinstance(failure, psycopg.Error):
        return None
    if failure.sqlstate is not None:
        return failure.sqlstate
    if not isinstance(failure, psycopg.OperationalError):
        return INTERNAL_ERROR
    # libpq keeps no SQLSTATE of a refused login; only the server's own words tell the kinds apart.
    refused_for_good = any(words in str(failure) for words in _NO_SUCH_LOGIN)
    return INVALID_AUTHORIZATION if refused_for_good else None


@contextmanager
def _deadline(connection: psycopg.AsyncConnection[DictRow], seconds: float) -> Iterator[None]:
    """Tear the connection down if the block takes longer.

    Shutting the socket makes the pending statement fail at once. Cancelling it instead would send a
    cancel request, which goes through the same network that just failed to answer.
    """
    timer = asyncio.get_running_loop().call_later(seconds, _shut, connection)
    try:
        yield
    finally:
        timer.cancel()


def _shut(connection: psycopg.AsyncConnection[DictRow]) -> None:
    if not connection.closed:
        with socket.socket(fileno=os.dup(connection.fileno())) as wire:
            wire.shutdown(socket.SHUT_RDWR)


def _parameters(request: AnyRequest, transaction: Transaction) -> dict[str, object]:
    """An array for each argument of the call, a place in it for each partition."""
    keys = [log_key(asked.topic_id, asked.partition) for asked in request.partitions]
    names = [one.name for one in fields(request.asks)]
    arrays = {name: [getattr(asked, name) for asked in request.partitions] for name in names}
    if "entries" in arrays:
        arrays["entries"] = [Jsonb(entries) for entries in arrays["entries"]]
    return {
        **arrays,
        "topic_id": [str(topic_id) for topic_id, _ in keys],
        "partition": [partition for _, partition in keys],
        "steps": list(transaction.steps),
        "admits": transaction.admits,
    }


def _answer(request: AnyRequest, row: DictRow) -> PartitionAnswer:
    """What a row says, as far as this call answers it."""
    told = {one.name: row[one.name] for one in fields(request.answer.one) if one.name in row}
    told["error"] = BoundaryError(row["error"])
    if told.get("seeds") is not None:
        told["seeds"] = tuple(Seed(*seed) for seed in row["seeds"])
    return request.answer.one(**told)
