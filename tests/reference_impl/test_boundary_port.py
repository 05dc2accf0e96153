"""Requests and replies: JSON both ways, and what is wrong with a malformed one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from reference_impl.control_plane.port import (
    CALLS,
    MAX_INT,
    MAX_OFFSET,
    BadRequest,
    BoundaryError,
    Reply,
    Request,
    Seed,
    canonical,
    problem_with,
)

SEED = Seed(7, 0, 0, 4, 10, 1000)
WHERE = {"topic": "t", "partition": 0}

whole = st.integers(min_value=-(2**70), max_value=2**70)
seeds = st.lists(st.builds(Seed, *[whole] * 6), max_size=4).map(tuple)
requests = st.builds(
    Request,
    f=st.sampled_from(sorted(CALLS)),
    topic=st.text(),
    partition=whole,
    boundary=st.none() | whole,
    leader_epoch=st.none() | whole,
    entries=st.none() | seeds,
    record_count=st.none() | whole,
)
replies = st.builds(
    Reply,
    error=st.sampled_from(BoundaryError),
    boundary=st.none() | whole,
    epoch=st.none() | whole,
    reset_epoch=st.none() | whole,
    seeds=st.none() | seeds,
    base_offset=st.none() | whole,
    message=st.none() | st.text(),
)


@for_all(requests)
def test_a_request_survives_json(request: Request) -> None:
    assert Request.from_json(json.loads(json.dumps(request.to_json()))) == request


@for_all(replies)
def test_a_reply_survives_json(reply: Reply) -> None:
    assert Reply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


def test_a_reply_always_shows_the_three_state_fields() -> None:
    reply = Reply(
        error=BoundaryError.REQUEST_TIMED_OUT, boundary=None, epoch=None, reset_epoch=None
    )
    assert reply.to_json() == {
        "error": "REQUEST_TIMED_OUT",
        "boundary": None,
        "epoch": None,
        "reset_epoch": None,
    }


def test_messages_take_no_part_in_comparisons() -> None:
    state = {"boundary": 1, "epoch": 2, "reset_epoch": -1}
    told = Reply.from_json({"error": "NONE", **state, "message": "hello"})
    assert told == Reply.from_json({"error": "NONE", **state})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ([], "a JSON object is needed"),
        ({"f": "create_log", "topic": "t"}, "'partition' is missing"),
        ({"f": "create_log", "topic": None, "partition": 0}, "'topic' is missing"),
        ({"f": "drop_log", **WHERE}, "'drop_log', which is no call"),
        ({"f": "create_log", **WHERE, "epoch": 3}, "'epoch' is not known"),
        ({"f": "create_log", "topic": 3, "partition": 0}, "topic must be a string"),
        ({"f": "create_log", "topic": "t", "partition": "0"}, "partition must be an integer"),
        ({"f": "create_log", "topic": "t", "partition": True}, "partition must be an integer"),
        ({"f": "create_log", **WHERE, "boundary": 1.5}, "boundary must be an integer"),
        ({"f": "create_log", **WHERE, "entries": 3}, "entries must be an array"),
        ({"f": "create_log", **WHERE, "entries": [[1, 2]]}, r"is \[producer_id, "),
        ({"f": "create_log", **WHERE, "entries": [[1, 2, 3, 4, 5, "6"]]}, "integers only"),
    ],
)
def test_json_that_is_no_request_is_refused_with_a_reason(line: object, sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence):
        Request.from_json(line)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({"boundary": 3}, "'error' is missing"),
        ({"error": "OOPS"}, "'OOPS', which is no error"),
        ({"error": "NONE", "boundary": "3"}, "boundary must be an integer"),
        ({"error": "NONE", "message": 3}, "message must be a string"),
    ],
)
def test_json_that_is_no_reply_is_refused_with_a_reason(line: object, sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence):
        Reply.from_json(line)


SOUND = {
    "create_log": {},
    "initialize_diskless_migration": {"boundary": 0, "leader_epoch": 0, "entries": (SEED,)},
    "set_diskless_log_start_offset": {"boundary": -1},
    "get_diskless_log_start_offset": {},
    "seed_producer_state": {"entries": ()},
    "register_leader_epoch": {"leader_epoch": MAX_INT},
    "describe_producers": {},
    "commit_batch": {"record_count": 1},
}


@pytest.mark.parametrize("f", sorted(CALLS))
def test_a_call_with_its_own_arguments_is_sound(f: str) -> None:
    assert problem_with(Request(f=f, **WHERE, **SOUND[f])) is None


@pytest.mark.parametrize("f", sorted(CALLS))
def test_a_call_that_lacks_an_argument_is_not_sound(f: str) -> None:
    for name in SOUND[f]:
        rest = {other: value for other, value in SOUND[f].items() if other != name}
        assert problem_with(Request(f=f, **WHERE, **rest)) == f"{f} needs {name}"


@pytest.mark.parametrize(
    ("f", "change", "sentence"),
    [
        ("initialize_diskless_migration", {"boundary": -1}, "boundary -1 of"),
        ("initialize_diskless_migration", {"boundary": MAX_OFFSET + 1}, "is not in 0.."),
        ("initialize_diskless_migration", {"leader_epoch": -1}, "leader_epoch -1 of"),
        ("set_diskless_log_start_offset", {"boundary": -2}, "boundary -2 of"),
        ("register_leader_epoch", {"leader_epoch": MAX_INT + 1}, "is not in 0.."),
        ("commit_batch", {"record_count": 0}, "record_count 0 of"),
        ("commit_batch", {"leader_epoch": 3}, "takes no leader_epoch"),
        ("create_log", {"entries": ()}, "takes no entries"),
        ("create_log", {"topic": ""}, "is empty or not plain text"),
        ("create_log", {"topic": "a\0b"}, "is empty or not plain text"),
        ("create_log", {"topic": "\ud800"}, "is empty or not plain text"),
        ("create_log", {"partition": -1}, "partition -1"),
        ("seed_producer_state", {"entries": (SEED._replace(producer_id=-1),)}, "producer_id -1"),
        ("seed_producer_state", {"entries": (SEED._replace(timestamp_ms=-2),)}, "timestamp_ms -2"),
    ],
)
def test_arguments_that_do_not_suit_the_call_are_named(
    f: str, change: dict[str, object], sentence: str
) -> None:
    found = problem_with(Request(**{"f": f, **WHERE, **SOUND[f], **change}))
    assert found is not None
    assert sentence in found


def test_seeds_are_a_set() -> None:
    other = SEED._replace(producer_id=3)
    assert canonical((SEED, other, SEED)) == (other, SEED)


def test_only_two_errors_leave_the_outcome_open() -> None:
    assert [error.name for error in BoundaryError if not error.definite] == [
        "REQUEST_TIMED_OUT",
        "KAFKA_STORAGE_ERROR",
    ]
