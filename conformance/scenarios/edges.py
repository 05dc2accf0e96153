"""Scenarios about edges: equal and one beside, what is alike, comes twice, or does not exist."""

from __future__ import annotations

from conformance.scenario import Scenario

SCENARIOS = (
    Scenario(
        name="Every call on a partition that does not exist",
        rules=("MIG-020", "MIG-021", "MIG-030"),
        script="""
            a  call  create p=0
            a  call  create p=10
            a  call  create t=z p=1
            a  call  initialize b0=100 epoch=5 seeds=A p=0
            a  call  initialize b0=100 epoch=5 seeds=A p=10
            a  call  initialize b0=100 epoch=5 seeds=A t=z p=1
            a  call  commit p=0
            b  call  get p=1
            b  call  producers p=1
            b  call  commit count=2 p=1
            b  call  seed seeds=B p=1
            b  call  seed seeds=SIX p=1
            b  call  set b0=-1 p=1
            b  call  set b0=-1 epoch=9 p=1
            b  call  set b0=70 p=1
            b  call  set b0=70 epoch=9 p=1
            b  call  register epoch=9 p=1
            b  call  initialize b0=70 epoch=9 seeds=C p=1
            b  call  initialize b0=70 epoch=9 seeds=HIGH p=1
            b  call  create p=1
            b  call  get p=1
            b  call  producers p=1
            b  call  set b0=0 p=1
            b  call  commit p=1
            a  call  producers p=0
            a  call  commit p=0
            a  call  get p=2
            a  call  producers p=11
        """,
    ),
    Scenario(
        name="Names that resemble each other",
        rules=("MIG-018", "MIG-021", "MIG-022"),
        script="""
            a  call  create p=10
            a  call  create p=1
            a  call  create p=0
            a  call  create t=b p=0
            a  call  create t=B p=0
            a  call  create t=a p=0
            a  call  seed seeds=A p=0
            a  call  seed seeds=B p=1
            a  call  seed seeds=C p=10
            a  call  seed seeds=D t=b
            b  call  producers p=0
            b  call  producers p=1
            b  call  producers p=10
            b  call  producers t=b
            b  call  producers t=B
            a  call  register epoch=2 p=1
            b  call  get p=0
            b  call  get p=1
            b  call  get p=10
            a  call  register epoch=9 t=b
            b  call  get t=B
            b  call  get t=a
            b  call  get t=b
            a  call  initialize b0=110 epoch=4 seeds=B p=1
            b  call  get p=0
            b  call  get p=10
            b  call  get t=b
            a  call  initialize b0=100 epoch=3 seeds=A p=0
            a  call  initialize b0=120 epoch=5 seeds=C p=10
            a  call  initialize b0=90 epoch=9 seeds=D t=b
            a  call  initialize b0=80 epoch=1 seeds=E t=B
            a  call  initialize b0=70 epoch=2 seeds=F t=a
            a  call  commit count=2 p=1
            a  call  commit count=3 t=b
            a  call  commit count=4 p=10
            b  call  get p=0
            b  call  get t=B
            a  call  set b0=-1 p=0
            a  call  set b0=-1 t=B
            b  call  producers p=1
            b  call  producers p=10
            b  call  producers p=0
            b  call  producers t=b
            b  call  producers t=a
            a  call  initialize b0=95 epoch=6 seeds=F p=0
            a  call  commit p=0
            a  call  commit p=1
            a  call  commit p=10
            a  call  commit t=b
            a  call  commit t=a
            b  call  producers p=0
            b  call  producers t=B
            b  call  get p=1
            b  call  get p=10
            b  call  get t=a
        """,
    ),
    Scenario(
        name="Every refusal against every other",
        rules=("MIG-002", "MIG-021", "MIG-026"),
        script="""
            a  call  create
            a  call  commit
            a  call  seed seeds=SIX
            a  call  register epoch=7
            b  call  initialize b0=100 epoch=5 seeds=SIX
            b  call  initialize b0=100 epoch=5 seeds=OVER
            b  call  initialize b0=100 epoch=5 seeds=A
            b  call  set b0=100 epoch=5
            b  call  set b0=100
            b  call  set b0=-1 epoch=5
            a  call  initialize b0=100 epoch=7 seeds=A
            b  call  initialize b0=100 epoch=5 seeds=SEVEN
            b  call  initialize b0=100 epoch=5 seeds=OVER
            b  call  initialize b0=90 epoch=5 seeds=B
            b  call  initialize b0=100 epoch=5 seeds=B
            a  call  initialize b0=90 epoch=7 seeds=B
            a  call  initialize b0=90 epoch=8 seeds=B
            a  call  initialize b0=90 epoch=7 seeds=SIX
            a  call  initialize b0=100 epoch=7 seeds=SIX
            a  call  initialize b0=100 epoch=7 seeds=OVER
            b  call  seed seeds=SIX
            b  call  seed seeds=B
            b  call  set b0=100 epoch=5
            b  call  register epoch=6
            a  call  commit
            b  call  set b0=-1 epoch=5
            b  call  set b0=-1 epoch=6
            b  call  set b0=-1 epoch=7
            b  call  set b0=-1
            a  call  get
            a  call  producers
        """,
    ),
    Scenario(
        name="One below, at and one above the epoch of a reset",
        rules=("MIG-012", "MIG-013", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  set b0=-1
            a  call  set b0=-1
            a  call  set b0=-1 epoch=9
            a  call  get
            b  call  initialize b0=100 epoch=4 seeds=A
            b  call  set b0=100 epoch=4
            b  call  set b0=100 epoch=5
            b  call  set b0=100
            b  call  initialize b0=100 epoch=5 seeds=A
            b  call  register epoch=5
            b  call  seed seeds=C
            b  call  producers
            b  call  set b0=100 epoch=6
            b  call  producers
            a  call  set b0=-1 epoch=8
            a  call  get
            b  call  initialize b0=50 epoch=7 seeds=B
            b  call  initialize b0=50 epoch=8 seeds=B
            b  call  register epoch=9
            b  call  set b0=50
            b  call  initialize b0=50 epoch=8 seeds=B
            b  call  initialize b0=50 epoch=9 seeds=B
            b  call  producers
            b  call  commit
            a  call  initialize b0=50 epoch=9 seeds=B
            a  call  initialize b0=50 epoch=10 seeds=B
            a  call  commit
            a  call  get
        """,
    ),
    Scenario(
        name="Zero and one",
        rules=("MIG-018", "MIG-020", "MIG-021"),
        script="""
            a  call  create p=0
            a  call  set b0=-1 p=0
            a  call  set b0=-1 epoch=3 p=0
            a  call  get p=0
            a  call  seed seeds=A p=0
            a  call  set b0=-1 p=0
            a  call  producers p=0
            a  call  register epoch=0 p=0
            a  call  initialize b0=0 epoch=0 seeds=E p=0
            a  call  initialize b0=0 epoch=0 p=0
            a  call  set b0=1 epoch=0 p=0
            a  call  set b0=0 epoch=0 p=0
            a  call  set b0=0 p=0
            a  call  register epoch=0 p=0
            a  call  set b0=-1 epoch=0 p=0
            a  call  initialize b0=0 epoch=0 p=0
            a  call  initialize b0=1 epoch=1 seeds=E p=0
            a  call  producers p=0
            a  call  commit p=0
            a  call  commit p=0
            a  call  set b0=-1 epoch=1 p=0
            a  call  get p=0
            a  call  create p=1
            a  call  set b0=0 p=1
            a  call  register epoch=0 p=1
            a  call  set b0=1 epoch=0 p=1
            a  call  commit p=1
            a  call  initialize b0=0 epoch=0 p=1
            a  call  commit p=1
            a  call  get p=1
            a  call  create p=2
            a  call  set b0=1 p=2
            a  call  set b0=-1 p=2
            a  call  initialize b0=1 epoch=0 p=2
            a  call  initialize b0=1 epoch=1 p=2
            a  call  commit p=2
            a  call  set b0=1 p=2
            a  call  commit p=2
            a  call  create p=3
            a  call  set b0=0 epoch=1 p=3
            a  call  set b0=-1 p=3
            a  call  set b0=0 epoch=1 p=3
            a  call  set b0=0 epoch=2 p=3
            a  call  get p=3
        """,
    ),
    Scenario(
        name="Seeds at the boundary and at their number",
        rules=("MIG-006", "MIG-010", "MIG-021"),
        script="""
            a  call  create p=0
            a  call  initialize b0=100 epoch=5 seeds=OVER p=0
            a  call  initialize b0=99 epoch=5 seeds=EDGE p=0
            a  call  get p=0
            a  call  initialize b0=100 epoch=5 seeds=EDGE p=0
            a  call  initialize b0=100 epoch=5 seeds=OVER p=0
            a  call  producers p=0
            a  call  create p=1
            a  call  seed seeds=SEVEN p=1
            a  call  seed seeds=TEN p=1
            a  call  producers p=1
            a  call  initialize b0=100 epoch=5 seeds=SEVEN p=1
            a  call  initialize b0=100 epoch=5 seeds=TEN p=1
            a  call  seed seeds=FIVE p=1
            a  call  seed seeds=TEN p=1
            a  call  producers p=1
            a  call  create p=2
            a  call  initialize b0=100 epoch=5 seeds=FIVE p=2
            a  call  initialize b0=100 epoch=5 seeds=FIVE-TWICE p=2
            a  call  seed seeds=FIVE-TWICE p=2
            a  call  producers p=2
            a  call  create p=3
            a  call  seed seeds=FIVE-TWICE p=3
            a  call  producers p=3
            a  call  seed seeds=A-TWICE p=3
            a  call  producers p=3
            a  call  initialize b0=100 epoch=5 seeds=A-TWICE p=3
            a  call  producers p=3
            a  call  initialize b0=100 epoch=5 seeds=A-BACKWARDS p=3
            a  call  seed seeds=A-BACKWARDS p=3
            a  call  seed seeds=none p=3
            a  call  initialize b0=100 epoch=5 seeds=A p=3
            a  call  create p=4
            a  call  initialize b0=100 epoch=5 seeds=A-BACKWARDS p=4
            a  call  initialize b0=100 epoch=6 seeds=A p=4
            a  call  producers p=4
        """,
    ),
    Scenario(
        name="Seeds that differ in one number",
        rules=("MIG-006", "MIG-010", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=G
            a  call  producers
            b  call  initialize b0=100 epoch=5 seeds=G0
            b  call  initialize b0=100 epoch=5 seeds=G1
            b  call  initialize b0=100 epoch=5 seeds=G2
            b  call  initialize b0=100 epoch=5 seeds=G3
            b  call  initialize b0=100 epoch=5 seeds=G4
            b  call  initialize b0=100 epoch=5 seeds=G5
            b  call  seed seeds=G0
            b  call  seed seeds=G5
            b  call  seed seeds=A
            b  call  seed seeds=none
            a  call  seed seeds=G
            a  call  producers
        """,
    ),
    Scenario(
        name="A life goes on between two transactions of an initialization",
        rules=("MIG-018", "MIG-021"),
        script="""
            a  call     create p=0
            a  hold     initialize b0=100 epoch=5 seeds=A p=0
            a  step
            b  call     set b0=-1 p=0
            b  call     initialize b0=200 epoch=6 seeds=B p=0
            b  call     commit p=0
            a  release
            b  call     get p=0
            b  call     producers p=0
            b  call     commit p=0
            a  call     create p=1
            a  hold     initialize b0=100 epoch=5 seeds=A p=1
            a  step
            b  call     register epoch=6 p=1
            b  call     initialize b0=100 epoch=6 seeds=A p=1
            b  call     commit count=2 p=1
            a  release
            b  call     get p=1
            b  call     commit p=1
        """,
    ),
    Scenario(
        name="Every reason to give up, and every hard error",
        rules=("MIG-024",),
        script="""
            a    call     create
            a    call     set b0=100
            lab  disturb
            a    call     get
            b    call     get
            a    call     producers
            b    call     producers
            a    call     get
            b    call     get
            a    call     register epoch=3
            lab  settle
            a    call     get
            lab  break
            a    call     get
            b    call     get
            a    call     producers
            b    call     producers
            a    call     get
            b    call     get
            a    call     register epoch=4
            lab  mend
            a    call     get
        """,
    ),
    Scenario(
        name="A look at what is stored of a suffix",
        rules=("MIG-018", "MIG-031"),
        script="""
            a    call   create p=0
            a    call   create p=1
            a    call   initialize b0=100 epoch=3 seeds=D p=0
            b    call   initialize b0=0 epoch=3 p=1
            lab  probe
            a    call   commit count=3 p=0
            b    call   commit count=1 p=1
            lab  probe
            a    call   commit count=2 p=0
            lab  probe
        """,
    ),
    Scenario(
        name="Everything twice",
        rules=("MIG-004", "MIG-018", "MIG-021", "MIG-032"),
        script="""
            a  call  create
            b  call  create
            a  call  register epoch=3
            b  call  register epoch=3
            a  call  seed seeds=D
            b  call  seed seeds=D
            b  call  producers
            a  call  initialize b0=100 epoch=3 seeds=D
            b  call  initialize b0=100 epoch=3 seeds=D
            a  call  seed seeds=D
            b  call  seed seeds=D
            a  call  create
            b  call  producers
            a  call  set b0=100 epoch=3
            b  call  set b0=100 epoch=3
            a  call  set b0=100
            b  call  set b0=100
            a  call  register epoch=4
            b  call  register epoch=4
            b  call  create
            a  call  set b0=100 epoch=6
            b  call  get
            a  call  set b0=-1 epoch=6
            b  call  set b0=-1 epoch=6
            b  call  create
            a  call  initialize b0=100 epoch=7 seeds=D
            b  call  initialize b0=100 epoch=7 seeds=D
            a  call  commit count=3
            b  call  commit count=3
            b  call  create
            a  call  initialize b0=100 epoch=7 seeds=D
            a  call  set b0=100 epoch=8
            b  call  commit count=1
            b  call  commit count=1
            b  call  get
        """,
    ),
)
