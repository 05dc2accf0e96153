"""Numbered SQL migrations, their history in the database, and SQL mutants as edits of their text.

``sql/V<n>__Name.sql`` files are applied in order of n, each once, all in one transaction under an
advisory lock: two starters do not collide, and a failure leaves the database as it was. The table
``schema_history`` remembers each file with its checksum; a file that changed after it was applied
is an error, because the database would no longer be what the file says.

A SQL decision is a passage of these files: the last CREATE statement of a function, or (named
``migration:V<n>``) a whole file. A SqlMutant replaces one piece of text in a passage, the only one
of its kind or the one it counts. A function can be edited at any time, by running its edited CREATE
OR REPLACE; a whole file only while it is being applied. Checksums are those of the files as they
are on disk, so mutated and sound processes can share a database; which mutants edited a file is
recorded next to them.

    MigrationError            the database and the files do not agree, or a file does not apply
    MutantError               (of the decisions) an edit that does not fit its passage
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import psycopg
from psycopg.rows import TupleRow, kwargs_row

from reference_impl.decisions import Decision, MutantError, SqlMutant, find_decision

Connection: TypeAlias = "psycopg.Connection[TupleRow]"

FOLDER = Path(__file__).parent / "sql"
ADVISORY_LOCK = 7_193_011  # any number, as long as every installer takes the same
LOCK_TIMEOUT_MS = 20_000

_NAME = re.compile(r"V(\d+)__\w+\.sql")
_WHOLE_FILE = "sql:migration:V"

_HISTORY = b"""
CREATE TABLE IF NOT EXISTS schema_history (
    version      integer     PRIMARY KEY,
    file         text        NOT NULL,
    checksum     text        NOT NULL,
    mutants      text[]      NOT NULL DEFAULT '{}',
    installed_at timestamptz NOT NULL DEFAULT now()
)
"""


class MigrationError(RuntimeError):
    """The database and the migration files do not agree, or a file does not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One file of the ``sql`` folder."""

    version: int
    file: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_migrations(folder: Path = FOLDER) -> tuple[Migration, ...]:
    """Every migration of a folder, in the order in which they apply."""
    found: dict[int, Migration] = {}
    for path in sorted(folder.glob("*.sql")):
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise MigrationError(f"{path.name} is not named V<number>__Name.sql")
        version = int(match[1])
        if version in found:
            raise MigrationError(f"{path.name} and {found[version].file} have the same number")
        found[version] = Migration(version=version, file=path.name, text=path.read_text("utf-8"))
    return tuple(found[version] for version in sorted(found))


def install(
    dsn: str,
    *,
    upto: int | None = None,
    mutants: Sequence[SqlMutant] = (),
    folder: Path = FOLDER,
) -> tuple[str, ...]:
    """Bring a database up to date (or up to a version); returns the files applied this time."""
    _check_mutants(mutants)
    migrations = read_migrations(folder)
    wanted = [one for one in migrations if upto is None or one.version <= upto]
    with psycopg.connect(dsn, connect_timeout=10) as connection:
        connection.execute(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}".encode())
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (ADVISORY_LOCK,))
        connection.execute(_HISTORY)
        history = _read_history(connection)
        _check_history(history, migrations)
        pending = [one for one in wanted if one.version not in history]
        for migration in pending:
            _run(connection, migration, mutants)
        history = _read_history(connection)
        for mutant in mutants:
            _edit_installed(connection, mutant, history)
    return tuple(migration.file for migration in pending)


def apply_sql_mutant(dsn: str, mutant: SqlMutant) -> None:
    """Replace a SQL function of an installed database by its edited text."""
    if mutant.decision.startswith(_WHOLE_FILE):
        raise MutantError(
            f"mutant {mutant.name!r} edits a whole migration, which is over once it has been "
            "applied; give it to install() on a fresh database"
        )
    install(dsn, upto=0, mutants=(mutant,))


def edited(mutant: SqlMutant) -> str:
    """The passage of a mutant's decision with the edit made."""
    target = find_decision(mutant.decision)
    if target.kind != "sql":
        raise MutantError(f"mutant {mutant.name!r} edits SQL but {target.name!r} is Python")
    passage = passage_of(target)
    places = [at for at in range(len(passage)) if mutant.old and passage.startswith(mutant.old, at)]
    if mutant.nth is None and len(places) != 1:
        raise MutantError(
            f"mutant {mutant.name!r}: the text to replace occurs {len(places)} times in "
            f"{target.name!r} of {target.file}, not once: {mutant.old!r}"
        )
    if mutant.nth is not None and not 1 <= mutant.nth <= len(places):
        raise MutantError(
            f"mutant {mutant.name!r}: the text to replace has no occurrence {mutant.nth} in "
            f"{target.name!r} of {target.file}, which has {len(places)}: {mutant.old!r}"
        )
    at = places[(mutant.nth or 1) - 1]
    return passage[:at] + mutant.new + passage[at + len(mutant.old) :]


