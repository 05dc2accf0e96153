"""The external world: somebody else's program answers for their control plane.

The SUT file says `control_plane = "exec:COMMAND"`; one such program runs per client, in the folder
of the file, and is asked in JSON lines (`harness/sut/README.md`). The lab can ask it, kill it and
stop it. It cannot reach into its network or its store, so holding, stepping, dropping, outages and
probes are not offered, and scenarios that need them are skipped by whoever reads `supports`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from harness.errors import UsageError
from harness.history import Run
from harness.history.recorder import Evidence, Operation, Recorder
from harness.history.run_slot import take_slot
from harness.processes.program import Program
from harness.sut.model import Hook, Sut
from harness.worlds.clients import Client, Patience, ProgramTransport
from harness.worlds.world import PlayedWorld

CLOCK = "host"


class ExternalTransport(ProgramTransport):
    """Programs from outside, and nothing else to hold on to."""

    supports = ProgramTransport.supports | {"lose"}

    def __init__(
        self,
        recorder: Recorder,
        *,
        sut: Sut,
        hook: Hook,
        bell: threading.Condition,
        patience: Patience,
    ) -> None:
        super().__init__(recorder, bell, patience)
        self._sut = sut
        self._hook = hook

    def title(self, client: Client) -> str:
        """The hook as it was written."""
        return f"{self._hook.address} (for client {client.name!r})"

    def start(self, client: Client, on_line: Callable[[bytes], None]) -> Program:
        """The command of the hook, in the folder of the SUT file."""
        return Program(
            self._hook.command,
            called=self.title(client),
            on_line=on_line,
            bell=self._bell,
            folder=self._sut.folder,
        )

    def lose(self, operation: Operation, *, held: bool) -> Evidence:
        """Nobody but the program could lose a reply: it is killed with the question in hand."""
        self.send(operation)
        evidence = self.kill(operation.client)
        self._recorder.complete(operation, None)
        return {"replies_dropped": evidence["operations_open"], "signal": "SIGKILL"}


def open_external(
    *,
    run: Run,
    sut: Sut,
    part: int = 0,
    shard: str | None = None,
    patience: Patience | None = None,
) -> PlayedWorld:
    """A world around the control-plane hook of a SUT file."""
    hook = sut.hooks.get("control_plane")
    if hook is None:
        raise UsageError(
            f"{sut.name} offers no control_plane hook, so its boundary cannot be driven;"
            ' add control_plane = "exec:COMMAND" to [hooks] (harness/sut/README.md)'
        )
    slot = take_slot(run, world="external", clock=CLOCK, part=part, shard=shard)
    recorder = Recorder(slot, now=time.monotonic_ns, lock=threading.Lock())
    transport = ExternalTransport(
        recorder,
        sut=sut,
        hook=hook,
        bell=threading.Condition(),
        patience=patience or Patience(),
    )
    return PlayedWorld(name="external", slot=slot, recorder=recorder, transport=transport)
