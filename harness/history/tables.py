"""The silver tables: what checkers see of a history, and nothing else.

Flat, typed, one meaning a column. The schemas are data: the Parquet files, the SQL of rules and the
tests draw from here. No column is a reserved word of Spark or DuckDB: none has to be quoted.

Time: `began`, `ended`, `answered`, `happened`, `since`, `until` are in *order units*: the `time` of
the line, or its `index` where the index is the total order (world `sim`, imported histories). They
may be compared within one `clock` only. A precedes B iff A.ended < B.began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .errors import TableDataError
from .liveness_tables import LIVENESS_TABLES
from .plan_tables import PLAN_TABLES
from .sequence_table import SEQUENCE_TABLES
from .tier_tables import TIER_TABLES
from .topic_tables import TOPIC_TABLES
from .transaction_tables import TRANSACTION_TABLES

ColumnType: TypeAlias = Literal["bigint", "int", "string", "boolean"]
COLUMN_TYPES: Final[tuple[ColumnType, ...]] = ("bigint", "int", "string", "boolean")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its name, its type in SQL, and what a value in it means."""

    name: str
    type: ColumnType
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One silver table; the first column is the index of the line a row comes from."""

    name: str
    one_row_per: str
    columns: tuple[Column, ...]


_REQUEST = """
op          bigint  index of the invoke line
completion  bigint  index of the completion line; null if there is none
process     bigint  the logical process
node        bigint  the node that was asked; null if unknown
topic       string  topic, null if the operation has none
partition   int     partition, null if the operation has none
f           string  what was asked
type        string  ok, fail (no effect) or info (unknown; also when no completion was recorded)
error       string  name of the error; null where none was recorded
clock       string  the time domain of all times of the row
began       bigint  when it was invoked, in order units
"""
_OPERATION = (
    _REQUEST
    + """
ended       bigint  when it was over, in order units; null for info, which is never known to be over
answered    bigint  when its completion was recorded, also for info; null if there is none
"""
)

_TEXT: Final[Mapping[str, tuple[str, str]]] = {
    "ops": (
        "operation of any f",
        _OPERATION
        + """
key         string  key of a model operation, as JSON text; null if it has none
value       string  the value of the invocation, as JSON text; null if it has none
result      string  the value of the completion, as JSON text; null if it has none
invoked_ns    bigint  time of the invoke line, by its clock
completed_ns  bigint  time of the completion line, by its clock; null if there is none
detail        string  what was wrong with an answer that cannot be read; null otherwise
""",
    ),
    "boundary_ops": (
        "call of the boundary register",
        _OPERATION
        + """
client              string  name of the client that asked; null if it has none
together            string  name of the call that asked several partitions at once; null if alone
boundary            bigint  the boundary asked for; -1 asks for a reset
leader_epoch        bigint  the epoch asked with; null if none was given
entries             string  the producer entries given, sorted, as JSON text
record_count        bigint  records of the batch to commit
stored_boundary     bigint  the boundary stored after the call; -1 is unset
stored_epoch        bigint  the epoch stored after the call; -1 is unset
stored_reset_epoch  bigint  the epoch in force at the last reset; -1 is never
stored_seeds        string  the producer entries stored after the call, sorted, as JSON text
base_offset         bigint  the offset given to a committed batch
""",
    ),
    "sends": (
        "send: what an application meant to append once, over all its attempts",
        """
op              bigint   index of the invoke line of the first attempt seen
completion      bigint   index of the line that settled the outcome; null if none did
send            string   name of the send
process         bigint   the logical process of the first attempt
topic           string   topic
partition       int      partition
acks            int      acks asked for: -1 all, 1 leader, 0 none
producer_id     bigint   id of an idempotent producer; null otherwise
producer_epoch  bigint   its epoch
base_sequence   bigint   sequence number of the first record
transaction     string   name of the transaction it belongs to; null if none
records         int      how many records
attempts        int      how many requests were made for it; null if they are not numbered
acknowledged    int      how many of them were answered ok
type            string   ok if an attempt was; else info if one may have worked; else fail
error           string   the last error; null if ok
base_offset     bigint   offset of the first record; null if unknown, also for some ok
clock           string   the time domain of began and ended
began           bigint   when the first attempt began
ended           bigint   when the outcome was known: the first ok, or the last fail; null for info
""",
    ),
    "records_sent": (
        "record of a send; of a send micro-operation, which names key and value, exactly one",
        """
