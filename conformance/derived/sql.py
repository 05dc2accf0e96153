"""Mutants of SQL decisions, derived from their text.

An edit that leaves the meaning of the text as it was, or makes the same of it as an edit before, is
no mutant.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.derived.names import mutant_name, told
from conformance.derived.sql_edits import edits
from conformance.derived.sql_tokens import meaning
from reference_impl.control_plane.migrations import passage_of
from reference_impl.decisions import Decision, SqlMutant


def derive(decision: Decision) -> Iterator[SqlMutant]:
    """The mutants of a decision, in the order of the kinds of edits."""
    passage = passage_of(decision)
    known = {meaning(passage)}
    for edit in edits(passage):
        made = meaning(passage[: edit.start] + edit.new + passage[edit.end :])
        if made in known:
            continue
        known.add(made)
        old = passage[edit.start : edit.end]
        nth = sum(passage.startswith(old, at) for at in range(edit.start + 1))
        yield SqlMutant(
            name=mutant_name(decision.name, edit.operator, old, edit.new, nth),
            decision=decision.name,
            old=old,
            nth=nth,
            new=edit.new,
            why=told(old, edit.new),
        )
