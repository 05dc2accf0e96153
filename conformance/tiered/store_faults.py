"""The stage `store-faults`: the store refuses, is slow, broken, killed, loses replies, writes part
of a copy, has lost or damaged objects, while brokers stand.

Produce and local reads go on, topics are created and deleted, remote readers get an error in time;
copies go on when the store is back, and nothing is lost or left behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from conformance.tiered.fault_stage import FaultStage, kept_for_ever, on_disk
from conformance.tiered.tiers import KEPT
from conformance.tiered.topics import tier
from harness.steps.step import Step
from nemesis.schedule import Strike

LOG, DOOMED, DURING = "stored", "doomed", "during"
STORE = "object-store"
SEGMENTS = "*/segment.log"
A_SEGMENT = f"an object like {SEGMENTS}"
SLOW_S = 2.0
LASTS_S = 1.0  # longer than the first retry of a task, and than a remote read may take
OF_OUTAGES = ("TS-057", "TS-060", "TS-061", "TS-062", "TS-063", "TS-064")


def _outage(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """Without the store: produce, read both tiers, create and delete topics."""
    partitions, configs = STAGE.topics[DOOMED]
    yield tier("note", log=f"{LOG}-*")
    yield STAGE.strike(fault)
    yield tier("write", log=f"{LOG}-*", batches="0 1 2")
    yield tier("touch", log=f"{LOG}-*")
    yield tier("create", topic=DURING, partitions=partitions, configs=configs)
    yield tier("delete-topic", topic=DOOMED)
    yield lasting
    yield tier("write", log=f"{LOG}-*", batches="0 1")
    yield tier("touch", log=f"{LOG}-*", most=1)
    yield STAGE.end(fault)


def _short(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """An outage in which nothing but logs is touched."""
    more = {"seconds": SLOW_S} if fault == "store-slow" else {}
    yield tier("note", log=f"{LOG}-*")
    yield STAGE.strike(fault, **more)
    yield tier("write", log=f"{LOG}-*", batches="0 1 2")
    yield tier("touch", log=f"{LOG}-*", most=2)
    yield lasting
    yield STAGE.end(fault)


def _in_both(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """An outage while what was copied is still on the disk."""
    logs = f"{LOG}-*"
    yield on_disk(LOG, kept=True)
    yield tier("write", log=logs, batches="0 1 2 3 4 5")
    yield tier("await", log=logs, what="resumed", keep=KEPT, bound=bound)
    yield from _short(fault, lasting, bound)
    yield on_disk(LOG, kept=False)


def _half_written(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """Of each copy the indexes are written, and the segment is not."""
    yield tier("note", log=f"{LOG}-*")
    yield STAGE.strike(fault, like=SEGMENTS)
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3")
    yield lasting
    yield tier("touch", log=f"{LOG}-*", most=2)
    yield STAGE.end(fault)


def _damage(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """An object cannot be read as it was written."""
    yield tier("note", log="*")
    yield STAGE.strike(fault)
    yield tier("write", log=f"{LOG}-*", batches="0 1")
    yield tier("scan", log="*")
    yield tier("touch", log=f"{LOG}-*", most=1)
    yield STAGE.end(fault)


STAGE = FaultStage(
    name="store-faults",
    log=LOG,
    topics=kept_for_ever(stored=2, doomed=1),
    faults=MappingProxyType(
        {
            "store-broken": Strike("object-store-broken", STORE),
            "store-refused": Strike("object-store-refused", STORE),
            "store-slow": Strike("object-store-slow", STORE),
            "store-killed": Strike("object-store-killed", STORE),
            "reply-lost": Strike("object-store-reply-lost", STORE),
            "half-written": Strike("object-store-half-writes", STORE),
            "vanished": Strike("object-vanished", A_SEGMENT),
            "torn": Strike("object-torn", A_SEGMENT),
            "corrupt": Strike("object-corrupt", A_SEGMENT),
        }
    ),
    plays=MappingProxyType(
        {
            "store-broken": _outage,
            "store-refused": _in_both,
            "store-slow": _short,
            "store-killed": _short,
            "reply-lost": _short,
            "half-written": _half_written,
            "vanished": _damage,
            "torn": _damage,
            "corrupt": _damage,
        }
    ),
    promised=frozenset({"store-broken"}),
    lasts_s=LASTS_S,
    first="store-broken",  # in which a topic of its own is deleted
    made_later=(DURING,),
    rules=MappingProxyType({"store-broken": OF_OUTAGES, "corrupt": ("TS-065",)}),
)
