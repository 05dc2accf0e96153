"""Playing a kept run again: the same history byte for byte, or the code has changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.history import Run
from harness.history.files import read_regular
from harness.simulation.clock import NS
from harness.steps.machine import SimulatedMachine
from harness.steps.machine_program import load, load_mutants, steps_of


class _Reached(Exception):
    """The event at which to stop has been recorded."""


@dataclass(slots=True, kw_only=True)
class Replayed:
    """What playing a run again gave."""

    problem: BaseException | None = None
    findings: Sequence[str] = ()
    waiting: str = ""  # who waited for what, where it was stopped
    lines: list[bytes] = field(default_factory=list)  # its history, header and footer included
    before: list[bytes] = field(default_factory=list)  # the history of the run that was replayed

    @property
    def differs_at(self) -> int | None:
        """The first line that is not as it was; None if every line played is the same."""
        for number, line in enumerate(self.lines):
            if number >= len(self.before) or line != self.before[number]:
                return number
        return None


def replay(folder: Path, *, until_op: int | None = None) -> Replayed:
    """Play the steps of a run again, to the end or up to the event of that index."""
    header = Run.open(folder).header
    if "machine" not in header:
        raise UsageError(
            f"{folder} was not recorded by a state machine; only their runs can be replayed"
        )
    machine = load(str(header["machine"]))
    if not (isinstance(machine, type) and issubclass(machine, SimulatedMachine)):
        raise UsageError(f"{header['machine']} of this run is no state machine of ours")
    mutants = load_mutants([str(one) for one in header.get("mutants") or ()])
    again = _replaying(machine.with_seed(int(header["seed"]), *mutants))
    played: Any = again()
    result = Replayed(before=read_regular(folder / "history.jsonl").splitlines())
    try:
        _play(played, folder, until_op, result)
    except Exception as problem:
        result.problem = problem
    result.findings = played.findings
    result.lines = played.sealed
    if result.waiting:
        del result.lines[-1]  # the footer of a history that was cut short on purpose
    return result


def _play(machine: Any, folder: Path, until_op: int | None, result: Replayed) -> None:
    def watch(_: str) -> None:
        if until_op is not None and machine.writer.lines > until_op:
            raise _Reached

    machine.sim.loop.watch = watch
    try:
        try:
            for name, arguments in steps_of(folder):
                getattr(machine, name)(**arguments)
        finally:
            machine.teardown()
    except _Reached:
        result.waiting = machine.stopped


def _replaying(machine: type[SimulatedMachine]) -> type[SimulatedMachine]:
    """The machine, keeping its history in memory instead of its run in a folder."""

    class Replaying(machine):  # type: ignore[valid-type, misc]
        sealed: list[bytes]
        stopped: str

        def leave(self, problem: BaseException | None) -> str:
            self.sealed = self.run.history.read_bytes().splitlines()
            if isinstance(problem, _Reached):
                self.stopped = self.sim.loop.explain(f"Stopped at {self.sim.now_ns / NS:g} s")
            return ""

    Replaying.__name__ = machine.__name__
    Replaying.__module__ = machine.__module__
    return Replaying
