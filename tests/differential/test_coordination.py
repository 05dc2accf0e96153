"""Steps that are asked of whoever coordinates, or of another broker."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from harness.clients.connection import Connection
from harness.differential.coordination import Coordinators
from harness.differential.symbols import Symbols

COORDINATOR = 2


class Asked:
    """A broker that knows the coordinator from the second question on."""

    def __init__(self) -> None:
        self.questions: list[Any] = []

    async def ask(self, api: str, version: int, fields: Any) -> Any:
        self.questions.append((fields["key_type"], *fields["coordinator_keys"]))
        error = "NONE" if len(self.questions) > 1 else "COORDINATOR_NOT_AVAILABLE"
        return {"coordinators": [{"error_code": error, "node_id": COORDINATOR}]}


@pytest.mark.parametrize(
    ("first", "then", "kind"),
    [("transaction:t", "no-transaction:t", 1), ("group:t", "no-group:t", 0)],
)
def test_a_coordinator_is_looked_for_until_there_is_one_and_then_known(
    first: str, then: str, kind: int
) -> None:
    asked = Asked()
    symbols = Symbols(token="d0", now_ms=0, brokers=[1, 2, 3], cluster_id="c")
    coordinators = Coordinators()

    def broker_of(named: str) -> int:
        return asyncio.run(coordinators.broker_of(named, cast(Connection, asked), symbols))

    assert (broker_of(first), broker_of(then)) == (COORDINATOR, 1)
    assert asked.questions == [(kind, "d0-t")] * 2
