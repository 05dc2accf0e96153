"""Every choice about the boundary B0, as pure decisions over one log's row.

A diskless partition has one boundary. Below it lies the classic prefix, from it on the suffix
that the control plane orders. Moving a boundary would orphan one or the other, so nearly every
choice here is a refusal: of a leader that has been superseded, of another boundary than the
stored one, of producer state that is not what was stored, of taking the boundary away once the
suffix holds a batch.

The life of a boundary:

    NEVER ──write──► SET ──reset──► RESET ──write at a higher epoch──► SET

Only the fence (``epoch``) moves besides, and only upwards. A boundary written without an epoch
counts as one of epoch 0 when it is reset, so that a reset always leaves its marker.

Each function below answers one question from the row as stored and the arguments of the call.
None of them changes anything; ``memory`` and the SQL functions of the same names carry out what
they say. Functions that admit return NONE or the error of the refusal. Where several admissions
are combined, the first refusal is the answer, so their order is part of the choice: fencing comes
before mismatch.

The reading of the designs is that of decisions/migration: CON-07 to CON-12, CON-29, CON-33,
GAP-21, GAP-24, GAP-34, GAP-35, GAP-40 and GAP-41.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from reference_impl.decisions import decision
from reference_impl.ports.control_plane import UNDEFINED, BoundaryError, Seed

NONE = BoundaryError.NONE
SEED_DEPTH = 5  # batches per producer, the depth of Kafka's own duplicate detection

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """What the control plane stores about one log, besides its seeds and batches.

    ``log_start_offset`` is where the suffix begins after retention; it is not the boundary, and no
    decision about the boundary reads or moves it.
    """

    boundary: int = UNDEFINED
    epoch: int = UNDEFINED
    reset_epoch: int = UNDEFINED
    high_watermark: int = 0
    log_start_offset: int = 0


class Life(Enum):
    """Where a boundary stands in its life."""

    NEVER = "never set"
    SET = "set"
    RESET = "reset"


TRANSITIONS: Mapping[Life, Mapping[Life, str]] = {
    Life.NEVER: {Life.SET: "the first write"},
    Life.SET: {
        Life.RESET: "a reset while the suffix is empty",
    },
    Life.RESET: {Life.SET: "a write at an epoch above the one of the reset"},
}


def life_of(log: LogRow) -> Life:
    """The state of a log's boundary; the reset epoch tells a reset log from a fresh one."""
    if log.boundary != UNDEFINED:
        return Life.SET
    return Life.NEVER if log.reset_epoch == UNDEFINED else Life.RESET


def first_refusal(*verdicts: BoundaryError) -> BoundaryError:
    """The first verdict that is a refusal, NONE if all admit."""
    return next((verdict for verdict in verdicts if verdict is not NONE), NONE)


# --- what is stored where -----------------------------------------------------------------------


@decision("log-key", rules=("MIG-022",))
def log_key(topic_id: UUID, partition: int) -> tuple[UUID, int]:
    """Which register a call is about: one for each partition of each topic."""
    return (topic_id, partition)


@decision("is-set", rules=("MIG-001", "MIG-020"))
def is_set(boundary: int) -> bool:
    """Zero is a boundary like any other; only UNDEFINED is none."""
    return boundary != UNDEFINED


@decision("reported-boundary", rules=("MIG-005", "MIG-020"))
def reported_boundary(log: LogRow, asked: int | None, error: BoundaryError) -> int:
    """A reply tells the stored boundary, never the one the caller asked for."""
    return log.boundary


@decision("initialize-transactions", rules=("MIG-007", "MIG-021"))
def initialize_transactions() -> tuple[Steps, ...]:
    """Seeds and boundary become visible together: one transaction, seeds first."""
    return (("seed", "persist"),)


@decision("admit-beside", rules=("MIG-033",))
def admit_beside(before: tuple[BoundaryError, ...]) -> BoundaryError:
    """Each partition of a call is judged by itself, however those before it in the call ended."""
    return NONE


# --- who may write ------------------------------------------------------------------------------


