"""Registers of the boundary as a hurried engineer might have written them, in Python.

Each replaces one decision of the reference. `rules` are the rules that must notice.
"""

from __future__ import annotations

from reference_impl.control_plane.boundary import LogRow, is_set
from reference_impl.decisions import Mutant, original
from reference_impl.ports.control_plane import UNDEFINED, BoundaryError, Seed

_NONE = BoundaryError.NONE
_FENCED = BoundaryError.FENCED_LEADER_EPOCH
_MISMATCH = BoundaryError.BOUNDARY_MISMATCH
_OTHER_SEEDS = BoundaryError.PRODUCER_STATE_MISMATCH


def _equal_epoch_moves_it(log: LogRow, boundary: int, leader_epoch: int | None) -> object:
    if leader_epoch == log.epoch:
        return _NONE
    return original("admit-boundary")(log, boundary, leader_epoch)


def _higher_epoch_moves_it(log: LogRow, boundary: int, leader_epoch: int | None) -> object:
    if leader_epoch is not None and leader_epoch > log.epoch:
        return _NONE
    return original("admit-boundary")(log, boundary, leader_epoch)


def _fence_turned_around(
    log: LogRow,
    seeds: tuple[Seed, ...],
    boundary: int,
    leader_epoch: int,
    entries: tuple[Seed, ...],
) -> BoundaryError:
    return _FENCED if leader_epoch > log.epoch != UNDEFINED else _NONE


def _same_boundary_needs_no_fence(
    log: LogRow,
    seeds: tuple[Seed, ...],
    boundary: int,
    leader_epoch: int,
    entries: tuple[Seed, ...],
) -> object:
    if boundary == log.boundary and entries == seeds:
        return _NONE
    return original("admit-initialize")(log, seeds, boundary, leader_epoch, entries)


def _every_repeat_is_a_conflict(
    log: LogRow, boundary: int, leader_epoch: int | None
) -> BoundaryError:
    return _MISMATCH if is_set(log.boundary) else _NONE


def _merged(log: LogRow, seeds: tuple[Seed, ...], entries: tuple[Seed, ...]) -> tuple[Seed, ...]:
    return tuple(sorted(set(seeds) | set(entries)))


def _first_seeds_stay(
    log: LogRow, seeds: tuple[Seed, ...], entries: tuple[Seed, ...]
) -> tuple[Seed, ...]:
    return seeds or entries


def _seeding_twice_is_refused(
    log: LogRow, seeds: tuple[Seed, ...], entries: tuple[Seed, ...]
) -> BoundaryError:
    return _OTHER_SEEDS if seeds and seeds != entries else _NONE


def _reset_looks_at_the_epoch_only(
    log: LogRow, suffix_empty: bool, leader_epoch: int | None
) -> object:
    return original("admit-epoch")(log, leader_epoch)


def _reset_looks_at_the_suffix_only(
    log: LogRow, suffix_empty: bool, leader_epoch: int | None
) -> BoundaryError:
    orphans = is_set(log.boundary) and not suffix_empty
    return BoundaryError.SUFFIX_NOT_EMPTY if orphans else _NONE


def _bare_write_replaces(log: LogRow, boundary: int, leader_epoch: int | None) -> object:
    if leader_epoch is None:
        return _NONE
    return original("admit-write")(log, boundary, leader_epoch)


def _fence_only_with_a_boundary(log: LogRow, leader_epoch: int | None) -> object:
    return original("next-epoch")(log, leader_epoch) if is_set(log.boundary) else log.epoch


def _set_with_a_higher_epoch_moves_it(
    log: LogRow, boundary: int, leader_epoch: int | None
) -> object:
    if leader_epoch is not None and leader_epoch > log.epoch:
        return _NONE
    return original("admit-write")(log, boundary, leader_epoch)


def _set_is_not_fenced(log: LogRow, boundary: int, leader_epoch: int | None) -> object:
    return original("admit-boundary")(log, boundary, leader_epoch)


def _only_the_first_reset_is_marked(log: LogRow, leader_epoch: int | None) -> object:
    if log.reset_epoch != UNDEFINED:
        return log.reset_epoch
    return original("reset-epoch-after")(log, leader_epoch)


def _first_refusal_counts_for_all(before: tuple[BoundaryError, ...]) -> BoundaryError:
    return next((error for error in before if error is not _NONE), _NONE)


def _fewer_seeds_are_the_same(
    log: LogRow, seeds: tuple[Seed, ...], entries: tuple[Seed, ...]
) -> BoundaryError:
    return _OTHER_SEEDS if is_set(log.boundary) and set(entries) - set(seeds) else _NONE


