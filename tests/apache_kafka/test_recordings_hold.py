"""A few recorded sequences, asked again: the recordings are Kafka's answers and nobody else's."""

from __future__ import annotations

import pytest

from harness.deployments.apache_kafka import ApacheKafka
from harness.differential.agreement import compare_answers, told
from harness.differential.answers import read_recordings
from harness.differential.live import play_now

pytestmark = pytest.mark.foreign

RECORDINGS = {one.sequence.name: one for one in read_recordings()}
CHOSEN = (
    "produce/bad_crc",
    "produce/timestamps_bounded",
    "idempotence/window_of_five",
    "fetch/max_bytes",
    "fetch_sessions/a_whole_life_17",
    "offsets/by_time",
    "topics/create_with_bad_counts",
    "configs/append_and_subtract",
    "cluster/metadata_by_id",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_kafka_says_again_what_was_recorded(name: str, kafka: ApacheKafka) -> None:
    seen = play_now(RECORDINGS[name].sequence, kafka.address())

    agreement = compare_answers(RECORDINGS[name], seen, [])

    assert list(told(agreement, strict=False, all_of_it=True)) == []
