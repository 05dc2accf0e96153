"""Short programs of the machine, one for each mutant that a rule sees: what shows it.

`programs.json` holds steps of `ScriptedMachine`: written by hand, or found and shrunk once with
`ClassicMachine`, whose steps it has as well. Played on a mutant they make the rules it names fail;
played on the sound cluster they must not. So the kill matrix needs no search. When the cluster
changes, a program may no longer show its mutant: write another one, or let `python -m
conformance.classic.programs NAME…` look for one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.machines.classic import ClassicMachine
from conformance.machines.judging import explore_together
from conformance.machines.scripted import ScriptedMachine
from conformance.mutants import CLUSTER, PROGRAMS
from harness.rules import Judged
from harness.scratch import ScratchFolder
from harness.steps import machine as machines
from harness.steps.explore import play
from harness.steps.machine import Violated
from harness.steps.machine_program import Step, steps_of
from reference_impl.decisions import Mutant

FILE = PROGRAMS
MUTANTS: Mapping[str, Mutant] = {one.name: one for part in CLUSTER for one in part.MUTANTS}
SEED = 1
EXAMPLES, STEPS = 150, 15


def recorded_programs() -> Mapping[str, Sequence[Step]]:
    """The program of each mutant that has one."""
    known: dict[str, list[list[Any]]] = json.loads(FILE.read_text("utf-8"))
    return {
        name: [Step(step, arguments, {}) for step, arguments in program]
        for name, program in known.items()
    }


def verdicts_of(program: Sequence[Step], *mutants: Mutant) -> Sequence[Judged]:
    """What every rule says about the history of a program, on the cluster with those mutants."""
    found: list[Judged] = []

    class Watched(ScriptedMachine):
        def judge(self, folder: Path) -> Sequence[str]:
            found.extend(self.judged(folder).judged)
            return []

    Watched.__name__ = ScriptedMachine.__name__
    play(Watched.with_seed(SEED, *mutants), program)
    return found


def search(name: str) -> list[list[Any]]:
    """Look for the smallest program that shows a mutant."""
    with ScratchFolder("programs") as folder:
        machines.RUNS = folder
        try:
            machine: Any = ClassicMachine.with_seed(SEED, MUTANTS[name])
            explore_together(machine, examples=EXAMPLES, steps=STEPS)
        except Violated:
            kept = folder / f"{ClassicMachine.__name__}-{SEED}"
            return [[name, dict(arguments)] for name, arguments in steps_of(kept)]
    raise LookupError(f"{EXAMPLES} examples show nothing of {name}")


def written(programs: Mapping[str, Sequence[Sequence[Any]]]) -> str:
    """Programs as the file holds them: a line for each step."""
    listed = []
    for name, program in sorted(programs.items()):
        lines = ",".join(f"\n  {json.dumps(step)}" for step in program)
        listed.append(f" {json.dumps(name)}: [{lines}\n ]" if program else f' "{name}": []')
    return "{\n" + ",\n".join(listed) + "\n}\n"


def main(names: Iterable[str]) -> None:
    """Look for programs; prints what each of them shows."""
    known: dict[str, list[list[Any]]] = json.loads(FILE.read_text("utf-8"))
    for name in names:
        known[name] = search(name)
        FILE.write_text(written(known), encoding="utf-8")
        failed = [
            one.rule.id
            for one in verdicts_of(recorded_programs()[name], MUTANTS[name])
            if one.verdict.value == "fail"
        ]
        print(f"{name}: {len(known[name])} steps, {' '.join(failed)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
