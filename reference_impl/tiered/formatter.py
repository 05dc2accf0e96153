"""Records of the metadata topic as text, one a line (C-13).

    partition:23,message-offset:2019,type:RemoteLogSegmentMetadata,version:0,event-value:{…}

What is optional is asked for by properties, as Kafka's console tools pass them: ``--property
print.partition=true``. Names of types are those of the document's formatter, not of its schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from reference_impl.decisions import decision
from reference_impl.tiered.records import VERSION
from reference_impl.tiered.segments import (
    MetadataEvent,
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    TopicIdPartition,
    id_text,
)

PRINT_PARTITION: Final = "print.partition"
PRINT_OFFSET: Final = "print.message.offset"
PRINT_VERSION: Final = "print.version"
PRINT_ALL: Final = "print.all.event.value.fields"
SEPARATOR: Final = "separator"
PROPERTIES: Final = (PRINT_PARTITION, PRINT_OFFSET, PRINT_VERSION, PRINT_ALL, SEPARATOR)

Field = tuple[str, object, bool]  # name, value, whether it is printed without being asked for


@decision("formatter-switch", rules=("TS-133",))
def switched_on(said: str) -> bool:
    """Any value but `true`, in whatever case, is false."""
    return said.lower() == "true"


def parse_properties(pairs: Sequence[str]) -> dict[str, str]:
    """``name=value``, as given on a command line; a ValueError for what is no such pair."""
    said = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in PROPERTIES:
            raise ValueError(
                f"no property of the formatter: {pair} (it has {', '.join(PROPERTIES)})"
            )
        said[name] = value
    return said


class RemoteLogMetadataFormatter:
    """Prints events as its properties say."""

    def __init__(self, properties: Mapping[str, str] | None = None) -> None:
        said = properties or {}
        self._separator = said.get(SEPARATOR, ",")
        self._asked = {name for name in PROPERTIES if switched_on(said.get(name, ""))}

    def line(self, event: MetadataEvent, *, partition: int, offset: int) -> str:
        """An event, and where in the topic it is."""
        kind, fields = self._fields(event)
        parts: tuple[Field, ...] = (
            ("partition", partition, PRINT_PARTITION in self._asked),
            ("message-offset", offset, PRINT_OFFSET in self._asked),
            ("type", kind, True),
            ("version", VERSION, PRINT_VERSION in self._asked),
            ("event-value", self._braced(fields), True),
        )
        return self._joined((name, value) for name, value, shown in parts if shown)

    def _fields(self, event: MetadataEvent) -> tuple[str, list[tuple[str, object]]]:
        if isinstance(event, RemoteLogSegmentMetadata):
            kind, fields = "RemoteLogSegmentMetadata", self._segment(event)
        elif isinstance(event, RemoteLogSegmentMetadataUpdate):
            kind = "RemoteLogSegmentMetadataUpdate"
            fields = (
                ("remote-log-segment-id", self._segment_id(event.segment_id), True),
                ("leader-epoch", event.leader_epoch, True),
                ("event-timestamp", event.event_timestamp_ms, False),
                ("remote-log-segment-state", event.state.name, True),
            )
        else:
            kind = "DeletePartitionState"
            fields = (
                ("topic-id-partition", self._braced(self._partition(event.partition)), True),
                ("epoch", event.epoch, True),
                ("event-timestamp", event.event_timestamp_ms, False),
                ("remote-partition-delete-state", event.state.name, True),
            )
        every = PRINT_ALL in self._asked
        return kind, [(name, value) for name, value, usual in fields if usual or every]

    def _segment(self, event: RemoteLogSegmentMetadata) -> tuple[Field, ...]:
        epochs = self._separator.join(
            self._braced([("leader-epoch", one.epoch), ("offset", one.start_offset)])
            for one in event.segment_leader_epochs
        )
        return (
            ("remote-log-segment-id", self._segment_id(event.segment_id), True),
            ("start-offset", event.start_offset, True),
            ("end-offset", event.end_offset, True),
            ("leader-epoch", event.leader_epoch, True),
            ("max-timestamp", event.max_timestamp_ms, False),
            ("event-timestamp", event.event_timestamp_ms, False),
            ("segment-leader-epochs", f"[{epochs}]", False),
            ("segment-size-in-bytes", event.segment_size_bytes, False),
            ("remote-log-segment-state", event.state.name, True),
        )

    def _segment_id(self, segment_id: RemoteLogSegmentId) -> str:
        return self._braced(
            [("id", id_text(segment_id.id)), *self._partition(segment_id.partition)]
        )

    def _partition(self, partition: TopicIdPartition) -> list[tuple[str, object]]:
        return [
            ("topicId", id_text(partition.topic_id)),
            ("topicName", partition.topic),
            ("partition", partition.partition),
        ]

    def _braced(self, fields: Sequence[tuple[str, object]]) -> str:
        return f"{{{self._joined(iter(fields))}}}"

    def _joined(self, fields: Iterator[tuple[str, object]]) -> str:
        return self._separator.join(f"{name}:{value}" for name, value in fields)
