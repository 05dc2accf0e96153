"""Where the engines run: a Spark session on this machine or on a cluster, a DuckDB connection.

A master is `local`, `local[N]`, `local[*]`; `spark://host:port`, `yarn`, `k8s://…`, whose driver is
this process; or `sc://host:port`, a Spark Connect server, where this process is a mere client and
needs no Java. A process has one Spark session: asked for another master it refuses, because Spark
itself would hand out the session that is there.

What a cluster must offer:

- Histories and tables are exchanged as files. Driver, server and workers see them under the same
  paths: on one machine wherever they are, else in folders that are shared (for tables `TMPDIR`).
- Kernels run in Python on the workers: the same minor version as here, with pyarrow, duckdb and
  numba. Our own packages are shipped with the session; they need nothing else there.

Memory is bounded: DuckDB writes to disk what does not fit, and no query of ours returns
more than counts and a limited number of findings.
"""

from __future__ import annotations

import atexit
import os
import pickle
import re
import signal
import socket
import sys
import threading
import time
import weakref
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import LabBroken, UsageError
from harness.scratch import ScratchFolder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CONNECT = "sc://"
CONNECT_TASKS = 8
_MASTERS = re.compile(
    r"local(\[(\*|\d+)(,\d+)?\])?|(spark|k8s|sc)://\S+|local-cluster\[[\d,]+\]|yarn"
)
_NO_FILE = re.compile("FileNotFoundError|No files found that match")
_PORTS = {"spark": 7077, "sc": 15002}
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SHIPPED = ("harness", "spark_checkers")
_ANSWER_S = 5.0
_WORKERS_S = 60.0
_LOOK_S = 0.5

# Spark takes these only before it starts; a Connect server has its own.
_AT_START = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Tables never pass through Java: the kernels in its tasks read them by themselves.
    "spark.driver.memory": "1g",
    # No answer of ours is large; one that is would be a defect, better told than swapped.
    "spark.driver.maxResultSize": "512m",
}
# Java runs a few queries that do nearly nothing, once: optimizing them takes longer than it saves.
_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"
_ANY_TIME = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


_ONE_AT_A_TIME = threading.Lock()


def spark_session(master: str, *, java_home: str | None = None, log: Path | None = None) -> Any:
    """The Spark session of this process, on the given master; its own chatter goes to `log`."""
    if not _MASTERS.fullmatch(master):
        known = f"local[*], spark://HOST:PORT or {CONNECT}HOST:PORT"
        raise UsageError(f"{master!r} is no Spark master: it is {known}")
    with _ONE_AT_A_TIME:
        _someone_answers(master)
        connects = master.startswith(CONNECT)
        session = _connected(master) if connects else _started(master, java_home, log)
        for name, value in _ANY_TIME.items():
            session.conf.set(name, value)
        return session


def begin_session(master: str, *, java_home: str | None = None, log: Path | None = None) -> None:
    """Start the session while something else is done; who asks for it later waits for the rest.

    What keeps it from starting is told to them, not here.
    """

    def begin() -> None:
        with suppress(Exception):
            session = spark_session(master, java_home=java_home, log=log)
            # The first query is most of what is left: Java loads its classes, Python its worker.
            given_by_tasks(session, abs, 1)

    threading.Thread(target=begin, name="spark-session", daemon=True).start()


def cores_of(session: Any) -> int:
    """How many tasks run at once, as far as the session tells."""
    context = getattr(session, "_sc", None)  # a Connect session has none, and refuses to say so
    return max(2, int(context.defaultParallelism)) if context is not None else CONNECT_TASKS


def given_by_tasks(session: Any, function: Callable[[int], Any], count: int) -> dict[int, Any]:
    """What a function gives for each number below a count, each computed in a task of its own.

    A Connect session has frames only. Others are spared them: before its first query Java loads
    and compiles a planner that has nothing to plan here, for three seconds of CPU.
    """
    context = getattr(session, "_sc", None)
    if context is not None:
        numbers = context.parallelize(range(count), count)
        return dict(_collected(session, numbers.map(partial(_numbered, function))))
    frame = session.range(0, count, 1, count).mapInArrow(
        partial(_in_arrow, function), "number bigint, result binary"
    )
    rows = _collected(session, frame)
    return {int(row["number"]): pickle.loads(row["result"]) for row in rows}


def _numbered(function: Callable[[int], Any], number: int) -> tuple[int, Any]:
    return number, function(number)


def _in_arrow(function: Callable[[int], object], batches: Iterator[Any]) -> Iterator[Any]:
    """The numbers in Arrow batches, each with what the function gives for it."""
    import pyarrow

    for batch in batches:
        for number in batch.column(0).to_pylist():
            result = pickle.dumps(function(number))
            yield pyarrow.record_batch({"number": [number], "result": [result]})


def _collected(session: Any, asked: Any) -> list[Any]:
    """The rows of a frame, or of what is like one. Ctrl-C is heard while they are waited for, and
    ends their job."""
    with ThreadPoolExecutor(1) as beside:
        rows = beside.submit(asked.collect)
        try:
            found: list[Any] = rows.result()
            return found
        except KeyboardInterrupt:
            context = getattr(session, "_sc", None)
            (session.interruptAll if context is None else context.cancelAllJobs)()
            raise


