"""The search for a legal order against Porcupine, and against the textbook's in Python.

One register: generated histories of working ones; the same with a read of a value nobody wrote
("bad") or of one that had been overwritten ("stale"), which we see at first sight; and with reads
that see two writes in crossed orders ("crossed"), which nobody does. And the etcd logs, where the
public histories lie beside the project. All three are given the same operations and must agree; a
baseline that needs more than two seconds for one history is stopped, and the ratio then says "at
least". The search in Python is asked about the easiest histories only. Ours is the compiled walk,
with its explanation; the time to load it is not part of it; where it gives no verdict, the row says
"unknown". Porcupine is built by Go, in `porcupine/`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness.cli.benches.measured import Measured, timed
from harness.cli.benches.plain_search import plain_search
from harness.history import import_history
from spark_checkers.linearizability import (
    Model,
    Operation,
    Verdict,
    Walking,
    model_named,
    operations_by_key,
    search,
)
from spark_checkers.linearizability.recorded import (
    recorded_cas_register,
    recorded_register,
    with_bad_read,
    with_crossed_reads,
    with_stale_read,
)

SIZES = (1_000, 10_000)
CLIENTS = (3, 5, 10, 20)
PATIENCE_S = 2.0
REPEATED_S = 0.5
MOST_REPEATS = 50
"""A check is repeated that often or that long, whatever ends first, and the fastest counts."""
GO_SOURCES = Path(__file__).parent / "porcupine"
ETCD_LOGS = Path(__file__).resolve().parents[4] / "shared" / "corpus" / "etcd-register"
NOBODY_WROTE = 99
PLAIN = "plain Python"
MOST_FOR_PLAIN = 5_000
"""Operations times clients, beyond which it is of no use to ask for more than Porcupine."""
_VERDICTS = {
    "Ok": Verdict.LINEARIZABLE,
    "Illegal": Verdict.NOT_LINEARIZABLE,
    "Unknown": Verdict.UNKNOWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A verdict and how long it took."""

    verdict: Verdict
    seconds: float


Checker = Callable[[Sequence[Operation], Model], Checked]
Total = Callable[[Sequence[float]], float]
"""What counts of several histories."""


def measure(folder: Path) -> Iterator[Measured]:
    """Operations a second."""
    baselines = _baselines(folder)
    yield from _etcd_logs(baselines)
    for size in SIZES:
        yield from _measure_size(size, baselines)


def measure_long(folder: Path, size: int) -> Iterator[Measured]:
    """The same for generated histories of that size."""
    yield from _measure_size(size, _baselines(folder))


def _baselines(folder: Path) -> dict[str, Checker]:
    """Whom to compare with, once our own code is loaded."""
    _by_ours(recorded_register(10, 2, lost=0.5), model_named("register", initial=0))
    porcupine = _Porcupine.built(folder)
    if isinstance(porcupine, _Porcupine):
        return {PLAIN: _by_plain_search, "Porcupine": porcupine.check}
    return {f"{PLAIN} (no Porcupine: {porcupine})": _by_plain_search}


def _measure_size(size: int, baselines: dict[str, Checker]) -> Iterator[Measured]:
    for name, recorded in (("register", recorded_register), ("cas", recorded_cas_register)):
        model = model_named("register" if name == "register" else "cas-register", initial=0)
        for clients in CLIENTS:
            easy = size * clients <= MOST_FOR_PLAIN
            asked = {who: check for who, check in baselines.items() if easy or who != PLAIN}
            good = recorded(size, clients)
            histories = {"": good, " bad": with_bad_read(good, NOBODY_WROTE)[0]}
            if (stale := with_stale_read(good)) is not None:
                histories[" stale"] = stale[0]
            histories[" crossed"] = with_crossed_reads(good)[0]
            for kind, operations in histories.items():
                row = f"{name} {size:,}x{clients}{kind}"
                yield from _compared({row: sum}, [operations], model, asked)


