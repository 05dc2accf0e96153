"""Migrations: each once, in order, by one installer at a time, and never silently different."""

from __future__ import annotations

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
    assert [migration.version for migration in read_migrations()] == [1, 2, 11, 12, 14, 15]


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
