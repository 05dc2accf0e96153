"""The event loop of simulations: virtual time, and an order that the seed alone decides.

What is promised: callbacks that are ready run in an order drawn from the seed; time stands still
while anything is ready and then jumps to the next timer; the same seed and program give the same
order in any process. Unmodified asyncio code runs on it: tasks, futures, timeouts, locks, queues,
and streams over the simulated network. Code whose right working rests on callbacks running in the
order in which they were scheduled may behave differently here, as it may on another loop.

What is not: nothing here reaches the real world. Threads, sockets, signals and subprocesses are
refused with ``Unsupported``. A callback that never returns hangs the simulation like any program.

The loop is written from ``AbstractEventLoop`` and rests on public parts of asyncio only.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any, NoReturn, TypeVar, TypeVarTuple

from harness.simulation import waiting
from harness.simulation.callback import Callback, Fabric
from harness.simulation.clock import NS
from harness.simulation.errors import Deadlock, Runaway, StillWaiting, Unsupported
from harness.simulation.process import Process, Tasks, current_process, process_in

Result = TypeVar("Result")
Args = TypeVarTuple("Args")

RUNAWAY = 200_000  # callbacks at one instant: no program does that and still gets on
_SAMPLED = 1_000  # of a runaway: enough to name it
_NOT_A_FAULT = ("Task was destroyed", "Future exception was never retrieved")


class SimLoop(asyncio.AbstractEventLoop):
    """An asyncio event loop in which nothing is left to chance but the seed."""

    def __init__(self, rng: random.Random) -> None:
        self.now_ns = 0
        self.callbacks = 0
        self.fabric: Fabric | None = None
        self.processes: list[Process] = []
        self.watch: Callable[[str], None] | None = None
        self.errors: list[dict[str, Any]] = []
        self._random = rng.random
        self._ready: list[Callback] = []
        self._timers: list[tuple[int, int, Callback]] = []
        self._scheduled = 0
        self._named = 0
        self._at_this_instant = 0
        self._busy: Counter[str] = Counter()
        self._lab = Tasks()
        self._running = False
        self._stopping = False
        self._closed = False

    # Running.

    def run_until_complete(
        self, future: Generator[Any, None, Result] | Awaitable[Result]
    ) -> Result:
        """Run until it is done; Deadlock if it never can be."""
        return self.run_within(future, limit_ns=None)

    def run_within(
        self, future: Generator[Any, None, Result] | Awaitable[Result], *, limit_ns: int | None
    ) -> Result:
        """Run until it is done; StillWaiting if that takes more simulated time than this."""
        awaited: asyncio.Future[Result] = asyncio.ensure_future(
            future,  # type: ignore[arg-type]  # typeshed: generators are awaited too
            loop=self,
        )
        try:
            self.run_until(awaited.done, limit_ns=limit_ns)
        except (Deadlock, StillWaiting):
            awaited.cancel()
            raise
        return awaited.result()

    def run_until(self, reached: Callable[[], bool], *, limit_ns: int | None) -> None:
        """Run until it is so, as asked after each callback; within a time, if one is given."""
        self._run(reached, None if limit_ns is None else self.now_ns + limit_ns)
        if not reached():
            late = limit_ns is not None and bool(self._timers)
            why = f"{(limit_ns or 0) / NS:g} s have passed" if late else "Nothing can run any more"
            problem = self.explain(why)
            raise StillWaiting(problem) if late else Deadlock(problem)

    def run_for(self, duration_ns: int) -> None:
        """Run whatever there is for this much simulated time."""
        until_ns = self.now_ns + duration_ns
        self._run(lambda: False, until_ns)
        self.now_ns = max(self.now_ns, until_ns)

    def run_forever(self) -> None:
        """Run until somebody calls stop(), or nothing is left to run."""
        self._stopping = False
        self._run(lambda: self._stopping, None)

    def stop(self) -> None:
        """End run_forever."""
        self._stopping = True

    def explain(self, why: str) -> str:
        """Who waits for what."""
        return waiting.explain(why, self._lab, self.processes, len(self._timers))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Step out of the loop, so that code in here can block on another one."""
        asyncio._set_running_loop(None)
        try:
            yield
        finally:
            asyncio._set_running_loop(self)

    def _run(self, done: Callable[[], bool], until_ns: int | None) -> None:
        if self._closed or self._running:
            raise RuntimeError(f"the loop is {'closed' if self._closed else 'running already'}")
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(finalizer=self._finalize)
        asyncio._set_running_loop(self)
        self._running = True
        try:
            while not done() and (self._ready or self._next_instant(until_ns)):
                self._step()
        finally:
            self._running = False
            asyncio._set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)

    def _step(self) -> None:
        """Run one callback out of those that are ready, whichever the seed picks."""
        ready = self._ready
        count = len(ready)
        if count == 1:
            chosen = ready.pop()
        else:
            place = int(self._random() * count)
            chosen, ready[place] = ready[place], ready[-1]
            ready.pop()
        process = chosen.process
        if chosen.off:
            return
        if process is not None:
            if process.paused:
                process.park(chosen)
                return
            if not process.alive:
                return
        self.callbacks += 1
        self._at_this_instant += 1
        if self._at_this_instant > RUNAWAY:
            self._runaway(chosen)
        if self.watch is not None:
            whose = "lab" if process is None else process.name
            self.watch(f"{self.now_ns} {whose} {waiting.named(chosen.function)}")
        try:
            chosen.where.run(chosen.function, *chosen.args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self.call_exception_handler({"message": repr(chosen), "exception": error})

    def _next_instant(self, until_ns: int | None) -> bool:
        """Jump to the next timers that are due; False if there are none, or none in time."""
        timers = self._timers
        while timers and timers[0][2].off:
            heapq.heappop(timers)
        if not timers or (until_ns is not None and timers[0][0] > until_ns):
            return False
        now = timers[0][0]
        if now > self.now_ns:
            self.now_ns = now
            self._at_this_instant = 0
            self._busy.clear()
        while timers and timers[0][0] <= now:
            self._ready.append(heapq.heappop(timers)[2])
        return True

    def _runaway(self, callback: Callback) -> None:
        """Look a little longer at what keeps running, then give up."""
        self._busy[waiting.named(callback.function)] += 1
        if self._at_this_instant < RUNAWAY + _SAMPLED:
            return
        raise Runaway(
            f"{RUNAWAY:,} callbacks ran at {self.now_ns / NS:g} s and time does not pass;"
            f" most of them: {waiting.busiest(self._busy)}"
        )

    # Scheduling.

    def time(self) -> float:
        """The clock of whoever asks, in seconds: a node's own, or the true one for the lab."""
        process = current_process()
        return (self.now_ns if process is None else process.clock.local_ns()) / NS

    def call_soon(
        self,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Run it at this instant, before or after whatever else is ready."""
        if context is None:
            process, context = current_process(), copy_context()
        else:
            process = process_in(context)
        made = Callback(callback, args, context, process, self.now_ns)
        self._ready.append(made)
        return made

    call_soon_threadsafe = call_soon

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run it after a delay, by the clock of whoever asks."""
        process = current_process()
        delay_ns = max(0, round(delay * NS))
        if process is not None:
            delay_ns = process.clock.true_delay_ns(delay_ns)
        return self.schedule(delay_ns, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run it at a moment, by the clock of whoever asks."""
        return self.call_later(when - self.time(), callback, *args, context=context)

    def schedule(
        self,
        delay_ns: int,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: Context | None = None,
    ) -> Callback:
        """Run it after a delay in true time."""
        if context is None:
            process, context = current_process(), copy_context()
        else:
            process = process_in(context)
        made = Callback(callback, args, context, process, self.now_ns + delay_ns)
        self._scheduled += 1
        heapq.heappush(self._timers, (made.when_ns, self._scheduled, made))
        return made

    def unpark(self, process: Process) -> None:
        """What a paused process would have run is ready again."""
        self._ready += process.parked
        process.parked.clear()

    # Tasks and futures.

    def create_future(self) -> asyncio.Future[Any]:
        """A future on this loop."""
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]  # generators as coroutines are not wanted
        self,
        coro: Coroutine[Any, Any, Result],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[Result]:
        """A task of whoever's context it runs in."""
        process = current_process() if context is None else process_in(context)
        if name is None:
            self._named += 1
            name = f"task {self._named}"
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        (self._lab if process is None else process.tasks).adopt(task)
        return task

    def _finalize(self, generator: AsyncGenerator[Any, Any]) -> None:
        if not self._closed:
            self.call_soon(lambda: self.create_task(generator.aclose()))

    # The simulated network.

    async def create_connection(  # type: ignore[override]  # of all its forms, the plain one
        self, protocol_factory: Callable[[], Any], host: str, port: int, **options: Any
    ) -> tuple[Any, Any]:
        """Connect through the simulated network; this is what ``asyncio.open_connection`` uses."""
        return await self._network(options).connect(protocol_factory, host, port)

    async def create_server(  # type: ignore[override]  # of all its forms, the plain one
        self, protocol_factory: Callable[[], Any], host: str, port: int, **options: Any
    ) -> asyncio.AbstractServer:
        """Listen in the simulated network; this is what ``asyncio.start_server`` uses."""
        return self._network(options).listen(protocol_factory, host, port)

    def _network(self, options: dict[str, Any]) -> Fabric:
        asked = sorted(name for name, value in options.items() if value is not None)
        if asked:
            raise Unsupported(f"the simulated network knows no {', '.join(asked)}")
        if self.fabric is None:
            raise Unsupported("this loop has no network; a Simulation brings one")
        return self.fabric

    # What an event loop must answer.

    def is_running(self) -> bool:
        """Whether it is inside one of its run methods."""
        return self._running

    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def close(self) -> None:
        """End all tasks where they stand; nothing runs here any more."""
        if self._closed:
            return
        self._closed = True  # first: what clean-up code does to the outside has no effect
        for process in self.processes:
            process.end()
        self._lab.end()
        self._ready.clear()
        self._timers.clear()

    def get_debug(self) -> bool:
        """Never: asyncio's debug mode reads the wall clock."""
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what nobody caught, for whoever runs the simulation."""
        # Tasks of dead processes are closed, never finished, and what a connection had to tell them
        # is never asked for: that is no fault of theirs.
        if not str(context.get("message", "")).startswith(_NOT_A_FAULT):
            self.errors.append(context)

    async def shutdown_asyncgens(self) -> None:
        """Generators end with their tasks."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""

    def run_in_executor(  # type: ignore[override]  # refused whatever it is
        self, executor: Any, func: Any, *args: Any
    ) -> NoReturn:
        """Refused."""
        raise Unsupported(f"{waiting.named(func)} would run in a thread; a simulation has none")

    async def getaddrinfo(self, *args: Any, **options: Any) -> NoReturn:
        """Refused."""
        raise Unsupported("names of hosts are names of nodes in a simulation; nothing to look up")

    def add_signal_handler(  # type: ignore[override]  # refused whatever it is
        self, sig: int, callback: Any, *args: Any
    ) -> NoReturn:
        """Refused."""
        raise Unsupported("a simulated node gets no signals; it is killed, paused or resumed")
