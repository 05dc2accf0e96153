"""What `selfcheck --derived` says of its results: a table by area, survivors, rates; or JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from conformance.derived import AnyMutant, reference
from conformance.derived.detection import BROKE, DETECTED, NOT_REACHED, Result
from conformance.derived.outcomes import area_of, by_area, by_decision, counting
from conformance.derived.rates import Rate
from conformance.derived.survivors import Survivor, argued_away
from harness.cli.progress import plural
from reports.terminal import called_as, width, wrapped

SHOWN = 40  # survivors whose change is told; what is not reached is named whole, and so is --json


def document(
    mutants: Mapping[str, AnyMutant],
    results: Sequence[Result],
    rates: Sequence[Rate],
    argued: Mapping[str, Survivor],
) -> dict[str, object]:
    """Everything, for programs."""
    return {
        "rates": [{**asdict(one), "percent": one.percent, "bar": one.bar} for one in rates],
        "mutants": [
            {
                **asdict(one),
                "why": mutants[one.mutant].why,
                "argued": asdict(argued[one.mutant])
                if argued_away(argued, one.mutant, one.profile)
                else None,
            }
            for one in results
        ],
    }


def lines(
    mutants: Mapping[str, AnyMutant],
    results: Sequence[Result],
    rates: Sequence[Rate],
    argued: Mapping[str, Survivor],
    *,
    whole: bool = True,
) -> Iterator[str]:
    """Everything, for people: profile by profile, then the rates, of `whole` profiles with bars."""
    for profile in dict.fromkeys(one.profile for one in results):
        own = [one for one in results if one.profile == profile]
        yield ""
        yield from _table(profile, own, argued)
        yield from _survivors(mutants, own, argued)
        yield from _unreached(own, argued)
    for one in results:
        if one.outcome == DETECTED and argued_away(argued, one.mutant, one.profile):
            yield f"! {one.mutant}  is argued away, and {' '.join(one.rules)} sees it"
    yield ""
    for rate in rates:
        yield from wrapped(
            f"{rate.profile}, {rate.kind}: ", _told(rate, rate.bar if whole else None)
        )
    left = [one for one in counting(results, argued) if one.outcome != DETECTED]
    if left:
        again = reference(mutants[left[0].mutant])
        yield f"repeat: {called_as()} certify --world sim --engine inline --mutant '{again}'"


def _told(rate: Rate, bar: int | None) -> str:
    """A rate in words."""
    drawn = f", {rate.sample:,} drawn from {rate.population:,}" if rate.sample else ""
    held_to = "" if bar is None else f"; its bar is {bar} %"
    return (
        f"detects {rate.percent} % of {rate.mutants:,} known breakages"
        f" ({rate.argued_away:,} argued away{drawn}){held_to}"
    )


def _table(
    profile: str, results: Sequence[Result], argued: Mapping[str, Survivor]
) -> Iterator[str]:
    yield _row(profile, "detected", "survived", "unreached", "broke", "argued")
    areas: dict[str, list[Result]] = {}
    for one in results:
        areas.setdefault(area_of(one.decision), []).append(one)
    for area, members in areas.items():
        yield area
        for row in by_decision(members, argued):
            counts = (row.detected, row.survived, row.not_reached, row.broke, row.argued_away)
            yield _row(f"  {row.decision}", *counts)


def _row(name: str, *counts: object) -> str:
    return f"{name:<30}" + "".join(f"{one:>10}" for one in counts)


def _survivors(
    mutants: Mapping[str, AnyMutant], results: Iterable[Result], argued: Mapping[str, Survivor]
) -> Iterator[str]:
    """Those that were played, or broke what plays them."""
    left = [one for one in counting(results, argued) if one.outcome not in (DETECTED, NOT_REACHED)]
    if left:
        yield ""
    for one in left[:SHOWN]:
        yield f"× {one.mutant}  {one.outcome}"
        yield from wrapped("    ", mutants[one.mutant].why)
        if one.outcome == BROKE:
            yield from wrapped("    ", one.detail)
    if len(left) > SHOWN:
        yield f"  and {len(left) - SHOWN} more; --json has them all"


def _unreached(results: Sequence[Result], argued: Mapping[str, Survivor]) -> Iterator[str]:
    """All that were not reached, by area and decision."""
    areas = by_area(results, argued)
    count = sum(len(some) for one in areas.values() for some in one.values())
    if count:
        yield ""
        yield f"never reached: {plural(count, 'mutant')}"
    for area, decisions in areas.items():
        yield area
        for decision, names in decisions.items():
            yield from textwrap.wrap(
                f"  {decision}: {' '.join(names)}",
                width(),
                subsequent_indent="    ",
                break_on_hyphens=False,
            )
