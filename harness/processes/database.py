"""A fresh database for one deployment, on the embedded server that those of a lab share, or on one
of its own that can be killed.

The lab has its own way in, past the proxies and past the calls under test: it reads the tables for
probes, and it can hide the schema, so that every call fails hard, and put it back. Nothing is
lost by that; a probe finds the rows wherever they are.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping, Sequence

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from harness.errors import LabBroken
from harness.processes.table import kill_with_children
from reference_impl.control_plane.lines import topic_id_of
from reference_impl.control_plane.migrations import MigrationError, install
from reference_impl.control_plane.server import PostgresServer, ServerError
from reference_impl.decisions import SqlMutant

Log = tuple[str, int]
Row = dict[str, object]

_SCHEMA = "public"
_HIDDEN = "hidden"  # where the schema hides during a hard failure

_ROWS = """
SELECT to_jsonb(logs) AS log,
  (SELECT coalesce(jsonb_agg(jsonb_build_array(producer_id, producer_epoch, base_sequence,
     last_sequence, base_offset, timestamp_ms) ORDER BY producer_id, producer_epoch, base_sequence,
     last_sequence, base_offset, timestamp_ms), '[]')
   FROM producer_state AS s
   WHERE s.topic_id = logs.topic_id AND s.partition = logs.partition) AS seeds,
  (SELECT coalesce(jsonb_agg(jsonb_build_array(base_offset, last_offset) ORDER BY batch_id), '[]')
   FROM batches AS b WHERE b.topic_id = logs.topic_id AND b.partition = logs.partition) AS batches
FROM logs ORDER BY topic_id COLLATE "C", partition
"""
_NAMES = "SELECT topic_id, name FROM topics"  # from V16 on
_NAMED = "SELECT to_regclass('topics') IS NOT NULL AS named"

_COLUMNS = {
    "boundary": "diskless_log_start_offset",
    "epoch": "diskless_log_start_epoch",
    "reset_epoch": "diskless_log_start_reset_epoch",
    "high_watermark": "high_watermark",
    "log_start_offset": "log_start_offset",
}

_server: PostgresServer | None = None
_unused: list[PostgresServer] = []  # that were some deployment's own
_starting = threading.Lock()


def shared_server() -> PostgresServer:
    """The server of this lab; started when first asked for, stopped when the lab ends."""
    global _server
    with _starting:
        if _server is None:
            _server = started(PostgresServer())
            atexit.register(_server.close)
        return _server


def own_server() -> PostgresServer:
    """A server for one database alone; it takes seconds to make one, so they are used again."""
    with _starting:
        if _unused:
            return _unused.pop()
    server = started(PostgresServer())
    atexit.register(server.close)
    return server


def started(server: PostgresServer) -> PostgresServer:
    """That server, once it answers."""
    try:
        return server.start()
    except (ServerError, OSError) as error:
        raise LabBroken(f"the embedded PostgreSQL cannot be started: {error}") from error


class Database:
    """One database, from its first migration to its end."""

    def __init__(
        self,
        *,
        schema_upto: int | None,
        mutants: Sequence[SqlMutant],
        own: bool = False,
        server: PostgresServer | None = None,
    ) -> None:
        """With a server of its own it can be killed and started again; another may be given."""
        self._owns_server = own
        self._server = server or (own_server() if own else shared_server())
        self._mutants = tuple(mutants)
        self._open = True
        self.dsn = self._server.create_database()
        try:
            # A mutant of a later migration has nothing to edit yet; it comes with the upgrade.
            early = self._mutants if schema_upto is None else ()
            install(self.dsn, upto=schema_upto, mutants=early)
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        """Where the server listens, for the proxies."""
        return self._server.port

    @property
    def host(self) -> str:
        """Where the server is."""
        return str(conninfo_to_dict(self.dsn)["host"])

    def hide(self, hidden: bool) -> None:
        """Take the schema away from under the calls, or put it back."""
        now, then = (_SCHEMA, _HIDDEN) if hidden else (_HIDDEN, _SCHEMA)
        self._execute(f"ALTER SCHEMA {now} RENAME TO {then}")

    def probe(self) -> list[Row]:
        """Every log with its producer state and batches, straight from the tables."""
        with psycopg.connect(self.dsn, row_factory=dict_row) as connection:
            connection.execute(f"SET search_path TO {_SCHEMA}, {_HIDDEN}")
            found = connection.execute(_ROWS).fetchall()
            known = connection.execute(_NAMED).fetchall()[0]["named"]
            topics = connection.execute(_NAMES).fetchall() if known else []
        names = {one["topic_id"]: one["name"] for one in topics}
        rows = [_row(one["log"], names, one["seeds"], one["batches"]) for one in found]
        return sorted(rows, key=lambda row: (str(row["topic"]), row["partition"]))

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Put logs there as the installed version would, then run the migrations that are left.

        The older versions knew topics by their ids alone; their names are told afterwards.
        """
        ids = {topic: str(topic_id_of(topic)) for topic, _ in logs}
        with psycopg.connect(self.dsn) as connection:
            for topic, partition in logs:
                connection.execute(
                    "INSERT INTO logs (topic_id, partition) VALUES (%s, %s)",
                    (ids[topic], partition),
                )
        try:
            install(self.dsn, mutants=self._mutants)
        except MigrationError as error:
            raise LabBroken(f"the upgrade failed: {error}") from error
        with psycopg.connect(self.dsn) as connection:
            for topic, topic_id in ids.items():
                connection.execute("INSERT INTO topics VALUES (%s, %s)", (topic_id, topic))

    def kill(self) -> int:
        """SIGKILL the server of this database and its backends; how many processes ended by it."""
        if not self._owns_server:
            raise LabBroken("this database is on a server that others use, too")
        count = kill_with_children(self._server.pid)
        self._server.crash()  # nothing is left of it but a shell that waits for it
        return count

    def start_again(self) -> None:
        """Start the server on the data it had, and wait until it answers."""
        started(self._server)

    def close(self) -> None:
        """Drop it, and end the connections that are left."""
        if self._open:
            self._open = False
            started(self._server).drop_database(self.dsn)
            if self._owns_server:
                _unused.append(self._server)

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.dsn) as connection:
            connection.execute(statement.encode())


def _row(log: Row, names: Mapping[object, object], seeds: object, batches: object) -> Row:
    topic_id = log["topic_id"]
    row: Row = {"topic": names.get(topic_id, topic_id), "partition": log["partition"]}
    row.update((name, log.get(column)) for name, column in _COLUMNS.items())
    return {**row, "seeds": seeds, "batches": batches}
