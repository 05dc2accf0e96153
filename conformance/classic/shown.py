"""What shows a mutant of the cluster: its recorded program, in a simulation or on real processes.

The sound cluster plays all of them. A mutant without a program, from outside the project, goes
through the campaign.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from conformance.classic.programs import recorded_programs
from conformance.classic.programs_in_processes import verdicts_in_processes
from conformance.machines.scripted import ScriptedMachine
from conformance.mutants import ONLY_SIMULATED
from conformance.profiles.profile import Shown
from harness.history.run import HISTORY_FILE
from harness.steps.explore import play
from harness.steps.machine_program import Step
from reference_impl.decisions import Mutant, load_mutant

SEED = 1


def shown(mutant: str | None, world: str, folder: Path) -> Shown | None:
    """By the programs, if there are any for this mutant."""
    programs = recorded_programs()
    name = None if mutant is None else load_mutant(mutant).name
    if name is not None and name not in programs:
        return None
    if world == "sim":
        return Shown(histories=_simulated(mutant, folder))
    if name is None:
        played = [program for one, program in programs.items() if one not in ONLY_SIMULATED]
    else:
        played = [programs[name]]
    return Shown(judged=verdicts_in_processes(played, () if mutant is None else (mutant,)))


def _simulated(mutant: str | None, folder: Path) -> list[Path]:
    programs = recorded_programs()
    if mutant is None:
        numbered = enumerate(programs.values())
        return [_record_program(one, folder / f"{number}.jsonl") for number, one in numbered]
    found = load_mutant(mutant)
    assert isinstance(found, Mutant)
    return [_record_program(programs[found.name], folder / "0.jsonl", found)]


def _record_program(program: Sequence[Step], path: Path, *mutants: Mutant) -> Path:
    class Kept(ScriptedMachine):
        def judge(self, folder: Path) -> Sequence[str]:
            shutil.copyfile(folder / HISTORY_FILE, path)
            return []

    Kept.__name__ = ScriptedMachine.__name__
    play(Kept.with_seed(SEED, *mutants), program)
    return path
