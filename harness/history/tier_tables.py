"""Tables about tiered storage: requests in the versions and roles that it changes, and what looks
at the remote log metadata topic and at the remote store found.

A look at the metadata topic gives everything that stands in it, so the rows of the last look
contain those of the earlier ones. `look` counts the looks of a run; looks at the topic, the store
and the logs that were taken together have the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .pairing import Operation
from .sends import Emit, Row, told_offset, whole

FOLLOWER_FETCH: Final = "fetch_as_follower"
LISTED_IN_VERSION: Final = "list_offsets_in_version"
METADATA, EPOCHS = "remote_metadata", "remote_epochs"
OBJECTS, ENDS = "remote_objects", "remote_logs"

_LOOK = """
probe       bigint  index of the probe line
clock       string  the time domain
happened    bigint  when, in order units
time        bigint  when, by the clock
look        bigint  number of the look
resting     boolean  whether nothing had changed, and nothing was under way, for some time
topic       string  topic, as the history calls it; else its name on the wire
topic_id    string  id of the topic
partition   int     partition; null if the row has none
"""

TIER_TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "tier_requests": (
        "request that names its version: a fetch in the role of a follower, or list_offsets",
        """
op                bigint  index of the invoke line
completion        bigint  index of the completion line; null if there is none
process           bigint  the logical process
node              bigint  the node that was asked
topic             string  topic
partition         int     partition
f                 string  fetch_as_follower or list_offsets_in_version
type              string  ok, fail or info
error             string  name of the error; null where none was recorded
clock             string  the time domain
began             bigint  when it was invoked, in order units
ended             bigint  when it was answered; null if it was not
version           int     version of the request
replica           bigint  replica id that the request names
asked_offset      bigint  offset that a fetch asked for
asked_timestamp   bigint  timestamp that list_offsets asked for
answered_offset   bigint  offset listed
found_timestamp   bigint  timestamp listed
leader_epoch      bigint  leader epoch listed
records           int     how many records a fetch was given
high_watermark    bigint  high watermark of the answer
log_start_offset  bigint  log start of the answer
log_start         bigint  log start that was known when it was asked; null if none
local_start       bigint  earliest local offset that was known when it was asked; null if none
tiered            boolean  whether the topic is tiered
""",
    ),
    "remote_events": (
        "record of the remote log metadata topic found by a look",
        _LOOK
        + """
metadata_partition  int      partition of the metadata topic
metadata_offset     bigint   offset in it
due_partition       int      partition in which the record belongs
keyed               boolean  whether the record has a key
problem             string   why it cannot be decoded; null if it can
event               string   segment, update or partition; null if it cannot be decoded
segment_id          string   id of the remote segment; null for a partition
start_offset        bigint   first offset of the segment; null for others than segment
end_offset          bigint   last offset of the segment
leader_epoch        bigint   leader epoch, or epoch of a partition's event; null if it has none
max_timestamp       bigint   maximum timestamp of the segment
event_timestamp     bigint   when the event was set, by its publisher
size                bigint   size of the segment in bytes
state               int      state of the segment or of the partition's deletion
epochs              string   epochs of the segment as JSON text: [[epoch, offset], ...]
deleted             boolean  whether the lab had deleted the topic before the look
detail              string   the whole row as JSON text
""",
    ),
    "remote_epochs": (
        "leader epoch of a remote segment found by a look, with the offsets that it has there",
        _LOOK
        + """
segment_id    string  id of the remote segment
epoch         bigint  leader epoch
first_offset  bigint  first offset of the epoch in the segment
last_offset   bigint  last offset of the epoch in the segment
detail        string  the whole row as JSON text
""",
    ),
    "remote_objects": (
        "object of the remote store found by a look",
        _LOOK
        + """
object_key  string  key of the object
segment_id  string  id of the remote segment; null if the key has none
part        string  log, offset, time, producers, transactions or epochs; null if it is none of them
size        bigint  its size in bytes
deleted     boolean  whether the lab had deleted the topic before the look
detail      string  the whole row as JSON text
""",
    ),
    "remote_logs": (
        "partition of a topic with what its leader said of its bounds at a look",
        _LOOK
        + """
log_start    bigint  earliest offset
local_start  bigint  earliest local offset
last_tiered  bigint  latest tiered offset, inclusive; -1 if nothing is tiered; null if not offered
log_end      bigint  latest offset
last_stable  bigint  last stable offset, asked after all others; null if it was not told
tiered       boolean  whether the topic is tiered
detail       string  the whole row as JSON text
""",
    ),
}

_NAMED = ("look", "resting", "topic", "topic_id", "partition")
_NUMBERS = {
    METADATA: (
        "metadata_partition",
        "metadata_offset",
        "due_partition",
        "start_offset",
        "end_offset",
        "leader_epoch",
        "max_timestamp",
        "event_timestamp",
        "size",
        "state",
    ),
    EPOCHS: ("epoch", "first_offset", "last_offset"),
    OBJECTS: ("size",),
    ENDS: ("log_start", "local_start", "last_tiered", "log_end", "last_stable"),
}
_OTHERS = {
    METADATA: ("keyed", "problem", "event", "segment_id", "epochs", "deleted"),
    EPOCHS: ("segment_id",),
    OBJECTS: ("object_key", "segment_id", "part", "deleted"),
    ENDS: ("tiered",),
}
_TABLES = {METADATA: "remote_events", EPOCHS: EPOCHS, OBJECTS: OBJECTS, ENDS: ENDS}


def _found(what: str) -> Callable[[Any], Row]:
    def lay_out(row: Any) -> Row:
        numbers = {name: whole(row.get(name)) for name in _NUMBERS[what]}
        return {name: row.get(name) for name in (*_NAMED, *_OTHERS[what])} | numbers

    return lay_out


TIER_PROBES: Final[Mapping[str, tuple[str, Callable[[Any], Row]]]] = {
    what: (table, _found(what)) for what, table in _TABLES.items()
}


def lay_out_tier_request(operation: Operation, shared: Row, emit: Emit) -> None:
    """A request with its version, and what was known of the log when it was asked."""
    invoke, completion = operation.invoke, operation.completion or {}
    asked = ("version", "replica", "log_start", "local_start", "tiered")
    row: Row = {name: invoke.get(name) for name in asked}
    row |= {
        "ended": shared["answered"],
        "asked_offset": invoke.get("offset"),
        "asked_timestamp": invoke.get("timestamp"),
        "answered_offset": told_offset(completion.get("offset")),
        "found_timestamp": whole(completion.get("found_timestamp")),
        "leader_epoch": whole(completion.get("leader_epoch")),
        "records": whole(completion.get("count")),
        "high_watermark": told_offset(completion.get("high_watermark")),
        "log_start_offset": told_offset(completion.get("log_start_offset")),
    }
    emit("tier_requests", shared | row)


TIER_LAY_OUT: Final = dict.fromkeys((FOLLOWER_FETCH, LISTED_IN_VERSION), lay_out_tier_request)
