"""What can go wrong with a history, and whose fault it is.

    HistoryError                   anything below; carries one plain sentence
    ├── EventRefused               the recorder was handed something that is not an event
    ├── ShardClosed                a write came after close(), or after the disk failed
    ├── ShardWriteFailed           the operating system refused the write (disk full, ...)
    ├── RunFolderError             the folder, a writer's name or the run header is not usable
    ├── HistoryUnreadable          no such file, or not a history in any known form
    │   └── FormatUnsupported      written by a newer format than this code knows
    └── TableDataError             a table of this package (errors, schema) contradicts itself

A bad *line* is never an exception: it becomes a `Problem` (see `problems`) and the rest of the
file is kept. Exceptions are for what leaves nothing to keep. A `HistoryError` is about the lab or
the file, never about the system under test.
"""

import errno
import os


class HistoryError(Exception):
    """A history cannot be written or read; the message says what, whose and what next."""


class EventRefused(HistoryError):
    """The event is not a line of the format: unknown kind, missing field, value outside JSON."""


class ShardClosed(HistoryError):
    """The shard takes no more lines: it was closed, or an earlier write broke it."""


class ShardWriteFailed(HistoryError):
    """The operating system refused a line; what was recorded before it is still there."""


class RunFolderError(HistoryError):
    """A run folder, writer name or run header cannot be used as asked."""


class HistoryUnreadable(HistoryError):
    """There is nothing to read: no such file, or no known form of history in it."""


class FormatUnsupported(HistoryUnreadable):
    """The history declares a format number this code does not know."""


class TableDataError(HistoryError):
    """A data file of this package is inconsistent; a defect of the lab, found at load time."""


def no_room(mistake: BaseException) -> bool:
    """Whether a full disk is behind it; engines and other processes tell it in words alone."""
    behind: BaseException | None = mistake
    while behind is not None:
        number = behind.errno if isinstance(behind, OSError) else None
        if number in (errno.ENOSPC, errno.EDQUOT) or os.strerror(errno.ENOSPC) in str(behind):
            return True
        behind = behind.__cause__ or behind.__context__
    return False