def _etcd_logs(baselines: dict[str, Checker]) -> Iterator[Measured]:
    if not ETCD_LOGS.is_dir():
        return
    model = model_named("cas-register")
    logs = [
        operations
        for path in sorted(ETCD_LOGS.glob("*.log"))
        for operations in operations_by_key(import_history(path).events, model).values()
    ]
    rows: dict[str, Total] = {"all etcd logs": sum, "median etcd log": median}
    yield from _compared(rows, logs, model, baselines)


def _compared(
    rows: dict[str, Total],
    histories: Sequence[Sequence[Operation]],
    model: Model,
    baselines: dict[str, Checker],
) -> Iterator[Measured]:
    sizes = [len(operations) for operations in histories]
    ours = [_by_ours(operations, model) for operations in histories]
    no_verdict = any(checked.verdict is Verdict.UNKNOWN for checked in ours)
    for name, check in baselines.items():
        theirs = [check(operations, model) for operations in histories]
        _must_agree(ours, theirs, name)
        stopped = any(other.verdict is Verdict.UNKNOWN for other in theirs)
        for row, total in rows.items():
            yield Measured(
                row=f"{row}, unknown" if no_verdict else row,
                unit="ops/s",
                rate=total(sizes) / total([checked.seconds for checked in ours]),
                baseline=f"{name}, stopped" if stopped else name,
                baseline_rate=total(sizes) / total([checked.seconds for checked in theirs]),
            )


def _must_agree(ours: Sequence[Checked], theirs: Sequence[Checked], name: str) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        if Verdict.UNKNOWN not in (mine.verdict, other.verdict) and mine.verdict != other.verdict:
            raise AssertionError(f"ours says {mine.verdict.value}, {name} {other.verdict.value}")


def _fastest(check: Callable[[], Verdict]) -> Checked:
    verdicts: list[Verdict] = []
    seconds: list[float] = []
    while len(seconds) < MOST_REPEATS and sum(seconds) < REPEATED_S:
        seconds.append(timed(lambda: verdicts.append(check())))
    return Checked(verdict=verdicts[0], seconds=min(seconds))


def _by_ours(operations: Sequence[Operation], model: Model) -> Checked:
    return _fastest(lambda: search(operations, model, walking=Walking.COMPILED).verdict)


def _by_plain_search(operations: Sequence[Operation], model: Model) -> Checked:
    return _fastest(lambda: plain_search(operations, model, timeout_s=PATIENCE_S))


@dataclass(frozen=True, slots=True)
class _Porcupine:
    program: Path

    @classmethod
    def built(cls, folder: Path) -> _Porcupine | str:
        """The program, or why there is none."""
        go = shutil.which("go")
        if go is None:
            return "Go is not on the PATH"
        program = folder.resolve() / "porcupine"
        build = [go, "build", "-o", str(program), "."]
        done = subprocess.run(build, cwd=GO_SOURCES, capture_output=True, text=True, check=False)
        return "it could not be built" if done.returncode else cls(program)

    def check(self, operations: Sequence[Operation], model: Model) -> Checked:
        """The fastest of many, or of one where that takes long."""
        lines = "".join(_lines(operations, model))
        repeats = ["-repeat", f"{MOST_REPEATS}", "-worth", f"{REPEATED_S}s"]
        command = [str(self.program), *repeats, "-patience", f"{PATIENCE_S}s"]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        verdict, nanoseconds = done.stdout.split()
        return Checked(verdict=_VERDICTS[verdict], seconds=int(nanoseconds) / 1e9)


def _lines(operations: Sequence[Operation], model: Model) -> Iterator[str]:
    """What the program reads; values are numbers there, the first value 0."""
    values: dict[object, int] = {model.initial: 0}

    def number(value: object) -> int:
        return values.setdefault(value, len(values))

    for o in operations:
        match o.f, o.arguments:
            case "cas", (old, new):
                first, second = number(old), number(new)
            case "write", value:
                first, second = number(value), 0
            case _:
                first, second = number(o.result), 0
        ended = -1 if o.ended is None else o.ended
        yield f"{number(('client', o.process))} {o.f} {first} {second} {o.began} {ended}\n"
    yield ".\n"
