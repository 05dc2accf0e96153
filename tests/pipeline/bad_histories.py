"""Histories that something happened to, and what `check` says of each.

A case is made from a good history by surgery on its bytes. 64 means that there is no history in
the file; 2 that there is one, and that what was ignored of it, which is named, keeps it from a
verdict, whatever the rest of it shows.
"""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass

from good_histories import CONSOLE, EDN, HEADER, KAFKA, events, line, ours, sealed

HUGE = 17 * 1024 * 1024
READ = line(events()[4])
SHOWN = line(events()[5])
GARBAGE = random.Random(5).randbytes(4096)


@dataclass(frozen=True, slots=True)
class Bad:
    """A file, the exit code that it must give, and words that must be said about it."""

    content: bytes
    code: int
    said: str


def _ours_with(at: int, /, **fields: object) -> bytes:
    return ours({at: line(events()[at] | fields)})


def _without(index: int, name: str) -> bytes:
    event = {key: value for key, value in events()[index].items() if key != name}
    return ours({index: line(event)})


def _renumbered(order: list[int]) -> bytes:
    """Events in this order, some perhaps twice, numbered as if that had been so."""
    lines = [line(events()[old] | {"index": new}) for new, old in enumerate(order)]
    return sealed([line(HEADER), *lines])


def _swapped(text: bytes, one: bytes, other: bytes) -> bytes:
    return text.replace(one, b"@", 1).replace(other, one, 1).replace(b"@", other, 1)


GOOD = ours()
_FOOTER = GOOD.splitlines(keepends=True)[-1]
_BODY = GOOD.removesuffix(_FOOTER)

