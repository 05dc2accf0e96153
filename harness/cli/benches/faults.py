"""How long faults take to begin and to be healed, in a simulation and on processes.

Three brokers of the reference with their services, at rest. A fault of each kind of lever begins on
its target and is ended at once: milliseconds of wall clock, until a healed broker is ready. Faults
that wait for something before they act (a zombie for a successor) are left out. The baseline is
the same fault in the simulation, where nothing but the lab's own work takes time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.measured import Measured
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan
from harness.history import Run
from harness.sut import reference_sut
from nemesis.nemesis import Nemesis

# A fault of each kind of lever, and whom it hits.
FAULTS = {
    "kill": "broker-2",
    "restart": "broker-2",
    "pause": "broker-2",
    "reimage": "broker-3",
    "cut": "broker-1 <-> everything else",
    "delay": "broker-1 <-> broker-2",
    "object-store-refused": "object-store",
    "object-store-killed": "object-store",
    "control-plane-refused": "control-plane",
    "control-plane-killed": "control-plane",
}


def measure(folder: Path) -> Iterator[Measured]:
    """Milliseconds to begin each fault, and to heal it."""
    simulated = dict(_measured(folder / "sim", "sim"))
    for name, (begun_s, healed_s) in _measured(folder / "process", "process"):
        base = simulated[name]
        for what, took_s, base_s in (
            ("begin", begun_s, base[0]),
            ("heal", healed_s, base[1]),
        ):
            yield Measured(
                row=f"faults {name} {what}",
                unit="ms",
                rate=1000 * took_s,
                baseline="sim",
                baseline_rate=1000 * base_s,
            )


def _measured(folder: Path, world: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """Each fault, and the seconds that its begin and its end took."""
    simulated = world == "sim"
    plan = DeploymentPlan(
        brokers=3,
        control_plane="memory" if simulated else "postgres",
        object_store="memory" if simulated else "s3",
        own_database=True,
    )
    run = Run.create(folder, run="faults", sut="reference", world=world, profiles=["classic"])
    with deploy(reference_sut(), plan, run=run, world=world, seed=1) as on:
        nemesis = Nemesis(on)
        for name, target in FAULTS.items():
            yield name, _took(on, nemesis, name, target)
    run.seal()


def _took(on: Deployment, nemesis: Nemesis, name: str, target: str) -> tuple[float, float]:
    began = time.perf_counter()
    active = on.run(nemesis.begin(name, target))
    begun = time.perf_counter()
    on.run(nemesis.end(active))
    return begun - began, time.perf_counter() - begun
