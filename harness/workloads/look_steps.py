"""What the lab looks at from outside, recorded as it was found.

    lab  look  what=objects

A look says which probe of the deployment it takes. What it found is one `probe` line, or several if
it does not fit into one; a look that found nothing is a line without rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType

from harness.deployments.deployment import Deployment, Row
from harness.errors import AdapterError
from harness.history.lines import BadLine, encode
from harness.steps.player import Player
from harness.steps.step import LAB, Step
from harness.steps.vocabulary import Vocabulary, verb

LINE_BYTES = 1 << 22


class LookSteps(Vocabulary):
    """The looks of the lab, on one deployment."""

    actors = (LAB,)

    def __init__(self, deployment: Deployment) -> None:
        self._on = deployment

    @verb(drawn=False)
    async def look(self, step: Step, what: str) -> None:
        """Record what a probe finds, past the clients and their proxies."""
        for rows in _lines(what, await self._on.probe(what)):
            self._on.recorder.probe(what, rows)


def look_around(deployment: Deployment, wanted: Iterable[str]) -> int:
    """Look by each of these probes that the deployment offers; how many. From outside its loop."""
    steps = [
        Step(actor=LAB, verb="look", arguments=MappingProxyType({"what": what}))
        for what in sorted(deployment.probes.intersection(wanted))
    ]
    if steps:
        player = Player(deployment.recorder, [LookSteps(deployment)])
        deployment.run(player.play(steps))
    return len(steps)


def _lines(what: str, rows: list[Row]) -> Iterator[list[Row]]:
    """The rows, by lines that a history can have."""
    line: list[Row] = []
    size = 0
    for row in rows:
        more = _bytes_of(what, row)
        if line and size + more > LINE_BYTES:
            yield line
            line, size = [], 0
        line.append(row)
        size += more
    if line or not rows:
        yield line


def _bytes_of(what: str, row: Row) -> int:
    try:
        return len(encode({"rows": [row]}))
    except BadLine as reason:
        raise AdapterError(f"{what} has a row that no history can have: {reason}") from None