def passage_of(target: Decision, folder: Path = FOLDER) -> str:
    """The SQL text that makes a decision, from the last migration that defines it."""
    migrations = read_migrations(folder)
    if target.name.startswith(_WHOLE_FILE):
        holders = [(one, one.text) for one in migrations if _whole_file(one) == target.name]
    else:
        name = target.name.removeprefix("sql:")
        holders = [(one, text) for one in migrations for text in _statements(one.text, name)]
    if not holders or holders[-1][0].file != target.file:
        where = holders[-1][0].file if holders else "no migration"
        raise MigrationError(
            f"{target.name!r} is registered with {target.file} but is last defined in {where}; "
            "correct its line in sql_decisions"
        )
    return holders[-1][1]


def defined_functions(folder: Path = FOLDER) -> dict[str, str]:
    """Each SQL function with the last migration file that defines it."""
    name = re.compile(r"^CREATE OR REPLACE FUNCTION (\w+)\(", re.MULTILINE)
    return {found: one.file for one in read_migrations(folder) for found in name.findall(one.text)}


def _statements(text: str, function: str) -> list[str]:
    statement = rf"^CREATE OR REPLACE FUNCTION {re.escape(function)}\(.*?^\$\$;$"
    return re.findall(statement, text, re.MULTILINE | re.DOTALL)


def _whole_file(migration: Migration) -> str:
    return f"{_WHOLE_FILE}{migration.version}"


def _check_mutants(mutants: Sequence[SqlMutant]) -> None:
    targets = [mutant.decision for mutant in mutants]
    for mutant in mutants:
        edited(mutant)  # a text that does not fit is reported before anything is touched
        if targets.count(mutant.decision) > 1:
            raise MutantError(
                f"two mutants of {mutant.decision!r} at once; only one can be in force"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Installed:
    version: int
    file: str
    checksum: str
    mutants: list[str]


def _read_history(connection: Connection) -> dict[int, _Installed]:
    with connection.cursor(row_factory=kwargs_row(_Installed)) as cursor:
        cursor.execute("SELECT version, file, checksum, mutants FROM schema_history")
        return {installed.version: installed for installed in cursor}


def _check_history(history: dict[int, _Installed], migrations: Iterable[Migration]) -> None:
    known = {migration.version: migration for migration in migrations}
    for version, installed in sorted(history.items()):
        if version not in known:
            raise MigrationError(
                f"the database has {installed.file}, which this code does not know; "
                "it was installed by a newer one"
            )
        if known[version].checksum != installed.checksum:
            raise MigrationError(
                f"{installed.file} changed after it was applied; restore it and put the change "
                "into a migration of its own"
            )


def _run(
    connection: Connection,
    migration: Migration,
    mutants: Sequence[SqlMutant],
) -> None:
    editors = [one for one in mutants if one.decision == _whole_file(migration)]
    text = edited(editors[0]) if editors else migration.text
    try:
        connection.execute(text.encode())
    except psycopg.Error as problem:
        raise MigrationError(f"{migration.file} does not apply: {problem}") from problem
    connection.execute(
        "INSERT INTO schema_history (version, file, checksum, mutants) VALUES (%s, %s, %s, %s)",
        (migration.version, migration.file, migration.checksum, [one.name for one in editors]),
    )


def _edit_installed(
    connection: Connection,
    mutant: SqlMutant,
    history: dict[int, _Installed],
) -> None:
    if not mutant.decision.startswith(_WHOLE_FILE):
        try:
            connection.execute(edited(mutant).encode())
        except psycopg.Error as problem:
            raise MutantError(f"mutant {mutant.name!r} does not apply: {problem}") from problem
        return
    installed = history.get(int(mutant.decision.removeprefix(_WHOLE_FILE)))
    if installed is None:
        raise MutantError(f"mutant {mutant.name!r} edits a migration that was not asked for")
    if mutant.name not in installed.mutants:
        raise MutantError(
            f"mutant {mutant.name!r} comes too late: {installed.file} was applied before; "
            "it needs a fresh database"
        )
