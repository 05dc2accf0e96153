"""The boundary of a partition: who may set and reset it: MIG-001 to 005, 011 to 016, 023 to 027."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.naive.cases import Case
from tests.naive.logs import Log, Op, before

INITIALIZE, SET = "initialize_diskless_migration", "set_diskless_log_start_offset"
UNANSWERED = ("REQUEST_TIMED_OUT", "KAFKA_STORAGE_ERROR")


def stored(op: Op, name: str) -> Any:
    """What an answer tells of the stored state; None if it does not."""
    return (op.answer.get("stored") or {}).get(name)


def boundary(op: Op) -> int | None:
    told = stored(op, "boundary")
    return None if told is None else int(told)


def epoch(op: Op) -> int:
    """The stored epoch told; -1 for none."""
    told = stored(op, "epoch")
    return -1 if told is None else int(told)


def fence(op: Op) -> int:
    """The epoch that is stored at least: the one told, or that of a call that was accepted.

    A reset that finds no boundary is accepted and stores nothing.
    """
    asked = op.asked.get("leader_epoch")
    accepted = op.ok and asked is not None and op.asked.get("boundary") != -1
    return max(epoch(op), asked if accepted else -1)


def floor(log: Log, op: Op) -> int:
    """The epoch that is stored at least when an operation begins; -1 for none."""
    return max((fence(one) for one in log.ops if before(one, op)), default=-1)


def telling(log: Log) -> list[Op]:
    """Operations whose answer tells the boundary."""
    return [op for op in log.ops if boundary(op) is not None]


def writes(log: Log) -> list[Op]:
    """Calls that ask for a boundary."""
    return [op for op in log.ops if op.f in (INITIALIZE, SET) and op.asked["boundary"] >= 0]


def resets(log: Log) -> list[Op]:
    return [op for op in log.ops if op.f == SET and op.asked["boundary"] < 0]


def may_come_between(other: Op, first: Op, second: Op) -> bool:
    """Whether an operation may have taken effect after the first and before the second."""
    if other is first or other is second or other.type == "fail" or before(other, first):
        return False
    return second.answered is None or other.began < second.answered


def undisturbed(log: Log, first: Op, second: Op, by: Callable[[Log], list[Op]]) -> bool:
    return not any(may_come_between(other, first, second) for other in by(log))


def known_boundaries(log: Log, op: Op) -> list[Op]:
    """Answers that tell a boundary which is surely still stored when an operation takes effect.

    What an accepted write tells outweighs what other answers show. What a refusal reports is for
    MIG-005 to judge, and is not believed.
    """
    known = [told for told in telling(log) if told.ok and boundary(told) != -1]
    known = [told for told in known if before(told, op)]
    known = [told for told in known if undisturbed(log, told, op, resets)]
    known = [told for told in known if not moved(log, told, op)]
    return [told for told in known if told in writes(log)] or known


def moved(log: Log, told: Op, op: Op) -> bool:
    """Whether an accepted write may have replaced the boundary that was told."""
    return any(
        write.ok and write.asked["boundary"] != boundary(told) and may_come_between(write, told, op)
        for write in writes(log)
    )


def mig_001(log: Log) -> Iterator[Case]:
    """Under one leader epoch a partition shows at most one boundary."""
    shown = [op for op in telling(log) if boundary(op) != -1 and stored(op, "epoch") is not None]
    for op in shown:
        others = [one for one in shown if epoch(one) == epoch(op)]
        yield Case(op.index, all(boundary(one) == boundary(op) for one in others), ())


def replaced(log: Log, compared: Callable[[int, int], bool]) -> Iterator[Case]:
    """Another boundary is refused where one is stored, if the epochs compare like this."""
    for op in writes(log):
        asked = op.asked.get("leader_epoch")
        if asked is None or op.type == "info":
            continue
        for told in known_boundaries(log, op):
            if boundary(told) != op.asked["boundary"] and compared(asked, floor(log, op)):
                yield Case(op.index, not op.ok, (told, op))


def mig_002(log: Log) -> Iterator[Case]:
    """A stale leader epoch cannot replace a boundary."""
    return replaced(log, lambda asked, known: asked < known)


def mig_003(log: Log) -> Iterator[Case]:
    """A higher leader epoch cannot replace a boundary that is set."""
    return replaced(log, lambda asked, known: asked > known)


def mig_025(log: Log) -> Iterator[Case]:
    """In the same leader epoch another boundary is refused."""
    return replaced(log, lambda asked, known: asked == known)


def highest_epoch(log: Log, op: Op) -> int:
    """The highest epoch that may be stored when an operation takes effect."""
    highest = -1
    for other in log.ops:
        late = op.answered is not None and other.began > op.answered
        if other is not op and not late:
            if other.type != "fail":
                highest = max(highest, other.asked.get("leader_epoch") or -1)
            highest = max(highest, fence(other))
    return highest


def mig_005(log: Log) -> Iterator[Case]:
    """A refusal for another boundary reports the boundary that is stored."""
    for op in writes(log):
        if op.answer.get("error") == "BOUNDARY_MISMATCH":
            yield Case(op.index, boundary(op) not in (None, -1), (op,))
            for told in known_boundaries(log, op):
                yield Case(op.index, boundary(op) == boundary(told), (told, op))


def mig_011(log: Log) -> Iterator[Case]:
    """A boundary with a committed suffix behind it cannot be reset."""
    for commit in log.of("commit_batch"):
        for reset in resets(log):
            if before(commit, reset) and reset.type != "info":
                yield Case(reset.index, not reset.ok, (commit, reset))


def mig_012(log: Log) -> Iterator[Case]:
    """After a reset only a strictly higher leader epoch sets a new boundary."""
    for told in telling(log):
        if boundary(told) == -1 or not told.ok:
            continue
        marked = max(fence(told), 0)  # a boundary without an epoch counts as one of epoch 0
        for reset in resets(log):
            for op in telling(log) if reset.ok and before(told, reset) else ():
                if before(reset, op) and boundary(op) != -1:
                    holds = epoch(op) > marked or set_above(log, op, marked)
                    yield Case(op.index, holds, (told, reset, op))
                elif before(reset, op) and op in writes(log):
                    yield Case(op.index, True, (told, reset, op))


def set_above(log: Log, op: Op, marked: int) -> bool:
    """Whether a call at a higher epoch may have set the boundary that an answer shows."""
    return any(
        write.type != "fail"
        and write.asked["boundary"] == boundary(op)
        and (write.asked.get("leader_epoch") or 0) > marked
        and (op.answered is None or write.began < op.answered)
        for write in writes(log)
    )


def mig_013(log: Log) -> Iterator[Case]:
    """A reset keeps the leader epoch that fences older leaders."""
    for told in telling(log):
        for reset in resets(log):
            if not reset.ok or fence(told) < 0 or not before(told, reset):
                continue
            for op in telling(log):
                if op is reset or before(reset, op):
                    yield Case(op.index, epoch(op) >= fence(told), (told, reset, op))


def mig_014(log: Log) -> Iterator[Case]:
    """The stored leader epoch never goes down."""
    told = [op for op in log.ops if stored(op, "epoch") is not None]
    for earlier in told:
        for op in told:
            if before(earlier, op):
                yield Case(op.index, epoch(op) >= epoch(earlier), (earlier, op))


def mig_015(log: Log) -> Iterator[Case]:
    """A write without an epoch cannot replace a boundary or pass a fence."""
    for op in writes(log):
        if op.asked.get("leader_epoch") is not None or op.type == "info":
            continue
        for told in (one for one in telling(log) if one.ok):
            other = boundary(told) != op.asked["boundary"] and before(told, op)
            barred = boundary(told) != -1 or fence(told) >= 0
            still = undisturbed(log, told, op, writes) and undisturbed(log, told, op, resets)
            if other and barred and still:
                yield Case(op.index, not op.ok, (told, op))


def mig_016(log: Log) -> Iterator[Case]:
    """Once a leader registered its epoch, older leaders cannot set the boundary.

    Where a registration found no boundary, one that is set by a call that lasted longer was set
    after it, unless there may have been a reset.
    """
    for register in log.of("register_leader_epoch"):
        for op in writes(log):
            asked = op.asked.get("leader_epoch")
            if asked is None or op.type == "info" or asked >= register.asked["leader_epoch"]:
                continue
            certain = not any(one.type != "fail" for one in resets(log))
            later = before(register, op) or (certain and not before(op, register))
            if boundary(register) == -1 and later:
                yield Case(op.index, not op.ok, (register, op))


def mig_023(log: Log) -> Iterator[Case]:
    """A stale leader epoch is refused even with the boundary that is stored."""
    for op in writes(log):
        asked = op.asked.get("leader_epoch")
        if asked is None or op.type == "info":
            continue
        for told in known_boundaries(log, op):
            if boundary(told) == op.asked["boundary"] and asked < fence(told):
                yield Case(op.index, not op.ok, (told, op))


def mig_026(log: Log) -> Iterator[Case]:
    """A reset that names a stale leader epoch is refused."""
    for reset in resets(log):
        asked = reset.asked.get("leader_epoch")
        if asked is None or reset.type == "info":
            continue
        for told in telling(log):
            if asked < fence(told) and before(told, reset):
                yield Case(reset.index, not reset.ok, (told, reset))


def in_force(log: Log, op: Op) -> set[str]:
    """The faults whose windows an operation touches."""
    return {
        one.fault
        for one in log.windows
        if one.clock == op.clock
        and (op.answered is None or op.answered >= one.since)
        and (one.until is None or op.began <= one.until)
    }


def within(log: Log, op: Op, fault: str) -> bool:
    """Whether a fault was in force from before an operation until after it."""
    return any(
        one.fault == fault
        and one.clock == op.clock
        and one.since <= op.began
        and (one.until is None or (op.answered is not None and op.answered <= one.until))
        for one in log.windows
    )


def mig_024(log: Log) -> Iterator[Case]:
    """An outage answers REQUEST_TIMED_OUT, a hard failure KAFKA_STORAGE_ERROR."""
    for op in log.ops:
        error, faults = op.answer.get("error"), in_force(log, op)
        if error is None or op.ok or op.answer.get("stored") is not None:
            continue
        for passing in ("control-plane-refused", "control-plane-disturbed"):
            if within(log, op, passing) and "control-plane-broken" not in faults:
                yield Case(op.index, error == "REQUEST_TIMED_OUT", (op,))
        if within(log, op, "control-plane-broken") and faults == {"control-plane-broken"}:
            yield Case(op.index, error == "KAFKA_STORAGE_ERROR", (op,))


def mig_027(log: Log) -> Iterator[Case]:
    """A call that no fault can have touched gets a definite answer."""
    for op in log.ops:
        if not in_force(log, op) and op.f in CALLS:
            definite = op.type != "info" and op.answer.get("error") not in UNANSWERED
            yield Case(op.index, definite, (op,))


CALLS = (
    INITIALIZE,
    SET,
    "get_diskless_log_start_offset",
    "seed_producer_state",
    "register_leader_epoch",
    "describe_producers",
    "commit_batch",
    "create_log",
)
CHECKS = {
    "MIG-001": mig_001,
    "MIG-002": mig_002,
    "MIG-003": mig_003,
    "MIG-005": mig_005,
    "MIG-011": mig_011,
    "MIG-012": mig_012,
    "MIG-013": mig_013,
    "MIG-014": mig_014,
    "MIG-015": mig_015,
    "MIG-016": mig_016,
    "MIG-023": mig_023,
    "MIG-024": mig_024,
    "MIG-025": mig_025,
    "MIG-026": mig_026,
    "MIG-027": mig_027,
}
