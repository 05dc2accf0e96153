"""Every legal answer of the boundary register, call by call.

This is the judge's own reading of design/migration.md and of the decisions taken on it (CON-08 to
CON-12, CON-29, CON-33, GAP-21, GAP-34, GAP-35, GAP-40, GAP-41). It shares no code with any
implementation, so that a mistake there cannot excuse itself here.

A log is created with everything unset. Its boundary is written once; while it is set, only the
very same boundary (and seeds) may be written again, by an epoch that is not stale. A reset needs an
empty suffix, and after it only an epoch above the one in force at the reset may write. The first
committed batch starts at the boundary, the next ones follow without gaps. A refusal changes
nothing.

`tolerant` grants systems that are not the reference what the decisions let a test accept:

- a write without epoch may pass or be fenced where an epoch is registered and no reset stands
  against it (CON-33);
- after a reset, a write at exactly the stored epoch may be fenced even though that epoch was
  registered later (CON-33);
- an identical repeat at a higher epoch may keep or raise the stored epoch (CON-09, GAP-35);
- an initialization with another boundary may get any code as long as nothing changes (CON-10), and
  one that is both stale and different in its seeds may be refused for either;
- a reset may drop the seeds (CON-08: without a boundary they are harmless).

Where the readings are silent, both answers are legal for everyone. A call that is malformed, on a
log that does not exist; a stale epoch together with another boundary, when setting: either error.
An epoch of -1 when setting, entries left out, an argument that the call does not take, a seed with
a negative number in it: refused as invalid, or read as the nearest sensible call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

UNDEFINED = -1
SEEDS_PER_PRODUCER = 5

NONE = "NONE"
FENCED = "FENCED_LEADER_EPOCH"
MISMATCH = "BOUNDARY_MISMATCH"
SEEDS_DIFFER = "PRODUCER_STATE_MISMATCH"
SUFFIX_NOT_EMPTY = "SUFFIX_NOT_EMPTY"
UNSET = "BOUNDARY_UNSET"
UNKNOWN_LOG = "UNKNOWN_TOPIC_OR_PARTITION"
INVALID = "INVALID_REQUEST"
ANY_CODE = "any code"

Seeds = tuple[tuple[int, ...], ...]


class Log(NamedTuple):
    """What is stored of one log; `suffix_end` is the offset of the next batch."""

    exists: bool = False
    boundary: int = UNDEFINED
    epoch: int = UNDEFINED
    reset_epoch: int = UNDEFINED
    seeds: Seeds = ()
    suffix_end: int = UNDEFINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The arguments of a call; `malformed` says that entries were sent that are no seeds."""

    boundary: int | None = None
    leader_epoch: int | None = None
    entries: Seeds | None = None
    record_count: int | None = None
    malformed: bool = False


class Answer(NamedTuple):
    """A legal answer: its code, what is stored after it, and where a batch went."""

    error: str
    after: Log
    base_offset: int | None = None


def _initialize(log: Log, call: Call, tolerant: bool) -> Iterator[Answer]:
    boundary, epoch, entries = _given(call.boundary), _given(call.leader_epoch), call.entries or ()
    if log.boundary == UNDEFINED:
        yield from _write(log, boundary, epoch, entries, tolerant)
    elif tolerant and boundary != log.boundary:
        yield Answer(ANY_CODE, log)
    elif epoch < log.epoch:
        yield Answer(FENCED, log)
        if tolerant and entries != log.seeds:
            yield Answer(SEEDS_DIFFER, log)
    elif boundary != log.boundary:
        yield Answer(MISMATCH, log)
    elif entries != log.seeds:
        yield Answer(SEEDS_DIFFER, log)
    else:
        yield from _repeat(log, epoch, tolerant)


def _set(log: Log, call: Call, tolerant: bool) -> Iterator[Answer]:
    epoch = call.leader_epoch
    if epoch is not None and epoch < 0:
        yield Answer(INVALID, log)
        epoch = None
    if tolerant and epoch is not None:
        yield from _set(log, replace(call, leader_epoch=None), tolerant)
    stale = epoch is not None and epoch < log.epoch
    if call.boundary == UNDEFINED:
        answer = Answer(FENCED, log) if stale else _reset(log, epoch)
        yield answer
        if tolerant and answer.after != log:
            yield answer._replace(after=answer.after._replace(seeds=log.seeds))
    elif log.boundary == UNDEFINED:
        yield from _write(log, _given(call.boundary), epoch, log.seeds, tolerant)
    elif call.boundary != log.boundary:
        yield Answer(MISMATCH, log)
        if stale:
            yield Answer(FENCED, log)
    elif stale:
        yield Answer(FENCED, log)
    else:
        yield from _repeat(log, log.epoch if epoch is None else epoch, tolerant)


def _write(
    log: Log, boundary: int, epoch: int | None, seeds: Seeds, tolerant: bool
) -> Iterator[Answer]:
    """A write to a boundary that is unset."""
    after = log._replace(boundary=boundary, seeds=seeds, suffix_end=boundary)
    if epoch is None:
        free = log.epoch == UNDEFINED and log.reset_epoch == UNDEFINED
        granted = tolerant and log.epoch > log.reset_epoch
        if free or granted:
            yield Answer(NONE, after)
        if not free:
            yield Answer(FENCED, log)
        return
    after_reset = log.reset_epoch != UNDEFINED
    if epoch < log.epoch or (after_reset and epoch <= log.reset_epoch):
        yield Answer(FENCED, log)
        return
    yield Answer(NONE, after._replace(epoch=epoch))
    if tolerant and after_reset and epoch == log.epoch:
        yield Answer(FENCED, log)