OURS = {
    "an empty file": Bad(b"", 64, "is empty"),
    "a file of spaces": Bad(b" \n\n \n", 64, "is empty"),
    "gzip": Bad(gzip.compress(GOOD), 64, "compressed with gzip"),
    "binary garbage": Bad(GARBAGE, 64, "is no history"),
    "the header alone": Bad(line(HEADER), 2, "no footer"),
    "no footer": Bad(_BODY, 2, "no footer"),
    "cut inside the footer": Bad(GOOD[:-40], 2, "torn"),
    "cut before the last newline": Bad(GOOD[:-1], 2, "the footer has no newline"),
    "cut inside an event": Bad(_BODY[:-20], 2, "torn"),
    "two footers": Bad(GOOD + _FOOTER, 2, "a second footer"),
    "an event after the footer": Bad(GOOD + READ, 2, "an event after the footer"),
    "a footer that counts wrong": Bad(ours(events=9), 2, "the footer counts 9 events, 6 are here"),
    "a footer with another hash": Bad(
        GOOD.replace(b'"sha256":"', b'"sha256":"0'), 2, "the hash does not fit"
    ),
    "a value changed after sealing": Bad(
        GOOD.replace(b'"boundary":100', b'"boundary":200', 1), 2, "the hash does not fit"
    ),
    "sealed as incomplete": Bad(
        ours(complete=False, reasons=["client-1.jsonl: no end line"]), 2, "no end line"
    ),
    "no header": Bad(GOOD.partition(b"\n")[2], 2, "there is no header"),
    "two headers": Bad(
        sealed([line(HEADER), line(HEADER), *map(line, events())], events=6),
        2,
        "a header that is not the first line",
    ),
    "a header of another format": Bad(
        sealed([line(HEADER | {"format": 2}), *map(line, events())]), 64, "format 2"
    ),
    "a header whose profile nobody knows": Bad(
        sealed([line(HEADER | {"profiles": ["tarot"]}), *map(line, events())]), 64, "tarot"
    ),
    "a header whose profiles are a number": Bad(
        sealed([line(HEADER | {"profiles": 7}), *map(line, events())]), 2, "profiles must be"
    ),
    "a header whose profiles are numbers": Bad(
        sealed([line(HEADER | {"profiles": [7]}), *map(line, events())]), 64, "profiles"
    ),
    "two lines swapped": Bad(_swapped(GOOD, READ, SHOWN), 2, "out of order"),
    "a line twice": Bad(GOOD.replace(SHOWN, SHOWN * 2), 2, "index 5 is repeated"),
    "a line left out": Bad(GOOD.replace(READ, b""), 2, "events 4 to 4 are missing"),
    "a completion twice": Bad(
        _renumbered([0, 1, 2, 3, 4, 5, 5]), 2, "completes get_diskless_log_start_offset, which it"
    ),
    "an invocation twice": Bad(_renumbered([0, 1, 2, 3, 4, 4, 5]), 2, "while its"),
    "a completion before its invocation": Bad(
        _renumbered([0, 1, 2, 3, 5, 4]), 2, "which it did not invoke"
    ),
    "a completion of something else": Bad(
        _ours_with(5, f="create_log"), 2, "completes f create_log, but invoked"
    ),
    "time that runs back": Bad(_ours_with(5, time=1), 2, "completed before it was invoked"),
    "a key twice in a line": Bad(
        ours({5: SHOWN.replace(b'"type":"ok"', b'"type":"ok","type":"fail"')}),
        2,
        "the key type occurs twice",
    ),
    "a key twice deep in a line": Bad(
        ours({5: SHOWN.replace(b'"epoch":5', b'"epoch":5,"epoch":6')}),
        2,
        "the key epoch occurs twice",
    ),
    "a key twice in the header": Bad(
        sealed([line(HEADER).replace(b'"seed":7', b'"seed":7,"seed":8'), *map(line, events())]),
        2,
        "the key seed occurs twice",
    ),
    "an event without its type": Bad(_without(5, "type"), 2, "a line of kind op needs type"),
    "an event without its index": Bad(_without(5, "index"), 2, "needs index"),
    "an event of an unknown kind": Bad(_ours_with(4, kind="oops"), 2, "unknown kind 'oops'"),
    "an event of an unknown type": Bad(_ours_with(5, type="maybe"), 2, "type must be"),
    "a process that is text": Bad(_ours_with(5, process="2"), 2, "process must be"),
    "an index below zero": Bad(_ours_with(5, index=-5), 2, "index must be at least 0"),
    "an index past all bounds": Bad(_ours_with(5, index=2**62), 2, "are missing"),
    "a number of more than 64 bits": Bad(_ours_with(5, time=2**70), 2, "does not fit 64 bits"),
    "a number with a fraction": Bad(_ours_with(5, time=1.5), 2, "time must be integer"),
    "NaN": Bad(ours({5: SHOWN.replace(b'"time":5', b'"time":NaN')}), 2, "NaN is not JSON"),
    "half a surrogate pair": Bad(
        ours({5: SHOWN.replace(b'"topic":"t"', b'"topic":"\\ud800"')}), 2, "surrogate"
    ),
    "a boundary that is text": Bad(_ours_with(2, boundary="100"), 2, "boundary must be integer"),
    "stored values of the wrong form": Bad(
        _ours_with(5, stored=[1, 2]), 2, "stored must be object"
    ),
    "nested too deep": Bad(
        ours({5: SHOWN.replace(b'"stored"', b'"more":' + b"[" * 99 + b"]" * 99 + b',"stored"')}),
        2,
        "nested deeper than 64 levels",
    ),
    "nested past all bounds": Bad(ours({5: b"[" * 1_000_000 + b"\n"}), 2, "nested deeper"),
    "an enormous line": Bad(
        ours({5: line(events()[5] | {"more": "x" * HUGE})}), 2, "longer than 16777216 bytes"
    ),
    "an enormous line without an end": Bad(
        _BODY + b'{"kind":"' + b"x" * HUGE, 2, "longer than 16777216 bytes"
    ),
    "a line that is no object": Bad(ours({5: b"[1, 2]\n"}), 2, "one JSON object"),
    "two objects in a line": Bad(
        ours({4: READ[:-1] + SHOWN, 5: b""}, events=6), 2, "something follows the object"
    ),
    "a line that is not UTF-8": Bad(
        ours({5: SHOWN.replace(b'"t"', b'"\xff\xfe"')}), 2, "not UTF-8 at byte"
    ),
    "a line of zero bytes": Bad(ours({5: b"\0" * 4096 + b"\n"}), 2, "not JSON"),
    "blank lines": Bad(GOOD.replace(SHOWN, b"\n" + SHOWN), 2, "not JSON"),
    "no events": Bad(sealed([line(HEADER)]), 2, "NO VERDICT"),
    "only a fault that never ends": Bad(
        sealed(
            [
                line(HEADER),
                line(
                    {"kind": "fault", "index": 0, "time": 0, "clock": "host", "name": "pause"}
                    | {"target": "x", "phase": "begin"}
                ),
            ]
        ),
        2,
        "NO VERDICT",
    ),
}

_WRITE_OK = "{:process 0, :type :ok, :f :write, :value 1}"
_READ_OK = "{:process 1, :type :ok, :f :read, :value 1}"