op              bigint   index of the invoke line of the first attempt seen
completion      bigint   index of the line that settled the outcome; null if none did
f               string   produce, or send or txn for micro-operations
mop             int      place of the micro-operation in its operation, from 0; 0 for a produce
position        int      place of the record in the send, from 0
send            string   name of the send
process         bigint   the logical process of the first attempt
topic           string   topic; of a micro-operation its key as text
partition       int      partition; of a micro-operation 0
value           string   the value that was sent; of a micro-operation as JSON text
record_key      string   the key that was sent; null if none
timestamp       bigint   the timestamp that was sent, in ms
producer_id     bigint   id of an idempotent producer; null otherwise
producer_epoch  bigint   its epoch
sequence        bigint   its sequence number
transaction     string   name of the transaction it belongs to; null if none
acks            int      acks asked for: -1 all, 1 leader, 0 none; null if not recorded
attempts        int      how many requests were made for the send; null if not numbered
type            string   the outcome of the send
record_offset   bigint   the offset of this record by the answer; null if unknown
clock           string   the time domain of began and ended
began           bigint   when the first attempt began
ended           bigint   when the outcome was known; null for info
""",
    ),
    "responses": (
        "answer for one partition, to any request about a partition; also each key a poll returned",
        _REQUEST
        + """
answered            bigint  when the answer came, whatever it says
request             string  same for all partitions of one wire request; null if not recorded
send                string  the send a produce request belongs to
attempt             int     which attempt of the send
acks                int     acks asked for by produce: -1 all, 1 leader, 0 none
asked_offset        bigint  offset that a fetch or delete_records asked for
asked_timestamp     bigint  timestamp that list_offsets asked for; -1 latest, -2 earliest, ...
isolation           string  read_committed or read_uncommitted (also if not told); null if not known
answered_offset     bigint  offset answered: assigned by produce, listed, or end of an epoch
leader_epoch        bigint  leader epoch answered; null for -1
current_leader_epoch  bigint  epoch the request names as current, which an ok confirms; null for -1
asked_epoch         bigint  epoch that offset_for_leader_epoch asked about
high_watermark      bigint  high watermark answered
last_stable_offset  bigint  last stable offset answered
log_start_offset    bigint  log start offset answered
records             int     how many records came; null if the answer carries none
first_offset        bigint  offset of the first of them
last_offset         bigint  offset of the last of them
preferred_read_replica  bigint  node that a fetch was sent to instead; null if none
rack                string  rack that a fetch names as its reader's; null if none
max_bytes           bigint  how many bytes a fetch wanted at most; null if not recorded
bytes               bigint  how many bytes of batches came; null if not recorded
first_batch_bytes   bigint  how many bytes the first of these batches has; 0 if there is none
""",
    ),
    "records_seen": (
        "record in an answer to fetch, or in what a poll micro-operation returned",
        """
op              bigint  index of the invoke line of the fetch
completion      bigint  index of the completion line
f               string  fetch, or poll or txn for micro-operations
mop             int     place of the micro-operation in its operation, from 0; 0 for a fetch
position        int     place of the record in the answer for its partition, from 0
process         bigint  the logical process
node            bigint  the node that was asked
topic           string  topic; of a micro-operation its key as text
partition       int     partition; of a micro-operation 0
record_offset   bigint  offset of the record; null where a poll does not tell
value           string  value of the record, null for a tombstone; of a poll as JSON text
record_key      string  key of the record; null if none
timestamp       bigint  timestamp of the record in ms
leader_epoch    bigint  leader epoch of its batch; null if not recorded
asked_offset    bigint  offset the fetch asked for
follows         bigint  offset of the record before it; of the first: asked_offset - 1
isolation       string  read_committed or read_uncommitted (also if not told); null if not known
rebalanced      boolean  whether the partition was taken or given during the operation
type            string  outcome of the operation; what an info or fail poll returned counts too
clock           string  the time domain of began and answered
began           bigint  when the fetch began
answered        bigint  when its answer came
""",
    ),
    "assignments": (
        "key of an assign or subscribe operation; one with a null key for none, and for a crash",
        """
op          bigint  index of the invoke line
completion  bigint  index of the completion line; null if there is none
process     bigint  the logical process
f           string  assign, subscribe or crash
type        string  ok, fail or info
topic       string  the key as text; null for an assignment of nothing and for a crash
partition   int     0; null where the topic is
clock       string  the time domain of began and ended
began       bigint  when it began
ended       bigint  when it was over; null for info
""",
    ),
    "group_offsets": (
        "offset_commit, txn_offset_commit or offset_fetch of a consumer group, answered or not",
        """
op                bigint  index of the invoke line
completion        bigint  index of the completion line; null if there is none
process           bigint  the logical process
node              bigint  the node that was asked
f                 string  what was asked
group_id          string  the consumer group
transaction       string  name of the transaction it belongs to; null if none
topic             string  topic
partition         int     partition
committed_offset  bigint  the offset to commit, or the one that offset_fetch found; -1 is none
type              string  ok, fail or info
error             string  name of the error; null where none was recorded
clock             string  the time domain of began and ended
began             bigint  when it was asked
ended             bigint  when it was over; null for info
""",
    ),
    "offsets_listed": (
        "answer to list_offsets",
        """
