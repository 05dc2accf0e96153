"""Brokers as processes with a store and a control plane, and what is recorded of their effects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import serve
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process import open_process
from harness.errors import UsageError
from harness.history import Run


@pytest.mark.process
def test_effects_of_live_nodes_are_in_the_history_on_their_own_clock(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="traced", sut="reference", world="process")
    plan = DeploymentPlan(
        brokers=1, control_plane="postgres", object_store="s3", traced=("disk", "network")
    )
    with open_process(run, plan) as system:
        command = " ".join(system._parts.nodes._command("broker-1"))
    run.seal()
    assert "--control-plane" in command
    assert "--store s3://" in command
    events = [json.loads(line) for line in run.history.read_text("utf-8").splitlines()]
    effects = [event for event in events if event["kind"] == "effect"]
    assert {(one["clock"], one["node"]) for one in effects} == {
        ("broker-1", 1),
        ("controller", 3000),
    }
    assert {one["port"] for one in effects} == {"disk", "network"}


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ({"store": "memory"}, "use folder, s3, or the address of a store"),
        ({"control_plane": "memory"}, "use postgres, or the address of a database"),
    ],
)
def test_serve_refuses_memory_that_processes_cannot_share(
    given: dict[str, str], instead: str
) -> None:
    with pytest.raises(UsageError, match=instead):
        serve.run(brokers=1, racks="", port=0, data=None, properties=(), mutants=(), **given)