@decision("admit-epoch", rules=("MIG-002", "MIG-016", "MIG-023", "MIG-026"))
def admit_epoch(log: LogRow, leader_epoch: int | None) -> BoundaryError:
    """A leader older than the fence is refused, whatever it asks for."""
    stale = leader_epoch is not None and leader_epoch < log.epoch
    return BoundaryError.FENCED_LEADER_EPOCH if stale else NONE


@decision("admit-after-reset", rules=("MIG-012",))
def admit_after_reset(log: LogRow, leader_epoch: int | None) -> BoundaryError:
    """After a reset the leader of the reset's own epoch may not write either."""
    late = (
        leader_epoch is not None
        and not is_set(log.boundary)
        and log.reset_epoch != UNDEFINED
        and leader_epoch <= log.reset_epoch
    )
    return BoundaryError.FENCED_LEADER_EPOCH if late else NONE


@decision("admit-unfenced-write", rules=("MIG-015",))
def admit_unfenced_write(log: LogRow, leader_epoch: int | None) -> BoundaryError:
    """A new boundary without an epoch is for logs that no epoch has fenced."""
    fenced = log.epoch != UNDEFINED or log.reset_epoch != UNDEFINED
    bypass = leader_epoch is None and not is_set(log.boundary) and fenced
    return BoundaryError.FENCED_LEADER_EPOCH if bypass else NONE


@decision("admit-leader", rules=("MIG-002", "MIG-012", "MIG-015"))
def admit_leader(log: LogRow, leader_epoch: int | None) -> BoundaryError:
    """May this leader, or a caller that names none, write a boundary at all?"""
    return first_refusal(
        admit_epoch(log, leader_epoch),
        admit_after_reset(log, leader_epoch),
        admit_unfenced_write(log, leader_epoch),
    )


# --- what may be written ------------------------------------------------------------------------


@decision("admit-boundary", rules=("MIG-001", "MIG-003", "MIG-004", "MIG-025"))
def admit_boundary(log: LogRow, boundary: int, leader_epoch: int | None) -> BoundaryError:
    """A set boundary can only be set to itself, at every epoch."""
    differs = is_set(log.boundary) and boundary != log.boundary
    return BoundaryError.BOUNDARY_MISMATCH if differs else NONE


@decision("admit-seeds", rules=("MIG-006", "MIG-009", "MIG-010"))
def admit_seeds(log: LogRow, seeds: tuple[Seed, ...], entries: tuple[Seed, ...]) -> BoundaryError:
    """Once the boundary is set its seeds are settled; until then they may be replaced."""
    differs = is_set(log.boundary) and entries != seeds
    return BoundaryError.PRODUCER_STATE_MISMATCH if differs else NONE


@decision("admit-seed-depth", rules=())
def admit_seed_depth(entries: tuple[Seed, ...]) -> BoundaryError:
    """No producer brings more batches than duplicate detection looks back."""
    batches = Counter(seed.producer_id for seed in entries)
    too_deep = max(batches.values(), default=0) > SEED_DEPTH
    return BoundaryError.INVALID_REQUEST if too_deep else NONE


@decision("admit-seed-offsets", rules=())
def admit_seed_offsets(boundary: int, entries: tuple[Seed, ...]) -> BoundaryError:
    """Seeds are batches of the prefix, so they lie below the boundary they come with."""
    beyond = any(seed.base_offset >= boundary for seed in entries)
    return BoundaryError.INVALID_REQUEST if beyond else NONE


# --- the calls ----------------------------------------------------------------------------------


@decision("admit-initialize", rules=("MIG-002", "MIG-003", "MIG-006", "MIG-023"))
def admit_initialize(
    log: LogRow,
    seeds: tuple[Seed, ...],
    boundary: int,
    leader_epoch: int,
    entries: tuple[Seed, ...],
) -> BoundaryError:
    """May this leader set this boundary with these seeds?"""
    return first_refusal(
        admit_seed_depth(entries),
        admit_seed_offsets(boundary, entries),
        admit_leader(log, leader_epoch),
        admit_boundary(log, boundary, leader_epoch),
        admit_seeds(log, seeds, entries),
    )


