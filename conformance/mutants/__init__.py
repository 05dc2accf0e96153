"""Every mutant of the reference, by the reference under which another process can load it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from conformance.mutants import (
    admission,
    boundary,
    boundary_races,
    boundary_sql,
    edges,
    metrics,
    recovery,
    replicas,
    replication,
    replication_logs,
    serving,
    tiered,
    tiered_bounds,
    tiered_faults,
    tiered_lineages,
    tiered_logs,
    tiered_plug_ins,
    tiered_promises,
    tiered_transactions,
    tiered_wire,
    transactions,
    wire,
)
from reference_impl.decisions import Mutant, SqlMutant
from reference_impl.mutant_files import load_mutants

AnyMutant = Mutant | SqlMutant
CLUSTER = (
    replication,
    replication_logs,
    replicas,
    admission,
    serving,
    recovery,
    edges,
    metrics,
    transactions,
)
TIERED = (
    tiered,
    tiered_bounds,
    tiered_faults,
    tiered_lineages,
    tiered_logs,
    tiered_plug_ins,
    tiered_promises,
    tiered_transactions,
    tiered_wire,
)  # each shown by a stage
WIRE = (wire,)  # which recorded sequences show
PROGRAMS = Path(__file__).parents[1] / "programs"  # NAME.steps

# Mutants of the cluster that no program can be relied on to show on real processes, and why not.
ONLY_SIMULATED = {
    "joins-when-it-fetches": "a leader has to die between a laggard's first fetch and the leader's "
    "next look at who keeps up, which strikes the laggard off again",
    "joins-with-the-high-watermark": "a leader that was just elected has to die between the first "
    "fetch of a laggard and its own next look at who keeps up",
    "joins-once-confirmed": "a leader that does not hear its controller has to commit after its "
    "follower is late and before its own session is over",
    "only-the-end-counts": "a process that is not given the processor does not keep up, and what "
    "its leader makes of that is right",
    "serves-before-it-knows": "a broker has to be looked at after its first heartbeat and before "
    "it has read the metadata",
    "whoever-asks-last": "a leader that was cut off has to ask the controller before it hears from "
    "it who leads now; seen once in five attempts",
}

# Decisions that Python makes also when the register is in the database; the others have SQL twins.
MADE_BESIDE_THE_DATABASE = frozenset({"initialize-transactions", "classify-failure"})


def of_the_register(world: str) -> dict[str, AnyMutant]:
    """`module:name` to mutant: those of the control plane that can show in a world.

    In processes the register is in PostgreSQL, where most choices are made in SQL. Races need real
    concurrency inside the database, which the simulated world does not have.
    """
    if world == "sim":
        return dict(_named((boundary, boundary_sql)))
    named = dict(_named((boundary, boundary_sql, boundary_races)))
    return {ref: mutant for ref, mutant in named.items() if shows_in_processes(mutant)}


def of_the_cluster(world: str) -> dict[str, AnyMutant]:
    """Those that a recorded program or a recorded sequence makes a rule see in a world."""
    programs = {path.stem for path in PROGRAMS.glob("*.steps")}
    unseen = () if world == "sim" else ONLY_SIMULATED
    shown = {
        ref: mutant
        for ref, mutant in _named(CLUSTER)
        if mutant.name in programs and mutant.name not in unseen
    }
    return {**shown, **dict(_named(WIRE))}


def of_tiered_storage(world: str) -> dict[str, AnyMutant]:
    """Those that a stage of the profile `tiered` makes a rule see; all of them are simulated."""
    return dict(_named(TIERED)) if world == "sim" else {}


def stage_of(mutant: str) -> tuple[str, str] | None:
    """The stage that shows a mutant of tiered storage, and the situation of it, by reference."""
    module, _, name = mutant.partition(":")
    return next(
        (
            (str(one.STAGE), str(one.SHOWN.get(name, one.OTHERWISE)))
            for one in TIERED
            if one.__name__ == module
        ),
        None,
    )


def shows_in_processes(mutant: AnyMutant) -> bool:
    """Whether a decision about the register is made where it is in the database."""
    return isinstance(mutant, SqlMutant) or mutant.decision in MADE_BESIDE_THE_DATABASE


def from_file(path: Path) -> Mapping[str, AnyMutant]:
    """The mutants of a file from outside the project."""
    return {f"{path}:{mutant.name}": mutant for mutant in load_mutants(str(path))}


def _named(modules: tuple[ModuleType, ...]) -> Iterator[tuple[str, AnyMutant]]:
    for module in modules:
        for mutant in module.MUTANTS:
            yield f"{module.__name__}:{mutant.name}", mutant
