"""The registry of decisions, and the mutants that make one of them wrong on purpose.

A decision is one normative choice of a design, written as a small pure function (or a SQL
function) and registered under a name. Callers hold a wrapper that asks the registry at every
call, so a mutant replaces the choice wherever it is used, however it was imported, for as long as
the mutant is applied.

What is promised: names are unique; a mutant can only replace a decision that exists, with a
function that takes the same number of arguments; leaving ``mutated()`` restores exactly what was
there before. What is not checked: that a mutant's answer has the right type, nor that it is
really wrong. Rules show the latter.

A SQL decision has no Python function. Its mutant is a textual edit of one passage of a migration
file, and ``control_plane.migrations`` carries it out.

    DecisionError
    ├── DuplicateDecision    a name was registered twice
    ├── UnknownDecision      nobody registered that name
    └── MutantError          a mutant that cannot be loaded or does not fit its decision
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

# Modules that register decisions. decisions() imports them, so that the registry it shows is whole
# whatever the caller happened to import before.
AREAS = (
    "reference_impl.broker.decisions",
    "reference_impl.broker.list_offsets",
    "reference_impl.control_plane.boundary",
    "reference_impl.control_plane.sql_decisions",
    "reference_impl.broker.transactional_produce",
    "reference_impl.coordinators.ending",
    "reference_impl.coordinators.markers",
    "reference_impl.coordinators.placement",
    "reference_impl.coordinators.transaction_log",
    "reference_impl.coordinators.transactions",
    "reference_impl.kafka.frames",
    "reference_impl.log.decisions",
    "reference_impl.log.transactions",
    "reference_impl.partitions.logical",
    "reference_impl.partitions.participants",
    "reference_impl.partitions.routing",
    "reference_impl.partitions.searching",
    "reference_impl.partitions.writing",
    "reference_impl.controller.decisions",
    "reference_impl.metadata.effective",
    "reference_impl.metadata.topic_names",
    "reference_impl.metadata.visible",
    "reference_impl.replication.decisions",
    "reference_impl.replication.following",
    "reference_impl.tiered.aux_decisions",
    "reference_impl.tiered.copying",
    "reference_impl.tiered.decisions",
    "reference_impl.tiered.extension",
    "reference_impl.tiered.flat_file",
    "reference_impl.tiered.formatter",
    "reference_impl.tiered.index_cache",
    "reference_impl.tiered.life_cycles",
    "reference_impl.tiered.lineage",
    "reference_impl.tiered.metadata",
    "reference_impl.tiered.metered_storage",
    "reference_impl.tiered.object_storage",
    "reference_impl.tiered.partitioner",
    "reference_impl.tiered.plug_ins",
    "reference_impl.tiered.reader_pool",
    "reference_impl.tiered.remote_indexes",
    "reference_impl.tiered.remover",
    "reference_impl.tiered.segment_cache",
    "reference_impl.tiered.selecting",
    "reference_impl.tiered.settings",
    "reference_impl.tiered.timestamps",
    "reference_impl.tiered.topic_client",
    "reference_impl.tiered.topic_state",
)


class DecisionError(ValueError):
    """A mistake in registering, naming or replacing a decision."""


class DuplicateDecision(DecisionError):
    """A decision name was registered twice."""


class UnknownDecision(DecisionError):
    """No decision of that name is registered."""


class MutantError(DecisionError):
    """A mutant that cannot be applied: wrong kind, wrong arity, wrong text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One registered choice; ``function`` is the unmutated original, None for SQL."""

    name: str
    function: Callable[..., object] | None
    rules: tuple[str, ...]
    kind: Literal["python", "sql"]
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A Python decision made wrong: ``replace`` is called in its place with the same arguments."""

    name: str
    decision: str
    replace: Callable[..., object]
    rules: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlMutant:
    """A SQL decision made wrong: ``old`` in its passage becomes ``new``.

    Without ``nth`` it stands there exactly once; with it, that occurrence of it is meant, from 1.
    """

    name: str
    decision: str
    old: str
    new: str
    nth: int | None = None
    rules: tuple[str, ...] = ()
    why: str = ""


_registered: dict[str, Decision] = {}
_mutant_of: dict[str, Mutant] = {}


