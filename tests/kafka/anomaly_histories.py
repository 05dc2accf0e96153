"""For each anomaly a history that shows it, its cases there, and the nearest history that does not.

All histories are this project's own. The second is the first with as little changed as makes the
anomaly go away; it may show others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Pair:
    shows: str
    cases: list[dict[str, Any]]
    not_so: str
    options: dict[str, Any] = field(default_factory=dict)


PAIRS: dict[str, list[Pair]] = {
    "inconsistent-offsets": [
        Pair(
            shows="""
                0 ok send  send x a@4 | send x b@6
                1 ok poll  poll x:a@4,c@6
            """,
            cases=[{"key": "x", "offset": 6, "index": 1, "values": ["b", "c"]}],
            not_so="""
                0 ok send  send x a@4 | send x b@6
                1 ok poll  poll x:a@4,c@7
            """,
        ),
        Pair(
            # Polls count whatever becomes of their operation.
            shows="""
                0 fail poll  poll x:a@0
                1 info poll  poll x:b@0
            """,
            cases=[{"key": "x", "offset": 0, "index": 0, "values": ["a", "b"]}],
            not_so="""
                0 fail send  send x a@0
                1 info send  send x b@0
                1 ok   poll  poll x:c@0
            """,
        ),
        Pair(
            # An unknown send counts once anything that its operation sent was polled by an ok one.
            shows="""
                0 info send  send x a@0 | send y b
                1 ok   send  send x c@0
                2 ok   poll  poll y:b@0
            """,
            cases=[{"key": "x", "offset": 0, "index": 0, "values": ["a", "c"]}],
            not_so="""
                0 info send  send x a@0 | send y b
                1 ok   send  send x c@0
                2 info poll  poll y:b@0
            """,
        ),
    ],
    "duplicate": [
        Pair(
            shows="""
                0 ok   send  send x a@0 | send x b@1
                1 ok   poll  poll x:a@0,b@1
                1 fail poll  poll x:a@2
            """,
            cases=[{"key": "x", "value": "a", "count": 2, "offsets": [0, 2]}],
            not_so="""
                0 fail send  send x a@0
                0 ok   send  send x b@1
                1 ok   poll  poll x:b@1
                1 fail poll  poll x:a@2
            """,
        ),
    ],
    "duplicate-nonzero": [
        Pair(
            shows="0 ok send send x a@1 \n 1 ok poll poll x:a@3",
            cases=[{"key": "x", "value": "a", "count": 2, "offsets": [1, 3]}],
            not_so="0 ok send send x a@0 \n 1 ok poll poll x:a@3",
        ),
    ],
    "G1a": [
        Pair(
            shows="""
                0 fail send  send x a | send y b
                1 ok   poll  poll y:b@0,b@1
            """,
            cases=[
                {"key": "y", "value": "b", "writer": 1, "reader": 3},
                {"key": "y", "value": "b", "writer": 1, "reader": 3},
            ],
            not_so="""
                0 fail send  send x a | send y b
                1 info poll  poll y:b@0,b@1
            """,
        ),
    ],
    "precommitted-read": [
        Pair(
            # One case for an operation: of the log it sent to first.
            shows="0 info txn  send x 1 | send y 2 | send x 3 | poll y:2@0 x:3@1",
            cases=[{"op": 1, "key": "x", "value": 3}],
            not_so="0 ok txn  send x 1 | poll x:2@0",
        ),
    ],
    "lost-write": [
        Pair(
            shows="""
                0 ok send  send x a@0 | send x b@1 | send x c@2
                1 ok poll  poll x:b@1
            """,
            cases=[
                {
                    "key": "x",
                    "value": "a",
                    "index": 0,
                    "max-read-index": 1,
                    "writer": 1,
                    "max-read": 3,
                }
            ],
            not_so="""
                0 ok send  send x a@0 | send x b@1 | send x c@2
                1 ok poll  poll x:a@0
            """,
        ),
        Pair(
            # A value that stands above the bound too may still come.
            shows="""
                0 ok   send  send x a@0 | send x b@1
                1 fail poll  poll x:a@0
                1 ok   poll  poll x:b@1
            """,
            cases=[
                {
                    "key": "x",
                    "value": "a",
                    "index": 0,
                    "max-read-index": 1,
                    "writer": 1,
                    "max-read": 5,
                }
            ],
            not_so="""
                0 ok   send  send x a@0 | send x b@1
                1 fail poll  poll x:a@2
                1 ok   poll  poll x:b@1
            """,
        ),
        Pair(
            # The place of an unknown send is known, but not that it happened.
            shows="""
                0 info send  send x a@0 | send y d
                1 ok   send  send x b@1
                2 ok   poll  poll x:b@1 y:d@0
            """,
            cases=[
                {
                    "key": "x",
                    "value": "a",
                    "index": 0,
                    "max-read-index": 1,
                    "writer": 1,
                    "max-read": 5,
                }
            ],
            not_so="""
                0 info send  send x a@0 | send y d
                1 ok   send  send x b@1
                2 ok   poll  poll x:b@1
            """,
        ),
    ],
    "unseen": [
        Pair(
            shows="""
                0 ok   send  send x 2@0 | send x 1@1 | send y 3@0
                1 ok   poll  poll y:3@0
                1 info poll  poll x:1@1
            """,
            cases=[{"time": 30, "unseen": {"x": 2}, "messages": {"x": [1, 2]}}],
            not_so="""
                0 ok   send  send x 2@0 | send y 3@0
                0 info send  send x 1
                1 ok   poll  poll y:3@0 x:2@0
            """,
        ),
    ],
    "poll-skip": [
        Pair(
            shows="""
                0 ok   send  send x a@0 | send x b@5 | send x c@9
                1 ok   poll  poll x:a@0
                1 fail poll  poll x:c@9
                2 ok   poll  poll x:b@5
            """,
            cases=[{"key": "x", "delta": 2, "skipped": ["b"], "ops": [3, 5]}],
            not_so="""
                0 ok   send  send x a@0 | send x b@5 | send x c@9
                1 ok   poll  poll x:a@0
                1 ok   assign y
                1 fail poll  poll x:c@9
                2 ok   poll  poll x:b@5
            """,
        ),
        Pair(
            # An assignment that names the log keeps it, one that failed drops nothing.
            shows="""
                0 ok   send  send x a@0 | send x b@5 | send x c@9
                1 ok   poll  poll x:a@0
                1 info assign y x
                1 fail assign y
                1 ok   poll  poll x:c@9
            """,
            cases=[{"key": "x", "delta": 2, "skipped": ["b"], "ops": [3, 9]}],
            # A poll that names the log and brings nothing makes the checker forget where it was.
            not_so="""
                0 ok   send  send x a@0 | send x b@5 | send x c@9
                1 ok   poll  poll x:a@0
                1 ok   poll  poll x:
                1 ok   poll  poll x:c@9
            """,
        ),
    ],
    "nonmonotonic-poll": [
        Pair(
            shows="""
                0 ok   send  send x a@0 | send x b@1
                1 ok   txn   poll x:a@0 | poll x:b@1
                1 info txn   poll x:b@1
            """,
            cases=[{"key": "x", "values": ["b", "b"], "delta": 0, "ops": [3, 5]}],
            # Where an operation left off that was not ok binds nobody.
            not_so="""
                0 ok   send  send x a@0 | send x b@1
                1 info txn   poll x:a@0 | poll x:b@1
                1 ok   txn   poll x:b@1
            """,
        ),
    ],
    "int-poll-skip": [
        Pair(
            shows="""
                0 ok   send  send x a@0 | send x b@1 | send x c@2
                1 fail txn   poll x:a@0 | poll x:c@2
            """,
            cases=[
                {"key": "x", "values": ["a", "c"], "delta": 2, "skipped": ["b"], "op": 3},
            ],
            not_so="""
                0 ok   send  send x a@0 | send x b@1 | send x c@2
                1 fail txn   poll x:a@0 | poll x:c@2 !x
            """,
        ),
    ],
    "int-nonmonotonic-poll": [
        Pair(
            shows="""
                0 ok send  send x a@0 | send x b@1
                1 ok poll  poll x:b@1,a@0
            """,
            cases=[{"key": "x", "values": ["b", "a"], "delta": -1, "op": 3}],
            not_so="""
                0 ok send  send x a@0 | send x b@1
                1 ok poll  poll x:b@1,a@0 !x
            """,
        ),
    ],
    "nonmonotonic-send": [
        Pair(
            shows="""
                0 ok   send  send x b@1
                0 info send  send x a
                1 ok   poll  poll x:a@0,b@1
            """,
            cases=[{"key": "x", "values": ["b", "a"], "delta": -1, "ops": [1, 3]}],
            not_so="""
                0 ok   send  send x b@1
                0 ok   subscribe y
                0 info send  send x a
                1 ok   poll  poll x:a@0,b@1
            """,
        ),
        Pair(
            # Sends that failed are stepped over.
            shows="""
                0 ok   send  send x b@1
                0 fail send  send x c
                0 ok   send  send x a@0
            """,
            cases=[{"key": "x", "values": ["b", "a"], "delta": -1, "ops": [1, 5]}],
            not_so="""
                0 ok   send  send x b@1
                1 fail send  send x c
                1 ok   send  send x a@0
            """,
        ),
    ],
    "int-nonmonotonic-send": [
        Pair(
            # Even of an operation that failed, if its values were polled.
            shows="""
                0 fail send  send x b | send x a
                1 info poll  poll x:a@0,b@1
            """,
            cases=[{"key": "x", "values": ["b", "a"], "delta": -1, "op": 1}],
            not_so="""
                0 fail send  send x b | send x a
                1 info poll  poll x:a@1,b@0
            """,
        ),
    ],
    "int-send-skip": [
        Pair(
            shows="""
                0 ok send  send x a@0 | send x c@7
                1 ok send  send x b@3
            """,
            cases=[{"key": "x", "values": ["a", "c"], "delta": 2, "skipped": ["b"], "op": 1}],
            not_so="""
                0 ok send  send x a@0 | send x c@7
                1 ok send  send x b@9
            """,
        ),
    ],
    "garbage-read": [
        Pair(
            shows="""
                0 ok   send  send x 1@0
                1 info poll  poll x:1@0,2@1
            """,
            cases=[{"key": "x", "value": 2, "offset": 1, "reader": 3}],
            # Whoever sent it, and whatever became of that.
            not_so="""
                0 ok     send  send x 1@0
                2 invoke send  send x 2
                1 info   poll  poll x:1@0,2@1
            """,
        ),
    ],
    "G0": [
        Pair(
            options={"ww-deps": True},
            shows="""
                0 invoke send  send x a | send y b
                1 invoke send  send x c | send y d
                0 ok     send  send x a@0 | send y b@1
                1 ok     send  send x c@1 | send y d@0
            """,
            cases=[
                {
                    "cycle": [3, 2, 3],
                    "steps": [
                        {"type": "ww", "key": "y", "value": "d", "value'": "b"},
                        {"type": "ww", "key": "x", "value": "a", "value'": "c"},
                    ],
                }
            ],
            not_so="""
                0 invoke send  send x a | send y b
                1 invoke send  send x c | send y d
                0 ok     send  send x a@0 | send y b@0
                1 ok     send  send x c@1 | send y d@1
            """,
        ),
    ],
    "G0-process": [
        Pair(
            options={"ww-deps": True},
            shows="""
                0 ok send  send x b@1
                0 ok send  send x a@0
            """,
            cases=[
                {
                    "cycle": [3, 1, 3],
                    "steps": [
                        {"type": "ww", "key": "x", "value": "a", "value'": "b"},
                        {"type": "process", "process": 0},
                    ],
                }
            ],
            not_so="""
                0 ok send  send x b@1
                1 ok send  send x a@0
            """,
        ),
    ],
    "G0-realtime": [
        Pair(
            options={"ww-deps": True},
            shows="""
                0 ok send  send x b@1
                1 ok send  send x a@0
            """,
            cases=[
                {
                    "cycle": [3, 1, 3],
                    "steps": [
                        {"type": "ww", "key": "x", "value": "a", "value'": "b"},
                        {"type": "realtime", "ended": 1, "began": 2},
                    ],
                }
            ],
            not_so="""
                0 invoke send  send x b
                1 ok     send  send x a@0
                0 ok     send  send x b@1
            """,
        ),
    ],
    "G1c": [
        Pair(
            shows="""
                0 invoke txn  send x a | poll
                1 invoke txn  send y b | poll
                0 ok     txn  send x a@0 | poll y:b@0
                1 info   txn  send y b | poll x:a@0
            """,
            cases=[
                {
                    "cycle": [3, 2, 3],
                    "steps": [
                        {"type": "wr", "key": "y", "value": "b"},
                        {"type": "wr", "key": "x", "value": "a"},
                    ],
                }
            ],
            not_so="""
                0 invoke txn  send x a | poll
                1 invoke txn  send y b | poll
                0 ok     txn  send x a@0 | poll y:b@0
                1 info   txn  send y b | poll x:c@0
            """,
        ),
        Pair(
            options={"ww-deps": True},
            shows="""
                0 invoke txn  send x a | send y c
                1 invoke txn  poll | send y b
                0 ok     txn  send x a@0 | send y c@4
                1 ok     txn  poll x:a@0 | send y b@2
            """,
            cases=[
                {
                    "cycle": [2, 3, 2],
                    "steps": [
                        {"type": "wr", "key": "x", "value": "a"},
                        {"type": "ww", "key": "y", "value": "b", "value'": "c"},
                    ],
                }
            ],
            not_so="""
                0 invoke txn  send x a | send y c
                1 invoke txn  poll | send y b
                0 ok     txn  send x a@0 | send y c@2
                1 ok     txn  poll x:a@0 | send y b@4
            """,
        ),
    ],
    "G1c-process": [
        Pair(
            shows="""
                0 ok poll  poll x:a@0
                0 ok send  send x a@0
            """,
            cases=[
                {
                    "cycle": [3, 1, 3],
                    "steps": [
                        {"type": "wr", "key": "x", "value": "a"},
                        {"type": "process", "process": 0},
                    ],
                }
            ],
            not_so="""
                0 ok poll  poll x:a@0
                1 ok send  send x a@0
            """,
        ),
    ],
    "G1c-realtime": [
        Pair(
            shows="""
                0 ok poll  poll x:a@0
                1 ok send  send x a@0
            """,
            cases=[
                {
                    "cycle": [3, 1, 3],
                    "steps": [
                        {"type": "wr", "key": "x", "value": "a"},
                        {"type": "realtime", "ended": 1, "began": 2},
                    ],
                }
            ],
            not_so="""
                0 invoke poll  poll
                1 ok     send  send x a@0
                0 ok     poll  poll x:a@0
            """,
        ),
    ],
    "empty-transaction-graph": [
        Pair(
            shows="""
                0 ok   assign x
                0 info send  send x a
                1 fail poll  poll
            """,
            cases=[{}],
            not_so="""
                0 ok assign x
                0 ok   send  send x a
                1 fail poll  poll
            """,
        ),
    ],
}
