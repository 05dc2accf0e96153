"""The program through which one client asks the control plane, in JSON lines.

It is asked one question at a time. An agent that is killed leaves its question without an answer
(`ClientLost`); one that stands still is waited for until it goes on. One that runs and does not
answer in time is given up: the outcome is unknown, and its late answer would be taken for that to
the next question. If it has never answered anything, the lab is broken and not the system slow.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from harness.deployments.deployment import ClientLost, Result
from harness.errors import LabBroken
from harness.processes.groups import members, stopped_threads
from harness.processes.program import Program
from harness.sut.protocol import Answer, question, read_answer, read_ready

READY_S = 20.0
ANSWER_S = 15.0

Start = Callable[[Callable[[bytes], None], Callable[[], None]], Program]


class Agent:
    """At most one program at a time; started when first needed, and again after it was killed."""

    def __init__(self, node: str, start: Start, *, answer_s: float = ANSWER_S) -> None:
        """``start`` is given what to call, from a thread, with each line and at the end."""
        self._called = f"the agent of {node}"
        self._start = start
        self._answer_s = answer_s
        self._program: Program | None = None
        self._line: asyncio.Future[bytes] | None = None  # what it is to print next
        self._asked = 0
        self._answered = False  # anything, by the present program
        self._asking = asyncio.Lock()
        self._changing = asyncio.Lock()
        self._runs = asyncio.Event()
        self._runs.set()

    @property
    def pid(self) -> int | None:
        """The process of its program, if there is one."""
        return None if self._program is None else self._program.pid

    async def ready(self) -> None:
        """Return when the program can be asked."""
        await _to_its_end(self._ready())

    async def ask(self, f: str, arguments: Mapping[str, Any]) -> Answer | None:
        """One call; None if nobody will ever say. It goes on if the caller no longer waits."""
        return await _to_its_end(self._ask(f, arguments))

    async def kill(self) -> int:
        """SIGKILL; how many processes ended by it. What was printed before still counts."""
        async with self._changing:
            program, self._program = self._program, None
            if program is None:
                return 0
            before = members(program.pid)
            await asyncio.to_thread(program.kill)
            self._fail(ClientLost(f"{self._called} was killed"))
            self._runs.set()
            return len(before - members(program.pid))

    async def pause(self) -> Callable[[], int]:
        """SIGSTOP; what says how many threads stand still."""
        async with self._changing:
            program = self._program
            if program is None:
                return lambda: 0
            self._runs.clear()
            await asyncio.to_thread(program.stop)
            return lambda: stopped_threads(program.pid)

    def resume(self) -> None:
        """SIGCONT."""
        self._runs.set()
        if self._program is not None:
            self._program.signal(signal.SIGCONT)

    async def idle(self) -> None:
        """Return when no question is open."""
        async with self._asking:
            return

    async def close(self) -> None:
        """Let the program end by itself, unless it stands still or owes an answer."""
        if self._program is not None and self._runs.is_set() and not self._asking.locked():
            program, self._program = self._program, None
            await asyncio.to_thread(program.close)
        await self.kill()

    async def _ready(self) -> None:
        async with self._changing:
            if self._program is not None:
                return
            self._answered = False
            line = self._next_line()
            program = await asyncio.to_thread(self._start, *self._listeners())
            try:
                self._program = program
                said = await self._printed(line, READY_S)
                if said is None:
                    raise LabBroken(f"{self._called} printed no ready line within {READY_S:g} s")
                read_ready(said, called=self._called)
            except BaseException:
                self._program = None
                await asyncio.to_thread(program.kill)
                raise

    async def _ask(self, f: str, arguments: Mapping[str, Any]) -> Answer | None:
        async with self._asking:
            await self._ready()
            program = self._program
            if program is None:
                raise ClientLost(f"{self._called} was killed")
            if program.silent:
                raise self._broken(program)
            self._asked += 1
            line = self._next_line()
            program.send(question(self._asked, f, arguments))
            said = await self._printed(line, self._answer_s)
            if said is None:
                await self.kill()
                if not self._answered:
                    raise LabBroken(f"{self._called} has never answered anything")
                return None
            self._answered = True
            return read_answer(said, called=self._called, number=self._asked, f=f)

    async def _printed(self, line: asyncio.Future[bytes], within_s: float) -> bytes | None:
        """The line that it is to print; None if it runs and does not print it in time."""
        while True:
            try:
                return await asyncio.wait_for(asyncio.shield(line), within_s)
            except TimeoutError:
                if self._runs.is_set():
                    return None
                await self._runs.wait()

    def _next_line(self) -> asyncio.Future[bytes]:
        self._line = asyncio.get_running_loop().create_future()
        return self._line

    def _fail(self, error: Exception) -> None:
        if self._line is not None and not self._line.done():
            self._line.set_exception(error)
            self._line.exception()  # it may be that nobody waits for it

    def _listeners(self) -> tuple[Callable[[bytes], None], Callable[[], None]]:
        loop = asyncio.get_running_loop()
        line = self._line

        def printed(said: bytes) -> None:
            if self._line is not None and not self._line.done():
                self._line.set_result(said)

        def ended() -> None:
            program = self._program
            if program is not None and program.silent:
                self._fail(self._broken(program))
            elif self._line is line:  # it ended before it was known to have started
                self._fail(LabBroken(f"{self._called} ended by itself"))

        def in_loop(act: Callable[..., None], *given: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(act, *given)

        return lambda said: in_loop(printed, said), lambda: in_loop(ended)

    def _broken(self, program: Program) -> LabBroken:
        why = program.failure or f"{self._called} ended by itself{program.last_words}"
        return LabBroken(str(why))


async def _to_its_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Do it in a task that goes on if the caller no longer waits."""
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)