def decision(
    name: str, *, rules: tuple[str, ...] = ()
) -> Callable[[Callable[Parameters, Answer]], Callable[Parameters, Answer]]:
    """Register a pure function as the decision ``name`` and hand back its late-bound wrapper."""

    def register(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
        _add(Decision(name=name, function=function, rules=rules, kind="python"))

        @functools.wraps(function)
        def ask(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
            if not _mutant_of or (mutant := _mutant_of.get(name)) is None:
                return function(*args, **kwargs)
            # A mutant's answer is not checked: being wrong is what it is for.
            return mutant.replace(*args, **kwargs)  # type: ignore[return-value]

        return ask

    return register


def sql_decision(name: str, *, file: str, rules: tuple[str, ...] = ()) -> None:
    """Register a passage of the migration ``file`` as the decision ``sql:<name>``.

    A function's name stands for its CREATE statement, ``migration:V<n>`` for the whole file.
    """
    _add(Decision(name=f"sql:{name}", function=None, rules=rules, kind="sql", file=file))


def decisions() -> Mapping[str, Decision]:
    """Every decision of the reference by name, in order of registration."""
    for area in AREAS:
        importlib.import_module(area)
    return MappingProxyType(_registered)


def find_decision(name: str) -> Decision:
    """The decision of that name; the error lists the names that come nearest."""
    known = decisions()
    if name in known:
        return known[name]
    import difflib  # only a mistake pays for it

    near = ", ".join(difflib.get_close_matches(name, known, n=3, cutoff=0.4))
    raise UnknownDecision(
        f"no decision is called {name!r}; "
        + (f"did you mean {near}?" if near else "decisions() lists them all")
    )


def original(name: str) -> Callable[..., object]:
    """The unmutated function of a Python decision, for mutants that are wrong only sometimes."""
    function = find_decision(name).function
    if function is None:
        raise UnknownDecision(f"{name!r} is a decision in SQL and has no Python function")
    return function


def apply(mutant: Mutant) -> None:
    """Replace a decision in this process for good; what ``--mutant`` does at the start."""
    _check(mutant)
    _mutant_of[mutant.decision] = mutant


@contextmanager
def mutated(*mutants: Mutant) -> Iterator[None]:
    """Replace decisions in this process until the block ends; blocks may nest."""
    for mutant in mutants:
        _check(mutant)
    targets = [mutant.decision for mutant in mutants]
    for target in targets:
        if targets.count(target) > 1:
            raise MutantError(f"two mutants of {target!r} at once; only one can be in force")
    before = dict(_mutant_of)
    _mutant_of.update({mutant.decision: mutant for mutant in mutants})
    try:
        yield
    finally:
        _mutant_of.clear()
        _mutant_of.update(before)


def in_force() -> tuple[str, ...]:
    """Names of the Python mutants applied in this process, sorted."""
    return tuple(sorted(mutant.name for mutant in _mutant_of.values()))


def load_mutant(reference: str) -> Mutant | SqlMutant:
    """The mutant meant by ``package.module:name`` or ``path/to/file.py:name``."""
    from reference_impl import mutant_files

    return mutant_files.load_mutant(reference)


def _add(found: Decision) -> None:
    if found.name in _registered:
        raise DuplicateDecision(
            f"the decision {found.name!r} is registered already; a choice is made in one place"
        )
    _registered[found.name] = found


def _check(mutant: Mutant | SqlMutant) -> None:
    if isinstance(mutant, SqlMutant):
        raise MutantError(
            f"mutant {mutant.name!r} edits SQL and cannot be applied to this process; "
            "give it to install(dsn, mutants=...) or apply_sql_mutant(dsn, mutant)"
        )
    target = find_decision(mutant.decision)
    if target.function is None:
        raise MutantError(
            f"mutant {mutant.name!r} is Python but {target.name!r} is a decision in SQL; "
            "write a SqlMutant"
        )
    if not _fits(target.function, mutant.replace):
        raise MutantError(
            f"mutant {mutant.name!r} does not take the arguments of {target.name!r}: "
            f"{inspect.signature(target.function)}"
        )


def _fits(function: Callable[..., object], replacement: Callable[..., object]) -> bool:
    arguments = list(inspect.signature(function).parameters)
    try:
        inspect.signature(replacement).bind(*arguments)
    except TypeError:
        return False
    return True
