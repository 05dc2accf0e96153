"""PostgreSQL and the S3 server of a deployment, each in a container of its own.

They listen on the network of the deployment. The lab comes to them directly; nodes and clients come
through the fault proxies, which listen at the gateway of that network.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import psycopg

from harness.deployments.docker.container import Container, Machine, Program
from harness.deployments.docker.engine import Network, OwnedObjects
from harness.errors import LabBroken
from harness.processes.database import Database
from harness.processes.s3_server import SeaweedServer
from reference_impl.control_plane.server import PostgresServer, ServerError
from reference_impl.decisions import SqlMutant

DATABASE, STORE = "database", "store"
POSTGRES_PORT, S3_PORT = 5432, 8333
_HOSTS = {DATABASE: 5, STORE: 6}
_START_S = 60.0
_PAUSE_S = 0.05
_LAST_WORDS = 2000
_MINI = (
    "mini -dir=/data -ip=127.0.0.1 -ip.bind=0.0.0.0 -master.telemetry=false -admin.ui=false"
    f" -webdav=false -s3.port.iceberg=0 -s3.port.lance=0 -s3.port={S3_PORT}"
)


class ContainerPostgres(PostgresServer):
    """A PostgreSQL server in a container; what it has goes with it."""

    def __init__(self, owned: OwnedObjects, network: Network, image: str) -> None:
        self.port = POSTGRES_PORT
        self.host = network.host(_HOSTS[DATABASE])
        settings = ("-c", "fsync=off", "-c", "full_page_writes=off")
        program = Program(image=image, command=settings)
        machine = Machine(owned, DATABASE, self.host)
        self._container = Container(owned, DATABASE, program, machine)

    def start(self) -> PostgresServer:
        """Wait until it answers; start it if it has ended."""
        if not self._container.state().running:
            self._container.start()
        deadline = time.monotonic() + _START_S
        while not self._answers(self.port):
            if time.monotonic() > deadline or not self._container.state().running:
                words = self._container.said()[-_LAST_WORDS:].decode(errors="replace")
                raise ServerError(f"PostgreSQL did not start; the end of its log:\n{words}")
            time.sleep(_PAUSE_S)
        return self

    def kill(self) -> int:
        """SIGKILL all of it; how many processes that were."""
        return self._container.kill()

    def stop(self) -> None:
        """It ends with its container."""

    def close(self) -> None:
        """It goes with what the deployment owns."""

    def _answers(self, port: int) -> bool:
        try:
            psycopg.connect(self._address(port, "postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


class ContainerDatabase(Database):
    """A database on a server in a container."""

    def __init__(
        self, server: ContainerPostgres, *, schema_upto: int | None, mutants: Sequence[SqlMutant]
    ) -> None:
        self._container = server
        server.start()
        super().__init__(schema_upto=schema_upto, mutants=mutants, server=server)

    def kill(self) -> int:
        """SIGKILL the server and its backends; how many processes ended by it."""
        return self._container.kill()

    def close(self) -> None:
        """It goes with its container."""


class ContainerS3(SeaweedServer):
    """An S3 server in a container; what it has goes with it."""

    def __init__(self, owned: OwnedObjects, network: Network, image: str) -> None:
        super().__init__()
        self.port = S3_PORT
        self._host = network.host(_HOSTS[STORE])
        keys = {
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
        }
        program = Program(image=image, command=_MINI.split(), environment=keys)
        machine = Machine(owned, STORE, self._host)
        self._container = Container(owned, STORE, program, machine)

    def start(self) -> SeaweedServer:
        """Wait until an object can be put."""
        if not self._wait_until_ready():
            words = self._container.said()[-_LAST_WORDS:].decode(errors="replace")
            raise LabBroken(f"SeaweedFS did not start; the end of its log:\n{words}")
        return self

    def kill(self) -> int:
        """SIGKILL; how many processes ended by it. Its data stays."""
        return self._container.kill()

    def start_again(self) -> None:
        """Start it on the data it had, and wait until every object can be read, and one be put."""
        self._container.start()
        if not self._wait_until_ready() or not self._wait_until_readable():
            raise LabBroken("SeaweedFS did not start again on its data")

    def close(self) -> None:
        """It goes with its container."""

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://{self._host}:{self.port}"

    def _lives(self) -> bool:
        return self._container.state().running
