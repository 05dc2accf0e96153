"""Seeds, suffix and first boundary of a partition: MIG-004, 006 to 010, 017 to 022, 028."""

from __future__ import annotations

from collections.abc import Iterator

from tests.naive.boundary import (
    INITIALIZE,
    boundary,
    highest_epoch,
    known_boundaries,
    may_come_between,
    resets,
    stored,
    telling,
    undisturbed,
    writes,
)
from tests.naive.cases import Case
from tests.naive.logs import Log, Op, before

Seeds = list[list[int]]


def given(op: Op) -> Seeds:
    """The producer entries of a call, as a set."""
    return [list(one) for one in sorted({tuple(one) for one in op.asked.get("entries") or ()})]


def shown(op: Op) -> Seeds | None:
    """The producer entries that an answer shows."""
    seeds = stored(op, "seeds")
    return None if seeds is None else sorted(list(one) for one in seeds)


def initializations(log: Log) -> list[Op]:
    return [op for op in log.ops if op.f == INITIALIZE]


def seedings(log: Log) -> list[Op]:
    return [op for op in log.ops if op.f == "seed_producer_state"]


def changes(log: Log) -> list[Op]:
    """Whatever may change seeds or boundary."""
    return [*writes(log), *resets(log), *seedings(log)]


def known_seeds(log: Log, op: Op) -> Iterator[tuple[Op, Seeds]]:
    """Initializations that were accepted, whose boundary and seeds are surely still stored."""
    for told in known_boundaries(log, op):
        if told.f == INITIALIZE and told.ok:
            yield told, given(told)


def mig_004(log: Log) -> Iterator[Case]:
    """Repeating an initialization with the same boundary and seeds succeeds."""
    for op in initializations(log):
        for told, seeds in known_seeds(log, op) if op.type != "info" else ():
            same = boundary(told) == op.asked["boundary"] and seeds == given(op)
            asked = op.asked.get("leader_epoch")
            if same and asked is not None and asked >= highest_epoch(log, op):
                yield Case(op.index, op.ok, (told, op))


def mig_006(log: Log) -> Iterator[Case]:
    """An initialization with other seeds is refused once the boundary is set."""
    for op in initializations(log):
        for told, seeds in known_seeds(log, op) if op.type != "info" else ():
            if seeds != given(op):
                yield Case(op.index, not op.ok, (told, op))


def mig_007(log: Log) -> Iterator[Case]:
    """Whoever sees the boundary sees the producer state seeded with it."""
    for op in log.of("describe_producers"):
        seeds, begun = shown(op), [one for one in changes(log) if not_after(one, op)]
        unset = new_before(log, op)
        if boundary(op) in (None, -1) or seeds is None or not unset:
            continue
        lone = [given(one) for one in begun if one.f == "seed_producer_state"]
        explained = any(
            one.asked.get("boundary") == boundary(op)
            and (seeds == given(one) if one.f == INITIALIZE else seeds in [[], *lone])
            for one in begun
        )
        yield Case(op.index, explained, (op,))


def new_before(log: Log, op: Op) -> bool:
    """Whether the log was created in this history, or seen without a boundary, before."""
    if any(one.f == "upgrade_schema" for one in log.ops):
        return False
    unset = any(boundary(told) == -1 and before(told, op) for told in telling(log))
    return unset or any(one.f == "create_log" and before(one, op) for one in log.ops)


def not_after(other: Op, op: Op) -> bool:
    """Whether an operation may have taken effect when another was answered."""
    return other.type != "fail" and (op.answered is None or other.began < op.answered)


def mig_008(log: Log) -> Iterator[Case]:
    """Seeds of an earlier attempt are replaced by those of the initialization."""
    for op in log.of("describe_producers"):
        for told, seeds in known_seeds(log, op):
            if any(True for _ in known_boundaries(log, told)):
                continue  # that one set nothing
            earlier = [
                one
                for one in [*seedings(log), *initializations(log)]
                if one is not told and one.type != "fail" and one.began < told.began
            ]
            later = any(may_come_between(one, told, op) for one in seedings(log))
            if not later and any(given(one) != seeds for one in earlier):
                yield Case(op.index, shown(op) == seeds, (told, op))


def mig_009(log: Log) -> Iterator[Case]:
    """While the boundary is unset, seeding again replaces the seeds."""
    for op in log.of("describe_producers"):
        for last in seedings(log):
            first = any(before(one, last) and one.ok for one in seedings(log))
            unset = last.ok and boundary(last) == -1 and boundary(op) == -1 and before(last, op)
            if first and unset and undisturbed(log, last, op, changes):
                yield Case(op.index, shown(op) == given(last), (last, op))


