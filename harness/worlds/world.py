"""Worlds: where a system under test runs, and how a script is played there.

`open_world` gives a world by name. A world plays steps (several times, if one likes: what is open
stays open) and is closed; closing ends every program it started, records that open operations will
never be answered, and finishes its shard. If playing failed, the shard gets no end line and the run
is incomplete: what is missing from a history must be visible in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Protocol

from harness.errors import UsageError
from harness.history import Run
from harness.history.recorder import Recorder
from harness.history.run_slot import RunSlot
from harness.steps.step import Step
from harness.sut.model import Sut
from harness.worlds.player import Player
from harness.worlds.transport import Transport


class World(Protocol):
    """Where scripts are played. `supports` names the verbs it can carry out."""

    @property
    def name(self) -> str:
        """sim, process or external."""

    @property
    def supports(self) -> frozenset[str]:
        """The verbs that can be played here; a script with any other is refused whole."""

    @property
    def unanswered(self) -> int:
        """How many operations so far ended without a definite answer."""

    def play(self, steps: Iterable[Step], *, part: str | None = None) -> None:
        """Play steps in order, recording what happens; `part` of the plan they are, if any."""

    def close(self) -> None:
        """End everything; may be called again."""

    def __enter__(self) -> World: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class PlayedWorld:
    """A world made of a transport, a player and a shard."""

    def __init__(
        self,
        *,
        name: str,
        slot: RunSlot,
        recorder: Recorder,
        transport: Transport,
        around: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self.name = name
        self.supports = transport.supports
        self._recorder = recorder
        self._player = Player(recorder, transport)
        self._transport = transport
        self._writer = slot.writer
        self._around = around
        self._failed = False
        self._closed = False

    @property
    def unanswered(self) -> int:
        """How many operations so far ended without a definite answer."""
        return self._recorder.unanswered

    def play(self, steps: Iterable[Step], *, part: str | None = None) -> None:
        """Play steps in order, with the mutants of the system in force."""
        self._recorder.plan_part = part
        try:
            with self._around():
                self._player.play(steps)
        except UsageError:
            raise
        except BaseException:
            self._failed = True
            raise
        finally:
            self._recorder.plan_part = None

    def close(self) -> None:
        """End everything that was started, then finish the shard."""
        if self._closed:
            return
        self._closed = True
        try:
            with self._around():
                self._transport.close()
            self._player.finish()
        except BaseException:
            self._failed = True
            raise
        finally:
            if self._failed:
                self._writer.abandon()
            else:
                self._writer.close()

    def __enter__(self) -> PlayedWorld:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._failed = self._failed or kind is not None
        self.close()


def open_world(
    name: str,
    *,
    run: Run,
    sut: Sut,
    seed: int,
    schema_upto: int | None = None,
    part: int = 0,
    shard: str | None = None,
) -> World:
    """A world in which this system can be driven.

    Several worlds may record into one run, each with its own `part` or its own `shard` name;
    `place` says what that keeps apart.
    """
    # Here and not above: a simulation starts without a database driver.
    if name == "sim":
        from harness.worlds.sim_world import open_sim

        return open_sim(
            run=run, sut=sut, seed=seed, schema_upto=schema_upto, part=part, shard=shard
        )
    if name == "process":
        from harness.worlds.process import open_process

        return open_process(run=run, sut=sut, schema_upto=schema_upto, part=part, shard=shard)
    if name == "external":
        from harness.worlds.external import open_external

        if schema_upto is not None:
            raise UsageError("a foreign control plane has no schema of ours to upgrade")
        return open_external(run=run, sut=sut, part=part, shard=shard)
    raise UsageError(f"there is no world {name!r}; known: sim, process, external")