MUTANTS = (
    Mutant(
        name="equal-epoch-moves-the-boundary",
        decision="admit-boundary",
        replace=_equal_epoch_moves_it,
        rules=("MIG-001", "MIG-025"),
        why="the check guards against newer leaders and forgets the leader itself",
    ),
    Mutant(
        name="higher-epoch-moves-the-boundary",
        decision="admit-boundary",
        replace=_higher_epoch_moves_it,
        rules=("MIG-003",),
        why="'higher epoch wins' read without the condition that the boundary is unset",
    ),
    Mutant(
        name="fence-turned-around",
        decision="admit-initialize",
        replace=_fence_turned_around,
        rules=("MIG-002",),
        why="stored and offered epoch are swapped in the comparison",
    ),
    Mutant(
        name="nobody-is-fenced",
        decision="admit-epoch",
        replace=lambda log, leader_epoch: _NONE,
        rules=("MIG-016", "MIG-023", "MIG-026"),
        why="the epoch is stored but never compared",
    ),
    Mutant(
        name="same-boundary-needs-no-fence",
        decision="admit-initialize",
        replace=_same_boundary_needs_no_fence,
        rules=("MIG-023",),
        why="the idempotent path returns before the epoch is looked at",
    ),
    Mutant(
        name="every-repeat-is-a-conflict",
        decision="admit-boundary",
        replace=_every_repeat_is_a_conflict,
        rules=("MIG-004",),
        why="the check asks whether a boundary exists, not whether it differs",
    ),
    Mutant(
        name="refusal-echoes-the-caller",
        decision="reported-boundary",
        replace=lambda log, asked, error: log.boundary if asked is None else asked,
        rules=("MIG-005",),
        why="the reply is built from the request",
    ),
    Mutant(
        name="unset-reads-as-zero",
        decision="reported-boundary",
        replace=lambda log, asked, error: max(log.boundary, 0),
        rules=("MIG-020",),
        why="an unset column is mapped to the type's default",
    ),
    Mutant(
        name="seeds-are-not-compared",
        decision="admit-seeds",
        replace=lambda log, seeds, entries: _NONE,
        rules=("MIG-006", "MIG-010"),
        why="the idempotency check covers the boundary and forgets the seeds",
    ),
    Mutant(
        name="late-seeds-are-accepted",
        decision="admit-seeding",
        replace=lambda log, seeds, entries: _NONE,
        rules=("MIG-010",),
        why="seeding does not ask whether the boundary is set",
    ),
    Mutant(
        name="boundary-before-seeds",
        decision="initialize-transactions",
        replace=lambda: (("persist",), ("seed",)),
        rules=("MIG-007",),
        why="two statements, two transactions",
    ),
    Mutant(
        name="seeds-are-merged",
        decision="seeds-after",
        replace=_merged,
        rules=("MIG-008",),
        why="an upsert per producer leaves rows that the new attempt does not mention",
    ),
    Mutant(
        name="first-seeds-stay",
        decision="seeds-after",
        replace=_first_seeds_stay,
        rules=("MIG-008", "MIG-009"),
        why="insert on conflict do nothing",
    ),
    Mutant(
        name="seeding-twice-is-refused",
        decision="admit-seeding",
        replace=_seeding_twice_is_refused,
        rules=("MIG-021",),
        why="seeds are treated as immutable before the boundary exists",
    ),
    Mutant(
        name="reset-orphans-the-suffix",
        decision="admit-reset",
        replace=_reset_looks_at_the_epoch_only,
        rules=("MIG-011",),
        why="a reset trusts the broker that asks for it",
    ),
    Mutant(
        name="reset-passes-the-fence",
        decision="admit-reset",
        replace=_reset_looks_at_the_suffix_only,
        rules=("MIG-026",),
        why="only the calls that set the boundary are fenced",
    ),
    Mutant(
        name="equal-epoch-resurrects",
        decision="admit-after-reset",
        replace=lambda log, leader_epoch: _NONE,
        rules=("MIG-001", "MIG-012"),
        why="after a reset the log looks as if it had never been migrated",
    ),
    Mutant(
        name="reset-leaves-no-mark",
        decision="reset-epoch-after",
        replace=lambda log, leader_epoch: UNDEFINED,
        rules=("MIG-012",),
        why="the reset clears the boundary and records nothing",
    ),
    Mutant(
        name="reset-clears-the-fence",
        decision="epoch-after-reset",
        replace=lambda log, leader_epoch: UNDEFINED,
        rules=("MIG-013", "MIG-014"),
        why="boundary and epoch are cleared together",
    ),
    Mutant(
        name="bare-write-clears-the-fence",
        decision="next-epoch",
        replace=lambda log, leader_epoch: UNDEFINED if leader_epoch is None else leader_epoch,
        rules=("MIG-014",),
        why="the epoch column takes whatever the call brought, also nothing",
    ),
    Mutant(
        name="bare-write-passes-the-fence",
        decision="admit-unfenced-write",
        replace=lambda log, leader_epoch: _NONE,
        rules=("MIG-015",),
        why="a call without an epoch has nothing to compare, so nothing is compared",
    ),
    Mutant(
        name="bare-write-replaces-the-boundary",
        decision="admit-write",
        replace=_bare_write_replaces,
        rules=("MIG-015",),
        why="the administrative path skips all checks",
    ),
    Mutant(
        name="fence-only-with-a-boundary",
        decision="next-epoch",
        replace=_fence_only_with_a_boundary,
        rules=("MIG-016",),
        why="the epoch is taken for a property of the boundary, so an unset one has none",
    ),
    Mutant(
        name="commit-before-the-boundary",
        decision="admit-commit",
        replace=lambda log: _NONE,
        rules=("MIG-017",),
        why="the commit path knows nothing of migrations",
    ),
    Mutant(
        name="suffix-starts-at-zero",
        decision="high-watermark-at",
        replace=lambda log, boundary: log.high_watermark,
        rules=("MIG-018",),
        why="the high watermark of a new log is left where it was created",
    ),
    Mutant(
        name="last-offset-is-used-twice",
        decision="high-watermark-after",
        replace=lambda base_offset, record_count: base_offset + record_count - 1,
        rules=("MIG-018",),
        why="last offset and end offset are mixed up",
    ),
    Mutant(
        name="one-register-for-a-topic",
        decision="log-key",
        replace=lambda topic, partition: (topic, 0),
        rules=("MIG-022",),
        why="the partition is missing from the key",
    ),
    Mutant(
        name="one-refusal-refuses-the-rest",
        decision="admit-beside",
        replace=_first_refusal_counts_for_all,
        rules=("MIG-033",),
        why="a loop over the partitions that ends with the first error",
    ),
    Mutant(
        name="zero-counts-as-unset",
        decision="is-set",
        replace=lambda boundary: boundary > 0,
        rules=("MIG-001", "MIG-025"),
        why="truthiness instead of a comparison with the sentinel",
    ),
    Mutant(
        name="every-failure-is-hard",
        decision="classify-failure",
        replace=lambda sqlstate: BoundaryError.KAFKA_STORAGE_ERROR,
        rules=("MIG-024",),
        why="one except clause for all database errors",
    ),
    Mutant(
        name="every-failure-is-transient",
        decision="classify-failure",
        replace=lambda sqlstate: BoundaryError.REQUEST_TIMED_OUT,
        rules=("MIG-024",),
        why="a retriable code for everything, so clients retry for ever",
    ),
    Mutant(
        name="set-with-a-higher-epoch-moves-it",
        decision="admit-write",
        replace=_set_with_a_higher_epoch_moves_it,
        rules=("MIG-003",),
        why="the second way of writing trusts the newest leader",
    ),
    Mutant(
        name="set-is-not-fenced",
        decision="admit-write",
        replace=_set_is_not_fenced,
        rules=("MIG-015", "MIG-016"),
        why="the fence guards one of two ways of writing",
    ),
    Mutant(
        name="only-the-first-reset-is-marked",
        decision="reset-epoch-after",
        replace=_only_the_first_reset_is_marked,
        rules=("MIG-021",),
        why="the marker is written once and never again",
    ),
    Mutant(
        name="fewer-seeds-are-the-same",
        decision="admit-seeds",
        replace=_fewer_seeds_are_the_same,
        rules=("MIG-006",),
        why="each seed that came is looked up; nobody looks for those that did not come",
    ),
    Mutant(
        name="a-repeat-rewinds-the-suffix",
        decision="high-watermark-at",
        replace=lambda log, boundary: boundary,
        rules=("MIG-018",),
        why="writing the boundary always moves the high watermark there",
    ),
    Mutant(
        name="seeds-outlive-a-reset",
        decision="seeds-after-reset",
        replace=lambda log, seeds: seeds,
        rules=("MIG-028",),
        why="the reset clears the boundary and forgets what came with it",
    ),
    Mutant(
        name="any-number-of-seeds",
        decision="admit-seed-depth",
        replace=lambda entries: _NONE,
        rules=("MIG-021",),
        why="the depth of duplicate detection is not enforced",
    ),
    Mutant(
        name="seeds-from-the-suffix",
        decision="admit-seed-offsets",
        replace=lambda boundary, entries: _NONE,
        rules=("MIG-021",),
        why="seeds may name offsets that nobody has written yet",
    ),
)
