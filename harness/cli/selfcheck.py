"""The body of `selfcheck`: every mutant against every rule, and who noticed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from conformance.catalogue import CATALOGUE
from conformance.mutants import from_file
from conformance.profiles import PROFILES, built_in_mutants
from conformance.profiles.profile import AnyMutant
from conformance.proofs import KILL_MATRIX, recorded_matrix, renewed
from conformance.selfcheck import Matrix, kill_matrix
from harness.cli.progress import Stage, plural
from harness.sut import UsageError
from reports.terminal import called_as, wrapped

WORLDS = ("sim", "process")


def run(
    *,
    rules: Sequence[str],
    world: str,
    mutants: Path | None,
    as_json: bool,
    record: bool = False,
) -> int:
    """0 if every mutant was killed and the reference passed, else 1; 3 if the lab broke."""
    if world not in WORLDS:
        raise UsageError(f"selfcheck runs in {' or '.join(WORLDS)}, not in {world!r}")
    chosen = _chosen(rules, mutants, world)
    stage = Stage(sys.stderr if as_json else sys.stdout)
    stage.say(f"selfcheck · {plural(len(chosen), 'mutant')} · world {world}")
    with stage("mutants") as line:
        matrix = kill_matrix(
            chosen,
            world=world,
            workers=os.cpu_count() or 1,
            progress=lambda done, total: line.progress(f"{done} of {total} runs"),
        )
        line.done(f"{plural(len(chosen), 'mutant')} judged")
    if as_json:
        print(json.dumps(matrix.document(), indent=1))
    left_out = _left_out(rules, world) if mutants is None else {}
    for text in _lines(matrix, left_out):
        stage.say(text)
    if record and matrix.sound and not matrix.survivors:
        names = (mutant.name for mutant in built_in_mutants(world).values())
        whole = renewed(recorded_matrix(), matrix.document(), names)
        KILL_MATRIX.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    broken = any(row.outcome.broken for row in matrix.rows)
    broken = broken or any(b.broken for b in matrix.baselines.values())
    if matrix.sound and not matrix.survivors:
        return 0
    return 3 if broken else 1


def _chosen(rules: Sequence[str], mutants: Path | None, world: str) -> dict[str, AnyMutant]:
    available = built_in_mutants(world) if mutants is None else dict(from_file(mutants))
    if not available:
        raise UsageError(f"{mutants} defines no mutants; see conformance/README.md")
    for mutant in available.values():
        for rule in mutant.rules:
            CATALOGUE[rule]
    wanted = {CATALOGUE[rule].id for rule in rules}
    chosen = {
        ref: mutant
        for ref, mutant in available.items()
        if not wanted or wanted & set(mutant.rules) or not mutant.rules
    }
    if not chosen:
        raise UsageError(f"no mutant breaks {', '.join(sorted(wanted)) or 'anything'} here")
    return chosen


def _left_out(rules: Sequence[str], world: str) -> Mapping[str, str]:
    """The mutants that would have been chosen if they could show in this world, and why not."""
    unseen = {name: why for one in PROFILES.values() for name, why in one.left_out(world).items()}
    if not unseen:
        return {}
    known = {mutant.name for mutant in _chosen(rules, None, "sim").values()}
    return {name: why for name, why in sorted(unseen.items()) if name in known}


def _lines(matrix: Matrix, left_out: Mapping[str, str]) -> Iterator[str]:
    yield ""
    for row in matrix.rows:
        mark = "✓" if row.killed else "×"
        seen = " ".join(row.outcome.failed) or "nobody"
        yield from wrapped(f"{mark} {row.mutant.name:<38}", seen)
        if row.missed:
            yield from wrapped("    not seen by  ", " ".join(row.missed))
        if row.outcome.broken:
            yield from wrapped("    lab broken   ", row.outcome.broken)
    for name, why in left_out.items():
        yield from wrapped(f"· {name:<38}", f"only in sim: {why}")
    yield ""
    if matrix.unexercised:
        yield from wrapped("× never exercised: ", " ".join(matrix.unexercised))
    for name, baseline in sorted(matrix.baselines.items()):
        if baseline.failed or baseline.broken:
            what = baseline.broken or "fails " + " ".join(baseline.failed)
            yield from wrapped(f"× the reference itself ({name}): ", what)
    killed = len(matrix.rows) - len(matrix.survivors)
    middle = median(row.outcome.seconds for row in matrix.rows)
    yield (
        f"{plural(len(matrix.rows), 'mutant')}: {killed} killed, {len(matrix.survivors)} survived"
        f" · median {middle:.2f} s a mutant"
    )
    if matrix.survivors:
        row = matrix.survivors[0]
        yield (
            f"repeat: {called_as()} certify --world {matrix.world} --engine inline"
            f" --mutant {row.reference}"
        )
