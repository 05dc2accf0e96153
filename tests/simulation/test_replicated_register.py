"""The replicated register: sound whatever happens, and wrong in each way a mutant makes it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from register_machine import MEMBERS, RegisterMachine
from register_mutants import MUTANTS
from replicated_register import Unreached, ask, register_node

from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from harness.simulation.sweep import Swept, sweep
from harness.simulation.twice import twice
from harness.state_machines import SimulatedMachine, Step, Violated, explore, play
from harness.state_machines.program import steps_of
from harness.state_machines.replay import replay
from reference_impl.decisions import Mutant, mutated

pytestmark = pytest.mark.sim

ROOT = Path(__file__).parents[2]
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.state_machines.machine.RUNS", tmp_path / "runs")
    return tmp_path / "runs"


def called(name: str, **arguments: Any) -> Step:
    return Step(name, arguments, {})


WITHOUT_FAULTS = (
    called("write", node="n1", ms=700),
    called("read", ms=700),
    called("cas", node="n2", ms=700),
    called("write", node="n3", ms=10),
    called("read", ms=700),
)


# Hypothesis.


def some(cases: Sequence[Any], few: int) -> list[Any]:
    """The first few cases; the others only where there is time."""
    late = [pytest.param(case, marks=pytest.mark.slow) for case in cases[few:]]
    return [*cases[:few], *late]


@pytest.mark.parametrize("seed", some([1, 2, 3], 1))
def test_the_register_is_sound_under_the_nemesis(seed: int, runs: Path) -> None:
    explore(RegisterMachine.with_seed(seed), examples=40, steps=20)
    assert not runs.exists()


@pytest.mark.parametrize("mutant", some(MUTANTS, 4), ids=lambda mutant: mutant.name)
def test_a_mutant_is_found_shrunk_and_played_again(mutant: Mutant, runs: Path) -> None:
    with pytest.raises(Violated) as caught:
        explore(RegisterMachine.with_seed(1, mutant), examples=60, steps=20)

    kept = runs / "RegisterMachine-1"
    program = [called(name, **arguments) for name, arguments in steps_of(kept)]
    assert 1 <= len(program) <= 8
    again = replay(kept)
    assert again.differs_at is None
    assert "\n".join(again.findings) == str(caught.value)
    play(RegisterMachine.with_seed(1), program)  # in which the sound register does nothing wrong
    for place in range(len(program)):
        without = play_to_the_end(RegisterMachine.with_seed(1, mutant), program, but=place)
        assert kind(without) != kind(caught.value)  # else this step was not needed


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_passes_where_there_are_no_faults(mutant: Mutant) -> None:
    play(RegisterMachine.with_seed(1, mutant), WITHOUT_FAULTS)


def play_to_the_end(machine: type[SimulatedMachine], program: list[Step], *, but: int) -> str:
    """What is found in a program with one step left out."""
    try:
        play(machine, program[:but] + program[but + 1 :])
    except Violated as found:
        return str(found)
    return ""


def kind(finding: object) -> str:
    return str(finding).partition(":")[0]


# Crash points.


class Noting(Simulation):
    """A simulation with a place for what the clients were told."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.told: list[tuple[str, Any]] = []


def two_writes_and_a_dark_room(sim: Simulation) -> None:
    """Two values are written, whoever leads; then everything is healed and power is lost once."""
    assert isinstance(sim, Noting)
    for name in MEMBERS:
        sim.add(name, register_node(MEMBERS))
    for value in (1, 2):
        for name in [*MEMBERS] * 3:
            reply = asked(sim, name, {"ask": "change", "command": ["write", value]})
            if reply is not None and reply["done"]:
                sim.told.append(("wrote", value))
            if reply is None or reply["done"] is not False:
                break
            sim.advance(0.3)
    sim.faults.heal_all()
    for name, node in sim.nodes.items():
        if node.up:
            sim.lose_power(name, lose="all")
        sim.start(name)
    for name in [*MEMBERS] * 9:
        reply = asked(sim, name, {"ask": "read"})
        if reply is not None and reply["done"]:
            sim.told.append(("read", reply["value"]))
            return
        sim.advance(0.2)


def asked(sim: Simulation, name: str, request: dict[str, Any]) -> dict[str, Any] | None:
    """The reply, or None if nobody knows what came of it."""
    try:
        return sim.run(ask(sim.lab, MEMBERS[name], request, within_s=2))
    except Unreached:
        return {"done": False}
    except (OSError, TimeoutError):
        return None


def nothing_acknowledged_is_lost(sim: Simulation) -> str | None:
    assert isinstance(sim, Noting)
    wrote = [value for what, value in sim.told if what == "wrote"]
    read = [value for what, value in sim.told if what == "read"]
    if not read:
        return "nobody answers"
    late = wrote and (read[0] is None or read[0] < wrote[-1])
    return f"{read[0]} is read after {wrote[-1]} was acknowledged" if late else None


def swept() -> Swept:
    acts = (Act.KILL, Act.LOSE_REPLY)
    return sweep(
        two_writes_and_a_dark_room,
        nothing_acknowledged_is_lost,
        acts=acts,
        nodes=("n2",),
        make=Noting,
    )


def test_the_register_stands_a_crash_at_any_effect() -> None:
    done = swept()

    assert done.effects["n2"] > 20
    assert done.found == []


def test_a_sweep_shows_that_what_was_not_synced_is_lost() -> None:
    with mutated(BY_NAME["acknowledged without a sync"]):
        problems = {one.problem for one in swept().found}

    assert "None is read after 2 was acknowledged" in problems


# Determinism.


def test_the_register_does_the_same_twice() -> None:
    assert twice(two_writes_and_a_dark_room, seed=3, make=Noting) > 400


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_another_process_records_the_same_history(hash_seed: str, tmp_path: Path) -> None:
    """Under another order of hashes, too."""
    play(Kept.with_seed(7), UNDER_FAULTS)
    program = f"import {Path(__file__).stem} as here; here.print_hash()"
    folders = [str(ROOT), str(Path(__file__).parent)]
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path.cwd(),
    )
    assert found.stdout.split() == [Kept.digest]


class Kept(RegisterMachine):
    """A machine that remembers what was recorded, effects and all."""

    records_effects = True
    digest = ""

    def leave(self, problem: BaseException | None) -> str:
        Kept.digest = hashlib.sha256(self.run.history.read_bytes()).hexdigest()
        return ""


UNDER_FAULTS = (
    called("write", node="n1", ms=100),
    called("usurp", ms=100),
    called("lose_power", node="n1", lasts=200, ms=700),
    called("strike", node="n2", ahead=3, act="LOSE_REPLY", lasts=None, ms=100),
    called("cas", node="n3", ms=100),
    called("black_out", ms=700),
    called("read", ms=10),
)


def print_hash() -> None:
    play(Kept.with_seed(7), UNDER_FAULTS)
    print(Kept.digest)
