"""Finding a mutant by reference, in a module of the project or in a file from outside it.

``package.module:name`` and ``path/to/file.py:name`` both work. In the module, the sequence
``MUTANTS`` and every module-level mutant are searched; the part after the colon is the mutant's
own ``name``, not the name of the variable that holds it. A module that has too many to list offers
``find_mutant(name)`` instead. A file is executed once per process.
Everything wrong with a reference is reported as a MutantError in one sentence: these come from a
user's command line.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from reference_impl.decisions import Mutant, MutantError, SqlMutant


def load_mutant(reference: str) -> Mutant | SqlMutant:
    """The mutant meant by ``package.module:name`` or ``path/to/file.py:name``."""
    source, _, name = reference.rpartition(":")
    if not source or not name:
        raise MutantError(
            f"{reference!r} names no mutant; write package.module:name or path/to/file.py:name"
        )
    find = getattr(_load(source), "find_mutant", None)
    if find is not None:
        return _made(source, find(name))
    found = load_mutants(source)
    for mutant in found:
        if mutant.name == name:
            return mutant
    names = ", ".join(mutant.name for mutant in found) or "none at all"
    raise MutantError(f"{source} has no mutant called {name!r}; it has: {names}")


def _made(source: str, found: object) -> Mutant | SqlMutant:
    if not isinstance(found, Mutant | SqlMutant):
        raise MutantError(f"find_mutant of {source} gave no mutant")
    return found


def load_mutants(source: str) -> tuple[Mutant | SqlMutant, ...]:
    """Every mutant of a module or file, in order of appearance."""
    module = _load(source)
    listed = getattr(module, "MUTANTS", ())
    if not isinstance(listed, list | tuple):
        raise MutantError(f"MUTANTS in {source} is no list or tuple of mutants")
    candidates = [*listed, *vars(module).values()]
    found: dict[str, Mutant | SqlMutant] = {}
    for candidate in candidates:
        if not isinstance(candidate, Mutant | SqlMutant):
            continue
        if found.setdefault(candidate.name, candidate) is not candidate:
            raise MutantError(f"{source} has two mutants called {candidate.name!r}")
    return tuple(found.values())


def _load(source: str) -> ModuleType:
    try:
        return _load_file(Path(source)) if source.endswith(".py") else _load_module(source)
    except MutantError:
        raise
    except (
        Exception,
        SystemExit,
    ) as problem:  # whatever foreign code does while it loads is the user's to mend
        raise MutantError(f"{source} failed while loading: {problem!r}") from problem


def _load_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not name.startswith(missing.name):
            raise
        raise MutantError(f"there is no module {name!r}; is its folder on the path?") from None


def _load_file(path: Path) -> ModuleType:
    resolved = path.resolve()
    name = f"mutants of {resolved}"
    if name in sys.modules:
        return sys.modules[name]
    if not resolved.is_file():
        raise MutantError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise MutantError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
