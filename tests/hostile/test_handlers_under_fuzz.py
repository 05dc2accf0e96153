"""Every handler gets whatever a message can hold, and answers or hangs up; nobody else notices.

That no exception escapes is the simulation's doing: one that nobody caught fails the test.
"""

from __future__ import annotations

import pytest
from attacked_cluster import attacked_cluster
from hostile_messages import frames, mutated_frames, produces
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.kafka import apis

pytestmark = pytest.mark.sim

# What may take the good client's ground from under its feet, quite legally.
DESTRUCTIVE = (
    apis.CREATE_TOPICS,
    apis.DELETE_TOPICS,
    apis.CREATE_PARTITIONS,
    apis.ALTER_CONFIGS,
    apis.INCREMENTAL_ALTER_CONFIGS,
    apis.ELECT_LEADERS,
    apis.ALTER_PARTITION_REASSIGNMENTS,
    apis.UNREGISTER_BROKER,
)
PEACEFUL = tuple(api for api in apis.offered_by(apis.BROKER) if api not in DESTRUCTIVE)
OF_CONTROLLERS = apis.offered_by(apis.CONTROLLER)

several = settings(max_examples=15)
many = settings(max_examples=1500)


def harmless(requests: list[bytes]) -> None:
    """Send them; the good client is served afterwards, and after a restart, as if nothing was."""
    with attacked_cluster() as attacked:
        attacked.attack(requests)
        attacked.write("after")
        attacked.check_everything_is_there()
        attacked.restart()
        attacked.write("after the restart")
        attacked.check_everything_is_there()


def survived(requests: list[bytes], *, controller: bool) -> None:
    """Send them; whatever they did to the cluster, its nodes come back, and with a topic that
    nobody has touched everything is well."""
    with attacked_cluster() as attacked:
        attacked.attack(requests, controller=controller)
        attacked.restart()
        attacked.use_new_topic()


def some(requests: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[bytes]]:
    return st.lists(requests, min_size=1, max_size=25)


@several
@given(some(frames(PEACEFUL)))
def test_requests_of_every_kind_harm_nobody(requests: list[bytes]) -> None:
    harmless(requests)


@several
@given(some(mutated_frames(PEACEFUL)))
def test_frames_with_a_few_bytes_changed_harm_nobody(requests: list[bytes]) -> None:
    harmless(requests)


@several
@given(some(produces()))
def test_hostile_batches_harm_nobody(requests: list[bytes]) -> None:
    harmless(requests)


@several
@given(some(frames(DESTRUCTIVE)))
def test_the_cluster_survives_what_admins_may_ask_for(requests: list[bytes]) -> None:
    survived(requests, controller=False)


@several
@given(some(frames(OF_CONTROLLERS) | mutated_frames(OF_CONTROLLERS)))
def test_the_controller_survives_whoever_talks_to_it(requests: list[bytes]) -> None:
    survived(requests, controller=True)


@pytest.mark.slow
@many
@given(some(frames(PEACEFUL) | mutated_frames(PEACEFUL) | produces()))
def test_for_minutes_nobody_is_harmed(requests: list[bytes]) -> None:
    harmless(requests)


@pytest.mark.slow
@many
@given(some(frames(DESTRUCTIVE) | mutated_frames(DESTRUCTIVE)), st.booleans())
def test_for_minutes_the_cluster_survives(requests: list[bytes], controller: bool) -> None:
    survived(requests, controller=controller)
