"""The SQL choices give the answer of their Python twins in every cell of their tables."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass

import psycopg
import pytest

from reference_impl.control_plane import boundary as decide
from reference_impl.control_plane.boundary import LogRow
from reference_impl.ports.control_plane import BoundaryError, Seed

A = Seed(1, 0, 0, 4, 10, 0)
B = Seed(2, 0, 5, 9, 150, 7)
DEEP = tuple(Seed(3, 0, n, n, n, 0) for n in range(6))

OFFSETS = (-1, 0, 100, 200)
SEEDS = ((), (A,), (A, B), DEEP[:5], DEEP)
LOGS = tuple(
    LogRow(boundary=boundary, epoch=epoch, reset_epoch=reset_epoch, high_watermark=high_watermark)
    for boundary in OFFSETS
    for epoch in (-1, 5)
    for reset_epoch in (-1, 3, 5)
    for high_watermark in (0, 107)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One parameter of a decision: its cells, and how SQL takes it out of a cell's JSON."""

    values: tuple[object, ...]
    sql: str


ARGUMENTS = {
    "log": Argument(values=LOGS, sql="jsonb_populate_record(NULL::logs, cell->'log')"),
    "boundary": Argument(values=OFFSETS, sql="(cell->>'boundary')::bigint"),
    "asked": Argument(values=(None, *OFFSETS), sql="(cell->>'asked')::bigint"),
    "leader_epoch": Argument(values=(None, 0, 3, 4, 5, 6), sql="(cell->>'leader_epoch')::integer"),
    "seeds": Argument(values=SEEDS, sql="cell->'seeds'"),
    "entries": Argument(values=SEEDS, sql="cell->'entries'"),
    "suffix_empty": Argument(values=(True, False), sql="(cell->>'suffix_empty')::boolean"),
    "error": Argument(values=tuple(BoundaryError), sql="cell->>'error'"),
    "base_offset": Argument(values=OFFSETS, sql="(cell->>'base_offset')::bigint"),
    "record_count": Argument(values=(1, 7), sql="(cell->>'record_count')::bigint"),
}

CHOICES = {
    "is_set": ("boundary",),
    "reported_boundary": ("log", "asked", "error"),
    "admit_epoch": ("log", "leader_epoch"),
    "admit_after_reset": ("log", "leader_epoch"),
    "admit_unfenced_write": ("log", "leader_epoch"),
    "admit_leader": ("log", "leader_epoch"),
    "admit_boundary": ("log", "boundary", "leader_epoch"),
    "admit_seeds": ("log", "seeds", "entries"),
    "admit_seed_depth": ("entries",),
    "admit_seed_offsets": ("boundary", "entries"),
    "admit_initialize": ("log", "seeds", "boundary", "leader_epoch", "entries"),
    "admit_write": ("log", "boundary", "leader_epoch"),
    "admit_reset": ("log", "suffix_empty", "leader_epoch"),
    "admit_seeding": ("log", "seeds", "entries"),
    "admit_commit": ("log",),
    "next_epoch": ("log", "leader_epoch"),
    "epoch_after_reset": ("log", "leader_epoch"),
    "reset_epoch_after": ("log", "leader_epoch"),
    "seeds_after": ("log", "seeds", "entries"),
    "high_watermark_at": ("log", "boundary"),
    "assign_offset": ("log",),
    "high_watermark_after": ("base_offset", "record_count"),
}


def as_json(value: object) -> object:
    if isinstance(value, LogRow):
        return {
            "topic_id": "t",
            "partition": 0,
            "diskless_log_start_offset": value.boundary,
            "diskless_log_start_epoch": value.epoch,
            "diskless_log_start_reset_epoch": value.reset_epoch,
            "high_watermark": value.high_watermark,
            "log_start_offset": value.log_start_offset,
        }
    return value


def ask_sql(dsn: str, function: str, names: tuple[str, ...], cells: list[object]) -> list[object]:
    arguments = ", ".join(ARGUMENTS[name].sql for name in names)
    query = f"""
        SELECT {function}({arguments})
        FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY AS cells (cell, place) ORDER BY place
    """
    with psycopg.connect(dsn) as connection:
        return [row[0] for row in connection.execute(query.encode(), (json.dumps(cells),))]


@pytest.mark.parametrize("function", CHOICES)
def test_sql_and_python_choose_alike_in_every_cell(installed: str, function: str) -> None:
    names = CHOICES[function]
    cells = list(itertools.product(*(ARGUMENTS[name].values for name in names)))
    rows: list[object] = [
        {name: as_json(value) for name, value in zip(names, cell, strict=True)} for cell in cells
    ]
    answers = ask_sql(installed, function, names, rows)
    expected = json.loads(json.dumps([getattr(decide, function)(*cell) for cell in cells]))
    differing = [
        (cell, python, sql)
        for cell, python, sql in zip(cells, expected, answers, strict=True)
        if python != sql
    ]
    assert differing == []


def test_the_sql_order_of_seeds_is_the_python_order(installed: str) -> None:
    shuffled = [B, A, A._replace(producer_id=10), A._replace(timestamp_ms=-1), B, DEEP[3]]
    query = "SELECT canonical_seeds(%s::jsonb)"
    with psycopg.connect(installed) as connection:
        [(answer,)] = connection.execute(query, (json.dumps(shuffled),)).fetchall()
    assert [Seed(*seed) for seed in answer] == sorted(set(shuffled))


def test_the_first_refusal_wins_in_sql_too(installed: str) -> None:
    query = "SELECT first_refusal('NONE', 'B', 'A'), first_refusal('NONE', 'NONE')"
    with psycopg.connect(installed) as connection:
        assert connection.execute(query).fetchall() == [("B", "NONE")]
