"""The inline engine works in silence, and can be interrupted from its first moment on."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from spark_checkers.sessions import duckdb_connection


def test_a_long_query_draws_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    connection = duckdb_connection()
    connection.execute("SET progress_bar_time = 0")
    connection.execute("SELECT count(DISTINCT x % 1000003) FROM range(2000000) t(x)").fetchall()
    connection.close()

    assert capfd.readouterr() == ("", "")


def test_an_interrupt_while_it_is_loaded_waits_for_that() -> None:
    interrupted_at_its_first_enumeration = """
import enum, signal
from spark_checkers.sessions import duckdb_connection

def interrupt(member, *values):
    if type(member).__module__ == "_duckdb":
        signal.raise_signal(signal.SIGINT)

enum.Enum.__init__ = interrupt
duckdb_connection()
"""
    command = [sys.executable, "-c", interrupted_at_its_first_enumeration]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert done.returncode == -signal.SIGINT, done.stderr
    assert "nanobind" not in done.stderr
