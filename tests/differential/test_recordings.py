"""What Kafka said, as it lies in the repository."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.differential.allowed import read_allowed
from harness.differential.answers import NoAnswers, Recording, read_recordings
from harness.differential.sequences import all_sequences
from harness.history.differences import matches

RECORDINGS = {one.sequence.name: one for one in read_recordings()}
SEQUENCES = {one.name: one for one in all_sequences()}


def test_every_sequence_has_a_name_of_its_own() -> None:
    assert len(SEQUENCES) == sum(1 for _ in all_sequences())


def test_every_sequence_is_recorded_and_nothing_else_is() -> None:
    assert SEQUENCES.keys() == RECORDINGS.keys()


def test_a_recording_is_of_the_sequence_as_it_is_written_today() -> None:
    written = {name: json.loads(json.dumps(one.as_json())) for name, one in SEQUENCES.items()}

    assert [n for n, one in written.items() if RECORDINGS[n].sequence.as_json() != one] == []


def test_every_compared_step_has_an_answer_of_a_named_oracle() -> None:
    assert {one.oracle for one in RECORDINGS.values()} == {"Apache Kafka 4.3.1"}
    assert [
        (name, at)
        for name, one in RECORDINGS.items()
        for at, (step, answer) in enumerate(zip(one.sequence.steps, one.answers, strict=True))
        if (answer is not None) != step.compared
    ] == []


def test_no_answer_tells_of_the_machine_it_was_recorded_on() -> None:
    machine = re.compile(r"127\.0\.0\.1|localhost|/tmp/|/root|/home")

    assert [name for name, one in RECORDINGS.items() if machine.search(one.as_text())] == []


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    recording = RECORDINGS["produce/bad_crc"]
    recording.write(tmp_path)

    (again,) = read_recordings(tmp_path)

    assert again == recording
    assert isinstance(again, Recording)


def test_a_folder_without_recordings_is_a_mistake_and_no_agreement(tmp_path: Path) -> None:
    with pytest.raises(NoAnswers):
        list(read_recordings(tmp_path))


def test_every_allowed_difference_is_about_a_sequence_that_there_is() -> None:
    for one in read_allowed():
        assert any(matches(one.sequence, name) for name in RECORDINGS), one
