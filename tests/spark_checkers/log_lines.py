"""Histories of a log as text, one operation a line: `[from-to] call [argument…] => outcome`.

    send a,b pid=7 seq=0    => ok 10 | ok | fail ERROR | info ERROR    acks=-1 unless told, tx=T,
                                                            producer epoch pe=0, attempt=-
    again a,b               => ...                                     a further attempt of the same
    fetch 0 committed       => ok a@0 b@1 hw=2 lso=2 start=0 prefer=2  read_uncommitted unless told
    latest | earliest | max | at 500   => ok 12 !500 /3                offset, timestamp, epoch
    delete 5                => ok start=5 | info ERROR
    epoch_end 1 epoch=2     => ok 1 20                                 epoch, where it ends
    commit g 5 | told g     => ok | ok 5
    end T commit | abort    => ok
    leader look=1 node=2    => ok 1 /3 isr=1,2 on=1,2,3                what a broker says of it
    window NAME                                                        an assumption is broken
    … unsaid                                                           no isolation, as by default
    suspend NAME                                                       the same, as the lab says it
    fault NAME                                                         a fault is in force
    phase converge bound=20                                            a phase, its bound in ns
    phase settle bound=20 looks=5                                      with so many looks
    fault NAME broker-1                                                a fault of one broker
    fault NAME broker-1 ↔ broker-2                                     or of a link
    nodes broker-1 ended 1                                             a look at one node
    metrics broker-1:leads=1,has=2                                     a look at metrics of nodes
    wall 5000                                                          the time of day, in ms
    created retention.ms=1000 => ok                                    a topic and its configs
    settings NAME=1000        => ok                                    settings of a broker
    fetch 0 max=100           => ok a@0 hw=1 bytes=80 first=80         limit, bytes, first batch
    fetch 0 rack=b            => ok hw=1 prefer=2                      the reader's rack
    ask fetch/x 2 fetch 4 kafka={"a":1} allowed=b => ok {"a":1}        step 2 of a sequence
    described look=1 node=2 => ok 1 /3 on=1,2,3 isr=1,2 elr=3 last=1 id=A     -1 is no leader
    brokers look=1 node=2   => ok 1:a 2:b 3:c!                         racks; `!` is fenced
    create parts=1 factor=2 min=1 [unclean] [manual]  => ok id=A
    configure min=1 | drop | reassign to=1,2 | elect preferred  => ok | fail ERROR
    list_moves              => ok adding=3 removing=2

`fail -` is no answer at all. Lines about transactions: `transaction_lines`.

A record is `value[#key][!timestamp]`, read at `@offset` of epoch `/epoch`; `!-` is a timestamp that
the broker sets, `-` as value a tombstone. Everywhere: node=1, epoch=1 (named as current), p=0,
or `p=-` where the partition is not known.
Without times each operation ends before the next begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from harness.history.recorder import SUSPENDED
from harness.history.sequence_table import SEQUENCE_REQUEST
from tests.spark_checkers.transaction_lines import CALLS as OF_TRANSACTIONS

Event = dict[str, Any]
RECORD = re.compile(
    r"(?P<value>[^@#!/]+)(@(?P<offset>-?\d+))?(/(?P<epoch>\d+))?(#(?P<key>\w+))?(!(?P<stamp>-|\d+))?"
)
LISTED = {"latest": -1, "earliest": -2, "max": -3}
OFFSETS = {"hw": "high_watermark", "lso": "last_stable_offset", "start": "log_start_offset"}
PLACES = OFFSETS | {"prefer": "preferred_read_replica", "first": "first_batch_bytes"}
MEMBERS = {
    "on": "replicas",
    "isr": "isr",
    "elr": "elr",
    "last": "last_known_elr",
    "off": "offline",
    "id": "topic_id",
}
ADMIN = {
    "configure": "incremental_alter_configs",
    "drop": "delete_topics",
    "reassign": "alter_partition_reassignments",
    "elect": "elect_leaders",
    "list_moves": "list_partition_reassignments",
}
METRICS = {
    "has": "kafka_server_replicamanager_partitioncount",
    "leads": "kafka_server_replicamanager_leadercount",
    "lacks": "kafka_server_replicamanager_underreplicatedpartitions",
    "short": "kafka_server_replicamanager_underminisrpartitioncount",
    "shrinks": "kafka_server_replicamanager_isrshrinks_total",
    "expands": "kafka_server_replicamanager_isrexpands_total",
    "active": "kafka_controller_kafkacontroller_activebrokercount",
    "fenced": "kafka_controller_kafkacontroller_fencedbrokercount",
    "offline": "kafka_controller_kafkacontroller_offlinepartitionscount",
    "all": "kafka_controller_kafkacontroller_globalpartitioncount",
}
STAMP = 1000


def events_of(text: str, topic: str = "t") -> list[Event]:
    """Op and fault events in order of time; names of sends and transactions carry the topic."""
    timed: list[tuple[int, int, Event]] = []
    attempts: dict[str, int] = {}
    for number, line in enumerate(filter(None, map(str.strip, text.splitlines()))):
        asked, _, answered = line.partition("=>")
        words = asked.split()
        times = words.pop(0) if words[0][0].isdigit() else f"{2 * number + 1}-{2 * number + 2}"
        began, ended = map(int, times.split("-"))
        for at, event in zip(
            (began, ended), _lines(words, answered.split(), topic, attempts), strict=False
        ):
            event |= {"time": at, "clock": topic}
            if event["kind"] == "op":
                event.setdefault("process", number)
            timed.append((at, len(timed), event))
    return [event for _, _, event in sorted(timed, key=lambda one: one[:2])]


def _lines(
    words: list[str], outcome: list[str], topic: str, attempts: dict[str, int]
) -> Iterator[Event]:
    call, *arguments = words
    if call == "window":
        name = {"name": arguments[0], "target": topic, "assumption": arguments[0]}
        yield {"kind": "fault", "phase": "begin", **name}
        yield {"kind": "fault", "phase": "end", **name}
        return
    if call in ("fault", "suspend", "phase", "nodes", "metrics", "wall"):
        yield from _around(call, arguments, topic)
        return
    if call == "ask":
        yield from _asked(arguments, outcome)
        return
    named = {"pe": "0"} | dict(word.split("=") for word in arguments if "=" in word)
    plain = [word for word in arguments if "=" not in word]
    partition = None if named.get("p") == "-" else int(named.get("p", 0))
    shared: Event = {"kind": "op", "topic": topic, "partition": partition}
    shared["node"] = int(named.get("node", 1))
    if "by" in named:
        shared["process"] = 1000 + int(named["by"])
    asked, answered = _CALLS[call](topic, plain, named, outcome, attempts, call)
    invoke = shared | {"leader_epoch": int(named["epoch"])} if "epoch" in named else dict(shared)
    yield {"type": "invoke"} | invoke | asked
    if outcome:
        failed = outcome[0] != "ok" and len(outcome) > 1
        error = (None if outcome[1] == "-" else outcome[1]) if failed else "NONE"
        yield {"type": outcome[0], "f": asked["f"], "error": error} | shared | answered


def _asked(arguments: list[str], outcome: list[str]) -> Iterator[Event]:
    """A request of a recorded sequence, and what became of it."""
    sequence, step, api, version, *more = arguments
    told = dict(word.split("=", 1) for word in more)
    shared: Event = {"kind": "op", "f": SEQUENCE_REQUEST, "node": 1}
    asked: Event = {"sequence": sequence, "step": int(step), "api": api, "version": int(version)}
    if "kafka" in told:
        asked["expected"] = json.loads(told["kafka"])
    if "allowed" in told:
        asked["allowed"] = [told["allowed"]]
    yield shared | {"type": "invoke"} | asked
    if outcome[:1] == ["ok"]:
        yield shared | {"type": "ok", "error": 0, "answer": json.loads(outcome[1])}
    elif outcome:
        yield shared | {"type": "info", "error": "NOT_PREPARED", "detail": outcome[1]}


def _around(call: str, arguments: list[str], topic: str) -> Iterator[Event]:
    """Lines that are no operations."""
    if call == "nodes":
        name, state, *code = arguments
        code_of = {"exit_code": int(code[0])} if code else {}
        told = "not ready" if state == "not-ready" else state
        row = {"node": name, "state": told, "on_purpose": "purpose" in state, **code_of}
        yield {"kind": "probe", "what": "nodes", "rows": [row]}
    elif call == "metrics":
        nodes = [word.split(":") for word in arguments]
        told = [(node, *one.split("=")) for node, many in nodes for one in many.split(",")]
        rows = [{"node": node, "name": METRICS[name], "value": int(n)} for node, name, n in told]
        yield {"kind": "probe", "what": "metrics", "rows": rows}
    elif call == "wall":
        yield {"kind": "probe", "what": "clock", "rows": [{"now_ms": int(arguments[0])}]}
    elif call == "phase":
        told = {name: int(value) for name, value in (one.split("=") for one in arguments[1:])}
        about = {"kind": "phase", "campaign": topic, "name": arguments[0]}
        bound = {"bound_s": told["bound"] / 1_000_000_000} if "bound" in told else {}
        yield about | {"phase": "begin"} | bound
        yield about | {"phase": "end"} | ({"looks": told["looks"]} if "looks" in told else {})
    else:
        suspended = {"name": SUSPENDED, "assumption": arguments[0]}
        named = suspended if call == "suspend" else {"name": arguments[0]}
        about = {"kind": "fault", "target": " ".join(arguments[1:]) or topic, **named}
        yield about | {"phase": "begin"}
        yield about | {"phase": "end"}


Asked = tuple[Event, Event]


def _send(
    topic: str,
    plain: list[str],
    named: dict[str, str],
    outcome: list[str],
    attempts: dict[str, int],
    call: str,
) -> Asked:
    name = f"{topic}-{plain[0]}-{named.get('p', 0)}"
    attempts[name] = attempts[name] + 1 if call == "again" else 1
    asked: Event = {"f": "produce", "send": name, "attempt": attempts[name]}
    if named.get("attempt") == "-":
        asked["attempt"] = None
    asked["acks"] = int(named.get("acks", -1))
    asked["records"] = [_sent(word) for word in plain[0].split(",")]
    if "pid" in named:
        asked["producer"] = [int(named[part]) for part in ("pid", "pe", "seq")]
    if "tx" in named:
        asked["transaction"] = f"{topic}-{named['tx']}"
    answered = {"offset": int(outcome[1])} if outcome[:1] == ["ok"] and outcome[1:] else {}
    return asked, answered


def _fetch(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    asked: Event = {"f": "fetch", "offset": int(plain[0]), **_isolation(plain)}
    if "request" in named:
        asked["request"] = f"{topic}-{named['request']}"
    if "max" in named:
        asked["max_bytes"] = int(named["max"])
    if "rack" in named:
        asked["rack"] = named["rack"]
    if outcome[0] != "ok":
        return asked, {}
    answered: Event = {"records": [_read(word) for word in outcome[1:] if "@" in word]}
    for name, _, value in (word.partition("=") for word in outcome[1:] if "=" in word):
        answered[PLACES.get(name, name)] = int(value)
    return asked, answered


def _isolation(plain: list[str]) -> Event:
    if "unsaid" in plain:
        return {}
    return {"isolation": "read_committed" if "committed" in plain else "read_uncommitted"}


def _list(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], _: object, call: str
) -> Asked:
    stamp = LISTED.get(call) or int(plain[0])
    asked: Event = {"f": "list_offsets", "timestamp": stamp, **_isolation(plain)}
    answered: Event = {}
    for word in outcome[1:] if outcome[0] == "ok" else ():
        place = {"!": "found_timestamp", "/": "leader_epoch"}.get(word[0], "offset")
        answered[place] = int(word.lstrip("!/"))
    return asked, answered


def _delete(topic: str, plain: list[str], named: object, outcome: list[str], *_: object) -> Asked:
    asked = {"f": "delete_records", "offset": int(plain[0])}
    if outcome[0] != "ok":
        return asked, {}
    return asked, {"log_start_offset": int(outcome[1].removeprefix("start="))}


def _epoch_end(
    topic: str, plain: list[str], named: object, outcome: list[str], *_: object
) -> Asked:
    asked = {"f": "offset_for_leader_epoch", "epoch": int(plain[0])}
    return asked, {"leader_epoch": int(outcome[1]), "offset": int(outcome[2])}


def _leader(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    answered: Event = {}
    if outcome[0] == "ok":
        leader, epoch, *groups = outcome[1:]
        answered = {"leader": int(leader), "leader_epoch": int(epoch[1:])}
        for group in groups:
            name, _, members = group.partition("=")
            answered[MEMBERS[name]] = [int(one) for one in members.split(",") if one]
    return {"f": "metadata", "look": int(named["look"])}, answered


def _created(topic: str, plain: list[str], named: dict[str, str], *_: object) -> Asked:
    return {"f": "create_topics", "value": _configs(named)}, {}


def _settings(topic: str, plain: list[str], named: dict[str, str], *_: object) -> Asked:
    nowhere = {"topic": None, "partition": None}
    return {"f": "describe_configs", **nowhere}, {"value": _configs(named), **nowhere}


def _configs(named: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in named.items() if "." in name}


def _described(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    answered: Event = {}
    if outcome[0] == "ok":
        leader, epoch, *lists = outcome[1:]
        answered = {"leader": int(leader), "leader_epoch": int(epoch[1:])}
        for name, _, value in (word.partition("=") for word in lists):
            answered[MEMBERS[name]] = value if name == "id" else _ids(value)
    return {"f": "describe_topic_partitions", "look": int(named["look"])}, answered


def _brokers(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    told = [word.rstrip("!").split(":") + [word.endswith("!")] for word in outcome[1:]]
    brokers = [[int(one), rack, fenced] for one, rack, fenced in told]
    asked = {"f": "describe_cluster", "look": int(named["look"]), "topic": None, "partition": None}
    return asked, {"brokers": brokers, "topic": None, "partition": None}


def _create(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    asked: Event = {
        "f": "create_topics",
        "partitions": int(named.get("parts", 1)),
        "replication_factor": int(named.get("factor", 2)),
        "min_insync_replicas": int(named.get("min", 1)),
        "unclean": "unclean" in plain,
        **({"assignments": []} if "manual" in plain else {}),
    }
    answered = {"topic_id": outcome[1].removeprefix("id=")} if outcome[1:] else {}
    return asked | {"partition": None}, answered | {"partition": None}


def _admin(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], _: object, call: str
) -> Asked:
    asked: Event = {"f": ADMIN[call]}
    whole: Event = {} if call in ("reassign", "elect", "list_moves") else {"partition": None}
    if call == "reassign":
        asked["replicas"] = None if named["to"] == "none" else _ids(named["to"])
    elif call == "elect":
        asked["election"] = plain[0]
    elif call == "configure":
        asked |= {"min_insync_replicas": int(named["min"]), "unclean": "unclean" in plain}
    told = (word.partition("=") for word in outcome[1:] if "=" in word)
    return asked | whole, whole | {name: _ids(value) for name, _, value in told}


def _ids(text: str) -> list[int]:
    return [int(one) for one in text.split(",") if one]


def _commit(topic: str, plain: list[str], *_: object) -> Asked:
    return {"f": "offset_commit", "group": f"{topic}-{plain[0]}", "offset": int(plain[1])}, {}


def _told(topic: str, plain: list[str], named: object, outcome: list[str], *_: object) -> Asked:
    return {"f": "offset_fetch", "group": f"{topic}-{plain[0]}"}, {"offset": int(outcome[1])}


def _end(topic: str, plain: list[str], *_: object) -> Asked:
    asked = {
        "f": "end_txn",
        "transaction": f"{topic}-{plain[0]}",
        "committed": plain[1] == "commit",
    }
    return asked | {"topic": None, "partition": None}, {"topic": None, "partition": None}


_CALLS: dict[str, Any] = {
    "send": _send,
    "again": _send,
    "fetch": _fetch,
    **dict.fromkeys((*LISTED, "at"), _list),
    "delete": _delete,
    "epoch_end": _epoch_end,
    "commit": _commit,
    "told": _told,
    "end": _end,
    "leader": _leader,
    "created": _created,
    "settings": _settings,
    "described": _described,
    "brokers": _brokers,
    "create": _create,
    **dict.fromkeys(ADMIN, _admin),
    **OF_TRANSACTIONS,
}


def _sent(word: str) -> list[Any]:
    value, _, _, key, stamp = _parts(word)
    return [value, stamp, key]


def _read(word: str) -> list[Any]:
    value, offset, epoch, key, stamp = _parts(word)
    return [offset, value, stamp, epoch, key]


def _parts(word: str) -> tuple[Any, ...]:
    found = RECORD.fullmatch(word)
    assert found, word
    value = None if found["value"] == "-" else found["value"]
    stamp = None if found["stamp"] == "-" else int(found["stamp"] or STAMP)
    offset, epoch = (None if found[n] is None else int(found[n]) for n in ("offset", "epoch"))
    return value, offset, epoch, found["key"], stamp
