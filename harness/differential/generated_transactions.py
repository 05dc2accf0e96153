"""Transactions and offsets of groups by Hypothesis: two producers, two partitions, any order.

What a producer would say next is followed roughly, so that most requests are such that something
comes of them; some say another epoch, producer or sequence number. Whatever has ended is waited
for: how far markers are is no one's promise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from harness.differential.allowed import Allowed
from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import TIMEOUT_MS, fetched, list_offsets, made
from harness.differential.sequences.committing import (
    at,
    commit,
    commit_within,
    forgotten,
    grouped,
    joined,
    loaded,
    told,
)
from harness.differential.sequences.transacting import (
    added,
    begun,
    described,
    ended,
    init,
    marked,
    marker,
    read,
    sent,
    within,
)

IDS = {"t": "pid", "u": "other"}
AT_REST = ["", "Empty", "Ongoing", "CompleteCommit", "CompleteAbort"]
LATEST = -1
MOST_STEPS = 14

epochs = st.sampled_from((0, 0, 0, 0, 0, 0, 0, -1, 1, 2))
"""How far from the epoch that a producer has."""
commits = st.booleans()

ALLOWED = Allowed(
    sequence="generated/*",
    api="describe_transactions",
    paths=["transaction_states*.topics[__consumer_offsets]*"],
    reason="The partition of a group follows from its name, which is another in every play.",
)


def rested(tid: str) -> Step:
    """Wait until nothing of a transaction is on its way."""
    shown = {"transaction_states.0.transaction_state": AT_REST}
    return described(tid, until=shown, compared=False)


@dataclass(slots=True)
class Known:
    """What a producer knows of itself, roughly."""

    tid: str
    epoch: int = 0
    open: bool = False
    sequences: dict[int, int] = field(default_factory=dict)

    def bumped(self, by: int = 1) -> None:
        self.epoch += by
        self.open = False
        self.sequences.clear()


def _who(draw: st.DrawFn, producer: Known) -> dict[str, Any]:
    """Who a producer says it is."""
    pid = f"$ref:{IDS[producer.tid]}"
    if draw(st.integers(0, 19)) == 7:
        pid = draw(st.sampled_from(("$ref:pid", "$ref:other", "$ref:pid+55555")))
    return {"tid": producer.tid, "pid": pid, "epoch": max(-1, producer.epoch + draw(epochs))}


def _init(draw: st.DrawFn, producer: Known) -> list[Step]:
    more: dict[str, Any] = {}
    version = draw(st.integers(0, 5))
    if version >= 3 and draw(commits):
        who = _who(draw, producer)
        more = {"producer_id": who["pid"], "producer_epoch": who["epoch"]}
    step = init(producer.tid, version=version, **more)
    producer.bumped(2 if producer.open else 1)
    return [step, rested(producer.tid)]


def _add(draw: st.DrawFn, producer: Known) -> list[Step]:
    version = draw(st.integers(0, 5))
    verify = version >= 4 and draw(commits)
    topics = draw(st.sampled_from(({"a": [0]}, {"a": [0, 1]}, {"a": [1], "nowhere": [0]}, {})))
    producer.open = True
    return [added(topics, version=version, verify=verify, **_who(draw, producer))]


def _send(draw: st.DrawFn, producer: Known) -> list[Step]:
    partition = draw(st.integers(0, 1))
    who = _who(draw, producer)
    sequence = draw(st.sampled_from((producer.sequences.get(partition, 0),) * 4 + (0, 1, 3)))
    producer.sequences[partition] = sequence + 1
    producer.open = True
    batch = within(sequence, "x", epoch=who["epoch"], pid=who["pid"])
    version = draw(st.sampled_from((3, 8, 9, 10, 11, 12, 13)))
    return [sent(batch, tid=producer.tid, partition=partition, version=version)]


def _end(draw: st.DrawFn, producer: Known) -> list[Step]:
    version = draw(st.integers(0, 5))
    step = ended(draw(commits), version=version, **_who(draw, producer))
    if version >= 5:
        producer.bumped()
    producer.open = False
    return [step, rested(producer.tid)]


def _offsets(draw: st.DrawFn, producer: Known) -> list[Step]:
    chosen = {"a": [at(draw(st.integers(0, 9)), draw(st.integers(0, 2)))]}
    who = _who(draw, producer)
    return [
        draw(
            st.sampled_from(
                (
                    joined(version=draw(st.integers(0, 4)), **who),
                    commit_within(chosen, version=draw(st.integers(0, 5)), **who),
                    commit_within(chosen, version=draw(st.integers(4, 5)), **who),
                    commit(chosen, version=draw(st.integers(2, 10))),
                    forgotten({"a": [0, 1]}),
                )
            )
        )
    ]


def _mark(draw: st.DrawFn, producer: Known) -> list[Step]:
    who = _who(draw, producer)
    version = draw(st.integers(1, 2))
    one = marker(
        {"a": [draw(st.integers(0, 1))]},
        pid=who["pid"],
        epoch=who["epoch"],
        commit=draw(commits),
        coordinator=draw(st.sampled_from((0,) * 9 + (1,))),
        bumps=draw(st.integers(0, 2)) if version == 2 else None,
    )
    return [marked(one, version=version)]


def _delete(draw: st.DrawFn, producer: Known) -> list[Step]:
    asked = [{"partition_index": draw(st.integers(0, 1)), "offset": draw(st.integers(-1, 3))}]
    fields = {"topics": [{"name": "$topic:a", "partitions": asked}], "timeout": TIMEOUT_MS}
    return [Step(api="delete_records", version=2, fields=fields)]


def _look(draw: st.DrawFn, producer: Known) -> list[Step]:
    named = [{"name": "$topic:a", "partition_indexes": [0, 1]}]
    level, partition = draw(st.integers(0, 1)), draw(st.integers(0, 1))
    looks = (
        (described("t", "u"),),
        (Step(api="describe_producers", version=0, fields={"topics": named}),),
        (read(fetched(0, draw(st.integers(0, 4))), fetched(1), version=12, level=level),),
        list_offsets(LATEST, partition=partition, version=8, isolation_level=level),
        (told(stable=draw(commits), version=draw(st.integers(7, 10))),),
    )
    return list(draw(st.sampled_from(looks)))


ACTS = (
    _send,
    _send,
    _send,
    _end,
    _end,
    _add,
    _offsets,
    _offsets,
    _init,
    _look,
    _look,
    _mark,
    _delete,
)
CLOSING = (described("t", "u"), read(fetched(0), fetched(1), version=12), told())


@st.composite
def generated_transactions(draw: st.DrawFn) -> RequestSequence:
    """Two producers and a group to begin with, then whatever comes, and a last look."""
    producers = [Known("t"), Known("u")]
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, MOST_STEPS))):
        act = draw(st.sampled_from(ACTS))
        steps += act(draw, draw(st.sampled_from((producers[0], *producers))))
    begin = (made("a", partitions=2), grouped(), loaded(), *begun("t", "pid"), *begun("u", "other"))
    return RequestSequence(
        name="generated/example",
        about="made up by Hypothesis",
        steps=(*begin, *steps, rested("t"), rested("u"), *CLOSING),
    )


def drawn(count: int, first_seed: int) -> list[RequestSequence]:
    """So many of them, the same for the same seed."""
    found: list[RequestSequence] = []

    def take(sequence: RequestSequence) -> None:
        found.append(sequence)

    settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )(seed(first_seed)(given(generated_transactions())(take)))()
    return [replace(one, name=f"generated/{at:04}") for at, one in enumerate(found)]
