"""The body of `selfcheck --derived` and `selfcheck --by`: what a plan detects.

Of derived mutants, of those that are written by hand, or of those of a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.derived import AnyMutant, derived_mutants
from conformance.derived.detection import (
    BROKE,
    DETECTED,
    NOT_PLAYED,
    Measurement,
    Result,
    measure,
)
from conformance.derived.outcomes import by_decision, counting
from conformance.derived.plays import BY
from conformance.derived.rates import PROGRAMS, Rate, write_rates
from conformance.derived.survivors import LEGAL, Survivor, survivors
from conformance.mutants import from_file
from conformance.profiles import built_in_mutants, profile_of
from harness.cli.progress import Stage, plural
from harness.errors import UsageError
from harness.sut.lever_sets import LEVER_SETS, SAID
from reference_impl.decisions import SqlMutant, find_decision
from reports.terminal import called_as, wrapped

KEPT = Path(".tidemark") / "derived"
SHOWN = 40  # survivors that are told; --json has them all
CODE = ("reference_impl", "harness", "conformance", "nemesis", "spark_checkers")
SOURCES = (".py", ".sql", ".steps", ".json", ".toml", ".tsv")
_NOT_CODE = ("survivors.toml", "detection.json", "kill_matrix.json")
_MEASURES = ("harness/cli", "conformance/derived")  # what asks, and not what is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for."""

    derived: bool = True
    mutants: Path | None = None
    decisions: Sequence[str] = ()
    profiles: Sequence[str] = ()
    by: str = PROGRAMS
    world: str = "sim"
    levers: str = "all"
    sample: int = 0
    seed: int = 1
    record: bool = False
    as_json: bool = False


def run(options: Options) -> int:
    """0 once everything was measured; the rate is told, not judged."""
    chosen = chosen_mutants(options)
    argued = survivors()
    stage = Stage(sys.stderr if options.as_json else sys.stdout)
    stage.say(
        f"selfcheck · {plural(len(chosen), 'mutant')} · by {options.by}"
        f" · world {options.world} · {SAID[options.levers]}"
    )
    how = Measurement(
        by=options.by,
        world=options.world,
        levers=options.levers,
        seed=options.seed,
        workers=os.cpu_count() or 1,
        kept=kept_results(options.mutants),
    )
    legal = {name for name, one in argued.items() if one.kind == LEGAL}
    played = {ref: one for ref, one in chosen.items() if one.name not in legal}
    with stage("mutants") as line:
        found = {one.mutant: one for one in measure(played, how, line.progress)}
        line.done(f"{plural(len(found), 'mutant')} measured")
    results = [
        found.get(one.name) or Result(mutant=one.name, decision=one.decision, outcome=NOT_PLAYED)
        for one in chosen.values()
    ]
    rates = _rates(chosen, results, argued, options)
    if options.as_json:
        print(json.dumps(_document(chosen, results, rates, argued), indent=1))
    for text in _lines(chosen, results, rates, argued):
        stage.say(text)
    if options.record:
        write_rates(rates)
    return 0


def _check(options: Options) -> None:
    if options.by not in BY:
        raise UsageError(f"mutants are measured by {' or '.join(BY)}, not by {options.by!r}")
    if options.world not in ("sim", "process"):
        raise UsageError(f"selfcheck runs in sim or process, not in {options.world!r}")
    if options.levers not in LEVER_SETS:
        known = ", ".join(LEVER_SETS)
        raise UsageError(f"there are no levers {options.levers!r}; known: {known}")
    if options.sample < 0:
        raise UsageError("a sample has one mutant at least")
    whole = options.derived and not options.decisions and options.seed == 1
    if options.record and not whole:
        raise UsageError("only a whole measurement of derived mutants with seed 1 is recorded")


def chosen_mutants(options: Options) -> dict[str, AnyMutant]:
    """What is to be measured; a sentence if that cannot be."""
    _check(options)
    wanted = {find_decision(name).name for name in options.decisions}
    found = {
        ref: one
        for ref, one in _available(options).items()
        if (not wanted or one.decision in wanted)
        and (not options.profiles or profile_of(one).name in options.profiles)
        and profile_of(one).shows(one, options.world)
    }
    if not found:
        raise UsageError(f"there is no mutant of {', '.join(sorted(wanted)) or 'that kind'}")
    return _sampled(found, options.sample) if options.sample else found


