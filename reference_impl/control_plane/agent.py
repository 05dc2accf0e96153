"""The control plane as a process: JSON lines in, JSON lines out, one call at a time, in order.

    → {"id":7,"f":"register_leader_epoch","topic":"t","partition":0,"leader_epoch":5}
    ← {"id":7,"error":"NONE","boundary":-1,"epoch":5,"reset_epoch":-1}

A line may ask several partitions at once (``lines``). The first line out is ``{"ready": true,
"pid": …, "several_partitions": true}``, with the names of the mutants in force if there are any.
A line that is no request is answered with INVALID_REQUEST and a message, nothing
is carried out, and the agent goes on; so is a last line without its newline, because its writer
may have died in the middle of it. The end of the input ends the agent, and so does a reader that
went away.

This is also the protocol of the SUT hook ``control_plane = "exec:…"``: an implementer answers the
same lines from their own control plane.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from typing import BinaryIO

from reference_impl.control_plane.lines import BadRequest, answer_line, asks_several, request_of
from reference_impl.ports.control_plane import BoundaryError, ControlPlane


def serve(
    plane: ControlPlane, *, lines_in: BinaryIO, lines_out: BinaryIO, mutants: Sequence[str] = ()
) -> None:
    """Answer requests until the input ends."""
    ready: dict[str, object] = {"ready": True, "pid": os.getpid(), "several_partitions": True}
    if mutants:
        ready["mutants"] = list(mutants)
    with asyncio.Runner() as runner:
        try:
            _write(lines_out, ready)
            # Reading blocks the event loop, which has nothing to do between two calls.
            while line := lines_in.readline():
                _write(lines_out, runner.run(answer(plane, line)))
        except BrokenPipeError:
            pass
        finally:
            runner.run(plane.close())


async def answer(plane: ControlPlane, line: bytes) -> dict[str, object]:
    """The answer to one line of input."""
    number: int | None = None
    try:
        if not line.endswith(b"\n"):
            raise BadRequest("the line does not end: it may be incomplete and is not carried out")
        found = _parse(line)
        number = _id(found)
        request = request_of(found)
    except BadRequest as problem:
        error = str(BoundaryError.INVALID_REQUEST)
        return {"id": number, "error": error, "message": str(problem)}
    answer = await plane.call(request)
    return {"id": number, **answer_line(answer, several=asks_several(found))}


def _parse(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise BadRequest(f"the line is not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise BadRequest(f"a JSON object is needed, not {found!r}")
    return found


def _id(found: dict[str, object]) -> int:
    number = found.pop("id", None)
    if not isinstance(number, int) or isinstance(number, bool):
        raise BadRequest(f"id must be an integer, not {number!r}")
    return number


def _write(lines_out: BinaryIO, answered: dict[str, object]) -> None:
    lines_out.write(json.dumps(answered, separators=(",", ":")).encode() + b"\n")
    lines_out.flush()
