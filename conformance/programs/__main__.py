"""`python -m conformance.programs NAME…`: look for the smallest program that shows a mutant."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from conformance.mutants import CLUSTER
from conformance.programs import FOLDER, SEED, record_programs
from conformance.trials.classic import LOAD, ClassicTrial
from conformance.trials.judging import RULES, engine, explore_together
from harness.rules import Verdict
from harness.scratch import ScratchFolder
from harness.steps import trial as trials
from harness.steps.program import steps_of
from harness.steps.step import Step, step_line
from harness.steps.trial import Violated
from spark_checkers.judge_history import judge_run

EXAMPLES, STEPS = 150, 15


def search(mutant: Any) -> list[Step]:
    """Look for the smallest program that shows a mutant."""
    with ScratchFolder("programs") as folder:
        trials.RUNS = folder
        trial: Any = ClassicTrial.with_seed(SEED, mutant)
        try:
            explore_together(trial, examples=EXAMPLES, steps=STEPS)
        except Violated:
            return [LOAD, *steps_of(folder / f"{ClassicTrial.__name__}-{SEED}")]
    raise LookupError(f"{EXAMPLES} examples show nothing of {mutant.name}")


def main(names: Iterable[str]) -> None:
    """Look for programs; prints what each of them shows."""
    known = {one.name: (part.__name__, one) for part in CLUSTER for one in part.MUTANTS}
    for name in names:
        module, mutant = known[name]
        program = search(mutant)
        text = "".join(f"{step_line(step)}\n" for step in program)
        (FOLDER / f"{name}.steps").write_text(text, encoding="utf-8")
        with ScratchFolder("programs") as folder:
            (run,) = record_programs(folder, [program], mutants=(f"{module}:{name}",))
            judged = judge_run(run, RULES, engine(), reference=True).judged
        failed = [one.rule.id for one in judged if one.verdict is Verdict.FAIL]
        print(f"{name}: {len(program)} steps, {' '.join(failed)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
