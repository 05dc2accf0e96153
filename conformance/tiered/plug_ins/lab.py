"""The stage `plug-ins`: every case as an operation of a run.

No cluster of the system is deployed: the plug-ins of the reference are opened in this process, on a
store in memory or, among processes, on a folder. Those of other systems cannot be driven without
them. The cases of metadata managers are played again on the manager that brokers have by default,
on the topic of a simulated broker, in every world; those of storage again on a real S3 server,
where the world has one.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable
from itertools import count
from pathlib import Path

from conformance.catalogue.kip_405.plug_ins import ON_S3, ON_TOPIC
from conformance.classic.stages import StagePlayed, StageRun
from conformance.tiered.plug_ins.bench import (
    AFTERWARDS_S,
    LATE,
    PATIENCE_S,
    Bench,
    MetadataBench,
    played,
)
from conformance.tiered.plug_ins.cases import CASES
from conformance.tiered.plug_ins.managers import OnTopic
from conformance.tiered.plug_ins.metadata_cases import METADATA_CASES
from conformance.tiered.plug_ins.storage_cases import STORAGE_CASES
from conformance.tiered.stages import PLUG_INS
from harness.deployments.mutants import split_mutants
from harness.errors import LabBroken
from harness.history.recorder import Recorder
from harness.history.run_slot import take_slot
from harness.processes.s3_server import SeaweedServer
from harness.simulation.simulation import Simulation
from reference_impl.decisions import in_force, mutated
from reference_impl.live.object_store import open_object_store

STAGE = PLUG_INS
OPERATION = "plug_in"
WITH_S3 = ("process", "docker")


def record_plug_ins(given: StageRun) -> StagePlayed:
    """Play all cases, each on plug-ins of its own."""
    if given.sut.reference is None:
        return StagePlayed()
    given.progress("plug-ins of tiered storage by themselves")
    slot = take_slot(given.run, world=given.world, clock=STAGE, part=0, shard=STAGE)
    now = count()
    recorder = Recorder(slot, now=lambda: next(now))
    python, _ = split_mutants(given.sut.mutants)
    served = given.world in WITH_S3
    with mutated(*(mutant for _, mutant in python)):
        asyncio.run(_play(recorder, given.world))
        _play_on_topic(recorder, given.seed)
        if served:
            _play_on_s3(recorder)
    slot.writer.close()
    again = len(METADATA_CASES) + len(STORAGE_CASES) * served
    return StagePlayed(counted={"plug-in case": len(CASES) + again})


async def _play(recorder: Recorder, world: str) -> None:
    limit_s = PATIENCE_S
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory(prefix="tidemark-plug-ins-") as place:
            address = "memory:" if world == "sim" else f"{place}/objects"
            Path(place, "objects").mkdir()
            bench = Bench(open_object_store(address), Path(place))
            value = await _recorded(recorder, name, played(case, bench, limit_s))
            if value == LATE:  # where one waits for ever, many others may
                limit_s = AFTERWARDS_S


def _play_on_topic(recorder: Recorder, seed: int) -> None:
    async def play(managers: OnTopic) -> None:
        for name, case in METADATA_CASES.items():
            bench = MetadataBench(managers.next_case())
            await _recorded(recorder, ON_TOPIC + name, played(case, bench))

    with Simulation(seed=seed, forgiving=True) as sim:
        sim.run(play(OnTopic(sim)))
        if sim.uncaught and not in_force():
            raise LabBroken(f"a manager left an error uncaught: {sim.uncaught[0]}")


def _play_on_s3(recorder: Recorder) -> None:
    async def play(server: SeaweedServer, place: Path) -> None:
        for number, (name, case) in enumerate(STORAGE_CASES.items()):
            store = open_object_store(server.url(f"case-{number}"))
            try:
                await _recorded(recorder, ON_S3 + name, played(case, Bench(store, place)))
            finally:
                await store.close()

    with (
        tempfile.TemporaryDirectory(prefix="tidemark-plug-ins-") as place,
        SeaweedServer() as server,
    ):
        asyncio.run(play(server, Path(place)))


async def _recorded(recorder: Recorder, name: str, case: Awaitable[str]) -> str:
    operation = recorder.invoke(STAGE, OPERATION, {"key": name})
    value = await case
    recorder.finish(operation, "ok", {"value": value})
    return value
