"""Messages: one class for all versions, with defaults, and mistakes that are noticed."""

from __future__ import annotations

import uuid

import pytest

from reference_impl.kafka.apis import ALTER_PARTITION, FETCH, METADATA, PRODUCE

ZERO = uuid.UUID(int=0)


def test_a_field_that_is_not_given_has_the_default_of_the_schema() -> None:
    request = FETCH.request()

    assert (request.max_bytes, request.session_epoch, request.replica_id) == (0x7FFFFFFF, -1, -1)
    assert request.topics == []
    assert request.cluster_id is None
    assert FETCH.request.FetchTopic().topic_id == ZERO
    assert METADATA.request().topics is None
    assert METADATA.request().allow_auto_topic_creation is True
    assert PRODUCE.response.PartitionProduceResponse().log_append_time_ms == -1


def test_each_message_has_lists_of_its_own() -> None:
    FETCH.request().topics.append("x")

    assert FETCH.request().topics == []


def test_a_decoded_message_has_lists_of_its_own() -> None:
    # Version 13 has no topic names; version 4 has no list of topics to forget.
    empty = FETCH.encode_request(FETCH.request(), 4)
    FETCH.decode_request(empty, 4).forgotten_topics_data.append("x")

    assert FETCH.decode_request(empty, 4).forgotten_topics_data == []


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="max_wait"):
        FETCH.request(max_wait=500)
    with pytest.raises(AttributeError, match="max_wait"):
        FETCH.request().max_wait = 500


def test_a_structure_that_all_messages_share_cannot_be_changed() -> None:
    partition = FETCH.response.PartitionData()

    with pytest.raises(TypeError, match="shared"):
        partition.current_leader.leader_id = 1

    partition.current_leader = FETCH.response.LeaderIdAndEpoch(leader_id=1, leader_epoch=2)
    assert FETCH.response.PartitionData().current_leader.leader_id == -1


def test_structures_of_the_same_name_are_kept_apart() -> None:
    asked, answered = ALTER_PARTITION.request.PartitionData, ALTER_PARTITION.response.PartitionData

    assert asked is not answered
    assert asked(partition_index=1) != answered(partition_index=1)
    with pytest.raises(TypeError, match="isr"):
        asked(isr=[1])


def test_equal_messages_have_equal_fields() -> None:
    one = FETCH.request(topics=[FETCH.request.FetchTopic(topic="a")])

    assert one == FETCH.request(topics=[FETCH.request.FetchTopic(topic="a")])
    assert one != FETCH.request(topics=[FETCH.request.FetchTopic(topic="b")])
    assert FETCH.request.ReplicaState() == FETCH.request().replica_state


def test_a_message_is_shown_with_what_is_not_by_default() -> None:
    request = FETCH.request(max_wait_ms=5, topics=[FETCH.request.FetchTopic(topic="a")])

    assert repr(request) == "FetchRequest(max_wait_ms=5, topics=[FetchTopic(topic='a')])"


def test_a_field_that_the_version_does_not_have_is_not_written() -> None:
    topic = FETCH.request.FetchTopic(topic="a", topic_id=uuid.UUID(int=7))
    request = FETCH.request(topics=[topic])

    by_name = FETCH.decode_request(FETCH.encode_request(request, 12), 12).topics[0]
    by_id = FETCH.decode_request(FETCH.encode_request(request, 13), 13).topics[0]

    assert (by_name.topic, by_name.topic_id) == ("a", ZERO)
    assert (by_id.topic, by_id.topic_id) == ("", uuid.UUID(int=7))


def test_null_where_the_version_has_no_null_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="topics cannot be null"):
        METADATA.encode_request(METADATA.request(topics=None), 0)


def test_records_may_be_a_view_of_somebody_elses_bytes() -> None:
    row = FETCH.response.PartitionData
    whole = b"0123456789"

    def encoded(records: object) -> bytes:
        topic = FETCH.response.FetchableTopicResponse(partitions=[row(records=records)])
        return FETCH.encode_response(FETCH.response(responses=[topic]), 16)

    assert encoded(memoryview(whole)[2:5]) == encoded(b"234")
