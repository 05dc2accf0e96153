"""The lines of the exec protocol: what is asked, what may be answered, what is a breach."""

from __future__ import annotations

import json

import jsonschema
import pytest

from harness.sut import ProtocolBreach
from harness.sut.calls import CALLS
from harness.sut.protocol import SCHEMA_FILE, question, read_answer, read_ready
from harness.workloads import BoundarySteps, parse
from reference_impl.control_plane.form import CALLS as PORT_CALLS
from reference_impl.control_plane.lines import answered as told_of
from reference_impl.control_plane.lines import request_of
from reference_impl.ports.control_plane import BoundaryError, PartitionAnswer

STATE = {"boundary": 100, "epoch": 5, "reset_epoch": -1}
README = SCHEMA_FILE.with_name("README.md").read_text("utf-8")


def answered(f: str = "get_diskless_log_start_offset", **fields: object):
    line = json.dumps({"id": 7, **fields}).encode()
    return read_answer(line, called="exec:./heron", number=7, f=f)


def breach(line: bytes, *, number: int | None = 7, f: str = "commit_batch") -> str:
    with pytest.raises(ProtocolBreach) as refused:
        read_answer(line, called="exec:./heron", number=number, f=f)
    message = str(refused.value)
    assert message.startswith("exec:./heron ")
    for part in ("got:", "want:", "see:  harness/sut/README.md#"):
        assert part in message
    return message


def test_the_calls_of_language_port_and_schema_are_the_same() -> None:
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    enumerated = schema["$defs"]["call"]["enum"]
    assert list(CALLS) == list(PORT_CALLS) == enumerated


@pytest.mark.parametrize("f", CALLS)
def test_the_page_has_an_anchor_for_every_call_and_a_row_for_every_error(f: str) -> None:
    assert f'<a id="{f}"></a>`{f}`' in README
    for error in BoundaryError:
        assert f"| `{error}` |" in README


@pytest.mark.parametrize("f", CALLS)
def test_a_question_fits_the_schema_and_the_reference_understands_it(f: str) -> None:
    words = {"boundary": "b0=20", "leader_epoch": "epoch=1", "entries": "seeds=A"}
    given = " ".join(words[name] for name in CALLS[f].needs)
    (step,) = parse(f"a call {f} {given}", BoundarySteps)
    asked = json.loads(question(3, f, step.arguments))
    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    jsonschema.Draft202012Validator({**schema, "$ref": "#/$defs/question"}).validate(asked)
    assert asked.pop("id") == 3
    assert request_of(asked).f == f


@pytest.mark.parametrize("error", list(BoundaryError))
def test_an_answer_of_the_reference_is_understood(error: BoundaryError) -> None:
    known = error.definite
    told = PartitionAnswer(
        error=error,
        boundary=100 if known else None,
        epoch=5 if known else None,
        reset_epoch=-1 if known else None,
    )
    answer = answered(**told_of(told))
    assert answer.error == error
    assert answer.definite is known
    assert answer.stored == (STATE if known else {})


def test_seeds_and_base_offset_come_with_the_calls_that_ask_for_them() -> None:
    seeds = [[7002, 1, 10, 12, 3, 1]]
    assert (
        answered("describe_producers", error="NONE", seeds=seeds, **STATE).stored["seeds"] == seeds
    )
    assert answered("commit_batch", error="NONE", base_offset=0, **STATE).stored["base_offset"] == 0
    assert answered("commit_batch", error="BOUNDARY_UNSET", **STATE).error == "BOUNDARY_UNSET"


def test_an_error_nobody_knows_is_not_definite() -> None:
    assert not answered(error="OUT_OF_CHEESE").definite


def test_fields_nobody_knows_are_ignored() -> None:
    assert answered(error="NONE", shard=12, **STATE).stored == STATE


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"Starting up...", "something that is not a JSON object"),
        (b"[1]", "something that is not a JSON object"),
        (b"[" * 100_000, "something that is not a JSON object"),
        (b"1" * 10_000, "something that is not a JSON object"),
        (b"\xff\xfe", "something that is not a JSON object"),
        (b"{}", "'id' is a required property"),
        (b'{"id": 7}', "'error' is a required property"),
        (b'{"id": "7", "error": "NONE"}', "does not fit: id"),
        (b'{"id": 8, "error": "NONE"}', "answered another question"),
        (b'{"id": 7, "error": 3}', "does not fit: error"),
        (b'{"id": 7, "error": "it broke"}', "does not fit: error"),
        (b'{"id": 7, "error": "NONE"}', "answered 'commit_batch' without 'boundary'"),
        (
            b'{"id": 7, "error": "NONE", "boundary": 1, "epoch": 1, "reset_epoch": 1}',
            "answered 'commit_batch' without 'base_offset'",
        ),
        (b'{"id": 7, "error": "NONE", "boundary": 1.0}', "does not fit: boundary"),
        (b'{"id": 7, "error": "NONE", "boundary": NaN}', "does not fit: boundary"),
        (b'{"id": 7, "error": "NONE", "boundary": true}', "does not fit: boundary"),
        (b'{"id": 7, "error": "NONE", "boundary": -2}', "does not fit: boundary"),
        (b'{"id": 7, "error": "NONE", "boundary": 9223372036854775808}', "does not fit: boundary"),
        (b'{"id": 7, "error": "NONE", "seeds": [[1, 2]]}', "does not fit: seeds"),
        (b'{"id": 7, "error": "NONE", "seeds": "many"}', "does not fit: seeds"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_fit_is_a_breach_that_says_what_was_wanted(
    line: bytes, said: str
) -> None:
    assert said in breach(line)


def test_speaking_without_being_asked_is_a_breach() -> None:
    assert "spoke without being asked" in breach(b'{"id": 7, "error": "NONE"}', number=None)


def test_a_breach_shows_no_more_than_a_line_of_what_was_printed() -> None:
    message = breach(b'{"id": "' + b"x" * 500_000 + b'"}')
    assert len(message) < 1000
    assert "\x1b" not in breach(b'{"id": "\x1b[31m"}')


@pytest.mark.parametrize("line", [b"hello", b"{}", b'{"ready": false}', b'{"ready": 1}'])
def test_the_first_line_must_be_the_ready_sign(line: bytes) -> None:
    read_ready(b'{"ready": true, "pid": 12, "mutants": []}', called="x")
    with pytest.raises(ProtocolBreach):
        read_ready(line, called="exec:./heron")
