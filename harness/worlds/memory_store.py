"""The in-memory control plane as the simulated world steps it: every yield is a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.sut.errors import LabBroken
from harness.workloads.verbs import ALL_VERBS
from harness.worlds.recorder import Recorder
from harness.worlds.sim import Call
from harness.worlds.transport import Log, Row
from reference_impl.control_plane.boundary import classify_failure
from reference_impl.control_plane.memory import MemoryControlPlane
from reference_impl.control_plane.port import Reply, Request, unknown_outcome


class NodeTrace:
    """Writes each transaction that a port reports as an effect of the node that is running."""

    def __init__(self, recorder: Recorder) -> None:
        self.node = 0
        self._recorder = recorder

    def effect(self, *, call: str, args: Mapping[str, object], outcome: str) -> None:
        """One transaction, as the port saw it."""
        self._recorder.effect(self.node, call, args, outcome)


class MemoryStore:
    """The in-memory control plane; its outages are played by the transport."""

    verbs = ALL_VERBS - {"upgrade"}

    def __init__(self, recorder: Recorder) -> None:
        self._trace = NodeTrace(recorder)
        self._control_plane = MemoryControlPlane(trace=self._trace)

    def call(self, node: int, request: Request) -> Call:
        """Not yet started."""
        return self._control_plane.call(request)

    def advance(self, node: int, call: Call) -> Reply | None:
        """Up to the next turn, or to the reply."""
        self._trace.node = node
        try:
            call.send(None)
        except StopIteration as finished:
            reply: Reply = finished.value
            return reply
        return None

    def failure(self, sqlstate: str | None) -> Reply:
        """As the reference classifies it."""
        return failure_reply(sqlstate)

    def broken(self, broken: bool) -> bool:
        """Memory cannot lose its functions."""
        return False

    def probe(self) -> list[Row]:
        """The objects themselves, not what a call says about them."""
        return self._control_plane.rows()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Memory has no schema."""
        raise LabBroken("the in-memory control plane has no schema to upgrade")

    def close(self) -> None:
        """Nothing to let go of."""


def failure_reply(sqlstate: str | None) -> Reply:
    """What the reference tells its caller when the control plane fails with this SQLSTATE."""
    return unknown_outcome(classify_failure(sqlstate), "the control plane failed")
