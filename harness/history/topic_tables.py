"""Tables of what rules about replicas rest on: what is asked of topics, and what brokers tell.

A completed DescribeTopicPartitions is laid out twice: the partition as it was told, and a row for
each broker that was named in it. Lists of brokers in one column are text, each broker between two
commas, replicas in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from .pairing import Operation
from .sends import Emit, Row, whole

DESCRIBED: Final = "describe_topic_partitions"
CLUSTER: Final = "describe_cluster"
ADMIN: Final = frozenset(
    {
        "create_topics",
        "delete_topics",
        "create_partitions",
        "incremental_alter_configs",
        "alter_partition_reassignments",
        "list_partition_reassignments",
        "elect_leaders",
    }
)

_ASKED = """
op            bigint  index of the invoke line
completion    bigint  index of the completion line
process       bigint  the logical process
node          bigint  the broker that was asked
type          string  ok or fail
error         string  name of the error; null where no answer came
clock         string  the time domain of began and answered
began         bigint  when it was asked
answered      bigint  when it was over
look          bigint  same for all brokers that were asked together; rises from look to look
"""
_TOLD = (
    _ASKED
    + """
topic         string  topic
partition     int     partition
"""
)

TOPIC_TABLES: Final[dict[str, tuple[str, str]]] = {
    "partitions_told": (
        "completed describe_topic_partitions of one partition, as one broker sees it",
        _TOLD
        + """
topic_id        string  id of the topic
leader          bigint  the leader; -1 is none
leader_epoch    bigint  its epoch
replicas        string  the replicas in their order
isr             string  the in-sync replicas, sorted
elr             string  the eligible leader replicas, sorted
last_known_elr  string  the last known eligible leaders, sorted
offline         string  the replicas that are offline, sorted
replica_count   int     how many replicas
isr_count       int     how many in-sync replicas
""",
    ),
    "members_told": (
        "broker that a completed describe_topic_partitions names for one partition",
        _TOLD
        + """
broker      bigint   the broker
place       int      its place among the replicas, from 0; null if it is none of them
times       int      how often it is named as replica
in_isr      boolean  whether it is in the ISR
in_elr      boolean  whether it is an eligible leader replica
last_known  boolean  whether it is a last known eligible leader
leads       boolean  whether it is the leader
offline     boolean  whether it is told to be offline
""",
    ),
    "brokers_told": (
        "broker that a completed describe_cluster names",
        _ASKED
        + """
broker  bigint   the broker
rack    string   its rack; null if it has none
fenced  boolean  whether it is fenced
""",
    ),
    "admin_ops": (
        "request that creates, alters or deletes a topic, its replicas or its leaders",
        """
op          bigint  index of the invoke line
completion  bigint  index of the completion line; null if there is none
process     bigint  the logical process
node        bigint  the broker that was asked
f           string  what was asked
topic       string  topic
partition   int     partition; null if it is about the whole topic
type        string  ok, fail or info
error       string  name of the error; null where none was recorded
clock       string  the time domain of all times of the row
began       bigint  when it was asked
ended       bigint  when it was over; null for info
answered    bigint  when its completion was recorded, also for info; null if there is none
topic_id             string   id of the topic that was created
partitions           int      how many partitions were asked for
replication_factor   int      how many replicas were asked for
placed               boolean  whether replicas were left to the controller
min_insync_replicas  int      the value asked for
unclean              boolean  whether unclean elections were asked for
election             string   preferred or unclean
asked_replicas       string   the replicas asked for, in their order; null calls it off
adding               string   the replicas told to come, sorted
removing             string   the replicas told to go, sorted
""",
    ),
}


def lay_out_told(operation: Operation, shared: Row, emit: Emit) -> None:
    """What a broker said about a partition, whole and by broker."""
    completion = operation.completion
    if completion is None:
        return
    look = {"look": whole(operation.invoke.get("look"))}
    told: Row = shared | look
    if operation.type == "ok":
        told |= {
            "topic_id": completion.get("topic_id"),
            "leader": whole(completion.get("leader")),
            "leader_epoch": whole(completion.get("leader_epoch")),
            "replicas": listed(completion["replicas"], ordered=True),
            "isr": listed(completion["isr"]),
            "elr": listed(completion.get("elr")),
            "last_known_elr": listed(completion.get("last_known_elr")),
            "offline": listed(completion.get("offline")),
            "replica_count": len(completion["replicas"]),
            "isr_count": len(completion["isr"]),
        }
        for member in _members(completion):
            emit("members_told", shared | look | member)
    emit("partitions_told", told)


def _members(told: dict[str, Any]) -> Iterable[Row]:
    lists = ("replicas", "isr", "elr", "last_known_elr", "offline")
    replicas, isr, elr, last, offline = ([int(one) for one in told.get(n) or ()] for n in lists)
    leader = [told["leader"]] if told["leader"] >= 0 else []
    for broker in sorted(dict.fromkeys([*replicas, *isr, *elr, *last, *offline, *leader])):
        yield {
            "broker": broker,
            "place": replicas.index(broker) if broker in replicas else None,
            "times": max(replicas.count(broker), isr.count(broker), elr.count(broker)),
            "in_isr": broker in isr,
            "in_elr": broker in elr,
            "last_known": broker in last,
            "leads": broker in leader,
            "offline": broker in offline,
        }


def lay_out_brokers(operation: Operation, shared: Row, emit: Emit) -> None:
    """The brokers that a broker knows."""
    completion = operation.completion
    look = {"look": whole(operation.invoke.get("look"))}
    for broker, rack, fenced in (completion or {}).get("brokers") or ():
        row = {"broker": whole(broker), "rack": rack, "fenced": bool(fenced)}
        emit("brokers_told", shared | look | row)


def lay_out_admin(operation: Operation, shared: Row, emit: Emit) -> None:
    """What was asked for, and what was answered."""
    invoke, completion = operation.invoke, operation.completion or {}
    asked = ("partitions", "replication_factor", "min_insync_replicas", "unclean", "election")
    row: Row = {name: invoke.get(name) for name in asked}
    row |= {
        "topic_id": completion.get("topic_id"),
        "placed": "assignments" not in invoke,
        "asked_replicas": listed(invoke.get("replicas"), ordered=True),
        "adding": listed(completion.get("adding")),
        "removing": listed(completion.get("removing")),
    }
    emit("admin_ops", shared | row)


def listed(brokers: list[int] | None, *, ordered: bool = False) -> str | None:
    """Brokers as text, each between two commas."""
    if brokers is None:
        return None
    shown = [whole(one) for one in (brokers if ordered else sorted(brokers))]
    return "".join(f",{one}" for one in shown) + ","


LaysOut: TypeAlias = Callable[[Operation, Row, Emit], None]
LAY_OUT: Final[dict[str, LaysOut]] = {
    DESCRIBED: lay_out_told,
    CLUSTER: lay_out_brokers,
    **dict.fromkeys(sorted(ADMIN), lay_out_admin),
}
