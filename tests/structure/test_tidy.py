"""The shape of the code: small files, short functions, and no chance where runs must repeat."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("conformance", "harness", "nemesis", "reference_impl", "reports", "spark_checkers")
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]

# Its clients live in threads and on sockets of their own; its steps refuse a simulation.
NOT_SIMULATED = "librdkafka.py"
# Code that runs inside a simulation: same seed, same bytes.
SIMULATED = [
    *(ROOT / "harness" / "simulation").glob("*.py"),
    *(ROOT / "harness" / "steps").glob("*.py"),
    *(one for one in (ROOT / "harness" / "workloads").glob("*.py") if one.name != NOT_SIMULATED),
    *(ROOT / "harness" / "history" / name for name in ("recorder.py", "run_slot.py")),
    *(
        ROOT / "reference_impl" / "control_plane" / name
        for name in ("boundary.py", "flow.py", "memory.py", "port.py")
    ),
    *(ROOT / "reference_impl" / "ports").glob("*.py"),
    *(
        path
        for area in (
            "kafka",
            "log",
            "metadata",
            "controller",
            "replication",
            "partitions",
            "tiered",
            "broker",
        )
        for path in (ROOT / "reference_impl" / area).glob("*.py")
    ),
    *(
        path
        for path in (ROOT / "harness" / "clients").glob("*.py")
        if path.name != "messages.py"  # times on the wire are dates to kio
    ),
    *(
        ROOT / "harness" / "differential" / name
        for name in ("player.py", "settling.py", "symbols.py")
    ),
    *(ROOT / "conformance" / "trials").glob("*.py"),
    ROOT / "conformance" / "driver.py",
    ROOT / "harness" / "deployments" / "at_rest.py",
    *(ROOT / "nemesis").glob("*.py"),
    ROOT / "conformance" / "classic" / "campaign.py",
    ROOT / "conformance" / "classic" / "life_cycle.py",
    *(ROOT / "harness" / "deployments").glob("sim*.py"),
    ROOT / "harness" / "deployments" / "deployment.py",
    ROOT / "reference_impl" / "live" / "network.py",
    ROOT / "reference_impl" / "decisions.py",
]
BANNED_MODULES = {"secrets", "threading", "time", "uuid", "datetime", "concurrent"}
PURE_TYPES = {"uuid.UUID", "datetime.timedelta"}  # values, which ask nobody for anything
BANNED_CALLS = {"random.random", "random.choice", "random.shuffle", "asyncio.wait", "id", "hash"}


MARK = re.compile(r"pytest\.mark\.(sim|spark|process|docker|foreign|slow)\b")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_a_file_has_at_most_400_lines() -> None:
    lines = {named(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}

    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{named(path)}: {f.name}"
        for path in FILES
        for f in functions(path)
        if (f.end_lineno or f.lineno) - f.lineno >= 50
    ]

    assert long == []


def test_an_environments_mark_stands_in_a_test_file_or_in_benches() -> None:
    """Where else it stood, the files that import it would not be collected (`conftest.py`)."""
    marked = [
        path for path in (ROOT / "tests").rglob("*.py") if MARK.search(path.read_text("utf-8"))
    ]
    elsewhere = [path for path in marked if not path.name.startswith("test_")]

    assert [named(path) for path in elsewhere if not path.stem.endswith("_benches")] == []


def chance_in(source: str) -> list[str]:
    """What in a module could differ from one run to the next."""
    found = []
    module = ast.parse(source)
    # A parameter named `random` is a seeded generator; the module of that name is not.
    seeded = "import random" not in source
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] in BANNED_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module:
            taken = {f"{node.module}.{alias.name}" for alias in node.names} - PURE_TYPES
            found += [node.module] if taken and node.module.split(".")[0] in BANNED_MODULES else []
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in BANNED_CALLS:
            call = ast.unparse(node.func)
            found += [] if seeded and call.startswith("random.") else [call]
        elif isinstance(node, ast.For | ast.comprehension) and _is_set(node.iter):
            found.append(f"iteration over {ast.unparse(node.iter)}")
    return found


def _is_set(node: ast.expr) -> bool:
    made = isinstance(node, ast.Call) and ast.unparse(node.func) in ("set", "frozenset")
    return made or isinstance(node, ast.Set | ast.SetComp)


def test_simulated_code_takes_no_chance() -> None:
    found = {named(path): chance_in(path.read_text(encoding="utf-8")) for path in SIMULATED}

    assert {name: chance for name, chance in found.items() if chance} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from uuid import uuid4",
        "from uuid import UUID, uuid4",
        "import random\nrandom.random()",
        "asyncio.wait(tasks)",
        "for x in {1, 2}: pass",
        "[x for x in set(y)]",
        "key = id(thing)",
    ],
)
def test_each_source_of_chance_is_noticed(source: str) -> None:
    assert chance_in(source) != []
