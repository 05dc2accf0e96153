"""Values that are pairs of a key and a value, and values that only look so."""

import pytest

from harness.history import History, history_of
from harness.history.independent import by_key


def history(*told: tuple[int, str, str, object]) -> History:
    whole = {"kind": "op", "time": 0, "clock": "import"}
    return history_of(
        [
            whole | {"process": process, "type": kind, "f": f, "value": value}
            for process, kind, f, value in told
        ]
    )


def told(given: History) -> list[tuple[object, object]]:
    return [(event.get("key"), event["value"]) for event in given.events]


def test_pairs_become_keys_and_values():
    given = history(
        (0, "invoke", "read", ["a", None]),
        (0, "ok", "read", ["a", 4]),
        (0, "invoke", "cas", ["b", [1, 2]]),
        (0, "info", "cas", "timed-out"),
    )
    assert told(by_key(given)) == [("a", None), ("a", 4), ("b", [1, 2]), (None, "timed-out")]
    assert by_key(given).complete


@pytest.mark.parametrize(
    "invoked",
    [
        # reads ask nothing: the lists are what the object holds
        [(0, "invoke", "read", None), (1, "invoke", "write", [1, None])],
        # nobody reads, so nobody tells a key from a value
        [(0, "invoke", "cas", [1, 2])],
        # not every operation names a key
        [(0, "invoke", "read", ["a", None]), (1, "invoke", "write", 4)],
        # a read that asks for a pair with something in it is none of these
        [(0, "invoke", "read", ["a", 4])],
    ],
)
def test_what_only_looks_like_pairs_stays_as_it_is(invoked):
    given = history(*invoked)
    assert by_key(given) is given
