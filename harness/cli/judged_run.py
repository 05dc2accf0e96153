"""A judged run on disk: what is derived from its evidence, and whether it still is.

    verdicts.parquet, findings.parquet    what the judges said
    verdict.json, certificate.json        the same in words; the second only if certified
    hashes.json                           a hash of every file of the folder (`hashes`)

All of it can be recomputed from the evidence; `judge_again` does so, and names what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from conformance.catalogue import CATALOGUE
from harness.cli.hashes import (
    CERTIFICATE_FILE,
    HASHES_FILE,
    TABLES_FOLDER,
    VERDICT_FILE,
    altered,
    write_hashes,
)
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
    """Write everything that is derived, and the hashes of all."""
    from pyarrow import parquet

    for name, table in result_tables(conclusion.judgement).items():
        parquet.write_table(table, folder / f"{name}.parquet")
    for name, text in documents(conclusion).items():
        (folder / name).write_text(text, encoding="utf-8")
    write_hashes(folder)


def judge_again(
    folder: Path, engine: Engine, *, progress: Callable[[str], None] = lambda text: None
) -> Conclusion:
    """Judge a folder from its evidence, and hold everything derived in it against that.

    One that was never judged gets its verdict.
    """
    if not any((folder / name).exists() for name in (VERDICT_FILE, CERTIFICATE_FILE, HASHES_FILE)):
        conclusion = judge(folder, CATALOGUE, engine, progress=progress)
        if not conclusion.tampered:
            keep(folder, conclusion)
        return conclusion
    with ScratchFolder("judge") as scratch:
        conclusion = judge(folder, CATALOGUE, engine, tables=scratch, progress=progress)
        if conclusion.tampered:
            return conclusion
        wrong = [*_other_documents(folder, conclusion), *_other_tables(folder, scratch)]
        wrong += _other_results(folder, conclusion)
        wrong += [one for one in altered(folder) if one not in wrong]
        return conclusion.tampered_with(wrong) if wrong else conclusion


def _other_documents(folder: Path, conclusion: Conclusion) -> Iterator[str]:
    due: Mapping[str, str] = documents(conclusion)
    for name in (VERDICT_FILE, CERTIFICATE_FILE):
        path = folder / name
        if name in due and not path.is_file():
            yield f"{name} is missing"
        elif name in due and path.read_bytes() != due[name].encode():
            yield f"{name} is not what the evidence gives"
        elif name not in due and path.exists():
            yield f"{name} is there, and nothing is certified"


def _other_tables(folder: Path, again: Path) -> Iterator[str]:
    from pyarrow import ArrowException, parquet

    for path in sorted(again.glob("*.parquet")):
        name = f"{TABLES_FOLDER}/{path.name}"
        try:
            same = parquet.read_table(folder / name).equals(parquet.read_table(path))
        except (OSError, ArrowException):
            same = False
        if not same:
            yield f"{name} is not what the evidence gives"


def _other_results(folder: Path, conclusion: Conclusion) -> Iterable[str]:
    from pyarrow import ArrowException, parquet

    for name, table in result_tables(conclusion.judgement).items():
        try:
            same = parquet.read_table(folder / f"{name}.parquet").equals(table)
        except (OSError, ArrowException):
            same = False
        if not same:
            yield f"{name}.parquet is not what the evidence gives"
