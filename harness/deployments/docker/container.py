"""A program of a deployment in a container, on a machine of its own.

A machine is a container, too, in which nothing runs but `sleep`: it holds the address and the
network, so that these stay when the program is killed and starts again. Who still talks to a
program that was killed hears so at once, as from a machine on which a process died.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from docker.errors import APIError, DockerException, NotFound  # type: ignore[import-untyped]

from harness.deployments.docker.engine import OwnedObjects
from harness.deployments.docker.images import machine_image
from harness.deployments.plan import NodeState
from harness.errors import LabBroken
from harness.processes.groups import members, stopped_threads

PAUSE_S = 0.02
STILL_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What runs in a container, and what it sees of this machine."""

    image: str
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: Mapping[str, str] = field(default_factory=dict)  # a volume or a folder: inside
    user: str | None = None


class Machine:
    """An address in the network of a deployment, under a name that others there can look up."""

    def __init__(
        self,
        owned: OwnedObjects,
        name: str,
        host: str,
        *,
        ports: Mapping[int, int] = MappingProxyType({}),
        disk: str | None = None,
    ) -> None:
        """``ports`` inside are also found at ports of the loopback of this machine; the ``disk`` is
        there as long as the machine."""
        self.host = host
        place = owned.client.api.create_endpoint_config(ipv4_address=host, aliases=[name])
        self._inside: Any = owned.client.containers.create(
            machine_image(owned.client),
            name=f"{owned.name}-{name}-machine",
            hostname=name,
            labels=dict(owned.labels),
            network=owned.network.name,
            networking_config={owned.network.name: place},
            ports={f"{one}/tcp": ("127.0.0.1", port) for one, port in ports.items()},
            volumes=[] if disk is None else [f"{disk}:/disk"],
            cap_add=["NET_ADMIN", "NET_RAW"],
        )
        self._inside.start()
        self._inside.reload()

    @property
    def identity(self) -> str:
        """How the engine names it, once and for all."""
        return str(self._inside.id)

    def pid(self) -> int | None:
        """Its process, if that is one of this machine which can be seen."""
        return visible_pid(self._inside)

    def carry_out(self, command: Sequence[str]) -> str | None:
        """What a command says in it; None if it failed."""
        with contextlib.suppress(DockerException):
            code, told = self._inside.exec_run(list(command), demux=True)
            return (told[0] or b"").decode() if code == 0 else None
        return None


class Container:
    """A program by its name; it may end and start again."""

    def __init__(self, owned: OwnedObjects, name: str, program: Program, machine: Machine) -> None:
        self._inside: Any = owned.client.containers.create(
            program.image,
            list(program.command) or None,
            name=f"{owned.name}-{name}",
            labels=dict(owned.labels),
            network_mode=f"container:{machine.identity}",
            environment=dict(program.environment),
            volumes=[f"{path}:{inside}" for path, inside in program.mounts.items()],
            user=program.user,
        )
        self.start()

    def start(self) -> None:
        """Start its program, from the disk that it had."""
        self._inside.start()
        self._inside.reload()

    def state(self) -> NodeState:
        """Whether it runs, paused or not, and how it ended if not."""
        with contextlib.suppress(NotFound):
            self._inside.reload()
            running = self._inside.status in ("running", "paused", "restarting")
            code = None if running else self._inside.attrs["State"].get("ExitCode")
            return NodeState(running=running, exit_code=code)
        return NodeState(running=False)

    def pid(self) -> int | None:
        """Its first process, if that is one of this machine which can be seen."""
        return visible_pid(self._inside)

    def kill(self) -> int:
        """SIGKILL, and wait until it has ended; how many processes there were."""
        if not self.state().running:
            return 0
        count = len(self._inside.top()["Processes"])
        with contextlib.suppress(APIError):  # it has ended by itself
            self._inside.kill()
        self._inside.wait()
        return count

    def stop(self, within_s: float) -> None:
        """SIGTERM; a program that does not go is killed."""
        self._inside.stop(timeout=int(within_s))

    def pause(self) -> None:
        """SIGSTOP where its process can be seen, and wait until it stands still; else freeze it."""
        pid = self.pid()
        if pid is None:
            self._inside.pause()
            return
        self._inside.kill(signal="SIGSTOP")
        deadline = time.monotonic() + STILL_S
        while members(pid) and not stopped_threads(pid):
            if time.monotonic() > deadline:
                raise LabBroken(f"{self._inside.name} did not stand still in {STILL_S:g} s")
            time.sleep(PAUSE_S)

    def resume(self) -> None:
        """Let it go on; one that has ended stays so."""
        with contextlib.suppress(APIError):
            if self.pid() is None:
                self._inside.unpause()
            else:
                self._inside.kill(signal=signal.SIGCONT.name)

    def said(self, *, out: bool = True, err: bool = True, last: int | str = "all") -> bytes:
        """What it wrote, over all its starts."""
        try:
            return bytes(self._inside.logs(stdout=out, stderr=err, tail=last))
        except DockerException:
            return b""

    def remove(self) -> None:
        """Remove it, running or not, with the volumes that are its alone."""
        with contextlib.suppress(NotFound):
            self._inside.remove(force=True, v=True)


def visible_pid(container: Any) -> int | None:
    """The first process of a container, if that is one of this machine which can be seen."""
    pid = int(container.attrs["State"].get("Pid") or 0)
    try:
        groups = Path(f"/proc/{pid}/cgroup").read_text() if pid else ""
    except OSError:
        return None
    return pid if container.id in groups else None
