"""Scenarios about seeds, the suffix, neighbours, the schema and failures of the control plane."""

from __future__ import annotations

from conformance.scenario import Scenario

SCENARIOS = (
    Scenario(
        name="A retry brings other seeds",
        rules=("MIG-006", "MIG-007", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  initialize b0=100 epoch=5 seeds=B
            b  call  initialize b0=100 epoch=6 seeds=B
            b  call  producers
        """,
    ),
    Scenario(
        name="Somebody looks while an initialization is half done",
        rules=("MIG-007", "MIG-021"),
        script="""
            a  call     create
            a  hold     initialize b0=100 epoch=5 seeds=A
            a  step
            b  call     get
            b  call     producers
            a  release
            b  call     producers
        """,
    ),
    Scenario(
        name="Seeds of a failed attempt are lying around",
        rules=("MIG-008", "MIG-021"),
        script="""
            old  call  create
            old  call  seed seeds=B
            new  call  initialize b0=100 epoch=6 seeds=A
            new  call  producers
        """,
    ),
    Scenario(
        name="A leader seeds twice before it initializes",
        rules=("MIG-009", "MIG-021"),
        script="""
            a  call  create
            a  call  seed seeds=A
            a  call  seed seeds=B
            b  call  producers
        """,
    ),
    Scenario(
        name="A deposed leader seeds a live suffix",
        rules=("MIG-010", "MIG-021"),
        script="""
            new  call  create
            new  call  initialize b0=100 epoch=6 seeds=A
            new  call  seed seeds=A
            old  call  seed seeds=B
            new  call  producers
        """,
    ),
    Scenario(
        name="A damaged replica asks for a reset of a live suffix",
        rules=("MIG-011", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  commit count=3
            b  call  set b0=-1
            b  call  set b0=-1 epoch=9
            b  call  get
        """,
    ),
    Scenario(
        name="A commit comes before the boundary",
        rules=("MIG-017", "MIG-018", "MIG-020", "MIG-021"),
        script="""
            a  call  create
            a  call  get
            a  call  commit count=2
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  commit count=2
            a  call  get
        """,
    ),
    Scenario(
        name="Two brokers write the suffix and one reply is lost",
        rules=("MIG-018", "MIG-021"),
        script="""
            a  call   create
            a  call   initialize b0=100 epoch=5 seeds=A
            a  call   commit count=3
            b  begin  commit count=2
            a  begin  commit count=4
            b  end
            a  end
            b  lose   commit count=5
            a  call   commit count=1
        """,
    ),
    Scenario(
        name="A log is older than the boundary column",
        rules=("MIG-019",),
        older_schema=True,
        script="""
            lab  upgrade  t=t p=0
            a    call     get
        """,
    ),
    Scenario(
        name="A fence without a boundary",
        rules=("MIG-020", "MIG-021"),
        script="""
            a  call  create
            a  call  register epoch=3
            b  call  get
        """,
    ),
    Scenario(
        name="Two partitions of one topic",
        rules=("MIG-021", "MIG-022"),
        script="""
            a  call  create p=0
            a  call  create p=1
            a  call  initialize b0=100 epoch=5 seeds=A p=0
            b  call  get p=1
            b  call  producers p=1
            a  call  set b0=-1 p=0
            b  call  get p=1
        """,
    ),
    Scenario(
        name="The control plane is refused, then broken",
        rules=("MIG-024",),
        script="""
            a    call    create
            lab  refuse
            a    call    get
            a    call    register epoch=2
            lab  heal
            a    call    get
            lab  break
            a    call    get
            a    call    register epoch=3
            lab  mend
            a    call    get
        """,
    ),
    Scenario(
        name="Seeds that make no sense",
        rules=("MIG-021",),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=SIX
            a  call  seed seeds=SIX
            a  call  initialize b0=100 epoch=5 seeds=HIGH
            a  call  get
            a  call  producers
        """,
    ),
    Scenario(
        name="A commit and a look after a reset",
        rules=("MIG-021", "MIG-028"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  set b0=-1
            a  call  commit count=2
            b  call  producers
            b  call  get
        """,
    ),
    Scenario(
        name="A repeat after batches",
        rules=("MIG-018", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  commit count=3
            b  call  initialize b0=100 epoch=6 seeds=A
            b  call  set b0=100
            b  call  create
            b  call  commit count=2
        """,
    ),
    Scenario(
        name="Seeds that nearly match",
        rules=("MIG-006", "MIG-010", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=E
            b  call  initialize b0=100 epoch=5 seeds=none
            b  call  seed seeds=F
            b  call  initialize b0=100 epoch=5 seeds=F
            b  call  producers
        """,
    ),
    Scenario(
        name="A boundary without an epoch, reset, and again",
        rules=("MIG-021",),
        script="""
            a  call  create
            a  call  set b0=50
            a  call  set b0=-1
            b  call  set b0=60
            b  call  get
        """,
    ),
    Scenario(
        name="Neighbours with lives of their own",
        rules=("MIG-018", "MIG-021", "MIG-027"),
        script="""
            a  call  create p=0
            a  call  create p=1
            a  call  register epoch=3 p=0
            a  call  initialize b0=100 epoch=4 p=0
            a  call  initialize b0=100 epoch=4 p=1
            a  call  commit count=3 p=0
            a  call  set b0=-1 p=1
            a  call  initialize b0=100 epoch=5 p=1
            a  call  commit p=1
            a  call  commit p=0
        """,
    ),
    Scenario(
        name="A reset races a commit",
        rules=("MIG-021",),
        script="""
            a  call   create
            a  call   initialize b0=100 epoch=5 seeds=A
            b  begin  set b0=-1
            a  begin  commit count=1
            a  end
            b  end
            a  call   get
        """,
    ),
)
