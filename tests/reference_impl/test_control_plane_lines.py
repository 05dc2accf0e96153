"""Requests and answers as JSON lines, and what is wrong with a malformed one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reference_impl.control_plane.form import CALLS, problem_with
from reference_impl.control_plane.lines import (
    BadRequest,
    answer_line,
    answered,
    arguments_of,
    request_of,
    topic_id_of,
)
from reference_impl.ports.control_plane import (
    MAX_INT,
    MAX_OFFSET,
    BatchAnswer,
    BoundaryError,
    CommitBatches,
    LogToCreate,
    PartitionAnswer,
    Seed,
    canonical,
)

SEED = Seed(7, 0, 0, 4, 10, 1000)
WHERE = {"topic": "t", "partition": 0}
SOUND: dict[str, dict[str, Any]] = {
    "create_log": {},
    "initialize_diskless_migration": {"boundary": 0, "leader_epoch": 0, "entries": [list(SEED)]},
    "set_diskless_log_start_offset": {"boundary": -1},
    "get_diskless_log_start_offset": {},
    "seed_producer_state": {"entries": []},
    "register_leader_epoch": {"leader_epoch": MAX_INT},
    "describe_producers": {},
    "commit_batch": {"record_count": 1},
}
STATE = {"boundary": None, "epoch": None, "reset_epoch": None}


@pytest.mark.parametrize("f", CALLS)
def test_a_request_keeps_what_its_line_says(f: str) -> None:
    lines = [{**WHERE, **SOUND[f]}, {"topic": "u", "partition": 3, **SOUND[f]}]
    request = request_of({"f": f, "partitions": json.loads(json.dumps(lines))})
    found = [dict(row) for row in arguments_of(request)]
    for row, line in zip(found, lines, strict=True):
        assert row.pop("topic_id") == str(topic_id_of(line.pop("topic")))
        row.pop("topic", None)
        assert row == line


def test_the_line_of_one_partition_is_the_line_of_several_with_one() -> None:
    several = request_of({"f": "commit_batch", "partitions": [{**WHERE, "record_count": 2}]})
    assert request_of({"f": "commit_batch", **WHERE, "record_count": 2}) == several


def test_topics_have_ids_of_their_own_and_a_name_always_the_same() -> None:
    assert topic_id_of("t") == topic_id_of("t") != topic_id_of("u")


def test_creating_a_log_tells_the_name_of_its_topic() -> None:
    (asked,) = request_of({"f": "create_log", **WHERE}).partitions
    assert asked == LogToCreate(topic_id=topic_id_of("t"), partition=0, topic="t")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ([], "a JSON object is needed"),
        ({"f": "create_log", "topic": "t"}, "'partition' is missing"),
        ({"f": "create_log", "topic": None, "partition": 0}, "'topic' is missing"),
        ({"f": "drop_log", **WHERE}, "'drop_log', which is no call"),
        ({"f": "create_log", **WHERE, "epoch": 3}, "'epoch' is not known"),
        ({"f": "create_log", "topic": 3, "partition": 0}, "topic must be a string"),
        ({"f": "create_log", "topic": "\ud800", "partition": 0}, "is not plain text"),
        ({"f": "create_log", "topic": "t", "partition": "0"}, "partition must be an integer"),
        ({"f": "create_log", "topic": "t", "partition": True}, "partition must be an integer"),
        ({"f": "create_log", **WHERE, "entries": []}, "create_log takes no entries"),
        ({"f": "commit_batch", **WHERE, "record_count": 1.5}, "record_count must be an integer"),
        ({"f": "seed_producer_state", **WHERE, "entries": 3}, "entries must be an array"),
        ({"f": "seed_producer_state", **WHERE, "entries": [[1, 2]]}, r"is \[producer_id, "),
        ({"f": "seed_producer_state", **WHERE, "entries": [[1] * 5 + ["6"]]}, "integers only"),
        ({"f": "create_log", "partitions": 3}, "an array, partitions"),
        ({"f": "create_log", **WHERE, "partitions": []}, "has f and an array, partitions"),
        ({"f": "create_log", "partitions": [3]}, "a JSON object is needed, not 3"),
        ({"f": "commit_batch", "partitions": [WHERE]}, "commit_batch needs record_count"),
    ],
)
def test_json_that_is_no_request_is_refused_with_a_reason(line: object, sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence):
        request_of(line)


@pytest.mark.parametrize("f", CALLS)
def test_a_call_that_lacks_an_argument_is_no_request(f: str) -> None:
    for name in SOUND[f]:
        rest = {other: value for other, value in SOUND[f].items() if other != name}
        with pytest.raises(BadRequest, match=f"{f} needs {name}"):
            request_of({"f": f, **WHERE, **rest})


@pytest.mark.parametrize("f", CALLS)
def test_a_call_with_its_own_arguments_is_sound(f: str) -> None:
    (asked,) = request_of({"f": f, **WHERE, **SOUND[f]}).partitions
    assert problem_with(asked) is None


@pytest.mark.parametrize(
    ("f", "change", "sentence"),
    [
        ("initialize_diskless_migration", {"boundary": -1}, "boundary is -1"),
        ("initialize_diskless_migration", {"boundary": MAX_OFFSET + 1}, "is not in 0.."),
        ("initialize_diskless_migration", {"leader_epoch": -1}, "leader_epoch is -1"),
        ("set_diskless_log_start_offset", {"boundary": -2}, "boundary is -2"),
        ("register_leader_epoch", {"leader_epoch": MAX_INT + 1}, "is not in 0.."),
        ("commit_batch", {"record_count": 0}, "record_count is 0"),
        ("create_log", {"topic": ""}, "is empty or not plain text"),
        ("create_log", {"topic": "a\0b"}, "is empty or not plain text"),
        ("create_log", {"partition": -1}, "partition is -1"),
        ("seed_producer_state", {"entries": [SEED._replace(producer_id=-1)]}, "producer_id of an"),
        ("seed_producer_state", {"entries": [SEED._replace(timestamp_ms=-2)]}, "is -2, which"),
    ],
)
def test_arguments_that_do_not_suit_the_call_are_named(
    f: str, change: dict[str, Any], sentence: str
) -> None:
    (asked,) = request_of({"f": f, **WHERE, **SOUND[f], **change}).partitions
    found = problem_with(asked)
    assert found is not None
    assert sentence in found


def test_an_answer_always_shows_the_three_state_fields() -> None:
    unknown = PartitionAnswer(error=BoundaryError.REQUEST_TIMED_OUT, **STATE)
    assert answered(unknown) == {"error": "REQUEST_TIMED_OUT", **STATE}


def test_an_answer_has_the_form_in_which_was_asked() -> None:
    one = BatchAnswer(error=BoundaryError.NONE, boundary=1, epoch=2, reset_epoch=-1, base_offset=7)
    line = {"error": "NONE", "boundary": 1, "epoch": 2, "reset_epoch": -1, "base_offset": 7}
    request = request_of({"f": "commit_batch", **WHERE, "record_count": 1})
    assert answer_line(request.answered([one]), several=False) == line
    assert answer_line(request.answered([one]), several=True) == {"partitions": [line]}


def test_messages_take_no_part_in_comparisons() -> None:
    silent = PartitionAnswer(error=BoundaryError.NONE, **STATE)
    assert PartitionAnswer(error=BoundaryError.NONE, **STATE, message="hello") == silent


def test_a_call_of_unknown_outcome_answers_every_partition_so() -> None:
    batch = {**WHERE, "record_count": 1}
    request = request_of({"f": "commit_batch", "partitions": [batch, batch]})
    assert isinstance(request, CommitBatches)
    answer = request.unknown(BoundaryError.REQUEST_TIMED_OUT, "gone")
    assert answer.partitions == (BatchAnswer(error=BoundaryError.REQUEST_TIMED_OUT, **STATE),) * 2


def test_seeds_are_a_set() -> None:
    other = SEED._replace(producer_id=3)
    assert canonical((SEED, other, SEED)) == (other, SEED)


def test_only_two_errors_leave_the_outcome_open() -> None:
    assert [error.name for error in BoundaryError if not error.definite] == [
        "REQUEST_TIMED_OUT",
        "KAFKA_STORAGE_ERROR",
    ]