@decision("admit-write", rules=("MIG-001", "MIG-004", "MIG-015"))
def admit_write(log: LogRow, boundary: int, leader_epoch: int | None) -> BoundaryError:
    """May the boundary be set without touching the seeds?"""
    return first_refusal(
        admit_leader(log, leader_epoch), admit_boundary(log, boundary, leader_epoch)
    )


@decision("admit-reset", rules=("MIG-011", "MIG-026"))
def admit_reset(log: LogRow, suffix_empty: bool, leader_epoch: int | None) -> BoundaryError:
    """A boundary may be taken away while nothing has been committed above it."""
    orphans = is_set(log.boundary) and not suffix_empty
    return first_refusal(
        admit_epoch(log, leader_epoch),
        BoundaryError.SUFFIX_NOT_EMPTY if orphans else NONE,
    )


@decision("admit-seeding", rules=("MIG-009", "MIG-010"))
def admit_seeding(log: LogRow, seeds: tuple[Seed, ...], entries: tuple[Seed, ...]) -> BoundaryError:
    """May these seeds be stored ahead of the boundary?"""
    return first_refusal(admit_seed_depth(entries), admit_seeds(log, seeds, entries))


@decision("admit-commit", rules=("MIG-017",))
def admit_commit(log: LogRow) -> BoundaryError:
    """No suffix offset exists before the boundary does."""
    return NONE if is_set(log.boundary) else BoundaryError.BOUNDARY_UNSET


# --- what is stored afterwards ------------------------------------------------------------------


@decision("next-epoch", rules=("MIG-014", "MIG-016"))
def next_epoch(log: LogRow, leader_epoch: int | None) -> int:
    """The fence rises to a newer leader's epoch and never falls."""
    return log.epoch if leader_epoch is None else max(log.epoch, leader_epoch)


@decision("epoch-after-reset", rules=("MIG-013", "MIG-014"))
def epoch_after_reset(log: LogRow, leader_epoch: int | None) -> int:
    """A reset takes the boundary away and leaves the fence standing."""
    return next_epoch(log, leader_epoch)


@decision("reset-epoch-after", rules=("MIG-012",))
def reset_epoch_after(log: LogRow, leader_epoch: int | None) -> int:
    """The marker of a reset is the epoch in force when it happened, at least 0."""
    return max(next_epoch(log, leader_epoch), 0)


@decision("seeds-after", rules=("MIG-008", "MIG-009"))
def seeds_after(
    log: LogRow, seeds: tuple[Seed, ...], entries: tuple[Seed, ...]
) -> tuple[Seed, ...]:
    """New seeds replace old ones whole; leftovers of a failed attempt do not survive."""
    return entries


@decision("seeds-after-reset", rules=("MIG-028",))
def seeds_after_reset(log: LogRow, seeds: tuple[Seed, ...]) -> tuple[Seed, ...]:
    """Seeds belong to the boundary they came with and go with it."""
    return ()


@decision("high-watermark-at", rules=("MIG-018",))
def high_watermark_at(log: LogRow, boundary: int) -> int:
    """The suffix starts at the boundary; writing the same one again does not rewind it."""
    return log.high_watermark if log.boundary == boundary else boundary


@decision("assign-offset", rules=("MIG-018",))
def assign_offset(log: LogRow) -> int:
    """The base offset of the next batch: where the last one ended."""
    return log.high_watermark


@decision("high-watermark-after", rules=("MIG-018",))
def high_watermark_after(base_offset: int, record_count: int) -> int:
    """The high watermark after a batch: no gap, no overlap."""
    return base_offset + record_count


# --- failures of the control plane itself -------------------------------------------------------

TRANSIENT_CLASSES = ("08", "40", "53", "57")
LOCK_NOT_AVAILABLE = "55P03"  # how PostgreSQL spells a statement that timed out waiting for a lock


@decision("classify-failure", rules=("MIG-024",))
def classify_failure(sqlstate: str | None) -> BoundaryError:
    """Worth retrying or not? No SQLSTATE means the connection broke before an answer came."""
    transient = (
        sqlstate is None or sqlstate[:2] in TRANSIENT_CLASSES or sqlstate == LOCK_NOT_AVAILABLE
    )
    return BoundaryError.REQUEST_TIMED_OUT if transient else BoundaryError.KAFKA_STORAGE_ERROR
