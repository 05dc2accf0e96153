"""The README of the reference says what the code does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import reference_impl
from reference_impl.control_plane.agent import answer
from reference_impl.control_plane.boundary import TRANSITIONS
from reference_impl.control_plane.form import CALLS
from reference_impl.control_plane.memory import MemoryControlPlane, Registers
from reference_impl.control_plane.migrations import read_migrations
from reference_impl.kafka.apis import APIS

HOME = Path(reference_impl.__file__).parent
README = (HOME / "README.md").read_text("utf-8")
CLUSTER = (HOME / "CLUSTER.md").read_text("utf-8")
WORDS = README.split("`")[1::2]


def test_the_life_of_a_boundary_is_the_one_in_the_code() -> None:
    table = README.partition("| from | to | by |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [
        f"| {before.value} | {after.value} | {way} |"
        for before, ways in TRANSITIONS.items()
        for after, way in ways.items()
    ]


@pytest.mark.parametrize("f", CALLS)
def test_every_call_is_explained(f: str) -> None:
    assert f in WORDS


def test_every_migration_is_listed() -> None:
    assert [word for word in WORDS if word.endswith(".sql")] == [
        migration.file for migration in read_migrations()
    ]


def test_every_module_is_in_the_list_of_files() -> None:
    modules = {path.relative_to(HOME).as_posix() for path in HOME.rglob("*.py")}
    listed = {*WORDS, *CLUSTER.split("`")[1::2]}
    for page in HOME.glob("*/README.md"):
        words = page.read_text("utf-8").split("`")[1::2]
        listed |= {f"{page.parent.name}/{word}" for word in words}
    assert {name for name in modules if not name.endswith("__init__.py")} <= listed


def test_no_file_of_the_cluster_is_listed_that_is_not_there() -> None:
    listed = [word for word in CLUSTER.split("`")[1::2] if word.endswith(".py")]
    assert [name for name in listed if not (HOME / name).exists()] == []


def test_the_table_of_requests_is_the_one_in_the_code() -> None:
    heading = "| key | request | versions | offered by |\n|---|---|---|---|\n"
    table = CLUSTER.partition(heading)[2].partition("\n\n")[0]
    assert table.splitlines() == [
        f"| {api.key} | {api.name} | {api.versions[0]}-{api.versions[-1]} |"
        f" {', '.join(api.offered_by)} |"
        for api in APIS
    ]


def test_the_example_is_a_real_conversation(runner: asyncio.Runner) -> None:
    example = README.partition("```console\n")[2].partition("```")[0].splitlines()[2:]
    plane = MemoryControlPlane(Registers())
    for question, expected in zip(example[::2], example[1::2], strict=True):
        found = runner.run(answer(plane, question.encode() + b"\n"))
        assert found == json.loads(expected)
