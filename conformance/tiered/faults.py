"""The stage `tier-faults`: leaders of tiered logs fall or are cut off, a disk is lost."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from conformance.tiered.fault_stage import (
    NEWEST,
    FaultStage,
    kept_for_ever,
    on_disk,
    producers_go_on,
)
from conformance.tiered.tiers import recovers
from conformance.tiered.topics import step, tier
from harness.steps.step import NEMESIS, Step
from nemesis.schedule import Strike

LOG = "kept"
LASTS_S = 2.5  # longer than a session, and than a follower may lag


def _falls(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """A leader goes while segments are being copied, and comes back."""
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3 4")
    yield STAGE.strike(fault)
    yield lasting
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3")
    yield from producers_go_on(LOG)
    yield tier("read", log=f"{LOG}-0", most=2)
    yield STAGE.end(fault)


def _cut_off(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """A leader that no node hears appends what it must cut off again when it follows.

    It is read there afterwards; meanwhile no local segment goes.
    """
    yield on_disk(LOG, kept=True)
    yield tier("write", log=f"{LOG}-*", batches="0 1 2")
    yield STAGE.strike(fault)
    yield tier("write", log=f"{LOG}-0", batches="0")
    yield lasting
    yield tier("locate", log=f"{LOG}-*")
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3")
    yield tier("read", log=f"{LOG}-0", most=2)
    yield STAGE.end(fault)
    yield from recovers()
    yield tier("settle")
    yield tier("read-all", log=f"{LOG}-0", newest=NEWEST)
    yield on_disk(LOG, kept=False)


def _reimage(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """A follower loses its disk, builds its state from the store, and leads alone with it.

    Meanwhile no local segment goes, so what it has fetched is still there when it leads.
    """
    yield tier("elect", log="*")
    yield tier("settle")
    yield on_disk(LOG, kept=True)
    yield tier("note", log=f"{LOG}-0")
    yield STAGE.strike(fault)
    yield lasting
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3 4")
    yield STAGE.end(fault)
    yield from recovers()
    yield tier("settle")
    yield step(NEMESIS, "kill", target="broker-1", part=STAGE.part_name("kill"))
    yield lasting
    yield tier("write", log=f"{LOG}-0", batches="0")
    yield tier("rebuilt", log=f"{LOG}-0")
    yield tier("epochs", log=f"{LOG}-0")
    yield from producers_go_on(LOG)
    yield tier("read", log=f"{LOG}-0")
    yield tier("search", log=f"{LOG}-0")
    yield step(NEMESIS, "end", fault="kill")
    yield from recovers()
    yield on_disk(LOG, kept=False)


STAGE = FaultStage(
    name="tier-faults",
    log=LOG,
    topics=kept_for_ever(kept=2),
    faults=MappingProxyType(
        {
            "kill": Strike("kill", f"leader of {LOG}-0"),
            "restart": Strike("restart", f"leader of {LOG}-1"),
            "cut-off": Strike("cut", f"leader of {LOG}-0 <-> everything else"),
            "reimage": Strike("reimage", "broker-2"),
        }
    ),
    plays=MappingProxyType(
        {"kill": _falls, "restart": _falls, "cut-off": _cut_off, "reimage": _reimage}
    ),
    promised=frozenset({"kill", "reimage"}),
    lasts_s=LASTS_S,
    rules=MappingProxyType({"reimage": ("TS-045",)}),
)
