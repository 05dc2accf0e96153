"""A mistake in words: whose it is, one sentence on stderr, and the exit code."""

from __future__ import annotations

import sys
import textwrap
import traceback

from harness.cli.progress import printable
from harness.errors import LabBroken, LabError, UsageError
from harness.history.errors import HistoryError, ShardWriteFailed, no_room
from harness.processes.java import JavaMissing
from harness.rules import CatalogueError
from reference_impl.decisions import DecisionError
from reports.plain import scrubbed
from spark_checkers.linearizability import LinearizabilityError

USAGE, BROKEN = UsageError.exit_code, LabBroken.exit_code
EXPECTED = (CatalogueError, DecisionError, HistoryError, JavaMissing, LinearizabilityError)


def tell(mistake: Exception) -> int:
    """What a user is told, and the exit code; what nobody foresaw is the lab's own fault."""
    if no_room(mistake):
        code, mistake = BROKEN, Exception(f"{mistake}".partition("\n")[0])
    elif isinstance(mistake, LabError):
        code = mistake.exit_code
    elif isinstance(mistake, OSError):
        code, mistake = BROKEN, Exception(_of_file(mistake))
    elif isinstance(mistake, ShardWriteFailed):
        code = BROKEN
    elif isinstance(mistake, EXPECTED):
        code = USAGE
    else:
        traceback.print_exception(mistake)
        code, mistake = BROKEN, Exception("this is a defect of the lab, not of the system")
    for line in map(printable, scrubbed(f"tidemark: {mistake}").splitlines()):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        for piece in textwrap.wrap(line, 80, subsequent_indent=indent, break_on_hyphens=False):
            print(piece, file=sys.stderr)
    return code


def _of_file(problem: OSError) -> str:
    """What the system said of a file, the file first."""
    if problem.filename is None or problem.strerror is None:
        return str(problem)
    return f"{problem.filename}: {problem.strerror}"