EDNS = {
    "an empty vector": Bad(b"[]", 64, "there is no operation in"),
    "cut inside a map": Bad(EDN[:-12].encode(), 2, "never closed"),
    "cut between maps": Bad(EDN.rpartition(" {")[0].encode(), 2, "never closed"),
    "gzip": Bad(gzip.compress(EDN.encode()), 64, "compressed with gzip"),
    "a completion twice": Bad(
        EDN.replace(_READ_OK, f"{_READ_OK} {_READ_OK}").encode(), 2, "which it did not invoke"
    ),
    "two lines swapped": Bad(
        EDN.replace(":invoke, :f :read, :value nil", ":ok, :f :read, :value 1", 1).encode(),
        2,
        "which it did not invoke",
    ),
    "a key twice in a map": Bad(
        EDN.replace(_READ_OK, "{:process 1, :type :ok, :type :fail, :f :read, :value 1}").encode(),
        2,
        "a map has the key type twice",
    ),
    "a map without :f": Bad(EDN.replace(":f :read, ", "").encode(), 2, "needs :f"),
    "an unknown type": Bad(EDN.replace(":ok, :f :read", ":maybe, :f :read").encode(), 2, ":type"),
    "a process below zero": Bad(EDN.replace(":process 1", ":process -1").encode(), 2, "negative"),
    "an operation that is no map": Bad(EDN.replace(_READ_OK, "7").encode(), 2, "is a map"),
    "not UTF-8": Bad(
        EDN.replace(":value nil", ':value "@"').encode().replace(b"@", b"\xff"), 2, "not UTF-8"
    ),
    "nested past all bounds": Bad(
        EDN.replace(":value nil", ":value " + "[" * 100_000).encode(), 2, "nested"
    ),
    "an enormous operation": Bad(
        EDN.replace(":value nil", ':value "' + "x" * HUGE + '"').encode(), 2, "longer than"
    ),
    "binary garbage behind a bracket": Bad(b"[" + GARBAGE, 64, "not UTF-8"),
}

CONSOLES = {
    "nothing but chatter": Bad(b"INFO  jepsen.core - a run begins\n", 64, "is no history"),
    "gzip": Bad(gzip.compress(CONSOLE.encode()), 64, "compressed with gzip"),
    "cut inside the last operation": Bad(CONSOLE[:-8].encode(), 2, "cut"),
    "cut inside the value of the last operation": Bad(
        CONSOLE.replace(":read\t1", ":read\t[1 2").encode(), 2, "ends inside a form"
    ),
    "a completion twice": Bad(
        (CONSOLE + CONSOLE.splitlines(keepends=True)[-1]).encode(), 2, "which it did not invoke"
    ),
    "two lines swapped": Bad(
        "".join(CONSOLE.splitlines(keepends=True)[i] for i in (0, 2, 1, 3, 4)).encode(),
        2,
        "which it did not invoke",
    ),
    "a value that is no EDN": Bad(CONSOLE.replace("\t1\n", "\t)\n").encode(), 2, "an unexpected )"),
    "not UTF-8": Bad(CONSOLE.encode().replace(b":write\t1", b':write\t"\xff"'), 2, "not UTF-8"),
    "an enormous line": Bad(
        CONSOLE.replace(":write\t1", ':write\t"' + "x" * HUGE + '"').encode(), 2, "longer than"
    ),
}

KAFKAS = {
    "cut": Bad(KAFKA[:-30].encode(), 64, "is not JSON"),
    "gzip": Bad(gzip.compress(KAFKA.encode()), 64, "compressed with gzip"),
    "no history in it": Bad(b'{"name": "empty"}', 64, "has no history"),
    "an empty history": Bad(b'{"history": []}', 64, "there is no operation in"),
    "a history that is text": Bad(b'{"history": "long ago"}', 64, "has no history"),
    "a completion twice": Bad(
        json.dumps({"history": (h := json.loads(KAFKA)["history"]) + h[3:]}).encode(),
        2,
        "which it did not invoke",
    ),
    "operations swapped": Bad(
        json.dumps({"history": [h[1], h[0], h[2], h[3]]}).encode(), 2, "which it did not invoke"
    ),
    "a key twice in an operation": Bad(
        KAFKA.replace(
            '"type": "ok", "f": "poll"', '"type": "ok", "type": "info", "f": "poll"'
        ).encode(),
        64,
        "the key type occurs twice",
    ),
    "a key polled twice": Bad(
        KAFKA.replace('{"x": [[0, "a"]]}', '{"x": [[0, "a"]], "x": []}').encode(),
        64,
        "the key x occurs twice",
    ),
    "an operation that is no object": Bad(
        json.dumps({"history": [*h, 7]}).encode(), 2, "an object"
    ),
    "an unknown type": Bad(
        KAFKA.replace('"ok", "f": "poll"', '"no", "f": "poll"').encode(), 2, ":type is"
    ),
    "a micro-operation of no kind": Bad(
        KAFKA.replace('[["poll"]]', '[["peek"]]').replace('["poll", {', '["peek", {').encode(),
        2,
        "is no send and no poll",
    ),
    "an offset that is text": Bad(
        KAFKA.replace('[[0, "a"]]', '[["0", "a"]]').encode(), 2, "expected an integer"
    ),
    "not UTF-8": Bad(KAFKA.encode().replace(b'"x"', b'"\xff"'), 64, "is not JSON"),
    "nested past all bounds": Bad(b'{"history": ' + b"[" * 100_000, 64, "nested deeper"),
    "an enormous document": Bad(
        b'{"history": [' + b" " * (65 * 2**20) + b"]}", 64, "is longer than"
    ),
}

BAD = {"ours": OURS, "edn": EDNS, "console": CONSOLES, "kafka": KAFKAS}
