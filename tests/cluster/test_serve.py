"""`./tidemark serve`: a cluster for any client, from the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

pytestmark = pytest.mark.process

COMMAND = [sys.executable, "-m", "harness.cli", "serve", "--port", "0"]


IGNORING_SIGINT = ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "background"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_stops_cleanly_when_told(
    number: signal.Signals, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    with subprocess.Popen(
        [*IGNORING_SIGINT, *COMMAND, "--brokers", "2", "--racks", "a,b", "--data", str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as serving:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        assert line.startswith("bootstrap=127.0.0.1:")
        bootstrap = line.strip().removeprefix("bootstrap=")
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        assert sorted(admin.list_topics(timeout=20).brokers) == [1, 2]
        serving.send_signal(number)
        assert serving.wait(60) == 0
    assert sorted(os.listdir(data)) == ["broker-1", "broker-2", "controller", "objects"]
    assert (data / "broker-1" / ".kafka_cleanshutdown").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--brokers", "0"], "greater than or equal to 1"),
        (["--property", "x"], "'x' is not NAME=VALUE"),
        (["--port", "65535", "--brokers", "3"], "do not fit behind port 65535"),
        (["--mutant", "nowhere:nothing"], "nowhere"),
    ],
)
def test_a_mistake_ends_in_a_sentence(arguments: list[str], sentence: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
