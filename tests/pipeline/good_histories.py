"""One small good history in each form that `check` reads; all of them are valid as they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

HEADER = {
    "kind": "header",
    "format": 1,
    "run": "7",
    "sut": "reference",
    "world": "process",
    "profiles": ["migration"],
    "seed": 7,
}

# process, type, f, and the boundary and epoch asked for (invoke) or stored (completion)
_CALLS = """
0 invoke create_log                    -   -
0 ok     create_log                    -1  -1
1 invoke initialize_diskless_migration 100 5
1 ok     initialize_diskless_migration 100 5
2 invoke get_diskless_log_start_offset -   -
2 ok     get_diskless_log_start_offset 100 5
"""

EDN = """\
[{:process 0, :type :invoke, :f :write, :value 1}
 {:process 0, :type :ok, :f :write, :value 1}
 {:process 1, :type :invoke, :f :read, :value nil}
 {:process 1, :type :ok, :f :read, :value 1}]
"""

CONSOLE = """\
INFO  jepsen.core - a run begins
INFO  jepsen.util - 0\t:invoke\t:write\t1
INFO  jepsen.util - 0\t:ok\t:write\t1
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\t1
"""

KAFKA = """\
{"name": "good", "options": {}, "history": [
{"index": 0, "process": 0, "type": "invoke", "f": "send", "value": [["send", "x", "a"]]},
{"index": 1, "process": 0, "type": "ok", "f": "send", "value": [["send", "x", [0, "a"]]]},
{"index": 2, "process": 1, "type": "invoke", "f": "poll", "value": [["poll"]]},
{"index": 3, "process": 1, "type": "ok", "f": "poll", "value": [["poll", {"x": [[0, "a"]]}]]}
]}
"""


def line(record: Mapping[str, Any]) -> bytes:
    """One record as a line."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def events() -> list[dict[str, Any]]:
    """The events of the good history of ours."""
    found = []
    for index, row in enumerate(_CALLS.strip().splitlines()):
        process, kind, f, boundary, epoch = row.split()
        event: dict[str, Any] = {"kind": "op", "index": index, "time": index, "clock": "host"}
        event |= {"process": int(process), "type": kind, "f": f, "topic": "t", "partition": 0}
        if kind == "ok":
            stored = {"boundary": int(boundary), "epoch": int(epoch), "reset_epoch": -1}
            event |= {"error": "NONE", "stored": stored}
        elif boundary != "-":
            event |= {"boundary": int(boundary), "leader_epoch": int(epoch), "entries": []}
        found.append(event)
    return found


def sealed(lines: Iterable[bytes], **footer: object) -> bytes:
    """Header and events, closed by a footer that fits them unless told otherwise."""
    lines = list(lines)
    counted: dict[str, object] = {"kind": "footer", "events": len(lines) - 1, **footer}
    body = b"".join(lines) + line(counted)[:-2]
    return body + b',"sha256":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def ours(changed: Mapping[int, bytes] | None = None, **footer: object) -> bytes:
    """The good history of ours; some of its events, by index, given as other bytes."""
    changed = changed or {}
    written = [changed.get(event["index"], line(event)) for event in events()]
    return sealed([line(HEADER), *written], **footer)


GOOD = {
    "ours": ours(),
    "edn": EDN.encode(),
    "console": CONSOLE.encode(),
    "kafka": KAFKA.encode(),
}
