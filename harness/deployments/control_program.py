"""The program through which a client asks the control plane: one of a hook, or our own agent.

It is asked one question at a time. A question about several partitions is one line where the
program has said that it understands such lines, and otherwise several, one after the other. The
program is started when it is first needed and after it was killed. One that does not answer in time
leaves an unknown outcome and is killed: its late answer would be taken for the answer to the next
question. If it had never answered anything, it is not a slow system but a broken program, and that
is an error. Time in which it stands still does not count.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness.deployments.deployment import ClientLost, Result
from harness.errors import AdapterError, CannotConnect, LabBroken, LabError
from harness.processes.groups import members
from harness.processes.program import Program
from harness.sut.protocol import Answer, question, question_many, read_answers, read_ready

Start = Callable[[Callable[[bytes], None], Callable[[], None]], Program]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long the lab waits for a program to get ready and to answer."""

    ready_s: float = 20.0
    answer_s: float = 15.0


@dataclass(slots=True, kw_only=True, eq=False)
class _Talk:
    """A program that was started, and where it stands in the conversation."""

    called: str
    loop: asyncio.AbstractEventLoop
    ready: asyncio.Future[None]
    said_ready: bool = False
    killed: bool = False
    understands_several: bool = False
    answered: int = 0
    question: tuple[int, str, int | None] | None = None  # its number, call, how many partitions
    answer: asyncio.Future[Sequence[Answer]] | None = None
    program: Program = field(init=False)

    def on_line(self, line: bytes) -> None:
        """In the thread that listens: one whole line."""
        if not self.said_ready:
            self.understands_several = read_ready(line, called=self.called)
            self.said_ready = True
            self.loop.call_soon_threadsafe(_settle, self.ready, None)
            return
        number, f, several = self.question or (None, "", None)
        answer = read_answers(line, called=self.called, number=number, f=f, several=several)
        self.question = None
        self.answered += 1
        if self.answer is not None:
            self.loop.call_soon_threadsafe(_settle, self.answer, answer)

    def look(self) -> None:
        """In the loop: tell the one who waits that the program failed."""
        waited = self.answer or self.ready
        if self.failure is not None:
            _fail(waited, self.failure)

    def lose(self) -> None:
        """In the loop: tell the one who waits that the client was killed."""
        _fail(self.answer or self.ready, ClientLost(f"{self.called} was killed"))

    @property
    def failure(self) -> LabError | None:
        """Why the program cannot be asked any more."""
        if self.killed or not self.program.silent:
            return None
        if self.program.failure is not None:
            return self.program.failure
        kind = AdapterError if self.said_ready else CannotConnect
        return kind(f"{self.called} ended by itself{self.program.last_words}")


