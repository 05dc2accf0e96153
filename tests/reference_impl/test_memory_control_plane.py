"""The twin in memory: what makes its transactions atomic. Its answers are in `tests/ports`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reference_impl
from reference_impl.control_plane.memory import MemoryControlPlane, Registers
from reference_impl.control_plane.port import Request
from reference_impl.decisions import Mutant, mutated

CREATE = Request(f="create_log", topic="t", partition=0)
INITIALIZE = Request(
    f="initialize_diskless_migration",
    topic="t",
    partition=0,
    boundary=100,
    leader_epoch=5,
    entries=(),
)


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


CONTROL_PLANE = [f"control_plane/{name}" for name in ("boundary", "flow", "memory", "port")]


@pytest.mark.parametrize("module", ["decisions", "ports/effects", *CONTROL_PLANE])
def test_code_for_the_simulator_reaches_for_nothing_outside(module: str) -> None:
    source = Path(reference_impl.__file__).parent / f"{module}.py"
    banned = {"asyncio", "datetime", "os", "random", "secrets", "socket", "threading", "time"}
    for node in ast.walk(ast.parse(source.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not banned & {name.partition(".")[0] for name in names} | {"uuid"} & set(names)