def mig_010(log: Log) -> Iterator[Case]:
    """Once the boundary is set, seeding accepts exactly the stored seeds."""
    for op in seedings(log):
        for told, seeds in known_seeds(log, op) if op.type != "info" else ():
            yield Case(op.index, op.ok == (given(op) == seeds), (told, op))


def mig_017(log: Log) -> Iterator[Case]:
    """No batch is committed to the suffix while the boundary is unset."""
    for op in log.ops:
        if op.f != "commit_batch" or op.type == "info":
            continue
        unset = any(
            boundary(told) == -1 and before(told, op) and undisturbed(log, told, op, writes)
            for told in telling(log)
        )
        if boundary(op) == -1 or (boundary(op) is None and unset):
            yield Case(op.index, not op.ok, (op,))


def mig_018(log: Log) -> Iterator[Case]:
    """Suffix offsets start at the boundary and follow without gap or overlap."""
    commits = [op for op in log.of("commit_batch") if stored(op, "base_offset") is not None]
    commits.sort(key=lambda op: (stored(op, "base_offset"), op.index))
    lost = [op.asked["record_count"] for op in log.ops if unknown_commit(op)]
    gaps = {0}
    for count in lost:
        gaps |= {gap + count for gap in gaps}
    new = any(boundary(told) == -1 for told in telling(log))
    end = None
    for op in commits:
        base = stored(op, "base_offset")
        if end is None and new and boundary(op) not in (None, -1):
            end = boundary(op)
        if boundary(op) is not None:
            yield Case(op.index, base >= boundary(op), (op,))
        if end is not None:
            yield Case(op.index, base - end in gaps, (op,))
        end = max(end or 0, base + op.asked["record_count"])
    for first in commits:
        for second in commits:
            if before(first, second):
                holds = stored(first, "base_offset") < stored(second, "base_offset")
                yield Case(second.index, holds, (first, second))


def unknown_commit(op: Op) -> bool:
    return op.f == "commit_batch" and op.type == "info"


def mig_019(log: Log) -> Iterator[Case]:
    """A log older than the boundary column gets boundary 0, not unset."""
    for upgrade in log.of("upgrade_schema"):
        for op in telling(log):
            reset = any(not_after(one, op) for one in resets(log))
            if before(upgrade, op) and not reset:
                yield Case(op.index, boundary(op) == 0, (upgrade, op))


def never_set(log: Log) -> Iterator[Op]:
    """Answers about a log that was new in this history and that no call can have set."""
    for op in telling(log):
        if not op.ok:
            continue
        set_ = any(not_after(one, op) for one in writes(log))
        created = any(one.f == "create_log" and not_after(one, op) for one in log.ops)
        older = any(one.f == "upgrade_schema" for one in log.ops)
        if created and not set_ and not older:
            yield op


def mig_020(log: Log) -> Iterator[Case]:
    """A boundary that was never set reads as -1."""
    for op in never_set(log):
        yield Case(op.index, boundary(op) == -1, (op,))


def mig_022(log: Log) -> Iterator[Case]:
    """Setting the boundary of one partition leaves its neighbours unset."""
    for op in never_set(log):
        for other in log.everywhere:
            beside = other is not log and other.ops[0].asked["topic"] == op.asked["topic"]
            if beside and any(one.ok and before(one, op) for one in writes(other)):
                yield Case(op.index, boundary(op) == -1, (op,))


def mig_028(log: Log) -> Iterator[Case]:
    """A reset drops the seeds together with the boundary."""
    for reset in resets(log):
        was_set = any(told.ok for told in known_boundaries(log, reset))
        if not reset.ok or not was_set:
            continue
        for op in log.of("describe_producers"):
            seeded = any(may_come_between(one, reset, op) for one in changes(log))
            if before(reset, op) and boundary(op) == -1 and not seeded:
                yield Case(op.index, shown(op) == [], (reset, op))


CHECKS = {
    "MIG-004": mig_004,
    "MIG-006": mig_006,
    "MIG-007": mig_007,
    "MIG-008": mig_008,
    "MIG-009": mig_009,
    "MIG-010": mig_010,
    "MIG-017": mig_017,
    "MIG-018": mig_018,
    "MIG-019": mig_019,
    "MIG-020": mig_020,
    "MIG-022": mig_022,
    "MIG-028": mig_028,
}
