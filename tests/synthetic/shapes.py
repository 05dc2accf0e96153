"""Histories to draw: shapes by chance, and the ones that anomalies are planted in."""

from __future__ import annotations

from hypothesis import strategies as st

from spark_checkers.synthetic import MicroShape, Shape

SEEDS = st.integers(0, 1_000_000)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Anything that a correct cluster goes through. Windows of broken assumptions are in one time
    domain only: with a second one nobody could say what they excuse there."""
    clocks = draw(st.sampled_from([1, 1, 1, 2]))
    trouble = st.integers(0, 2 if clocks == 1 else 0)
    return Shape(
        topics=draw(st.integers(1, 2)),
        partitions=draw(st.integers(1, 3)),
        brokers=draw(st.sampled_from([3, 3, 2, 1])),
        min_in_sync=draw(st.integers(1, 2)),
        old_records=draw(st.sampled_from([0, 5])),
        log_start=draw(st.sampled_from([0, 3, 10])),
        idempotent=draw(st.integers(0, 2)),
        plain=draw(st.integers(0, 2)),
        transactional=draw(st.integers(0, 2)),
        sends=draw(st.sampled_from([4, 8])),
        batch=draw(st.sampled_from([1, 3])),
        in_flight=draw(st.sampled_from([1, 3, 5])),
        acks=draw(st.sampled_from([(-1,), (-1, 1, 0), (1,)])),
        retries=draw(st.sampled_from([0, 2])),
        broker_stamps=draw(st.booleans()),
        tombstones=draw(st.booleans()),
        readers=draw(st.integers(1, 3)),
        fetches=draw(st.sampled_from([5, 12])),
        committed_readers=draw(st.booleans()),
        from_followers=draw(st.booleans()),
        shared_requests=draw(st.booleans()),
        group_members=draw(st.integers(0, 2)),
        listings=draw(st.sampled_from([0, 6])),
        deletions=draw(st.integers(0, 2)),
        epoch_questions=draw(st.sampled_from([0, 4])),
        names_epochs=draw(st.booleans()),
        elections=draw(st.integers(0, 3)),
        kills=draw(trouble),
        cut_offs=draw(trouble),
        unclean=draw(st.booleans()) and clocks == 1,
        retention=draw(st.integers(0, 1)),
        loss=draw(st.sampled_from([0.0, 0.05, 0.15])),
        clocks=clocks,
    )


MICRO_SHAPES = st.builds(
    MicroShape,
    keys=st.integers(1, 3),
    clients=st.integers(1, 4),
    operations=st.integers(4, 12),
    transactions=st.booleans(),
    subscribe=st.just(False),
    loss=st.sampled_from([0.0, 0.1, 0.3]),
)

PLANTED_IN = Shape(
    idempotent=2,
    retries=0,
    transactional=2,
    sends=10,
    readers=4,
    fetches=14,
    committed_readers=True,
    group_members=2,
    listings=10,
    deletions=2,
    epoch_questions=5,
    elections=2,
    loss=0.03,
    old_records=5,
    log_start=7,
)
"""Enough of everything: most plants find a place. Nothing breaks an assumption."""

MICRO_PLANTED_IN = (
    MicroShape(operations=12, loss=0.1),
    MicroShape(operations=12, loss=0.1, transactions=True),
)
