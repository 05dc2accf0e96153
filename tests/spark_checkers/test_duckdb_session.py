"""The inline engine works in silence: what is printed is ours alone."""

from __future__ import annotations

import pytest

from spark_checkers.sessions import duckdb_connection


def test_a_long_query_draws_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    connection = duckdb_connection()
    connection.execute("SET progress_bar_time = 0")
    connection.execute("SELECT count(DISTINCT x % 1000003) FROM range(2000000) t(x)").fetchall()
    connection.close()

    assert capfd.readouterr() == ("", "")
