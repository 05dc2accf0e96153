"""The body of `selfcheck --derived` and `selfcheck --by`: what a plan detects.

Of derived mutants, of those that are written by hand, or of those of a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from conformance.derived import AnyMutant, derived_mutants
from conformance.derived.detection import DETECTED, NOT_PLAYED, Measurement, Result, measure
from conformance.derived.outcomes import by_area, counting
from conformance.derived.plays import BY
from conformance.derived.rates import CAMPAIGN, LEAST_DRAWN, PROGRAMS, Rate, write_rates
from conformance.derived.survivors import LEGAL, Survivor, argued_away, offered_to, survivors
from conformance.derived.unreached import Unreached, write_unreached
from conformance.mutants import from_file
from conformance.profiles import built_in_mutants, find_profile
from harness.cli.detection_told import document, lines
from harness.cli.progress import Stage, plural
from harness.errors import UsageError
from harness.sut.lever_sets import LEVER_SETS, SAID
from reference_impl.decisions import SqlMutant, find_decision

KEPT = Path(".tidemark") / "derived"
CODE = ("reference_impl", "harness", "conformance", "nemesis", "spark_checkers")
SOURCES = (".py", ".sql", ".steps", ".json", ".toml", ".tsv")
_NOT_CODE = ("survivors.toml", "detection.json", "unreached.json", "kill_matrix.json")
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

    @property
    def is_whole(self) -> bool:
        """Whether what is measured says something about a profile."""
        drawn = self.sample == 0 or self.sample >= LEAST_DRAWN
        return self.derived and not self.decisions and drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a profile is offered: of the mutants that there are, those that were drawn."""

    profile: str
    there: Mapping[str, AnyMutant]
    drawn: Mapping[str, AnyMutant]


def run(options: Options) -> int:
    """0 once everything was measured; 1 if a rate of whole profiles is under its bar."""
    argued = survivors()
    offers = offered(options, argued)
    stage = Stage(sys.stderr if options.as_json else sys.stdout)
    stage.say(
        f"selfcheck · {plural(sum(len(one.drawn) for one in offers), 'mutant')}"
        f" · by {options.by} · world {options.world} · {SAID[options.levers]}"
    )
    results = [one for offer in offers for one in _measured(offer, argued, options, stage)]
    mutants = {one.name: one for offer in offers for one in offer.drawn.values()}
    rates = [one for offer in offers for one in rates_of(offer, results, argued, options)]
    if options.as_json:
        print(json.dumps(document(mutants, results, rates, argued), indent=1))
    for text in lines(mutants, results, rates, argued, whole=options.is_whole):
        stage.say(text)
    if options.record:
        write_rates(rates)
        if options.by == CAMPAIGN:
            write_unreached([_unreached(one, results, argued, options) for one in offers])
    under = [one for one in rates if options.is_whole and one.is_under_its_bar]
    for one in under:
        stage.say(f"× {one.profile}, {one.kind}: under its bar of {one.bar} %")
    return 1 if under else 0


def _measured(
    offer: Offer, argued: Mapping[str, Survivor], options: Options, stage: Stage
) -> list[Result]:
    """The results of one profile, in the order of its mutants."""
    how = Measurement(
        profile=offer.profile,
        by=options.by,
        world=options.world,
        levers=options.levers,
        seed=options.seed,
        workers=os.cpu_count() or 1,
        kept=kept_results(options.mutants),
    )
    played = {ref: one for ref, one in offer.drawn.items() if not _is_legal(one, offer, argued)}
    with stage(offer.profile) as line:
        measured = measure(played, how, line.progress, stage.say)
        line.done(f"{plural(len(measured), 'mutant')} measured")
    found = {one.mutant: one for one in measured}
    return [
        found.get(one.name)
        or Result(mutant=one.name, decision=one.decision, profile=offer.profile, outcome=NOT_PLAYED)
        for one in offer.drawn.values()
    ]


def _is_legal(mutant: AnyMutant, offer: Offer, argued: Mapping[str, Survivor]) -> bool:
    away = argued_away(argued, mutant.name, offer.profile)
    return away and argued[mutant.name].kind == LEGAL


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
    if options.record and 0 < options.sample < LEAST_DRAWN:
        raise UsageError(
            f"a sample of {options.sample} says too little to be recorded:"
            f" {LEAST_DRAWN} of each profile at the least"
        )
    whole = options.derived and not options.decisions and options.seed == 1
    if options.record and not whole:
        raise UsageError("only a whole measurement of derived mutants with seed 1 is recorded")


def offered(options: Options, argued: Mapping[str, Survivor] = MappingProxyType({})) -> list[Offer]:
    """What is to be measured, by profile; a sentence if that cannot be."""
    _check(options)
    wanted = {find_decision(name).name for name in options.decisions}
    found: dict[str, dict[str, AnyMutant]] = {}
    for ref, one in _available(options).items():
        if wanted and one.decision not in wanted:
            continue
        for profile in offered_to(one, argued):
            asked_for = not options.profiles or profile in options.profiles
            if asked_for and find_profile(profile).shows(one, options.world):
                found.setdefault(profile, {})[ref] = one
    if not found:
        raise UsageError(f"there is no mutant of {', '.join(sorted(wanted)) or 'that kind'}")
    return [
        Offer(profile=profile, there=there, drawn=_sampled(there, options.sample or len(there)))
        for profile, there in sorted(found.items())
    ]


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


def rates_of(
    offer: Offer,
    results: Sequence[Result],
    argued: Mapping[str, Survivor],
    options: Options,
) -> list[Rate]:
    """One for each kind of mutant that a profile was tried on."""
    there = Counter(map(kind_of, offer.there.values()))
    kinds = {one.name: kind_of(one) for one in offer.drawn.values()}
    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.profile == offer.profile:
            groups.setdefault(kinds[result.mutant], []).append(result)
    return [
        Rate(
            profile=offer.profile,
            kind=kind,
            by=options.by,
            world=options.world,
            levers=options.levers,
            mutants=len(counted := counting(some, argued)),
            detected=sum(one.outcome == DETECTED for one in counted),
            argued_away=len(some) - len(counted),
            population=there[kind],
            sample=len(some) if len(some) < there[kind] else 0,
        )
        for kind, some in groups.items()
    ]


def _unreached(
    offer: Offer, results: Sequence[Result], argued: Mapping[str, Survivor], options: Options
) -> Unreached:
    return Unreached(
        profile=offer.profile,
        world=options.world,
        levers=options.levers,
        population=len(offer.there),
        sample=len(offer.drawn) if len(offer.drawn) < len(offer.there) else 0,
        areas=by_area([one for one in results if one.profile == offer.profile], argued),
    )


def kind_of(mutant: AnyMutant) -> str:
    """What it is made of."""
    return "sql" if isinstance(mutant, SqlMutant) else "python"
