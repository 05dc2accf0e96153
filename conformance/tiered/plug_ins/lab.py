"""The stage `plug-ins`: every case as an operation of a run.

Nothing is deployed: the plug-ins of the reference are opened in this process, on a store in memory
or, among processes, on a folder. Those of other systems cannot be driven without them.
"""

from __future__ import annotations

import asyncio
import tempfile
from itertools import count
from pathlib import Path

from conformance.classic.stages import StagePlayed, StageRun
from conformance.tiered.plug_ins.bench import Bench, played
from conformance.tiered.plug_ins.cases import CASES
from conformance.tiered.stages import PLUG_INS
from harness.deployments.mutants import split_mutants
from harness.history.recorder import Recorder
from harness.history.run_slot import take_slot
from reference_impl.decisions import mutated
from reference_impl.live.object_store import open_object_store

STAGE = PLUG_INS
OPERATION = "plug_in"


def record_plug_ins(given: StageRun) -> StagePlayed:
    """Play all cases, each on plug-ins of its own."""
    if given.sut.reference is None:
        return StagePlayed()
    given.progress("plug-ins of tiered storage by themselves")
    slot = take_slot(given.run, world=given.world, clock=STAGE, part=0, shard=STAGE)
    now = count()
    recorder = Recorder(slot, now=lambda: next(now))
    python, _ = split_mutants(given.sut.mutants)
    with mutated(*(mutant for _, mutant in python)):
        asyncio.run(_play(recorder, given.world))
    slot.writer.close()
    return StagePlayed(counted={"plug-in case": len(CASES)})


async def _play(recorder: Recorder, world: str) -> None:
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory(prefix="tidemark-plug-ins-") as place:
            address = "memory:" if world == "sim" else f"{place}/objects"
            Path(place, "objects").mkdir()
            bench = Bench(open_object_store(address), Path(place))
            operation = recorder.invoke(STAGE, OPERATION, {"key": name})
            recorder.finish(operation, "ok", {"value": await played(case, bench)})
