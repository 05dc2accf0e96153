"""Scenarios of calls over several partitions: what is asked of one says nothing about another."""

from __future__ import annotations

from conformance.scenario import Scenario

# Partitions whose numbers and topics are easily mixed up, in an order that is not that of locks.
_LOGS = ("p=1", "t=u", "p=0", "t=u p=1")
_MANY = tuple(f"t={topic} p={partition}" for topic in ("t", "u", "v") for partition in range(4))


def _each(*arguments: str, logs: tuple[str, ...] = _LOGS) -> str:
    """Arguments for each partition; the last ones are those of the rest, too."""
    rest = arguments[-1] if arguments else ""
    filled = [*arguments, *[rest] * (len(logs) - len(arguments))]
    return " and ".join(f"{one} {log}" for one, log in zip(filled, logs, strict=True))


def _overlap(number: int) -> str:
    """Two clients ask the same partitions at once, in opposite order."""
    epoch = f"epoch={number}"
    return f"""
        a  begin  register {_each(epoch, logs=_MANY)}
        b  begin  register {_each(epoch, logs=_MANY[::-1])}
        a  end
        b  end
    """


SCENARIOS = (
    Scenario(
        name="One call asks several partitions",
        rules=("MIG-021", "MIG-022", "MIG-033"),
        script=f"""
            a  call  get {_each()}
            a  call  create {_each()}
            a  call  get {_each()}
            a  call  seed {_each("seeds=A", "seeds=C", "seeds=D", "seeds=E")}
            b  call  producers {_each()}
            a  call  register {_each("epoch=4", "epoch=3", "epoch=2", "epoch=1")}
            b  call  get {_each()}
            a  call  set {_each("b0=30 epoch=4", "b0=0", "b0=20 epoch=5", "b0=10 epoch=1")}
            b  call  get {_each()}
            a  call  commit {_each("count=2", "count=3", "count=4", "count=5")}
            b  call  commit {_each("count=5", "count=1")}
            b  call  producers {_each()}
            lab  probe
        """,
    ),
    Scenario(
        name="A refused partition changes nothing for another",
        rules=("MIG-001", "MIG-033"),
        script=f"""
            a  call  create p=0 and p=1 and t=u and p=2
            a  call  initialize b0=100 epoch=5 seeds=A p=1 and b0=50 epoch=7 seeds=C t=u
            b  call  initialize {
            _each(
                "b0=200 epoch=6 seeds=A",
                "b0=50 epoch=6 seeds=C",
                "b0=40 epoch=6 seeds=E",
                "b0=40 epoch=6",
            )
        }
            b  call  producers {_each()}
            b  call  set b0=-1 epoch=4 p=1 and b0=-1 epoch=7 t=u and b0=60 epoch=7 p=2
            b  call  get p=0 and p=1 and p=2 and t=u
            a  call  commit p=2 and t=u and p=1 and t=u p=7
            a  call  seed seeds=B p=1 and seeds=B t=u and seeds=SIX p=2
            a  call  producers p=0 and p=1 and p=2 and t=u
            a  call  register epoch=3 p=0 and epoch=9 p=1 and epoch=8 p=2
            a  call  get p=0 and p=1 and p=2 and t=u
            lab  probe
        """,
    ),
    Scenario(
        name="The reply of a call over several partitions is lost",
        rules=("MIG-021", "MIG-033"),
        script=f"""
            a  call  create {_each()}
            a  lose  initialize {_each("b0=20 epoch=1 seeds=A", "b0=40 epoch=2 seeds=C")}
            b  call  get {_each()}
            b  call  producers {_each()}
            b  lose  commit {_each("count=2", "count=3")}
            a  call  commit {_each("count=4", "count=1")}
            a  call  get {_each()}
        """,
    ),
    Scenario(
        name="Calls over several partitions overlap in opposite order",
        rules=("MIG-027", "MIG-033"),
        script=f"a  call  create {_each(logs=_MANY)}\n"
        + "\n".join(_overlap(number) for number in range(1, 7))
        + f"\na  call  get {_each(logs=_MANY)}",
    ),
)
