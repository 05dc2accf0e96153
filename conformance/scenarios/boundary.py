"""Scenarios about who may set the boundary, and what a reset leaves behind."""

from __future__ import annotations

from conformance.scenario import Scenario

SCENARIOS = (
    Scenario(
        name="One epoch, one boundary",
        rules=("MIG-001", "MIG-005", "MIG-021", "MIG-025"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            b  call  initialize b0=200 epoch=5 seeds=A
            b  call  get
            a  call  get
        """,
    ),
    Scenario(
        name="A deposed leader proposes another boundary",
        rules=("MIG-002", "MIG-021"),
        script="""
            new  call  create
            new  call  initialize b0=100 epoch=7 seeds=A
            old  call  initialize b0=90 epoch=5 seeds=A
            new  call  get
            new  call  producers
        """,
    ),
    Scenario(
        name="A newer leader proposes another boundary",
        rules=("MIG-003", "MIG-005", "MIG-021"),
        script="""
            old  call  create
            old  call  initialize b0=100 epoch=5 seeds=A
            new  call  initialize b0=200 epoch=6 seeds=A
            new  call  get
            old  call  get
        """,
    ),
    Scenario(
        name="A leader retries after a lost reply",
        rules=("MIG-004", "MIG-021"),
        script="""
            a  call  create
            a  lose  initialize b0=100 epoch=5 seeds=A
            a  call  initialize b0=100 epoch=5 seeds=A
            b  call  initialize b0=100 epoch=5 seeds=A
            b  call  initialize b0=100 epoch=6 seeds=A
            b  call  get
        """,
    ),
    Scenario(
        name="A reset, then an equal epoch, then a higher one",
        rules=("MIG-012", "MIG-013", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  set b0=-1
            a  call  get
            b  call  initialize b0=100 epoch=4 seeds=A
            a  call  initialize b0=100 epoch=5 seeds=A
            c  call  initialize b0=200 epoch=6 seeds=B
            a  call  get
        """,
    ),
    Scenario(
        name="An initialization in flight outlives a reset",
        rules=("MIG-001", "MIG-012", "MIG-021"),
        script="""
            a    call     create
            a    call     initialize b0=100 epoch=5 seeds=A
            a    call     get
            old  hold     initialize b0=300 epoch=5 seeds=A
            a    call     set b0=-1
            old  release
            a    call     get
        """,
    ),
    Scenario(
        name="Epochs only rise",
        rules=("MIG-014", "MIG-023", "MIG-021"),
        script="""
            a  call  create
            a  call  register epoch=4
            a  call  initialize b0=100 epoch=5 seeds=A
            b  call  initialize b0=100 epoch=8 seeds=A
            a  call  get
            a  call  initialize b0=100 epoch=6 seeds=A
            b  call  register epoch=9
            a  call  register epoch=7
            a  call  set b0=100
            a  call  get
        """,
    ),
    Scenario(
        name="A write without an epoch",
        rules=("MIG-015", "MIG-021"),
        script="""
            a  call  create p=0
            a  call  set b0=50 p=0
            b  call  set b0=60 p=0
            b  call  set b0=50 p=0
            b  call  get p=0
            a  call  create p=1
            a  call  register epoch=3 p=1
            b  call  set b0=70 p=1
            b  call  get p=1
        """,
    ),
    Scenario(
        name="A late request of a deposed leader",
        rules=("MIG-016", "MIG-021"),
        script="""
            old  call     create
            old  hold     initialize b0=100 epoch=5 seeds=A
            new  call     register epoch=6
            old  release
            new  call     get
            new  call     initialize b0=120 epoch=6 seeds=B
            new  call     get
        """,
    ),
    Scenario(
        name="A deposed leader repeats the stored boundary",
        rules=("MIG-023", "MIG-021"),
        script="""
            new  call  create
            new  call  initialize b0=100 epoch=7 seeds=A
            old  call  initialize b0=100 epoch=5 seeds=A
            new  call  get
        """,
    ),
    Scenario(
        name="Zero is a boundary",
        rules=("MIG-001", "MIG-018", "MIG-021", "MIG-025"),
        script="""
            a  call  create
            a  call  initialize b0=0 epoch=0 seeds=none
            b  call  initialize b0=50 epoch=0 seeds=none
            b  call  commit count=2
            b  call  get
        """,
    ),
    Scenario(
        name="A deposed leader asks for a reset",
        rules=("MIG-026", "MIG-021"),
        script="""
            new  call  create
            new  call  initialize b0=100 epoch=7 seeds=A
            old  call  set b0=-1 epoch=5
            new  call  get
        """,
    ),
    Scenario(
        name="Two leaders of one epoch race",
        rules=("MIG-001", "MIG-021"),
        script="""
            a  call   create
            a  begin  initialize b0=100 epoch=5 seeds=A
            b  begin  initialize b0=200 epoch=5 seeds=B
            a  end
            b  end
            a  call   get
            b  call   get
        """,
    ),
    Scenario(
        name="Two resets, two markers",
        rules=("MIG-012", "MIG-021"),
        script="""
            a  call  create
            a  call  initialize b0=100 epoch=5 seeds=A
            a  call  set b0=-1
            a  call  initialize b0=100 epoch=5 seeds=A
            b  call  initialize b0=200 epoch=6 seeds=A
            b  call  set b0=-1
            b  call  create
            b  call  initialize b0=200 epoch=6 seeds=A
            b  call  get
        """,
    ),
    Scenario(
        name="A write that names its epoch",
        rules=("MIG-002", "MIG-003", "MIG-016", "MIG-021"),
        script="""
            new    call  create
            new    call  register epoch=5
            old    call  set b0=70 epoch=4
            new    call  set b0=100 epoch=5
            old    call  set b0=90 epoch=4
            newer  call  set b0=200 epoch=6
            newer  call  set b0=100 epoch=6
            newer  call  get
        """,
    ),
    Scenario(
        name="A leader dies with its request on the way",
        rules=("MIG-004", "MIG-021"),
        script="""
            a  call  create
            a  hold  initialize b0=100 epoch=5 seeds=A
            a  kill
            b  call  initialize b0=100 epoch=6 seeds=A
            b  call  initialize b0=100 epoch=6 seeds=A
            b  call  get
        """,
    ),
    Scenario(
        name="A request is lost and sent again",
        rules=("MIG-004", "MIG-021"),
        script="""
            a  call  create
            a  drop  initialize b0=100 epoch=5 seeds=A
            b  call  get
            a  call  initialize b0=100 epoch=5 seeds=A
            b  call  initialize b0=100 epoch=5 seeds=A
            b  call  get
        """,
    ),
)
