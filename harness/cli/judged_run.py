"""A judged run on disk: what is derived from its evidence, and whether it still is.

    verdicts.parquet, findings.parquet    what the judges said
    verdict.json, certificate.json        the same in words; the second only if certified
    hashes.json                           a hash of every file of the folder (`hashes`)

All of it can be recomputed from the evidence; `judge_again` does so, and names what differs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from harness.cli.hashes import (
    CERTIFICATE_FILE,
    HASHES_FILE,
    TABLES_FOLDER,
    VERDICT_FILE,
    altered,
    hashes_document,
    is_judged,
    staged,
)
from harness.history.errors import HistoryError, RunFolderError
from harness.history.files import read_document
from harness.history.run import HISTORY_FILE
from harness.rules import Conclusion
from harness.scratch import ScratchFolder
from reports.certificate import as_text, certificate_document, verdict_document
from spark_checkers.engine import Engine
from spark_checkers.judge import judge, result_tables


def documents(conclusion: Conclusion) -> dict[str, str]:
    """The documents of a conclusion, by file."""
    made = {VERDICT_FILE: as_text(verdict_document(conclusion))}
    if conclusion.certified:
        made[CERTIFICATE_FILE] = as_text(certificate_document(conclusion))
    return made


def keep(folder: Path, conclusion: Conclusion) -> None:
    """Write everything that is derived, and the hashes of all.

    The hashes get their name last; until then the folder counts as not judged. Whatever bears the
    name of a file before is replaced, never written through.
    """
    made = {name: text.encode() for name, text in documents(conclusion).items()}
    made |= {f"{k}.parquet": _parquet(v) for k, v in result_tables(conclusion.judgement).items()}
    try:
        _write(staged(folder, HASHES_FILE), b"")
        for name, content in made.items():
            _write(staged(folder, name), content)
            os.replace(staged(folder, name), folder / name)
        if CERTIFICATE_FILE not in made:
            (folder / CERTIFICATE_FILE).unlink(missing_ok=True)
        _write(staged(folder, HASHES_FILE), hashes_document(folder).encode())
        os.replace(staged(folder, HASHES_FILE), folder / HASHES_FILE)
    except OSError as cause:
        where = f"{cause.filename2 or cause.filename or folder}"
        raise RunFolderError(f"cannot keep the verdict in {where}: {cause.strerror}") from cause


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(content)


def _parquet(table: Any) -> bytes:
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def judge_again(
    folder: Path, engine: Engine, *, progress: Callable[[str], None] = lambda text: None
) -> Conclusion:
    """Judge a folder from its evidence, and hold everything derived in it against that.

    One that was never judged, or not to the end, gets its verdict.
    """
    if not is_judged(folder):
        conclusion = judge(folder, CATALOGUE, engine, progress=progress)
        if not conclusion.tampered:
            keep(folder, conclusion)
        return conclusion
    sealed = (folder / HISTORY_FILE).exists()
    with ScratchFolder("judge") as scratch:
        conclusion = judge(folder, CATALOGUE, engine, tables=scratch, progress=progress)
        if conclusion.tampered:
            return conclusion
        wrong = [] if sealed else [f"{HISTORY_FILE} is missing"]
        wrong += [*_other_documents(folder, conclusion), *_other_tables(folder, scratch)]
        wrong += _other_results(folder, conclusion)
        wrong += [one for one in altered(folder) if one not in wrong]
        return conclusion.tampered_with(wrong) if wrong else conclusion


def _other_documents(folder: Path, conclusion: Conclusion) -> Iterator[str]:
    due: Mapping[str, str] = documents(conclusion)
    for name in (VERDICT_FILE, CERTIFICATE_FILE):
        path = folder / name
        if name in due and not path.is_file():
            yield f"{name} is missing"
        elif name in due and _content(path) != due[name].encode():
            yield f"{name} is not what the evidence gives"
        elif name not in due and (path.exists() or path.is_symlink()):
            yield f"{name} is there, and nothing is certified"


def _content(path: Path) -> bytes | None:
    """What is in a file; None if it cannot be read."""
    try:
        return read_document(path)
    except (OSError, HistoryError):
        return None


def _other_tables(folder: Path, again: Path) -> Iterator[str]:
    from pyarrow import ArrowException, parquet

    for path in sorted(again.glob("*.parquet")):
        name = f"{TABLES_FOLDER}/{path.name}"
        try:
            same = _same_rows(parquet.read_table(folder / name), parquet.read_table(path))
        except (OSError, ArrowException):
            same = False
        if not same:
            yield f"{name} is not what the evidence gives"


def _same_rows(one: Any, other: Any) -> bool:
    """In whatever order: engines part large tables in different ways."""
    if one.equals(other) or one.num_rows != other.num_rows or one.schema != other.schema:
        return bool(one.equals(other))
    order = [(name, "ascending") for name in one.schema.names]
    return bool(one.sort_by(order).equals(other.sort_by(order)))


def _other_results(folder: Path, conclusion: Conclusion) -> Iterable[str]:
    from pyarrow import ArrowException, parquet

    for name, table in result_tables(conclusion.judgement).items():
        try:
            same = parquet.read_table(folder / f"{name}.parquet").equals(table)
        except (OSError, ArrowException):
            same = False
        if not same:
            yield f"{name}.parquet is not what the evidence gives"
