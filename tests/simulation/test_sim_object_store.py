"""What the lab may do to objects of the simulated store, and how it knows that it was noticed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from random import Random

import pytest
from at_once import now

from harness.simulation.object_store import Damage, Harm, SimObjectStore, StoreCounts
from reference_impl.ports.object_store import (
    AlreadyExists,
    InvalidRange,
    ObjectInfo,
    ObjectNotFound,
    StoreError,
)

DATA = b"0123456789"
SEEDS = range(200)


@pytest.fixture
def store() -> SimObjectStore:
    return stored(Random(7))


def stored(rng: Random) -> SimObjectStore:
    """A store with one object, `wal/1`."""
    store = SimObjectStore(rng)
    now(store.put("wal/1", DATA))
    return store


# --- what harm does ---------------------------------------------------------------------------


def test_a_vanished_object_is_gone_for_every_question(store: SimObjectStore) -> None:
    store.vanish("wal/1")

    for ask in (store.get("wal/1"), store.head("wal/1"), store.get_range("wal/1", 0, 1)):
        with pytest.raises(ObjectNotFound):
            now(ask)
    assert now(store.list()) == ()
    assert store.contents() == {}


def test_a_torn_object_keeps_a_beginning_and_never_all() -> None:
    left = []
    for seed in SEEDS:
        store = stored(Random(seed))
        store.tear("wal/1")
        left.append(now(store.get("wal/1")))

    assert sorted({*left}) == [DATA[:size] for size in range(10)]


def test_a_torn_object_is_listed_with_the_size_it_has_left(store: SimObjectStore) -> None:
    store.tear("wal/1")
    size = len(now(store.get("wal/1")))

    assert now(store.list()) == (ObjectInfo(key="wal/1", size=size),)


def test_a_corrupt_object_differs_in_one_bit_anywhere() -> None:
    places = []
    for seed in range(1000):
        store = stored(Random(seed))
        store.corrupt("wal/1")
        found = now(store.get("wal/1"))
        bits = int.from_bytes(found, "big") ^ int.from_bytes(DATA, "big")
        assert len(found) == len(DATA)
        assert bits.bit_count() == 1
        places.append(bits.bit_length() - 1)

    assert sorted({*places}) == [*range(80)]


def test_the_same_chance_does_the_same_harm() -> None:
    def harmed(seed: int) -> bytes:
        store = stored(Random(seed))
        store.corrupt("wal/1")
        store.tear("wal/1")
        return store.contents()["wal/1"]

    assert [harmed(seed) for seed in SEEDS] == [harmed(seed) for seed in SEEDS]


def test_harm_to_one_object_leaves_the_others_alone(store: SimObjectStore) -> None:
    now(store.put("wal/2", b"two"))
    store.corrupt("wal/1")
    store.tear("wal/1")
    store.vanish("wal/1")

    assert store.contents() == {"wal/2": b"two"}


def test_a_damage_says_what_was_done(store: SimObjectStore) -> None:
    damage = store.vanish("wal/1")

    assert damage == Damage(harm=Harm.VANISHED, key="wal/1", before=DATA, after=None)
    assert store.damages == [damage]


@pytest.mark.parametrize("harm", ["vanish", "tear", "corrupt"])
def test_only_an_object_that_is_there_can_be_harmed(store: SimObjectStore, harm: str) -> None:
    with pytest.raises(LookupError, match="no object to damage: wal/2"):
        getattr(store, harm)("wal/2")


@pytest.mark.parametrize("harm", ["tear", "corrupt"])
def test_an_empty_object_has_nothing_to_harm(store: SimObjectStore, harm: str) -> None:
    now(store.put("empty", b""))

    with pytest.raises(LookupError, match="no object to damage: empty"):
        getattr(store, harm)("empty")
    assert store.damages == []


# --- evidence that it bit ---------------------------------------------------------------------


def ask(store: SimObjectStore, what: str) -> None:
    """Ask a question, whatever the answer."""
    questions: dict[str, Callable[[], Coroutine[None, None, object]]] = {
        "get": lambda: store.get("wal/1"),
        "the whole range": lambda: store.get_range("wal/1", 0, 10),
        "a range beyond the end": lambda: store.get_range("wal/1", 10, 1),
        "head": lambda: store.head("wal/1"),
        "list all": lambda: store.list(),
        "list its folder": lambda: store.list("wal/"),
        "list another folder": lambda: store.list("index/"),
        "get another": lambda: store.get("wal/2"),
        "put": lambda: store.put("wal/1", b"new"),
        "put if absent": lambda: store.put("wal/1", b"new", if_absent=True),
        "delete": lambda: store.delete(["wal/1"]),
    }
    with contextlib.suppress(StoreError):
        now(questions[what]())


BITES = [
    #  the question               vanished  torn  corrupt
    ("get", 1, 1, 1),
    ("the whole range", 1, 1, 1),
    ("a range beyond the end", 1, 0, 0),
    ("head", 1, 1, 0),
    ("list all", 1, 1, 0),
    ("list its folder", 1, 1, 0),
    ("list another folder", 0, 0, 0),
    ("get another", 0, 0, 0),
    ("put", 0, 0, 0),
    ("put if absent", 1, 0, 0),
    ("delete", 0, 0, 0),
]


@pytest.mark.parametrize(("what", "vanished", "torn", "corrupt"), BITES)
def test_harm_has_bitten_where_an_answer_is_not_what_it_would_have_been(
    what: str, vanished: int, torn: int, corrupt: int
) -> None:
    counts = []
    for harm in ("vanish", "tear", "corrupt"):
        store = stored(Random(7))
        getattr(store, harm)("wal/1")
        ask(store, what)
        counts.append(store.counts)

    assert counts == [
        StoreCounts(reads_missed=vanished),
        StoreCounts(reads_torn=torn),
        StoreCounts(reads_corrupt=corrupt),
    ]


@pytest.mark.parametrize("what", [row[0] for row in BITES])
def test_a_store_without_harm_has_no_evidence_of_any(store: SimObjectStore, what: str) -> None:
    ask(store, what)

    assert store.counts == StoreCounts()


def test_a_range_within_what_is_left_of_a_torn_object_is_no_evidence() -> None:
    for seed in SEEDS:
        store = stored(Random(seed))
        damage = store.tear("wal/1")
        left = len(now(store.get("wal/1")))
        if left:
            assert now(store.get_range("wal/1", 0, left)) == DATA[:left]
            assert damage.reads == 1  # that of the whole object alone


def test_a_range_across_the_tear_is_evidence() -> None:
    for seed in SEEDS:
        store = stored(Random(seed))
        damage = store.tear("wal/1")
        with contextlib.suppress(InvalidRange):
            now(store.get_range("wal/1", len(store.contents()["wal/1"]), 1))
        assert damage.reads == 1


def test_a_range_is_evidence_of_corruption_only_where_the_bit_is() -> None:
    for seed in SEEDS:
        store = stored(Random(seed))
        damage = store.corrupt("wal/1")
        for place in range(10):
            now(store.get_range("wal/1", place, 1))
        assert damage.reads == 1


def test_each_damage_counts_for_itself(store: SimObjectStore) -> None:
    now(store.put("wal/2", b"two"))
    first, second = store.vanish("wal/1"), store.vanish("wal/2")
    for what in ("get", "head", "get another"):
        ask(store, what)

    assert (first.reads, second.reads) == (2, 1)
    assert store.counts == StoreCounts(reads_missed=3)


@pytest.mark.parametrize("what", ["put", "put if absent", "delete"])
def test_whoever_writes_the_object_again_ends_the_damage(store: SimObjectStore, what: str) -> None:
    damage = store.vanish("wal/1")
    ask(store, what)
    before = damage.reads
    ask(store, "get")

    assert damage.reads == before


def test_a_put_if_absent_that_is_turned_away_leaves_the_damage_as_it_is(
    store: SimObjectStore,
) -> None:
    damage = store.tear("wal/1")
    with pytest.raises(AlreadyExists):
        now(store.put("wal/1", b"new", if_absent=True))
    ask(store, "get")

    assert damage.reads == 1


def test_the_next_damage_to_an_object_takes_the_place_of_the_one_before(
    store: SimObjectStore,
) -> None:
    torn, gone = store.tear("wal/1"), store.vanish("wal/1")
    ask(store, "get")

    assert (torn.reads, gone.reads) == (0, 1)


# --- looking from outside ---------------------------------------------------------------------


def test_looking_from_outside_is_no_evidence(store: SimObjectStore) -> None:
    damage = store.corrupt("wal/1")
    store.contents()
    store.rows()

    assert damage.reads == 0


def test_rows_are_keys_and_sizes_in_order(store: SimObjectStore) -> None:
    now(store.put("wal/10", b""))
    now(store.put("index", b"abc"))

    assert store.rows() == [["index", 3], ["wal/1", 10], ["wal/10", 0]]


def test_what_was_put_does_not_change_with_the_callers_buffer(store: SimObjectStore) -> None:
    buffer = bytearray(b"abc")
    now(store.put("wal/2", buffer))
    buffer[0] = 0

    assert store.contents()["wal/2"] == b"abc"