class ControlProgram:
    """At most one program at a time, for one client."""

    def __init__(
        self, called: str, start: Start, *, deadlines: Deadlines | None = None, ours: bool = False
    ) -> None:
        """``called`` is for messages. What is wrong with a program of ``ours`` is the lab's fault.

        ``start`` is given what the program is to call, from a thread, with each line and at its
        end."""
        self.called = called
        self._start = start
        self._ours = ours
        self.deadlines = deadlines or Deadlines()
        self._talk: _Talk | None = None
        self._one_at_a_time = asyncio.Lock()
        self._asked = 0
        self._kills = 0
        self._pauses = 0  # so far
        self._going = asyncio.Event()
        self._going.set()

    @property
    def running(self) -> bool:
        """Whether there is a program."""
        return self._talk is not None

    @property
    def asking(self) -> bool:
        """Whether it has a question in hand."""
        return self._talk is not None and self._talk.question is not None

    async def ask(
        self,
        f: str,
        partitions: Sequence[Mapping[str, Any]],
        *,
        lose: Callable[[], None] | None = None,
    ) -> Sequence[Answer | None]:
        """Its answer for each partition; None if there will never be one.

        To ``lose`` the reply it is killed with the question in hand; ``lose`` is called if it had
        not answered yet. It goes on if the caller no longer waits: the answer would be taken for
        that to the next question.
        """
        with self._blamed():
            return await _to_its_end(self._ask(f, partitions, lose))

    async def _ask(
        self, f: str, partitions: Sequence[Mapping[str, Any]], lose: Callable[[], None] | None
    ) -> Sequence[Answer | None]:
        async with self._one_at_a_time:
            talk = await self._running()
            if len(partitions) > 1 and talk.understands_several:
                line = partial(question_many, f=f, partitions=partitions)
                return await self._asked_at_once(f, line, len(partitions), lose)
            answers: list[Answer | None] = []
            for one in partitions:
                line = partial(question, f=f, arguments=one)
                answers += await self._asked_at_once(f, line, None, lose)
            return answers

    async def _asked_at_once(
        self,
        f: str,
        line: Callable[[int], bytes],
        several: int | None,
        lose: Callable[[], None] | None,
    ) -> Sequence[Answer | None]:
        talk = await self._running()
        self._asked += 1
        answer: asyncio.Future[Sequence[Answer]] = talk.loop.create_future()
        talk.answer = answer
        talk.question = self._asked, f, several
        await asyncio.to_thread(talk.program.send, line(self._asked))
        talk.look()
        if lose is None and await self._within(answer, self.deadlines.answer_s):
            return answer.result()
        await self._end()
        if answer.done():  # it was printed before the end
            return answer.result()
        if lose is not None:
            lose()
        elif not talk.answered:
            raise AdapterError(
                f"{self.called} did not answer {f!r} within {self.deadlines.answer_s:g} s,"
                " and has never answered anything"
            )
        return [None] * (several or 1)

    async def ready(self) -> None:
        """Start it, if it does not run."""
        with self._blamed():
            await _to_its_end(self._ready())

    async def idle(self) -> None:
        """Return when it has no question in hand."""
        async with self._one_at_a_time:
            return

    async def _ready(self) -> None:
        async with self._one_at_a_time:
            await self._running()

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        try:
            yield
        except LabError as error:
            if not self._ours or isinstance(error, LabBroken):
                raise
            raise LabBroken(str(error)) from error

    async def kill(self) -> int:
        """SIGKILL; what it printed before is still heard. How many processes ended."""
        self._kills += 1
        talk = self._talk
        ended = await self._end()
        if talk is not None:
            talk.lose()
        return ended

    async def _end(self) -> int:
        talk, self._talk = self._talk, None
        if talk is None:
            return 0
        talk.killed = True
        before = members(talk.program.pid)
        await asyncio.to_thread(talk.program.kill)
        self._going.set()  # a pause ends with what was paused
        return len(before - members(talk.program.pid))

    @property
    def pid(self) -> int | None:
        """The process of the program, if there is one."""
        return None if self._talk is None else self._talk.program.pid

    async def pause(self) -> int:
        """SIGSTOP, and take in what was printed before; the number of its process group."""
        if self._talk is None:
            await self.ready()
        assert self._talk is not None
        program = self._talk.program
        self._pauses += 1
        self._going.clear()
        await asyncio.to_thread(program.stop)
        await asyncio.to_thread(program.catch_up, self.deadlines.answer_s)
        return program.pid

    def resume(self) -> None:
        """SIGCONT."""
        self._going.set()
        if self._talk is not None:
            self._talk.program.signal(signal.SIGCONT)

    async def close(self) -> None:
        """Let it end by itself; kill it if it stands still or has a question in hand."""
        talk = self._talk
        if talk is not None and not self.asking and self._going.is_set():
            await asyncio.to_thread(talk.program.close)
        await self.kill()

    async def _running(self) -> _Talk:
        kills = self._kills
        if self._talk is None:
            self._talk = await asyncio.to_thread(self._talked, asyncio.get_running_loop())
        talk = self._talk
        if kills != self._kills:
            await self._end()
            raise ClientLost(f"{self.called} was killed")
        if (failure := talk.failure) is not None:
            await self._end()
            raise failure
        if not await self._within(talk.ready, self.deadlines.ready_s):
            await self._end()
            raise CannotConnect(
                f"{self.called} printed no ready line within {self.deadlines.ready_s:g} s"
                f"{talk.program.last_words}"
            )
        return talk

    def _talked(self, loop: asyncio.AbstractEventLoop) -> _Talk:
        talk = _Talk(called=self.called, loop=loop, ready=loop.create_future())

        def ended() -> None:
            with suppress(RuntimeError):  # a loop that has ended hears nothing
                loop.call_soon_threadsafe(talk.look)

        talk.program = self._start(talk.on_line, ended)
        return talk

    async def _within(self, waited: asyncio.Future[Any], seconds: float) -> bool:
        """Whether it came in time, not counting the time in which the program stood still."""
        pauses = -1
        while not waited.done() and pauses != self._pauses:
            pauses = self._pauses
            await self._going.wait()
            with suppress(TimeoutError, LabError, ClientLost):
                async with asyncio.timeout(seconds):
                    await asyncio.shield(waited)
        if waited.done() and waited.exception() is not None:
            await self._end()
            waited.result()
        return waited.done()


def _settle(waited: asyncio.Future[Any], result: object) -> None:
    if not waited.done():
        waited.set_result(result)


def _fail(waited: asyncio.Future[Any], error: Exception) -> None:
    if not waited.done():
        waited.set_exception(error)
        waited.exception()  # it need not be waited for


async def _to_its_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Do it in a task that goes on if the caller no longer waits."""
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)
