"""Records of the metadata topic as text, line for line."""

from __future__ import annotations

import pytest
from metadata_vectors import FINISHED, MARKED, STARTED

from reference_impl.tiered.formatter import RemoteLogMetadataFormatter, parse_properties
from reference_impl.tiered.segments import MetadataEvent

SEGMENT = (
    "remote-log-segment-id:{id:8PHy8_T19vf4-fr7_P3-_w,topicId:AAECAwQFBgcICQoLDA0ODw,"
    "topicName:orders,partition:0}"
)
PLAIN = [
    (
        STARTED,
        (
            f"type:RemoteLogSegmentMetadata,event-value:{{{SEGMENT},start-offset:6,end-offset:8,"
            "leader-epoch:3,remote-log-segment-state:COPY_SEGMENT_STARTED}"
        ),
    ),
    (
        FINISHED,
        (
            f"type:RemoteLogSegmentMetadataUpdate,event-value:{{{SEGMENT},leader-epoch:3,"
            "remote-log-segment-state:COPY_SEGMENT_FINISHED}"
        ),
    ),
    (
        MARKED,
        (
            "type:DeletePartitionState,event-value:{topic-id-partition:{topicId:AAECAwQFBgcICQoLDA0ODw,"
            "topicName:orders,partition:0},epoch:7,"
            "remote-partition-delete-state:DELETE_PARTITION_MARKED}"
        ),
    ),
]
EVERYTHING = (
    f"partition:23,message-offset:2019,type:RemoteLogSegmentMetadata,version:0,event-value:{{{SEGMENT},"
    "start-offset:6,end-offset:8,leader-epoch:3,max-timestamp:1600000000000,"
    "event-timestamp:1600000001000,segment-leader-epochs:[{leader-epoch:2,offset:5},"
    "{leader-epoch:3,offset:7}],segment-size-in-bytes:1048576,"
    "remote-log-segment-state:COPY_SEGMENT_STARTED}"
)
ALL = ("print.partition", "print.message.offset", "print.version", "print.all.event.value.fields")


@pytest.mark.parametrize(("event", "line"), PLAIN)
def test_without_properties_a_line_has_type_and_event(event: MetadataEvent, line: str) -> None:
    assert RemoteLogMetadataFormatter().line(event, partition=23, offset=2019) == line


@pytest.mark.parametrize("yes", ["true", "True", "TRUE"])
def test_with_all_properties_a_line_has_everything(yes: str) -> None:
    formatter = RemoteLogMetadataFormatter(dict.fromkeys(ALL, yes))

    assert formatter.line(STARTED, partition=23, offset=2019) == EVERYTHING


@pytest.mark.parametrize("no", ["false", "yes", "1", ""])
def test_any_value_but_true_is_false(no: str) -> None:
    formatter = RemoteLogMetadataFormatter(dict.fromkeys(ALL, no))

    assert formatter.line(STARTED, partition=23, offset=2019) == PLAIN[0][1]


def test_the_separator_is_used_inside_the_braces_too() -> None:
    formatter = RemoteLogMetadataFormatter({**dict.fromkeys(ALL, "true"), "separator": " | "})

    line = formatter.line(STARTED, partition=23, offset=2019)

    assert line == EVERYTHING.replace(",", " | ")


def test_properties_are_given_as_name_and_value() -> None:
    assert parse_properties(["print.version=true", "separator="]) == {
        "print.version": "true",
        "separator": "",
    }
    for wrong in ("print.version", "print.colour=true"):
        with pytest.raises(ValueError, match="no property"):
            parse_properties([wrong])
