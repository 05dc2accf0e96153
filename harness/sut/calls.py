"""The calls of the boundary register as a script writes them.

A call has a full name (the one in histories and on the wire), a short name for tables, and the
arguments it takes. Arguments have short names too. Seeds are named sets: a table says `seeds=A`
and everyone who reads it can look here what A is. Sets without a word about their offsets lie below
offset 10, so every boundary from 10 on admits them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Entry = tuple[int, int, int, int, int, int]
Entries = tuple[Entry, ...]
Value = int | str | Entries | tuple[int, ...] | None  # several partitions: only for `lab upgrade`

UNDEFINED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: its names, what it must be given, what it may be given."""

    f: str
    alias: str
    needs: tuple[str, ...] = ()
    defaults: Mapping[str, Value] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Everything a table may say about this call, by full name."""
        return (*self.needs, *self.defaults, "topic", "partition")


def _calls(*calls: Call) -> Mapping[str, Call]:
    return MappingProxyType({call.f: call for call in calls})


CALLS: Mapping[str, Call] = _calls(
    Call(f="create_log", alias="create"),
    Call(
        f="initialize_diskless_migration",
        alias="initialize",
        needs=("boundary", "leader_epoch"),
        defaults={"entries": ()},
    ),
    Call(
        f="set_diskless_log_start_offset",
        alias="set",
        needs=("boundary",),
        defaults={"leader_epoch": None},
    ),
    Call(f="get_diskless_log_start_offset", alias="get"),
    Call(f="seed_producer_state", alias="seed", needs=("entries",)),
    Call(f="register_leader_epoch", alias="register", needs=("leader_epoch",)),
    Call(f="describe_producers", alias="producers"),
    Call(f="commit_batch", alias="commit", defaults={"record_count": 1}),
)

ALIASES: Mapping[str, str] = MappingProxyType({call.alias: call.f for call in CALLS.values()})

SHORT_ARGUMENTS: Mapping[str, str] = MappingProxyType(
    {
        "b0": "boundary",
        "epoch": "leader_epoch",
        "seeds": "entries",
        "count": "record_count",
        "p": "partition",
        "t": "topic",
    }
)

SHORT_OF: Mapping[str, str] = MappingProxyType({v: k for k, v in SHORT_ARGUMENTS.items()})


def _batches(producer_id: int, how_many: int, *, first_offset: int = 0) -> Entries:
    """Consecutive one-record batches of one producer."""
    return tuple(
        (producer_id, 0, n, n, first_offset + n, 1_700_000_000_000 + n) for n in range(how_many)
    )


def _differing(entry: Entry, place: int) -> Entry:
    """The same entry with one number one higher."""
    a, b, c, d, e, f = (value + (n == place) for n, value in enumerate(entry))
    return a, b, c, d, e, f


_A = ((7001, 0, 0, 4, 0, 1_700_000_000_000), (7001, 0, 5, 9, 5, 1_700_000_000_005))
_ONE = (7011, 2, 30, 34, 5, 1_700_000_000_007)

SEEDS: Mapping[str, Entries] = MappingProxyType(
    {
        "none": (),
        "A": _A,
        "B": ((7001, 0, 0, 4, 0, 1_700_000_000_000), (7001, 0, 5, 8, 5, 1_700_000_000_005)),
        "C": ((7002, 1, 10, 12, 3, 1_700_000_000_003),),
        "D": ((7001, 0, 0, 4, 0, 1_700_000_000_000), (7002, 1, 10, 12, 5, 1_700_000_000_005)),
        "E": ((7003, 0, 0, 9, 0, 1_700_000_000_000),),
        "F": ((7003, 1, 0, 9, 0, 1_700_000_000_000),),
        "FIVE": _batches(7005, 5),  # as many batches of one producer as are kept
        "SIX": _batches(7006, 6),  # one more: a malformed request
        "TEN": (*_batches(7005, 5), *_batches(7008, 5)),  # of two producers, as many as are kept
        "SEVEN": (*_batches(7006, 6), *_batches(7009, 1)),  # one too many, of one of two producers
        "HIGH": _batches(7007, 1, first_offset=1_000_000),  # at or above any boundary used here
        "EDGE": _batches(
            7010, 2, first_offset=98
        ),  # up to 99: the last ones below a boundary of 100
        "OVER": _batches(7010, 2, first_offset=99),  # up to 100: one too high for that boundary
        # One batch with six different numbers, and what differs from it in one of them.
        "G": (_ONE,),
        **{f"G{n}": (_differing(_ONE, n),) for n in range(len(_ONE))},
        # A set, whatever the order of its entries and however often one of them comes.
        "A-BACKWARDS": _A[::-1],
        "A-TWICE": (*_A, *_A),
        "FIVE-TWICE": (*_batches(7005, 5), *_batches(7005, 5)),
    }
)

SEED_NAMES: Mapping[Entries, str] = MappingProxyType({v: k for k, v in SEEDS.items()})
