"""When a cluster is at rest, by what its brokers say."""

from __future__ import annotations

import pytest

from harness.clients.admin import Leadership
from harness.deployments.at_rest import is_at_rest

RESTING = Leadership(1, 3, (1, 2), (1, 2))
SEEN: dict[str, tuple[bool, dict[int, Leadership | None]]] = {
    "all agree and are in sync": (True, {1: RESTING, 2: RESTING}),
    "another order of those in sync": (True, {1: RESTING, 2: Leadership(1, 3, (2, 1), (1, 2))}),
    "one does not answer": (False, {1: RESTING, 2: None}),
    "another leader": (False, {1: RESTING, 2: Leadership(2, 3, (1, 2), (1, 2))}),
    "another epoch": (False, {1: RESTING, 2: Leadership(1, 4, (1, 2), (1, 2))}),
    "one is not a replica": (True, dict.fromkeys((1, 2), Leadership(1, 3, (1,), (1,)))),
    "one is not in sync": (False, dict.fromkeys((1, 2), Leadership(1, 3, (1,), (1, 2)))),
    "one does not know yet that all are": (False, {1: RESTING, 2: Leadership(1, 3, (1,), (1, 2))}),
    "they disagree on those in sync": (
        False,
        {1: Leadership(1, 3, (1, 2), (1, 2)), 2: Leadership(1, 3, (1, 2, 3), (1, 2))},
    ),
    "no broker leads": (False, dict.fromkeys((1, 2), Leadership(-1, 3, (1, 2), (1, 2)))),
    "nobody was asked": (False, {}),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_cluster_is_at_rest_when_all_brokers_agree_and_are_in_sync(name: str) -> None:
    expected, seen = SEEN[name]
    assert is_at_rest(seen) is expected
