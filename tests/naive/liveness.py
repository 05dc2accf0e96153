"""A cluster that was healed recovers, and in peace it answers: KFK-090 to 096.

A wait for recovery is judged if it ended well, or if it lasted for its bound and asked five times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from harness.history.kafka_errors import error_name
from harness.history.recorder import SUSPENDED
from tests.naive.cases import Case
from tests.naive.logs import Append, Log, Op, Phase

ENOUGH = 5
TRY_AGAIN = {
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "FENCED_LEADER_EPOCH",
    "KAFKA_STORAGE_ERROR",
    "LEADER_NOT_AVAILABLE",
    "NOT_CONTROLLER",
    "NOT_COORDINATOR",
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "NOT_LEADER_OR_FOLLOWER",
    "OFFSET_NOT_AVAILABLE",
    "REPLICA_NOT_AVAILABLE",
    "REQUEST_TIMED_OUT",
    "UNKNOWN_LEADER_EPOCH",
    "UNKNOWN_SERVER_ERROR",
    "UNKNOWN_TOPIC_OR_PARTITION",
}
REQUESTS = (
    "create_topics",
    "delete_records",
    "fetch",
    "list_offsets",
    "metadata",
    "offset_for_leader_epoch",
    "produce",
)


def error(op: Op) -> str | None:
    """The name of the error answered; None without an answer."""
    return error_name(op.answer.get("error"))


def peaceful(log: Log, *names: str) -> Iterator[Phase]:
    """Phases with a bound that no fault touches; a broken assumption is none."""
    for phase in log.phases:
        touched = any(
            window.fault != SUSPENDED
            and window.clock == phase.clock
            and (phase.ended is None or window.since <= phase.ended)
            and (window.until is None or window.until >= phase.began)
            for window in log.windows
        )
        if phase.name in names and phase.bound_ns is not None and not touched:
            yield phase


def within(log: Log, phase: Phase) -> list[Op]:
    """Operations that began in a phase."""
    return [
        op
        for op in log.ops
        if op.clock == phase.clock
        and op.began >= phase.began
        and (phase.ended is None or op.began <= phase.ended)
    ]


def waited(phase: Phase, tries: int, ops: Sequence[Op]) -> bool:
    """Whether the lab looked often enough, for the whole bound."""
    until = phase.until_ns if phase.until_ns is not None else max(map(end_of, ops))
    return tries >= ENOUGH and until - phase.since_ns >= (phase.bound_ns or 0)


def end_of(op: Op) -> int:
    """When an operation was over, in nanoseconds."""
    return int(op.answer.get("time", op.asked["time"]))


def last_looks(log: Log, holds: Callable[[list[Op]], bool]) -> Iterator[Case]:
    """What the last look at all brokers shows at the end of a wait."""
    for phase in peaceful(log, "converge"):
        looks: dict[int, list[Op]] = defaultdict(list)
        for op in within(log, phase):
            if op.f == "metadata" and op.asked.get("look") is not None:
                looks[op.asked["look"]].append(op)
        if looks:
            last = looks[max(looks)]
            good = holds(last)
            if good or waited(phase, len(looks), last):
                yield Case(last[0].index, good, (phase,))


def kfk_090(log: Log) -> Iterator[Case]:
    """Within the bound after healing, all brokers name one leader in one epoch."""

    def agreed(look: list[Op]) -> bool:
        named = {(op.answer.get("leader"), op.answer.get("leader_epoch")) for op in look}
        leader, epoch = next(iter(named))
        known = leader is not None and leader >= 0 and epoch is not None
        return all(op.ok for op in look) and len(named) == 1 and known

    return last_looks(log, agreed)


def kfk_091(log: Log) -> Iterator[Case]:
    """Within the bound after healing, all live replicas are in sync."""

    def in_sync(look: list[Op]) -> bool:
        answers = [op for op in look if op.ok]
        live = {op.node for op in answers}
        for op in answers:
            replicas = op.answer.get("replicas")
            wanted = live if replicas is None else live & set(replicas)
            if not wanted <= set(op.answer.get("isr") or ()):
                return False
        return bool(answers)

    return last_looks(log, in_sync)


def kfk_092(log: Log) -> Iterator[Case]:
    """Within the bound after healing, an acks=all append is acknowledged and read."""
    for phase in peaceful(log, "progress"):
        ops = within(log, phase)
        sent = {
            record[0]
            for op in ops
            if op.f == "produce" and op.ok and op.asked.get("acks") == -1
            for record in op.asked["records"]
        }
        read = {
            record[1]
            for op in ops
            if op.f == "fetch" and op.ok
            for record in op.answer.get("records") or ()
        }
        good = bool(sent & read)
        if ops and (good or waited(phase, len(ops), ops)):
            yield Case(ops[-1].index, good, (phase,))


def ended_badly(
    phase: Phase, groups: dict[Hashable, list[Op]], bad: Callable[[Op], bool]
) -> Iterator[Case]:
    """Of requests of one kind: whether the last ones were bad for as long as the bound."""
    for ops in groups.values():
        tail: list[Op] = []
        for op in ops:
            tail = [*tail, op] if bad(op) else []
        if not tail:
            yield Case(ops[-1].index, True, (phase,))
            continue
        lasted = end_of(tail[-1]) - tail[0].asked["time"]
        if len(tail) >= ENOUGH and lasted >= (phase.bound_ns or 0):
            yield Case(tail[-1].index, False, (phase,))


def kfk_093(log: Log) -> Iterator[Case]:
    """While no fault is in force, a well-formed request is answered."""
    for phase in peaceful(log, "converge", "progress", "asked-again"):
        groups: dict[Hashable, list[Op]] = defaultdict(list)
        for op in within(log, phase):
            if op.f in REQUESTS:
                groups[op.f, op.node].append(op)
        yield from ended_badly(phase, groups, lambda op: not op.ok and error(op) is None)


def kfk_094(log: Log) -> Iterator[Case]:
    """While no fault is in force, no request is refused for longer than the bound."""
    sends = {id(op): append for append in log.appends for op in append.attempts}
    for phase in peaceful(log, "converge", "progress", "asked-again"):
        groups: dict[Hashable, list[Op]] = defaultdict(list)
        for op in within(log, phase):
            nothing_said = not op.ok and error(op) in (None, "UNREADABLE_ANSWER")
            if op.f not in REQUESTS or nothing_said or sent_astray(log, op):
                continue
            place = op.node if op.f in ("fetch", "metadata") else None
            groups[op.f, place, op.asked.get("acks")].append(op)
            append = sends.get(id(op))
            if append is not None and len(append.attempts) > 1:
                groups[id(append)].append(op)

        def refused(op: Op) -> bool:
            append = sends.get(id(op))
            return error(op) in TRY_AGAIN or (
                append is not None
                and len(append.attempts) > 1
                and error(op) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
                and in_order(log, append)
            )

        yield from ended_badly(phase, groups, refused)


def sent_astray(log: Log, op: Op) -> bool:
    """Whether a node refuses what it need not serve: no broker had named it as the leader."""
    if error(op) != "NOT_LEADER_OR_FOLLOWER":
        return False
    told = [one for one in log.of("metadata") if one.index < op.index]
    return not told or told[-1].answer.get("leader") != op.node


def in_order(log: Log, append: Append) -> bool:
    """Whether everything that its producer sent before was acknowledged."""
    assert append.producer is not None
    number, epoch, sequence = append.producer
    for other in log.appends:
        if other is not append and other.producer is not None:
            same = other.producer[:2] == [number, epoch] and other.producer[2] < sequence
            if same and not other.acknowledged:
                return False
    return True


def kfk_095(log: Log) -> Iterator[Case]:
    """A node runs until it is told to stop."""
    for probe in log.nodes:
        for row in probe["rows"]:
            yield Case(
                probe["index"],
                row["state"] in ("running", "not ready") or bool(row["on_purpose"]),
                (),
            )


def kfk_097(log: Log) -> Iterator[Case]:
    """A node that runs is ready."""
    for probe in log.nodes:
        for row in probe["rows"]:
            if row["state"] in ("running", "not ready"):
                yield Case(probe["index"], row["state"] == "running", ())


def kfk_096(log: Log) -> Iterator[Case]:
    """Every answer can be read by the schema of the version that was asked."""
    for op in log.ops:
        if op.f in REQUESTS and (op.ok or error(op) is not None):
            yield Case(op.index, op.answer.get("error") != "UNREADABLE_ANSWER", (op,))


CHECKS = {
    "KFK-090": kfk_090,
    "KFK-091": kfk_091,
    "KFK-092": kfk_092,
    "KFK-093": kfk_093,
    "KFK-094": kfk_094,
}
OF_THE_RUN = {"KFK-095": kfk_095, "KFK-096": kfk_096, "KFK-097": kfk_097}