op               bigint  index of the invoke line
completion       bigint  index of the completion line
process          bigint  the logical process
node             bigint  the node that was asked
topic            string  topic
partition        int     partition
asked_timestamp  bigint  -1 latest, -2 earliest, -3 maximum, -4 local, -5 tiered; else ms
isolation        string  read_committed or read_uncommitted (also if not told); null if not known
type             string  ok, fail or info
error            string  name of the error; null where none was recorded
answered_offset  bigint  the offset answered
found_timestamp  bigint  the timestamp answered
leader_epoch     bigint  the leader epoch answered
clock            string  the time domain of began and answered
began            bigint  when it was asked
answered         bigint  when the answer came
""",
    ),
    "effects": (
        "effect line: one call through a port of a node",
        """
index    bigint  index of the line
clock    string  the time domain
happened bigint  when, in order units
time     bigint  when, by the clock
node     bigint  the node
effect   bigint  number of the effect on its node; null if not numbered
port     string  the port
call     string  the call
args     string  its arguments as JSON text
outcome  string  how it ended; null if not recorded
""",
    ),
    "faults": (
        "fault line",
        """
index       bigint  index of the line
clock       string  the time domain
happened    bigint  when, in order units
time        bigint  when, by the clock
fault       string  name of the fault
target      string  what it hit
fault_id    string  tells its lines from those of another fault; null if name and target do
plan_part   string  the part of the plan that asked for it; null if none
phase       string  begin, landed, end; noted for imported lines that do not say
assumption  string  the fault budget it spends; null if none
evidence    string  what shows that it bit, as JSON text; null if none
""",
    ),
    "fault_windows": (
        "time during which a fault was in force",
        """
index       bigint   index of the line that opened the window
fault       string   name of the fault
target      string   what it hit
fault_id    string   tells it from another fault; null if name and target do
plan_part   string   the part of the plan that asked for it; null if none
assumption  string   the fault budget it spends; null if none
clock       string   the time domain of since and until
since       bigint   when it began, in order units
until       bigint   when it ended; null if it was still open at the end of the history
landed      boolean  whether evidence shows that it bit
evidence    string   the last evidence of it, as JSON text; null if none
""",
    ),
    "probes_control_plane": (
        "log found by a look at the control plane",
        """
probe             bigint  index of the probe line
clock             string  the time domain
happened          bigint  when, in order units
time              bigint  when, by the clock
topic             string  topic
partition         int     partition
boundary          bigint  stored boundary; -1 is unset
epoch             bigint  stored epoch; -1 is unset
reset_epoch       bigint  epoch in force at the last reset; -1 is never
high_watermark    bigint  stored high watermark
log_start_offset  bigint  stored log start offset
seeds             string  stored producer entries, sorted, as JSON text
batches           string  stored batches as JSON text; null if the probe does not list them
first_offset      bigint  base offset of the first of them; null if there is none
next_offset       bigint  the offset after the last of them; null if there is none
misplaced         bigint  how many of them are empty or do not follow the one before
detail            string  the whole row as JSON text
""",
    ),
    "probes_objects": (
        "object found by a look at the object store",
        """
probe       bigint  index of the probe line
clock       string  the time domain
happened    bigint  when, in order units
time        bigint  when, by the clock
object_key  string  key of the object
size        bigint  its size in bytes
detail      string  the whole row as JSON text
""",
    ),
    "probes_other": (
        "row of any other probe",
        """
probe   bigint  index of the probe line
clock   string  the time domain
happened  bigint  when, in order units
time    bigint  when, by the clock
what    string  what was looked at
detail  string  the row as JSON text
""",
    ),
    **LIVENESS_TABLES,
    **TOPIC_TABLES,
    **PLAN_TABLES,
    **SEQUENCE_TABLES,
    **TIER_TABLES,
    **TRANSACTION_TABLES,
    "problems": (
        "line or row that could not be used",
        """
line    bigint  line in the file, from 1; 0 where it is about no single line
file    string  the file
reason  string  why it could not be used
""",
    ),
}


def _columns(table: str, text: str) -> tuple[Column, ...]:
    columns: list[Column] = []
    for line in filter(str.strip, text.strip().splitlines()):
        name, named, meaning = line.split(maxsplit=2)
        kind = next((known for known in COLUMN_TYPES if known == named), None)
        if kind is None:
            raise TableDataError(f"table {table}: column {name} has the unknown type {named}")
        if any(column.name == name for column in columns):
            raise TableDataError(f"table {table}: column {name} occurs twice")
        columns.append(Column(name=name, type=kind, meaning=meaning))
    return tuple(columns)


TABLES: Final[Mapping[str, Table]] = {
    name: Table(name=name, one_row_per=one_row_per, columns=_columns(name, text))
    for name, (one_row_per, text) in _TEXT.items()
}
