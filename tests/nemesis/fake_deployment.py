"""A deployment whose levers do nothing but note that they were pulled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from harness.deployments.deployment import Role
from nemesis.faults import FAULTS

NODES = {
    Role.CONTROLLER: ("controller",),
    Role.BROKER: ("broker-1", "broker-2", "broker-3"),
    Role.CLIENT: ("client-a",),
    Role.CONTROL_PLANE: ("control-plane",),
    Role.OBJECT_STORE: ("object-store",),
}
ALL_LEVERS = frozenset(lever for fault in FAULTS.values() for lever in fault.levers)


class FakeLever:
    """Counts what a test says it does."""

    def __init__(self, log: list[Any], name: str) -> None:
        self.counts: dict[str, int] = {}
        self.broken = False
        self._log = log
        self._name = name

    async def release(self) -> None:
        self._log.append(f"release {self._name}")
        if self.broken:
            raise RuntimeError(self._name)

    async def pass_one(self) -> int:
        return self.counts.get("requests_held", 0)

    async def drop(self) -> None:
        self.counts["requests_dropped"] = self.counts.get("requests_held", 0)


class FakeLevers:
    """Every lever there is."""

    further_ends: tuple[str, ...] = ()

    def __init__(self, log: list[Any]) -> None:
        self.offered = ALL_LEVERS
        self.not_offered: dict[str, str] = {}
        self.pulled: list[FakeLever] = []
        self._log = log

    def __getattr__(self, lever: str) -> Callable[..., Awaitable[FakeLever]]:
        async def pull(*args: Any, **options: Any) -> FakeLever:
            on = " ".join(str(one) for one in args if one is not None)
            self._log.append(f"{lever} {on}")
            self.pulled.append(FakeLever(self._log, f"{lever} {on}"))
            return self.pulled[-1]

        return pull


class FakeRecorder:
    """Notes lines of faults in the log that levers write to, too."""

    plan_part: str | None = None

    def __init__(self, log: list[Any]) -> None:
        self._log = log

    def topic(self, name: str) -> str:
        return name

    def step(self, document: Any, meant: Any) -> None:
        self._log.append(f"step {document['verb']}")

    def begin_fault(self, name: str, target: str) -> Any:
        self._log.append(" ".join(filter(None, ("begin", name, "on", target, self.plan_part))))
        return SimpleNamespace(name=name, target=target, landed=False)

    def landed(self, line: Any, evidence: Any) -> None:
        line.landed = True
        self._log.append(f"landed {line.name} {dict(evidence)}")

    def end_fault(self, line: Any, evidence: Any) -> None:
        self._log.append(f"end {line.name}")

    def suspend_assumption(self, assumption: str, why: str) -> Callable[[], None]:
        self._log.append(f"suspend {assumption}")
        return lambda: self._log.append(f"resume {assumption}")


class FakeDeployment:
    """Three brokers, a controller, a client, both services."""

    world = "sim"
    brokers = (1, 2, 3)
    network: Any = None
    pace = 1.0
    lacks: dict[str, str] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.levers = FakeLevers(self.log)
        self.recorder = FakeRecorder(self.log)
        self.ended: list[str] = []
        self.objects: list[str] = ["wal/2", "wal/1"]
        self.probes = frozenset({"nodes", "objects"})
        self.time = 0
        self.without: tuple[Role, ...] = ()

    def address(self, broker: int) -> tuple[str, int]:
        """Where there is nothing."""
        return "fake", broker

    def nodes(self, role: Role) -> tuple[str, ...]:
        return () if role in self.without else NODES[role]

    def now_ns(self) -> int:
        self.time += 1
        return self.time

    async def probe(self, what: str) -> list[dict[str, object]]:
        if what == "objects":
            return [{"key": key, "size": 1} for key in self.objects]
        return [{"node": node, "state": "ended"} for node in self.ended]
