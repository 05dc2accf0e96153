"""Programs that act for clients: started when first needed, replaced after they died.

What the process world and foreign programs have in common. Each client has at most one program; a
reader thread takes its answer, checks it and completes the operation at that moment. The lab's
thread only ever waits on the bell, with a deadline.

A program that does not answer in time leaves an unknown outcome and is killed: its late answer
would be taken for the answer to the next question. If it had never answered anything, it is not a
slow system but a broken program, and that is an error.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.errors import AdapterError, CannotConnect, LabError
from harness.history.recorder import Evidence, Operation, Recorder
from harness.processes.program import Program
from harness.sut.protocol import question, read_answer, read_ready
from harness.worlds.transport import Transport


@dataclass(slots=True, kw_only=True, eq=False)
class Client:
    """One client's program and where it stands in the conversation."""

    name: str
    program: Program | None = None
    ready: bool = False
    paused: bool = False
    asked: int = 0
    answered: int = 0  # by the present program
    question: int | None = None
    operation: Operation | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long the lab waits for a program to get ready and to answer."""

    ready_s: float = 20.0
    answer_s: float = 15.0


class ProgramTransport(Transport):
    """Asks one program per client; knows nothing about what lies behind it."""

    supports = frozenset({"call", "begin", "end", "kill", "pause", "resume"})

    def __init__(self, recorder: Recorder, bell: threading.Condition, patience: Patience) -> None:
        self._recorder = recorder
        self._bell = bell
        self._patience = patience
        self._clients: dict[str, Client] = {}

    # -- what a world adds

    def title(self, client: Client) -> str:
        """How messages name the program of a client."""
        raise NotImplementedError

    def start(self, client: Client, on_line: Callable[[bytes], None]) -> Program:
        """Start the program of a client."""
        raise NotImplementedError

    def gone(self, client: Client) -> None:
        """Called after a client's program was killed."""

    # -- verbs

    def prepare(self, client: str) -> None:
        """Start the program if there is none."""
        self._running(self.client(client))

    def send(self, operation: Operation) -> None:
        """Ask, after starting the program if there is none."""
        client = self.client(operation.client)
        program = self._running(client)
        with client.lock:
            client.asked += 1
            client.question, client.operation = client.asked, operation
        program.send(question(client.asked, operation.f, operation.arguments))

    def wait(self, operation: Operation) -> None:
        """Until the answer is recorded; a program that stays silent is given up."""
        client = self.client(operation.client)
        if self.until(lambda: not operation.open, client, self._patience.answer_s):
            return
        answered_before = client.answered > 0
        self._give_up(client)
        if not answered_before:
            raise AdapterError(
                f"{self.title(client)} did not answer {operation.f!r} within"
                f" {self._patience.answer_s:g} s, and has never answered anything"
            )

    def kill(self, client: str) -> Evidence:
        """SIGKILL; whatever was printed before still counts."""
        found = self.client(client)
        operation = found.operation
        self._end(found)
        still_open = operation is not None and operation.open
        return {"operations_open": int(still_open), "signal": "SIGKILL"}

    def pause(self, client: str) -> None:
        """SIGSTOP, and take in what was printed before it."""
        found = self.client(client)
        program = self._running(found)
        program.stop()
        found.paused = True
        program.catch_up(self._patience.answer_s)

    def resume(self, client: str) -> None:
        """SIGCONT."""
        found = self.client(client)
        found.paused = False
        if found.program is not None:
            found.program.signal(signal.SIGCONT)

    def stalled(self, client: str) -> Evidence:
        """An operation that is open while its program stands still."""
        operation = self.client(client).operation
        return {"requests_stalled": int(operation is not None and operation.open)}

    def close(self) -> None:
        """End every program, those that stand still included."""
        for client in self._clients.values():
            program, client.program = client.program, None
            if program is not None:
                if client.paused or (client.operation is not None and client.operation.open):
                    program.kill()
                else:
                    program.close()

    # -- shared by the worlds

    def client(self, name: str) -> Client:
        """The client of that name, made when first heard of."""
        return self._clients.setdefault(name, Client(name=name))

    def until(self, done: Callable[[], bool], client: Client, timeout_s: float) -> bool:
        """Wait on the bell; False after the timeout, an error if the program failed.

        Nothing but looking happens with the bell in hand: ending a program waits for its
        listener, and the listener may be about to ring.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            left = deadline - time.monotonic()
            with self._bell:
                if left > 0 and not done() and not _failed(client.program):
                    self._bell.wait(left)
            if done():
                return True
            self._raise_failure(client)
            if left <= 0:
                return False

    def _running(self, client: Client) -> Program:
        self._raise_failure(client)
        if client.program is None:
            client.ready = client.paused = False
            client.answered = 0
            client.program = self.start(client, lambda line: self._on_line(client, line))
            if not self.until(lambda: client.ready, client, self._patience.ready_s):
                words = client.program.last_words
                self._end(client)
                raise CannotConnect(
                    f"{self.title(client)} printed no ready line within"
                    f" {self._patience.ready_s:g} s{words}"
                )
        return client.program

    def _on_line(self, client: Client, line: bytes) -> None:
        """In the reader's thread: one whole line of output."""
        called = self.title(client)
        if not client.ready:
            read_ready(line, called=called)
            client.ready = True
        else:
            with client.lock:
                number, operation = client.question, client.operation
                f = "" if operation is None else operation.f
                answer = read_answer(line, called=called, number=number, f=f)
                client.question = None
                client.answered += 1
            if operation is not None:
                self._recorder.complete(operation, answer)
        with self._bell:
            self._bell.notify_all()

    def _raise_failure(self, client: Client) -> None:
        program = client.program
        if program is None:
            return
        if program.failure is not None:
            self._end(client)
            raise self.blame(program.failure, program)
        if program.silent:
            words = program.last_words
            self._end(client)
            kind = CannotConnect if not client.ready else AdapterError
            raise self.blame(kind(f"{program.called} ended by itself{words}"), program)

    def blame(self, error: LabError, program: Program) -> LabError:
        """Whose fault it is when a program misbehaves; foreign programs answer for themselves."""
        return error

    def _give_up(self, client: Client) -> None:
        operation = client.operation
        self._end(client)
        if operation is not None:
            self._recorder.complete(operation, None)

    def _end(self, client: Client) -> None:
        program, client.program = client.program, None
        client.question = None
        if program is not None:
            program.kill()
            self.gone(client)


def _failed(program: Program | None) -> bool:
    return program is not None and (program.silent or program.failure is not None)
