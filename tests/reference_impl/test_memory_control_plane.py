"""The twin in memory: what makes its transactions atomic. Its answers are in `tests/ports`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reference_impl
from reference_impl.control_plane.lines import request_of
from reference_impl.control_plane.memory import MemoryControlPlane, Registers
from reference_impl.decisions import Mutant, mutated

LOG = {"topic": "t", "partition": 0}
PROPOSAL = {"boundary": 100, "leader_epoch": 5, "entries": []}
CREATE = request_of({"f": "create_log", **LOG})
INITIALIZE = request_of({"f": "initialize_diskless_migration", **LOG, **PROPOSAL})


def test_nothing_but_a_gate_suspends_a_call() -> None:
    two = Mutant(
        name="two", decision="initialize-transactions", replace=lambda: (("seed",), ("persist",))
    )
    registers = Registers()
    plane = MemoryControlPlane(registers)
    with mutated(two):
        for request in (CREATE, INITIALIZE):
            with pytest.raises(StopIteration):
                plane.call(request).send(None)
    assert registers.rows()[0]["boundary"] == 100


CONTROL_PLANE = [
    f"control_plane/{name}" for name in ("boundary", "flow", "form", "lines", "memory")
]


@pytest.mark.parametrize(
    "module", ["decisions", "ports/control_plane", "ports/effects", *CONTROL_PLANE]
)
def test_code_for_the_simulator_reaches_for_nothing_outside(module: str) -> None:
    source = Path(reference_impl.__file__).parent / f"{module}.py"
    banned = {"asyncio", "datetime", "os", "random", "secrets", "socket", "threading", "time"}
    for node in ast.walk(ast.parse(source.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "uuid":
            assert {alias.name for alias in node.names} <= {"UUID", "uuid5"}  # values, no chance
        elif isinstance(node, ast.ImportFrom):
            names += [node.module or ""]
        assert not banned & {name.partition(".")[0] for name in names} | {"uuid"} & set(names)
