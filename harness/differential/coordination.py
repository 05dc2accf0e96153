"""Which broker a step asks that names a coordinator: which one it is follows from the name of a
transactional id or a group, and every play has names of its own.

`transaction:t` is the coordinator of the transactional id `$topic:t`, `group:g` that of the group
`$topic:g`; `no-transaction:t` and `no-group:g` are the first broker that is not.
"""

from __future__ import annotations

import re

from harness.clients.connection import Connection
from harness.differential.settling import wait_for
from harness.differential.symbols import Symbols

AT_COORDINATOR = re.compile(r"(no-)?(transaction|group):(\w+)")
KINDS = {"group": 0, "transaction": 1}
VERSION = 4


class Coordinators:
    """The coordinators that one play has found; they do not move while it lasts."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], int] = {}

    async def broker_of(self, named: str, asked: Connection, symbols: Symbols) -> int:
        """The broker; who coordinates is asked over this connection."""
        said = AT_COORDINATOR.fullmatch(named)
        if said is None:
            raise ValueError(f"{named} names no coordinator")
        other, kind, key = said.groups()
        if (kind, key) not in self._found:
            self._found[kind, key] = await _search(kind, symbols.topic(key), asked)
        found = self._found[kind, key]
        return next(one for one in symbols.brokers if one != found) if other else found


async def _search(kind: str, key: str, asked: Connection) -> int:
    fields = {"key_type": KINDS[kind], "coordinator_keys": [key]}
    found: list[int] = []

    async def there_is_one() -> bool:
        (one,) = (await asked.ask("find_coordinator", VERSION, fields))["coordinators"]
        found.append(one["node_id"])
        return bool(one["error_code"] == "NONE")

    await wait_for(there_is_one, f"nobody coordinates the {kind} {key}")
    return found[-1]
