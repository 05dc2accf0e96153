"""A log that began anew at a first local offset without tiered storage learns what came before.

A broker that is started without tiered storage cannot build auxiliary state: its replicas keep the
log start, and mark the epochs below the first local offset as unknown (C-39). Once tiered storage
is back, a task builds what is missing from the remote tier, and nothing is copied, expired or
removed from the disk before: all of that goes by the lineage. Nothing of the local log is given up,
as the replica may be in the ISR.
"""

from __future__ import annotations

from reference_impl.log.decisions import UNDEFINED_EPOCH
from reference_impl.log.log import Log
from reference_impl.replication.leaders_log import LeadersStart
from reference_impl.tiered.aux_state import AuxiliaryState
from reference_impl.tiered.extension import TieredExtension
from reference_impl.tiered.tasks import Task


class EarlierStateTask:
    """Learns the epochs and producers that a log lacks; for nearly every log there are none."""

    def __init__(self, extension: TieredExtension, aux: AuxiliaryState | None) -> None:
        self._extension = extension
        self._aux = aux

    def has_work(self) -> bool:
        """Whether something is not known, and the epoch of the first local offset is."""
        log = self._extension.log
        return log is not None and not lineage_is_known(log) and _first_epoch(log) is not None

    async def run(self) -> None:
        """Build it; a RemoteStorageException is tried again."""
        log = self._extension.log
        epoch = None if log is None else _first_epoch(log)
        if log is None or epoch is None or self._aux is None:
            return
        own = LeadersStart(
            log_start_offset=log.log_start_offset,
            local_log_start_offset=log.local_log_start_offset,
            local_log_start_epoch=epoch,
        )
        point = await self._aux.before(self._extension.id, own)
        if log.local_log_start_offset == point.offset and not lineage_is_known(log):
            await log.learn_earlier(point.epochs, point.producers)
            self._extension.metadata_changed()


class OnceLineageIsKnown:
    """A task that has no work before."""

    def __init__(self, extension: TieredExtension, task: Task) -> None:
        self._extension = extension
        self._task = task

    def has_work(self) -> bool:
        """As the task says, if the lineage is known."""
        log = self._extension.log
        return (log is None or lineage_is_known(log)) and self._task.has_work()

    async def run(self) -> None:
        """Run the task."""
        await self._task.run()


def lineage_is_known(log: Log) -> bool:
    """Whether the epochs of all its offsets are known, wherever they are kept."""
    return not log.epochs.entries or log.epochs.entries[0].epoch != UNDEFINED_EPOCH


def _first_epoch(log: Log) -> int | None:
    epoch = log.epochs.epoch_for(log.local_log_start_offset)
    return None if epoch == UNDEFINED_EPOCH else epoch
