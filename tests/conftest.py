"""What tests share: one Spark session for the whole run, because starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.processes.java import java_home_for_spark
from spark_checkers.engine import SparkEngine


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkEngine]:
    engine = SparkEngine("local[2]", java_home=java_home_for_spark(), small=True)
    yield engine
    engine.close()