def _available(options: Options) -> Mapping[str, AnyMutant]:
    if options.mutants is not None:
        return from_file(options.mutants)
    return derived_mutants() if options.derived else built_in_mutants(options.world)


def _sampled(mutants: Mapping[str, AnyMutant], size: int) -> dict[str, AnyMutant]:
    """A fixed sample, so many, from every decision its share: by the hash of their names.

    Mutants of one decision follow each other; every n-th of that order is drawn.
    """
    ordered = sorted(mutants, key=lambda ref: (mutants[ref].decision, _digest(ref)))
    count = min(size, len(ordered))
    drawn = {ordered[(2 * at + 1) * len(ordered) // (2 * count)] for at in range(count)}
    return {ref: one for ref, one in mutants.items() if ref in drawn}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def kept_results(mutants: Path | None = None) -> Path:
    """Where results are kept, of the code that is played: what other code showed says nothing."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for package in CODE:
        for path in sorted((root / package).rglob("*")):
            name = str(path.relative_to(root))
            plays = path.suffix in SOURCES and path.name not in _NOT_CODE
            if plays and not name.startswith(_MEASURES):
                digest.update(f"{name}\0".encode())
                digest.update(path.read_bytes())
    if mutants is not None:
        digest.update(mutants.read_bytes())
    return KEPT / f"{digest.hexdigest()[:12]}.jsonl"


def _rates(
    chosen: Mapping[str, AnyMutant],
    results: Sequence[Result],
    argued: Mapping[str, Survivor],
    options: Options,
) -> list[Rate]:
    """One for each profile and kind of mutant."""
    of = {one.name: one for one in chosen.values()}
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        mutant = of[result.mutant]
        kind = "sql" if isinstance(mutant, SqlMutant) else "python"
        groups.setdefault((profile_of(mutant).name, kind), []).append(result)
    return [
        Rate(
            profile=profile,
            kind=kind,
            by=options.by,
            world=options.world,
            levers=options.levers,
            mutants=len(counted := counting(some, argued)),
            detected=sum(one.outcome == DETECTED for one in counted),
            argued_away=len(some) - len(counted),
            sample=options.sample,
        )
        for (profile, kind), some in groups.items()
    ]


def _document(
    chosen: Mapping[str, AnyMutant],
    results: Sequence[Result],
    rates: Sequence[Rate],
    argued: Mapping[str, Survivor],
) -> dict[str, object]:
    why = {one.name: one.why for one in chosen.values()}
    return {
        "rates": [{**asdict(one), "percent": one.percent} for one in rates],
        "mutants": [
            {
                **asdict(one),
                "why": why[one.mutant],
                "argued": asdict(argued[one.mutant]) if one.mutant in argued else None,
            }
            for one in results
        ],
    }


def _lines(
    chosen: Mapping[str, AnyMutant],
    results: Sequence[Result],
    rates: Sequence[Rate],
    argued: Mapping[str, Survivor],
) -> Iterator[str]:
    yield ""
    yield _row("decision", "detected", "survived", "unreached", "broke", "argued")
    for row in by_decision(results, argued):
        counts = (row.detected, row.survived, row.not_reached, row.broke, row.argued_away)
        yield _row(row.decision, *counts)
    left = [one for one in counting(results, argued) if one.outcome != DETECTED]
    why = {one.name: one.why for one in chosen.values()}
    yield ""
    for one in left[:SHOWN]:
        yield f"× {one.mutant}  {one.outcome}"
        yield from wrapped("    ", why[one.mutant])
        if one.outcome == BROKE:
            yield from wrapped("    ", one.detail)
    if len(left) > SHOWN:
        yield f"  and {len(left) - SHOWN} more; --json has them all"
    for one in results:
        if one.mutant in argued and one.outcome == DETECTED:
            yield f"! {one.mutant}  is argued away, and {' '.join(one.rules)} sees it"
    yield ""
    for rate in rates:
        yield (
            f"{rate.profile}, {rate.kind}: detects {rate.percent} % of"
            f" {rate.mutants} known breakages, {rate.argued_away} argued away"
        )
    if left:
        reference = next(ref for ref, one in chosen.items() if one.name == left[0].mutant)
        yield f"repeat: {called_as()} certify --world sim --engine inline --mutant '{reference}'"


def _row(name: str, *counts: object) -> str:
    return f"{name:<30}" + "".join(f"{one:>10}" for one in counts)
