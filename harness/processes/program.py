"""A program that is asked in JSON lines: our own agent, or one of a SUT file.

It is not trusted. One thread listens to it, takes what it prints in bounded pieces and hands on
whole lines only; a line that never ends, or a flood of lines not asked for, ends the program and
becomes an error that says so. Of its error output the end is kept, to be looked at, and to be shown
when it fails.

It leads its own process group, so signals reach whatever it started in turn. Its exit is noticed by
its output closing, and it is waited for only after its group was killed: so its number cannot have
been given to anybody else when the group is signalled. A child that escapes into a group of its own
may keep the output open; the listener is told to stop all the same.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.errors import CannotConnect, LabBroken, LabError, ProtocolBreach, shown
from harness.processes.reaper import REAPER

LINE_LIMIT_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 16
_LAST_CHUNKS = 32  # read after it was killed, at most
_TAIL_BYTES = 1 << 18
_END_TIMEOUT_S = 10.0


class Program:
    """One running program and the thread that listens to it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        called: str,
        on_line: Callable[[bytes], None],
        bell: threading.Condition | None = None,
        on_end: Callable[[], None] | None = None,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``on_line`` and ``on_end`` are called by the thread that listens; the bell rings too."""
        self.called = called
        self.failure: LabError | None = None
        self.silent = False  # its output has closed: it ended, or is about to
        self._on_line = on_line
        self._on_end = on_end
        self._bell = bell
        self._reading = threading.Lock()
        self._buffer = bytearray()
        self._tail = bytearray()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=None if environment is None else dict(environment),
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            raise CannotConnect(f"{called} cannot be started: {error}") from None
        REAPER.started(self._process.pid)
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._input, self._output, self._errors = (_descriptor(stream) for stream in streams)
        self._enough, self._say_enough = os.pipe()
        self._listener = threading.Thread(target=self._listen, name=called, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """The number of the process; of its group too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended, negative for a signal; None as long as it runs. It is not waited for."""
        if self._process.returncode is not None:
            return self._process.returncode
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    @property
    def error_output(self) -> bytes:
        """The end of what it printed to its error output."""
        return bytes(self._tail)

    @property
    def last_words(self) -> str:
        """The end of what it printed to its error output, for a message."""
        text = bytes(self._tail).decode("utf-8", "replace").strip()
        return f"\n  its error output ends: {text[-600:]}" if text else ""

    def send(self, line: bytes) -> None:
        """Write one line to it; if it is gone, its silence will be noticed by what waits for it."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._input, line + b"\n")

    def signal(self, number: signal.Signals) -> None:
        """Signal its whole group, unless it has been waited for."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def stop(self) -> None:
        """SIGSTOP, and wait until the kernel says that it stands still."""
        self.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def catch_up(self, timeout_s: float) -> None:
        """Return once everything it has printed so far was taken in; for one that stands still."""
        deadline = time.monotonic() + timeout_s
        while not self.silent and time.monotonic() < deadline:
            with self._reading:
                if not _readable(self._output):
                    return
            time.sleep(0.001)

    def kill(self) -> None:
        """SIGKILL the group, wait for it, take in its last lines, and let go of it."""
        if self._process.returncode is not None:
            return
        self.signal(signal.SIGKILL)
        self._process.wait(_END_TIMEOUT_S)
        REAPER.ended(self.pid)
        os.write(self._say_enough, b"!")
        if self._listener is not threading.current_thread():
            self._listener.join(_END_TIMEOUT_S)
        os.close(self._say_enough)
        os.close(self._enough)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                stream.close() if stream else None

    def close(self, *, grace_s: float = 2.0) -> None:
        """Close its input and let it end by itself; kill what does not."""
        if self._process.returncode is None and self.failure is None and self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._listener.join(grace_s)
        self.kill()

    def _listen(self) -> None:
        try:
            self._take_in()
        except LabError as error:
            self.failure = error
        except Exception as error:
            self.failure = LabBroken(f"{error!r} while reading the output of {self.called}")
        self.silent = True
        if self.failure is not None:
            self.signal(signal.SIGKILL)
        if self._on_end is not None:
            self._on_end()
        if self._bell is not None:
            with self._bell:
                self._bell.notify_all()

    def _take_in(self) -> None:
        """Read both outputs until the first closes, or until it was told to stop."""
        poll = select.poll()
        for descriptor in (self._output, self._errors, self._enough):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if self._errors in ready and not self._read_errors():
                poll.unregister(self._errors)
            if self._output in ready and not self._read_output():
                self._read_errors(only_if_there=True)
                return
            if self._enough in ready:
                self._read_the_rest()
                return

    def _read_the_rest(self) -> None:
        for _ in range(_LAST_CHUNKS):
            if not _readable(self._output) or not self._read_output():
                return

    def _read_output(self) -> bool:
        with self._reading:
            chunk = os.read(self._output, _CHUNK_BYTES)
            self._buffer += chunk
            while (end := self._buffer.find(b"\n")) >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                if line.strip():
                    self._on_line(line)
        if len(self._buffer) > LINE_LIMIT_BYTES:
            raise ProtocolBreach(
                f"{self.called} printed more than {LINE_LIMIT_BYTES} bytes without a line end.",
                got=shown(bytes(self._buffer)),
                want="one JSON object a line",
            )
        return bool(chunk)

    def _read_errors(self, *, only_if_there: bool = False) -> bool:
        if only_if_there and not _readable(self._errors):
            return False
        chunk = os.read(self._errors, _CHUNK_BYTES)
        self._tail += chunk
        del self._tail[:-_TAIL_BYTES]
        return bool(chunk)


def _descriptor(stream: object) -> int:
    # Pipes of a started program are files, though their type is only "IO".
    number: int = stream.fileno()  # type: ignore[attr-defined]
    return number


def _readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
