"""A kept run as a program: the steps in its history, and where its machine is defined.

The history of an example holds its steps, between the operations and faults that came of them, and
its header says which machine, seed and mutants it was.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.history import read_history
from reference_impl.decisions import Mutant, MutantError
from reference_impl.mutant_files import load_mutant

STEP = "step"


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a step, and the lists from which its arguments were chosen, simplest first."""

    name: str
    arguments: Mapping[str, Any]
    lists: Mapping[str, Sequence[Any]]


def source_of(thing: Any) -> str:
    """Where a class or function is defined, so that ``load`` finds it: a module, or a file."""
    module = str(thing.__module__)
    if "." in module:
        return module
    file = Path(inspect.getfile(inspect.getmodule(thing) or thing)).resolve()
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def load(reference: str) -> Any:
    """What ``module:name`` or ``path/to/file.py:name`` refers to."""
    source, _, name = reference.rpartition(":")
    try:
        return getattr(importlib.import_module(_module_name(source)), name)
    except (ImportError, AttributeError) as problem:
        raise UsageError(f"the machine {reference} of this run is not there: {problem}") from None


def load_mutants(references: list[str]) -> tuple[Mutant, ...]:
    """The mutants that were in force."""
    found = []
    for reference in references:
        source, _, name = reference.rpartition(":")
        try:
            mutant = load_mutant(f"{_module_name(source)}:{name}")
        except MutantError as problem:
            raise UsageError(f"a mutant of this run is not there: {problem}") from None
        if isinstance(mutant, Mutant):
            found.append(mutant)
    return tuple(found)


def steps_of(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The steps that a run recorded, in order."""
    for event in read_history(folder / "history.jsonl").events:
        if event["kind"] == "probe" and event["what"] == STEP:
            for row in event["rows"]:
                yield row["step"], row["arguments"]


def program_of(folder: Path) -> list[str]:
    """The steps as the lines of a program."""
    return [f"state.{name}({_arguments(given)})" for name, given in steps_of(folder)]


def _arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _module_name(source: str) -> str:
    """A file is imported under its own name, as pytest does it, with its folder on the path."""
    if not source.endswith(".py"):
        return source
    folder = str(Path(source).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return Path(source).stem
