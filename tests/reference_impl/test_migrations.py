"""Migrations: each once, in order, by one installer at a time, and never silently different."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from reference_impl.control_plane.migrations import (
    FOLDER,
    MigrationError,
    defined_functions,
    install,
    passage_of,
    read_migrations,
)
from reference_impl.control_plane.postgres import rows
from reference_impl.control_plane.server import PostgresServer
from reference_impl.decisions import decisions

FILES = tuple(migration.file for migration in read_migrations())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the migrations that a test may spoil."""
    return Path(shutil.copytree(FOLDER, tmp_path / "sql"))


def tables(dsn: str) -> set[str]:
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    with psycopg.connect(dsn) as connection:
        return {str(name) for (name,) in connection.execute(query)}


def test_migrations_apply_in_order_of_their_number() -> None:
    assert [migration.version for migration in read_migrations()] == [1, 2, 11, 12, 14, 15, 16]


def test_the_second_installation_does_nothing(bare_database: str) -> None:
    assert install(bare_database) == FILES
    assert install(bare_database) == ()


def test_an_installation_can_stop_early_and_go_on_later(bare_database: str) -> None:
    assert install(bare_database, upto=2) == FILES[:2]
    assert install(bare_database) == FILES[2:]


def test_logs_from_before_the_boundary_column_get_zero(bare_database: str) -> None:
    install(bare_database, upto=2)
    with psycopg.connect(bare_database) as connection:
        connection.execute("SELECT create_log('old', 0)")
        connection.execute("SELECT commit_batch('old', 0, 7)")
    install(bare_database)
    with psycopg.connect(bare_database) as connection:
        connection.execute("SELECT create_log('young', 0)")
        next_batch = "SELECT error, base_offset FROM commit_batch('old', 0, 1)"
        assert connection.execute(next_batch).fetchall() == [("NONE", 7)]
    found = {row["topic"]: (row["boundary"], row["epoch"]) for row in rows(bare_database)}
    assert found == {"old": (0, -1), "young": (-1, -1)}


def test_two_installers_at_once_do_not_collide(server: PostgresServer) -> None:
    dsn = server.create_database()
    with ThreadPoolExecutor(4) as pool:
        applied = list(pool.map(install, [dsn] * 4))
    server.drop_database(dsn)
    assert sorted(applied, key=len) == [(), (), (), FILES]


def test_a_file_changed_after_it_was_applied_is_an_error(bare_database: str, folder: Path) -> None:
    install(bare_database, folder=folder)
    changed = folder / FILES[0]
    changed.write_text(changed.read_text() + "-- an afterthought\n")
    with pytest.raises(MigrationError, match="changed after it was applied"):
        install(bare_database, folder=folder)


def test_a_database_from_the_future_is_an_error(bare_database: str, folder: Path) -> None:
    (folder / "V99__Later.sql").write_text("SELECT 1;")
    install(bare_database, folder=folder)
    with pytest.raises(MigrationError, match="which this code does not know"):
        install(bare_database)


def test_a_migration_that_fails_leaves_nothing_behind(bare_database: str, folder: Path) -> None:
    (folder / "V99__Broken.sql").write_text("CREATE TABLE half (); SELECT 1 / 0;")
    with pytest.raises(MigrationError, match="does not apply: division by zero"):
        install(bare_database, folder=folder)
    assert tables(bare_database) == set()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("notes.sql", "is not named"), ("V2__Again.sql", "have the same number")],
)
def test_a_misnamed_file_is_an_error(folder: Path, name: str, sentence: str) -> None:
    (folder / name).write_text("SELECT 1;")
    with pytest.raises(MigrationError, match=sentence):
        read_migrations(folder)


# What makes a database's schema; of tables and types the columns, whatever order they came in.
SCHEMA = {
    "columns": """
        SELECT c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod),
               a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
        WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
          AND c.relkind IN ('r', 'c')
        ORDER BY 1, 3
    """,
    "functions": """
        SELECT proname, pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2
    """,
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2
    """,
}


def schema(dsn: str) -> dict[str, list[tuple[object, ...]]]:
    with psycopg.connect(dsn) as connection:
        return {what: connection.execute(query).fetchall() for what, query in SCHEMA.items()}


LAST_RELEASED = 15  # databases of this version are about; lower numbers may come later


def test_an_upgraded_database_is_equal_to_a_fresh_one(bare_database: str, installed: str) -> None:
    install(bare_database, upto=LAST_RELEASED)
    install(bare_database)
    assert schema(bare_database) == schema(installed)


@pytest.mark.parametrize("version", [*range(3, 11), 13])
def test_a_number_kept_free_may_be_filled_later(
    bare_database: str, installed: str, folder: Path, version: int
) -> None:
    name = f"V{version}__Create_something.sql"
    (folder / name).write_text("CREATE TABLE something (id bigint PRIMARY KEY);")
    install(bare_database)
    assert install(bare_database, folder=folder) == (name,)
    columns = [row for row in schema(bare_database)["columns"] if row[0] != "something"]
    assert columns == schema(installed)["columns"]


def test_numbers_kept_free_change_nothing_that_is_there() -> None:
    changes = re.compile(r"^(?:ALTER|DROP|CREATE OR REPLACE)\b.*", re.MULTILINE | re.IGNORECASE)
    defined: set[str] = set()
    for migration in read_migrations():
        names = re.findall(r"^CREATE OR REPLACE FUNCTION (\w+)", migration.text, re.MULTILINE)
        if migration.version in (*range(3, 11), 13):
            assert not defined & set(names)
            assert all("FUNCTION" in one for one in changes.findall(migration.text))
        defined |= set(names)


def test_every_sql_function_is_a_registered_decision_of_the_right_file() -> None:
    registered = {
        name.removeprefix("sql:"): found.file
        for name, found in decisions().items()
        if found.kind == "sql" and not name.startswith("sql:migration:")
    }
    assert registered == defined_functions()


@pytest.mark.parametrize("name", [n for n, one in decisions().items() if one.kind == "sql"])
def test_the_text_of_a_sql_decision_can_be_found(name: str) -> None:
    assert passage_of(decisions()[name])


def test_the_database_holds_the_functions_of_the_files(installed: str) -> None:
    query = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    with psycopg.connect(installed) as connection:
        found = {str(name) for (name,) in connection.execute(query)}
    assert found == set(defined_functions())
