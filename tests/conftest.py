"""What tests share for the whole run, because it takes seconds to start: Spark and S3 servers."""

from __future__ import annotations

import logging
import urllib.request
from collections.abc import Iterator

import pytest

from harness.processes.java import java_home_for_spark
from harness.processes.s3_server import SeaweedServer
from spark_checkers.engine import SparkEngine


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkEngine]:
    engine = SparkEngine("local[2]", java_home=java_home_for_spark())
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def seaweedfs_url() -> Iterator[str]:
    """A bucket of a real S3 server."""
    with SeaweedServer() as server:
        yield server.url("contract")


@pytest.fixture(scope="session")
def moto_url() -> Iterator[str]:
    """A bucket of a light S3 server in this process."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it reports every request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/contract", method="PUT")).close()
    yield f"s3://contract?endpoint={endpoint}&access_key_id=any&secret_access_key=any"
    server.stop()