def _repeat(log: Log, epoch: int, tolerant: bool) -> Iterator[Answer]:
    """The stored boundary once more, by an epoch that is not stale."""
    yield Answer(NONE, log._replace(epoch=max(log.epoch, epoch)))
    if tolerant and epoch > log.epoch:
        yield Answer(NONE, log)


def _reset(log: Log, epoch: int | None) -> Answer:
    if log.boundary == UNDEFINED:
        return Answer(NONE, log)
    if log.suffix_end > log.boundary:
        return Answer(SUFFIX_NOT_EMPTY, log)
    in_force = log.epoch if epoch is None else max(log.epoch, epoch)
    unset = log._replace(boundary=UNDEFINED, suffix_end=UNDEFINED, seeds=())
    return Answer(NONE, unset._replace(epoch=in_force, reset_epoch=max(in_force, 0)))


def _seed(log: Log, call: Call, tolerant: bool) -> Iterator[Answer]:
    entries = call.entries or ()
    if log.boundary == UNDEFINED:
        yield Answer(NONE, log._replace(seeds=entries))
    else:
        yield Answer(NONE if entries == log.seeds else SEEDS_DIFFER, log)


def _register(log: Log, call: Call, tolerant: bool) -> Iterator[Answer]:
    epoch = _given(call.leader_epoch)
    yield Answer(FENCED, log) if epoch < log.epoch else Answer(NONE, log._replace(epoch=epoch))


def _commit(log: Log, call: Call, tolerant: bool) -> Iterator[Answer]:
    if log.boundary == UNDEFINED:
        yield Answer(UNSET, log)
    else:
        end = log.suffix_end + _given(call.record_count)
        yield Answer(NONE, log._replace(suffix_end=end), log.suffix_end)


def _create(log: Log, call: Call, tolerant: bool) -> Iterator[Answer]:
    yield Answer(NONE, log._replace(exists=True))


def _look(log: Log, call: Call, tolerant: bool) -> Iterator[Answer]:
    yield Answer(NONE, log)


_CALLS: dict[str, Callable[[Log, Call, bool], Iterator[Answer]]] = {
    "create_log": _create,
    "initialize_diskless_migration": _initialize,
    "set_diskless_log_start_offset": _set,
    "get_diskless_log_start_offset": _look,
    "seed_producer_state": _seed,
    "register_leader_epoch": _register,
    "describe_producers": _look,
    "commit_batch": _commit,
}
FUNCTIONS = tuple(_CALLS)
LOOKING = ("get_diskless_log_start_offset", "describe_producers")
_SEEDING = ("initialize_diskless_migration", "seed_producer_state")
_TAKES = {
    "initialize_diskless_migration": ("boundary", "leader_epoch", "entries"),
    "set_diskless_log_start_offset": ("boundary", "leader_epoch"),
    "seed_producer_state": ("entries",),
    "register_leader_epoch": ("leader_epoch",),
    "commit_batch": ("record_count",),
}


def _well_formed(f: str, call: Call) -> bool:
    if f == "commit_batch":
        return call.record_count is not None and call.record_count >= 1
    if f == "set_diskless_log_start_offset":
        return call.boundary is not None and call.boundary >= UNDEFINED
    epoch_given = call.leader_epoch is not None and call.leader_epoch >= 0
    if f == "register_leader_epoch":
        return epoch_given
    if f not in _SEEDING:
        return True
    entries = call.entries or ()
    per_producer = Counter(entry[0] for entry in entries)
    if call.malformed or any(count > SEEDS_PER_PRODUCER for count in per_producer.values()):
        return False
    if f == "seed_producer_state":
        return True
    boundary = UNDEFINED if call.boundary is None else call.boundary
    return epoch_given and boundary >= 0 and all(entry[4] < boundary for entry in entries)


def _doubtful(f: str, call: Call) -> bool:
    """May the call be refused as invalid although it can be understood?"""
    takes = _TAKES.get(f, ())
    arguments = ("boundary", "leader_epoch", "entries", "record_count")
    surplus = any(getattr(call, name) is not None for name in arguments if name not in takes)
    if f not in _SEEDING:
        return surplus
    return surplus or call.entries is None or any(min(seed[:5]) < 0 for seed in call.entries)


def _given(value: int | None) -> int:
    assert value is not None, "a call that lacks an argument is refused before it gets here"
    return value


def answers(log: Log, f: str, call: Call, *, tolerant: bool) -> Iterator[Answer]:
    """Every legal answer to a call, each with what is stored after it."""
    well_formed = _well_formed(f, call)
    if not well_formed or _doubtful(f, call):
        yield Answer(INVALID, log)
    if not log.exists and f != "create_log":
        yield Answer(UNKNOWN_LOG, log)
    elif well_formed:
        yield from _CALLS[f](log, call, tolerant)
