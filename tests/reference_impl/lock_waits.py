"""Waiting until calls wait: the moment at which a race can be let go."""

from __future__ import annotations

import asyncio

import psycopg

_WAITING = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


async def until_waiting(dsn: str, callers: int) -> None:
    """Return once that many connections of this database wait for a lock."""
    connecting = psycopg.AsyncConnection.connect(dsn, autocommit=True)
    async with asyncio.timeout(20), await connecting as look:
        count = 0
        while count < callers:
            [(count,)] = await (await look.execute(_WAITING)).fetchall()
