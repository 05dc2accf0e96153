"""Scenarios in which calls overlap, many times over: what one of them does shows only at times.

Where calls really run at the same time, a lock that is missing shows when two of them read before
either writes. One attempt seldom meets that, so each of these makes many, a partition for each.
"""

from __future__ import annotations

from conformance.scenario import Scenario

ATTEMPTS = 12


def _attempts(script: str, attempts: int = ATTEMPTS) -> str:
    """The same on one partition after the other: `P` is its number."""
    return "\n".join(script.replace("p=P", f"p={n}") for n in range(attempts))


SCENARIOS = (
    Scenario(
        name="Leaders of one epoch overlap",
        rules=("MIG-001", "MIG-021"),
        script=_attempts("""
            a  call   create p=P
            a  begin  initialize b0=100 epoch=5 seeds=A p=P
            b  begin  initialize b0=200 epoch=5 seeds=B p=P
            c  begin  producers p=P
            a  end
            b  end
            c  end
            c  call   producers p=P
        """),
    ),
    Scenario(
        name="Batches of several brokers overlap",
        rules=("MIG-018", "MIG-021"),
        script=_attempts("""
            a  call   create p=P
            a  call   set b0=0 p=P
            a  begin  commit count=2 p=P
            b  begin  commit count=3 p=P
            c  begin  commit count=4 p=P
            a  end
            b  end
            c  end
            c  call   get p=P
        """),
    ),
)
