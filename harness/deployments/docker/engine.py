"""The Docker engine, and what a deployment makes there: all of it is labelled, and nothing is left.

Containers, networks and volumes of a deployment carry two labels: `tidemark.owner`, which says
whose they are, and `tidemark.run`. The owner is a scratch folder of this machine; a living lab
holds a lock there. What belongs to no living lab of this machine is removed before a deployment is
opened, and nothing else is ever touched. A lab that is killed has no say: a watcher, a process of
its own, then removes what it left at once (``watcher.py``).
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import docker  # type: ignore[import-untyped]
from docker.errors import APIError, DockerException  # type: ignore[import-untyped]

from harness.deployments.docker.removal import OWNER, remove_owned
from harness.errors import CannotConnect
from harness.scratch import ScratchFolder, is_owned

RUN = "tidemark.run"
SOCKET = "unix:///var/run/docker.sock"  # where an engine listens unless DOCKER_HOST says so
TIMEOUT_S = 120
WATCHER_S = 10.0
_SUBNETS_TRIED = 5


class EngineUnavailable(CannotConnect):
    """No Docker engine can be used here; one sentence says why and what to do."""


def connect() -> Any:
    """A client of the engine that answers here."""
    try:
        client = docker.from_env(timeout=TIMEOUT_S)
        client.ping()
    except DockerException as problem:
        if isinstance(problem, APIError):  # an engine that answers gives reasons of its own
            what = f"the Docker engine does not answer as one ({first_line(problem)})"
        else:
            what = f"cannot connect to the Docker daemon at {os.environ.get('DOCKER_HOST', SOCKET)}"
        raise EngineUnavailable(
            f"{what}. Start it, or use another --world; `./tidemark doctor` says what this machine"
            " offers."
        ) from None
    return client


def first_line(problem: Exception) -> str:
    """What an error says, in one line."""
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__


def machine() -> str:
    """This machine and its folder of temporary folders, as owners name it."""
    return f"{socket.gethostname()}:{tempfile.gettempdir()}"


class OwnedObjects:
    """What one deployment makes in an engine; leaving it removes all of that."""

    def __init__(self, run: str) -> None:
        self.client = connect()
        remove_abandoned(self.client)
        self._scratch = ScratchFolder("docker")
        self.folder = self._scratch.path
        place = machine() if self._scratch.locked else "not locked"
        owner = f"{place}:{self.folder.name}"
        self.name = self.folder.name
        self.labels: Mapping[str, str] = {OWNER: owner, RUN: run}
        self._watcher = _watch(owner)
        self.network: Any = None

    def __enter__(self) -> OwnedObjects:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove everything, and let the watcher go."""
        try:
            remove_owned(self.client, self.labels[OWNER])
        finally:
            self._watcher.communicate(b"done\n", timeout=WATCHER_S)
            self.client.close()
            self._scratch.close()

    def make_network(self) -> Network:
        """A bridge of its own, where containers get addresses that stay."""
        for left in reversed(range(_SUBNETS_TRIED)):
            subnet = self._free_subnet()
            pool = docker.types.IPAMPool(subnet=subnet)
            try:
                self.network = self.client.networks.create(
                    self.name, ipam=docker.types.IPAMConfig(pool_configs=[pool]), labels=self.labels
                )
            except DockerException:
                if not left:
                    raise
            else:
                break
        return Network(self.name, subnet)

    def _free_subnet(self) -> str:
        """What the engine would choose by itself; it gives fixed addresses in chosen ones only."""
        probe = self.client.networks.create(f"{self.name}-probe", labels=self.labels)
        try:
            probe.reload()
            return str(probe.attrs["IPAM"]["Config"][0]["Subnet"])
        finally:
            probe.remove()


class Network:
    """A network by its name, and the addresses in it."""

    def __init__(self, name: str, subnet: str) -> None:
        self.name = name
        self._prefix = subnet.partition("/")[0].rpartition(".")[0]

    @property
    def gateway(self) -> str:
        """This machine, as containers see it."""
        return f"{self._prefix}.1"

    def host(self, number: int) -> str:
        """The address of that number."""
        return f"{self._prefix}.{number}"


def remove_abandoned(client: Any) -> None:
    """Remove what labs of this machine left in the engine and no living one owns."""
    prefix = f"{machine()}:"
    for owner in sorted(_owners(client)):
        name = owner.removeprefix(prefix)
        if owner.startswith(prefix) and not is_owned(Path(tempfile.gettempdir()) / name):
            remove_owned(client, owner)


def _owners(client: Any) -> Iterator[str]:
    found = {"label": OWNER}
    for one in client.containers.list(all=True, filters=found, ignore_removed=True):
        yield one.labels.get(OWNER, "")
    for one in (*client.networks.list(filters=found), *client.volumes.list(filters=found)):
        yield (one.attrs.get("Labels") or {}).get(OWNER, "")


def _watch(owner: str) -> subprocess.Popen[bytes]:
    above = str(Path(__file__).resolve().parents[3])
    return subprocess.Popen(
        [sys.executable, "-m", "harness.deployments.docker.watcher", owner],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={**os.environ, "PYTHONPATH": above},
        start_new_session=True,
    )
