"""Cycles among operations that send and poll, planted at the start of a history.

Two operations that depend on each other are added, on keys of their own; so is a poll that shows
what they sent, where nobody else does. `ww-deps` makes the order of writes a dependency.
"""

from __future__ import annotations

from random import Random
from typing import Any

from spark_checkers.synthetic.drafts import Draft, Operation, Plant, Planted

WW_DEPS = ("ww-deps",)
ONE, OTHER = "cycle-1", "cycle-2"


def _sent(key: str, offset: int, value: int) -> list[Any]:
    return ["send", key, [offset, value]]


def _polled(*pairs: tuple[int, int], key: str) -> list[Any]:
    return ["poll", {key: [list(pair) for pair in pairs]}]


def _two(
    draft: Draft, first: list[Any], second: list[Any], *, same: bool = False, apart: bool = False
) -> tuple[Operation, Operation]:
    """Two operations: of one process or of two, one after the other or at once."""
    process, begin = draft.free_process, draft.start
    added = []
    for number, value in enumerate((first, second)):
        kinds = {micro[0] for micro in value}
        who = {
            "process": process + (0 if same else number),
            "f": "txn" if len(kinds) > 1 else kinds.pop(),
        }
        asked = [[one[0]] if one[0] == "poll" else ["send", one[1], one[2][1]] for one in value]
        since = begin + (10 if apart else 1) * number
        operation = Operation(
            {**who, "time": since, "value": asked},
            {**who, "time": since + 5, "type": "ok", "value": value},
        )
        added.append(draft.add(operation))
    return added[0], added[1]


def _shown(draft: Draft, polled: dict[str, list[list[int]]]) -> None:
    """Somebody polls all of it in the end."""
    who = {"process": draft.free_process, "f": "poll"}
    draft.add(
        Operation(
            {**who, "time": draft.end, "value": [["poll"]]},
            {**who, "time": draft.end + 5, "type": "ok", "value": [["poll", polled]]},
        )
    )


def _reads(*, same: bool, apart: bool) -> Any:
    """What is polled first is sent later: by the same process, or in real time."""

    def change(draft: Draft, random: Random) -> Planted:
        pair = _two(draft, [_polled((0, 1), key=ONE)], [_sent(ONE, 0, 1)], same=same, apart=apart)
        return draft.planted(*pair)

    return change


def reads_of_each_other(draft: Draft, random: Random) -> Planted:
    """Each of two transactions at once polls what the other sends."""
    pair = _two(
        draft,
        [_sent(ONE, 0, 1), _polled((0, 1), key=OTHER)],
        [_sent(OTHER, 0, 1), _polled((0, 1), key=ONE)],
    )
    return draft.planted(*pair)


def entangled_writes(draft: Draft, random: Random) -> Planted:
    """Two transactions stand in different orders in two logs."""
    pair = _two(
        draft,
        [_sent(ONE, 0, 1), _sent(OTHER, 1, 1)],
        [_sent(ONE, 1, 2), _sent(OTHER, 0, 2)],
    )
    _shown(draft, {ONE: [[0, 1], [1, 2]], OTHER: [[0, 2], [1, 1]]})
    return draft.planted(*pair)


def _writes(*, same: bool) -> Any:
    """What is sent first stands behind: by the same process, or in real time."""

    def change(draft: Draft, random: Random) -> Planted:
        pair = _two(draft, [_sent(ONE, 1, 1)], [_sent(ONE, 0, 2)], same=same, apart=True)
        _shown(draft, {ONE: [[0, 2], [1, 1]]})
        return draft.planted(*pair)

    return change


def nothing_but_one(draft: Draft, random: Random) -> Planted:
    """Of the whole history one send is left: nothing depends on anything."""
    sends = draft.of("send")
    operation = random.choice(sends)
    draft.keep(operation)
    return draft.planted(operation)


CYCLE_PLANTS = (
    Plant(name="G1c", found_by=("KFK-018",), change=reads_of_each_other),
    Plant(
        name="G1c-process",
        found_by=("KFK-019",),
        seen_by=("KFK-020",),
        change=_reads(same=True, apart=True),
    ),
    Plant(name="G1c-realtime", found_by=("KFK-020",), change=_reads(same=False, apart=True)),
    Plant(name="G0", found_by=("KFK-015",), under=WW_DEPS, change=entangled_writes),
    Plant(
        name="G0-process",
        found_by=("KFK-016", "KFK-011"),
        seen_by=("KFK-017",),
        under=WW_DEPS,
        change=_writes(same=True),
    ),
    Plant(name="G0-realtime", found_by=("KFK-017",), under=WW_DEPS, change=_writes(same=False)),
    Plant(
        name="empty-transaction-graph",
        found_by=("KFK-025",),
        seen_by=("KFK-006",),
        change=nothing_but_one,
    ),
)
