"""Spark clusters of our own, started from the pyspark package: a master with workers, and a
Connect server. Python on them does not see the project: whatever it needs has to be shipped.

Each process runs under a small shell that waits on a pipe held by this process alone, so that none
outlives us, however we end.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from harness.processes.java import java_home_for_spark

HOST = "127.0.0.1"
UP_S = 90.0
DOWN_S = 30.0
SPARK = Path(pyspark.__file__).parent
_WATCHER = (
    'log=$1; shift; "$@" </dev/null >"$log" 2>&1 & pid=$!; read -r over; kill $pid; wait $pid'
)


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[str]:
    """A master and workers of one core each; its address for `--master`."""
    with ExitStack() as running:
        port = _free_port()
        master = ["org.apache.spark.deploy.master.Master", "--host", HOST, "--port", str(port)]
        log = running.enter_context(_process(folder, "master", [*master, "--webui-port", "0"]))
        _wait_for(log, "I have been elected leader")
        url = f"spark://{HOST}:{port}"
        for number in range(workers):
            worker = ["org.apache.spark.deploy.worker.Worker", "--host", HOST, "--webui-port", "0"]
            worker += ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work"), url]
            log = running.enter_context(_process(folder, f"worker-{number}", worker))
            _wait_for(log, "Successfully registered with master")
        yield url


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server of two cores; its address for `--master`."""
    port = _free_port()
    settings = {"spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false"}
    settings |= {"spark.connect.grpc.binding.address": HOST, "spark.driver.host": HOST}
    server = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[2]"]
    server += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    server += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    with _process(folder, "connect", [*server, "spark-internal"]) as log:
        _wait_for(log, "Spark Connect server started")
        yield f"sc://{HOST}:{port}"


@contextmanager
def _process(folder: Path, name: str, command: list[str]) -> Iterator[Path]:
    log = folder / f"{name}.log"
    environment = {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": java_home_for_spark(),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_DIRS": str(folder),
        # Of executors too. There is little to judge: optimizing code takes longer than it saves.
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1",
        "PYSPARK_PYTHON": str(bare_python(folder)),
    }
    spark_class = str(SPARK / "bin" / "spark-class")
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", _WATCHER, "watcher", str(log), spark_class, *command],
        stdin=subprocess.PIPE,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        yield log
    finally:
        watcher.communicate(timeout=DOWN_S)


def bare_python(folder: Path) -> Path:
    """Our Python with its packages, but without the project."""
    path = folder / "python"
    if not path.exists():
        packages = sysconfig.get_path("purelib")
        search = f'export PYTHONPATH="$PYTHONPATH:{packages}"'
        path.write_text(f'#!/bin/sh\n{search}\nexec {sys.executable} -S "$@"\n')
        path.chmod(0o755)
    return path


def _wait_for(log: Path, words: str) -> None:
    deadline = time.monotonic() + UP_S
    while not (log.exists() and words in log.read_text(errors="replace")):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{log.name} never said {words!r}: {log.read_text()[-2000:]}")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
