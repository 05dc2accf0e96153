"""The choices behind answers that campaigns never ask for, cell by cell."""

from __future__ import annotations

from itertools import product

import pytest

from reference_impl.broker.decisions import (
    LARGEST_EPOCH,
    next_session_epoch,
    session_tells,
    tells_cluster_operations,
)
from reference_impl.broker.list_offsets import list_offsets_reader
from reference_impl.controller.decisions import list_config_after
from reference_impl.kafka.frames import client_id_bytes
from reference_impl.metadata.topic_names import MAX_LENGTH, problem_with
from reference_impl.replication.decisions import Reader


@pytest.mark.parametrize(("epoch", "after"), [(1, 2), (LARGEST_EPOCH - 1, LARGEST_EPOCH)])
def test_requests_of_a_session_are_counted(epoch: int, after: int) -> None:
    assert next_session_epoch(epoch) == after
    assert next_session_epoch(LARGEST_EPOCH) == 1


def test_a_session_leaves_out_only_what_brings_nothing_new() -> None:
    for news in product((False, True), repeat=4):
        assert session_tells(*news) == any(news)


def test_cluster_operations_are_told_in_three_versions_to_who_asks() -> None:
    told = [version for version in range(14) if tells_cluster_operations(version, True)]

    assert told == [8, 9, 10]
    assert not any(tells_cluster_operations(version, False) for version in range(14))


@pytest.mark.parametrize(("length", "size"), [(-2, 0), (-1, 0), (0, 0), (1, 1), (300, 300)])
def test_a_client_id_below_zero_bytes_has_none(length: int, size: int) -> None:
    assert client_id_bytes(length) == size


@pytest.mark.parametrize(
    ("parts", "changed", "append", "after"),
    [
        (["a"], ["b"], True, ["a", "b"]),
        (["a"], ["a"], True, ["a"]),
        (["a"], ["b", "b"], True, ["a", "b"]),
        (["a", "b"], ["a"], False, ["b"]),
        (["a"], ["b"], False, ["a"]),
        (["a", "a"], ["a"], False, ["a"]),
        ([], [], True, []),
    ],
)
def test_a_list_has_each_part_once(
    parts: list[str], changed: list[str], append: bool, after: list[str]
) -> None:
    assert list(list_config_after(parts, changed, append)) == after


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "tür", "x" * (MAX_LENGTH + 1)])
def test_some_names_no_topic_may_have(name: str) -> None:
    assert problem_with(name)


@pytest.mark.parametrize("name", ["a", "...", "a.b_c-D9", "x" * MAX_LENGTH])
def test_other_names_will_do(name: str) -> None:
    assert problem_with(name) is None


@pytest.mark.parametrize(
    ("replica_id", "committed", "reader"),
    [
        (-1, False, Reader.CONSUMER),
        (-1, True, Reader.COMMITTED),
        (-2, False, Reader.CONSUMER),
        (-2, True, Reader.CONSUMER),
        (-7, True, Reader.CONSUMER),
        (0, False, Reader.FOLLOWER),
        (7, True, Reader.FOLLOWER),
    ],
)
def test_only_replicas_are_told_of_offsets_that_are_not_committed(
    replica_id: int, committed: bool, reader: Reader
) -> None:
    assert list_offsets_reader(replica_id, committed) is reader
