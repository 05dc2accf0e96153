"""One PostgreSQL server for all tests of the reference; a clean database for each that asks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from reference_impl.control_plane.migrations import install
from reference_impl.control_plane.server import PostgresServer


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as running:
        yield running


@pytest.fixture(scope="session")
def installed(server: PostgresServer) -> str:
    """A database with the schema; tests that write to it use `database` instead."""
    dsn = server.create_database()
    install(dsn)
    return dsn


@pytest.fixture
def database(installed: str) -> str:
    """The installed database, with no logs in it."""
    with psycopg.connect(installed, autocommit=True) as connection:
        connection.execute("DELETE FROM logs")
    return installed


@pytest.fixture
def bare_database(server: PostgresServer) -> Iterator[str]:
    """A database of the test's own, without any schema."""
    dsn = server.create_database()
    yield dsn
    server.drop_database(dsn)


@pytest.fixture
def own_database(bare_database: str) -> str:
    """A database of the test's own with the schema, for tests that damage it."""
    install(bare_database)
    return bare_database


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as running:
        yield running
