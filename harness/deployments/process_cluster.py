"""The reference cluster as processes on loopback: one for the controller, one for each broker.

Data stays below the folder that was given; a node that is started again finds its own and listens
on the port it had. Nothing outlives the lab (``harness.processes.reaper``).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import reference_impl
from harness.deployments.plan import (
    CONTROLLER,
    CONTROLLER_ID,
    DeploymentPlan,
    NodeState,
    broker_id,
)
from harness.errors import DidNotStart, LabBroken
from harness.processes.program import Program
from harness.proxies.links import LinkProxy, host_of

LOOPBACK = "127.0.0.1"
LOG_BYTES = 1 << 18
START_S = 60.0
STOP_S = 30.0


@dataclass(slots=True)
class _Node:
    program: Program
    address: str = ""
    port: int = 0  # the one it listens on, whatever its address says
    metrics: str = ""


class ProcessCluster:
    """A running cluster; use it as a context manager."""

    def __init__(
        self,
        folder: Path,
        plan: DeploymentPlan,
        *,
        first_port: int = 0,
        links: LinkProxy | None = None,
        services: Callable[[str], Sequence[str]] = lambda name: (),
    ) -> None:
        """``first_port`` is that of broker 1, the others follow it; 0 takes what is free.

        With ``links`` nodes and clients reach each node through the proxy. ``services`` gives the
        options by which a node finds its store and its control plane, each time it is started.
        """
        self.plan = plan
        self.folder = folder
        self._first_port = first_port
        self._links = links
        self._services = services
        self._bell = threading.Condition()
        self._nodes: dict[str, _Node] = {}
        self._ports: dict[str, int] = {}
        self._logged: defaultdict[str, bytes] = defaultdict(bytes)  # by programs that have ended

    def __enter__(self) -> ProcessCluster:
        try:
            self.start(CONTROLLER)
            self.wait(CONTROLLER)
            for name in self.plan.names:
                self.start(name)
            for name in self.plan.names:
                self.wait(name)
        except BaseException:
            self.kill_all()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.stop()
        self.kill_all()

    @property
    def bootstrap(self) -> str:
        """Where clients begin: every broker, with commas."""
        return ",".join(self.address(name) for name in self.plan.names)

    def address(self, name: str) -> str:
        """Where a node is found."""
        return self._links.ways[name] if self._links else self._nodes[name].address

    def metrics_address(self, name: str) -> str:
        """Where the page of its metrics is; empty before it is ready."""
        return self._nodes[name].metrics

    def runs(self, name: str) -> bool:
        """Whether its process is there."""
        return not self._nodes[name].program.silent

    def state(self, name: str) -> NodeState:
        """Whether its process runs, and how it ended if not."""
        code = self._nodes[name].program.exit_code
        return NodeState(running=code is None, exit_code=code)

    def pid(self, name: str) -> int:
        """The process of a node."""
        return self._nodes[name].program.pid

    def data_folder(self, name: str) -> Path:
        """The disk of a node."""
        return self.folder / name

    def log_tail(self, name: str, most_bytes: int) -> bytes:
        """The end of what a node wrote to its error output, over all its starts."""
        return (self._logged[name] + self._nodes[name].program.error_output)[-most_bytes:]

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────

    def start(self, name: str) -> None:
        """Start a node that is down; ``wait`` returns when it is ready."""

        def on_line(line: bytes) -> None:
            with self._bell:
                with contextlib.suppress(ValueError, KeyError):
                    said = json.loads(line)
                    self._nodes[name].port = int(said["port"])
                    self._nodes[name].metrics = str(said["metrics"])
                    self._nodes[name].address = str(said["address"])
                self._bell.notify_all()

        with self._bell:
            if name in self._nodes:
                self._logged[name] = self.log_tail(name, LOG_BYTES)
            self._nodes[name] = _Node(
                Program(
                    self._command(name),
                    called=name,
                    on_line=on_line,
                    bell=self._bell,
                    environment=reference_environment(),
                )
            )

    def wait(self, name: str, *, within_s: float = START_S) -> None:
        """Return when a node has said that it is ready."""
        node = self._nodes[name]
        deadline = time.monotonic() + within_s
        with self._bell:
            while not node.address:
                left = deadline - time.monotonic()
                if node.program.silent or left <= 0:
                    if node.program.silent:
                        raise LabBroken(f"{name} ended{node.program.last_words}")
                    row = NodeState(running=True, ready=False).row(name, on_purpose=False)
                    late = f"{name} was not ready in {within_s:.0f} s{node.program.last_words}"
                    raise DidNotStart(late, [row])
                self._bell.wait(left)
        if name not in self._ports:
            self._ports[name] = node.port
        if self._links is not None:
            self._links.lead_to(name, node.port)

    def kill(self, name: str) -> None:
        """SIGKILL."""
        self._nodes[name].program.kill()

    def wipe(self, name: str) -> None:
        """Empty the disk of a node that is down."""
        shutil.rmtree(self.folder / name)

    def pause(self, name: str) -> None:
        """SIGSTOP, and wait until it stands still."""
        self._nodes[name].program.stop()

    def resume(self, name: str) -> None:
        """SIGCONT."""
        self._nodes[name].program.signal(signal.SIGCONT)

    def terminate(self, name: str, *, within_s: float = STOP_S) -> None:
        """SIGTERM, and wait until it has gone in good order; a node that does not is an error."""
        program = self._nodes[name].program
        program.signal(signal.SIGTERM)
        deadline = time.monotonic() + within_s
        with self._bell:
            while not program.silent:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise LabBroken(f"{name} did not stop in {within_s:.0f} s{program.last_words}")
                self._bell.wait(left)
        program.kill()

    def stop(self) -> None:
        """All of them in good order, brokers first."""
        for name in [*self.plan.names, CONTROLLER]:
            if name in self._nodes and not self._nodes[name].program.silent:
                self.terminate(name)

    def kill_all(self) -> None:
        """Whatever still runs."""
        for node in self._nodes.values():
            node.program.kill()

    def _command(self, name: str) -> list[str]:
        part = CONTROLLER if name == CONTROLLER else "broker"
        number = CONTROLLER_ID if name == CONTROLLER else broker_id(name)
        port = self._ports.get(name, 0)
        if not port and self._first_port and part == "broker":
            port = self._first_port + number - 1
        command = [sys.executable, "-m", "reference_impl", part]
        command += ["--node-id", str(number), "--cluster-id", self.plan.cluster_id]
        command += ["--listen", f"{LOOPBACK}:{port}", "--data", str(self.folder / name)]
        if part == "broker":
            command += ["--controller", self.address(CONTROLLER)]
            rack = self.plan.rack(number)
            command += ["--rack", rack] if rack else []
        if self._links is not None:
            command += ["--from-host", host_of(name)]
            command += ["--advertised", self._links.ways[name]] if part == "broker" else []
        command += self._services(name)
        for key, value in self.plan.reference_properties.items():
            command += ["--property", f"{key}={value}"]
        for mutant in self.plan.mutants:
            command += ["--mutant", mutant]
        return command


def reference_environment() -> dict[str, str]:
    """Ours, with the package on the path whatever the working directory is."""
    above = str(Path(reference_impl.__file__).resolve().parent.parent)
    return {**os.environ, "PYTHONPATH": above, "PYTHONUNBUFFERED": "1"}