@contextmanager
def tasks_watched(session: Any, watch: Callable[[int], None]) -> Iterator[None]:
    """Tell how many tasks of the job in the block are done, where the session knows."""
    context: Any = getattr(session, "_sc", None)
    over = threading.Event()

    def look() -> None:
        tracker = context.statusTracker()
        while not over.wait(_LOOK_S):
            stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
            watch(sum(stage.numCompletedTasks for stage in stages if stage is not None))

    looking = threading.Thread(target=look, name="tasks-watched", daemon=True)
    if context is not None:
        looking.start()
    try:
        yield
    finally:
        over.set()
        if context is not None:
            looking.join()


@cache
def _connected(url: str) -> Any:
    from pyspark.sql.connect.session import SparkSession

    with _told_in_a_sentence(url):
        session = SparkSession.builder.remote(url).appName("tidemark").create()
        session.addArtifacts(str(_our_packages()), pyfile=True)
    atexit.register(session.stop)
    return session


def _started(master: str, java_home: str | None, log: Path | None) -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    here = master.startswith("local") or _host_port(master)[0] in _LOOPBACK
    if here:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if java_home:
        os.environ["JAVA_HOME"] = java_home
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is not None:
        if running.master != master:
            raise LabBroken(
                f"this process runs Spark on {running.master}; {master} needs a process of its own"
            )
        return SparkSession(running)
    settings = {**_AT_START, "spark.app.name": "tidemark", "spark.master": master}
    settings |= {f"spark.{whose}.extraJavaOptions": _JAVA for whose in ("driver", "executor")}
    if here:
        settings["spark.driver.bindAddress"] = "127.0.0.1"
    conf = SparkConf(loadDefaults=False).setAll([*settings.items()])
    with _told_in_a_sentence(master), (log or Path(os.devnull)).open("ab") as chatter:
        launch: Any = launch_gateway
        with _interrupted_as_before():
            context = SparkContext(conf=conf, gateway=launch(conf, {"stderr": chatter}))
        context.setLogLevel("ERROR")
        session = SparkSession(context)
    if not master.startswith("local"):
        _some_worker_came(session, master)
        session.sparkContext.addPyFile(str(_our_packages()))
    return session


@contextmanager
def _interrupted_as_before() -> Iterator[None]:
    """Spark answers Ctrl-C by asking Java to cancel jobs, in the middle of whatever it was asking.
    Here it is answered where rows are waited for (`collected`)."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """What comes to end this process waits for the end of the block. DuckDB's module aborts the
    process where an exception meets it while it is loaded, and leaves its folders behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def in_a_sentence(cause: BaseException) -> str:
    """What went wrong in a task: the last line of what Python said there, or the first of Java."""
    lines = str(cause).strip().splitlines()
    traces = [n for n, line in enumerate(lines) if line.startswith("Traceback (most recent call")]
    raised = (line for line in lines[traces[-1] + 1 :] if line.strip()) if traces else iter(lines)
    found = (line for line in raised if not traces or not line.startswith((" ", "\t")))
    return next(found, type(cause).__name__).strip()


def unseen_there(master: str, sentence: str) -> str:
    """What to say if a task on another machine failed because a file is only here; else nothing."""
    if master.startswith("local") or not _NO_FILE.search(sentence):
        return ""
    return (
        f"a worker of {master.partition(';')[0]} does not see a file ({sentence}). Driver and "
        "workers of a cluster see the history and the tables under the same paths: put the history "
        "into a folder that they share, and set TMPDIR to one"
    )


@contextmanager
def _told_in_a_sentence(master: str) -> Iterator[None]:
    """What Spark says when it does not start is a stack of Java; its first line says it."""
    try:
        yield
    except Exception as cause:
        first = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
        raise UsageError(f"no session on {master.partition(';')[0]}: {first}") from cause


def _host_port(master: str) -> tuple[str, int | None]:
    found = re.match(r"(spark|sc)://([^:/,;]+)(?::(\d+))?", master)
    if found is None:
        return "", None
    return found[2], int(found[3] or _PORTS[found[1]])


def _someone_answers(master: str) -> None:
    """Spark tries for minutes before it says that nobody is there."""
    host, port = _host_port(master)
    if port is None:
        return
    try:
        socket.create_connection((host, port), timeout=_ANSWER_S).close()
    except OSError as cause:
        reason = cause.strerror or str(cause)
        raise UsageError(f"nobody answers at {host}:{port} ({reason}): is Spark up?") from None


def _some_worker_came(session: Any, master: str) -> None:
    """Without a worker the first query would wait for ever."""
    deadline = time.monotonic() + _WORKERS_S
    executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus
    while executors().size() < 2:  # one of them is the driver
        if time.monotonic() > deadline:
            session.stop()
            raise UsageError(f"no worker of {master} takes work: has it any, and any cores left?")
        time.sleep(0.1)


@cache
def _our_packages() -> Path:
    """The packages that functions on workers are made of, in an archive that Python can import.

    Workers fetch it when they first need it, so it stays as long as this process.
    """
    root = Path(__file__).resolve().parent.parent
    folder = ScratchFolder("packages")
    atexit.register(folder.close)
    archive = folder.path / "tidemark.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in _SHIPPED:
            for file in sorted((root / package).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    packed.write(file, file.relative_to(root))
    return archive


def duckdb_connection(memory: str = "50%") -> DuckDBPyConnection:
    """DuckDB in this process; what does not fit into so much `memory` goes to disk."""
    with _interrupts_held():
        import duckdb

    spilled = ScratchFolder("duckdb")
    connection = duckdb.connect(
        ":memory:", config={"temp_directory": str(spilled.path), "memory_limit": memory}
    )
    # Its bar would be drawn into whatever we print.
    connection.execute("SET enable_progress_bar_print = false")
    weakref.finalize(connection, spilled.close)
    return connection
