"""One archive to attach to an issue: the page, the documents, the evidence around each finding.

Everything in it is scrubbed. Logs are cut to their end; the whole history stays where it is, and
its hash is in the verdict.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.history.frames import open_run
from harness.history.run import HISTORY_FILE
from reports.badge import badge
from reports.certificate import as_text, certificate_document, verdict_document
from reports.html.certificate_page import certificate_page
from reports.html.page import page
from reports.junit import junit
from reports.markdown import summary
from reports.measures.lines import lines_at
from reports.pictured import slices_of, surroundings_of
from reports.plain import clean, printable, scrubbed
from reports.terminal import read_elsewhere
from reports.view import RunView

LOG_BYTES = 150_000
MOST_LOG_BYTES = 2_000_000
"""Of all logs together, before they are compressed: the archive stays about a megabyte."""
_FIXED = (1980, 1, 1, 0, 0, 0)  # the same run gives the same bytes


def bundle(view: RunView) -> bytes:
    """The archive."""
    made = io.BytesIO()
    top = f"tidemark-{view.folder.name}"
    handed_on = replace(view, called=top, kept_in="")  # it has the header, so it can be replayed
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive, read_elsewhere():
        for name, text in _files(handed_on):
            entry = zipfile.ZipInfo(f"{top}/{name}", _FIXED)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode("utf-8", "backslashreplace"))
    return made.getvalue()


def _files(view: RunView) -> Iterator[tuple[str, str]]:
    conclusion = view.conclusion
    yield "README.md", summary(view)
    yield "report.html", page(view)
    yield "junit.xml", junit(view)
    yield "badge.svg", badge(conclusion)
    yield "verdict.json", as_text(clean(verdict_document(conclusion)))
    if conclusion.certified:
        yield "certificate.json", as_text(clean(certificate_document(conclusion)))
        yield "certificate.html", certificate_page(view)
    yield "header.json", as_text(clean(dict(conclusion.header)))
    yield "repeat.sh", f"{view.repeat()}\n"
    yield from _slices(view)
    logs = sorted(view.folder.rglob("*.log"))
    share = min(LOG_BYTES, MOST_LOG_BYTES // max(1, len(logs)))
    for log in logs:
        name = log.relative_to(view.folder)
        yield (
            f"logs/{name.relative_to('logs') if name.parts[0] == 'logs' else name}",
            _end_of(log, share),
        )


def _slices(view: RunView) -> Iterator[tuple[str, str]]:
    """The lines of the history around each finding, as they were recorded."""
    run = surroundings_of(view, open_run(view.folder).tables)
    slices = slices_of(run, view.conclusion)
    every = (index for slice_ in slices.values() for index in slice_.indices)
    recorded = lines_at(view.folder / HISTORY_FILE, every)
    for op, slice_ in slices.items():
        first = min(one.op for one in slice_.operations)
        last = max(one.op for one in slice_.operations)
        events = [recorded[index] for index in slice_.indices if index in recorded]
        lines = [json.dumps(clean(event), ensure_ascii=False) for event in events]
        yield f"slices/op-{op}-from-{first}-to-{last}.jsonl", "\n".join(lines) + "\n"


def _end_of(log: Path, most_bytes: int) -> str:
    with log.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - most_bytes))
        text = file.read().decode("utf-8", "replace")
    cut = f"(the last {most_bytes} of {size} bytes)\n" if size > most_bytes else ""
    return cut + "\n".join(printable(line) for line in scrubbed(text).split("\n"))
