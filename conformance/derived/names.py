"""How derived mutants are called, and what is said of them."""

from __future__ import annotations

import hashlib

SHOWN = 80  # characters of what was changed


def mutant_name(decision: str, operator: str, old: str, new: str, occurrence: int) -> str:
    """A name that does not depend on lines: by what is replaced, by what, the how-manieth time."""
    digest = hashlib.sha256(f"{operator}\0{old}\0{new}\0{occurrence}".encode()).hexdigest()
    return f"{mutant_prefix(decision)}/{operator}-{digest[:4]}"


def mutant_prefix(decision: str) -> str:
    """With what the names of a decision's mutants begin: a colon would end a reference."""
    return decision.replace(":", "-")


def told(old: str, new: str) -> str:
    """In words, what became what."""
    old, new = " ".join(old.split()), " ".join(new.split())
    if not old:
        return f"it answers {new} whatever is asked"
    if not new:
        return f"`{_short(old, 0)}` is left out"
    pairs = enumerate(zip(old, new, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), 0)
    begin = 0 if same < SHOWN // 2 else old.rfind(" ", 0, same - SHOWN // 4) + 1
    return f"`{_short(old, begin)}` becomes `{_short(new, begin)}`"


def _short(text: str, begin: int) -> str:
    """From there on, and not longer than a line."""
    shown = text[begin:] if len(text) - begin <= SHOWN else f"{text[begin : begin + SHOWN]}…"
    return f"…{shown}" if begin else shown
