"""The reference behind `serve` as a stranger's cluster, with the hook program of the examples."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.cli import certify
from harness.clients.operations import TopicPartition
from harness.deployments.external import external_deployment
from harness.history import Run
from harness.sut import Sut, read_sut
from nemesis.faults import FAULTS
from nemesis.nemesis import Nemesis
from nemesis.offered import not_offered

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "serve"
TP = TopicPartition("t", 0)
QUICK = {
    "broker.session.timeout.ms": "2000",
    "replica.lag.time.max.ms": "2000",
}
# Mutants that need a fault to be seen, and rules of which one has to show each of them.
CAUGHT = {
    "leader-alone-commits": {"KFK-030", "KFK-039", "KFK-001"},
    "acknowledged-at-once": {"KFK-030", "KFK-039"},
    "epoch-not-bumped": {"KFK-071"},
}


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Path]:
    """A cluster of three that takes orders in a folder; the SUT file that leads to it."""
    for file in EXAMPLE.iterdir():
        shutil.copy(file, folder)
    command = [sys.executable, "-m", "harness.cli", "serve", "--brokers", "3", "--port", "0"]
    settings = [word for name, value in QUICK.items() for word in ("--property", f"{name}={value}")]
    with (
        (folder / "serve.log").open("wb") as log,
        subprocess.Popen(
            [*command, "--orders", str(folder), *settings, *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            bootstrap = process.stdout.readline().strip().removeprefix("bootstrap=")
            assert bootstrap, (folder / "serve.log").read_text()
            file = folder / "sut.toml"
            usual = "127.0.0.1:9092,127.0.0.1:9093,127.0.0.1:9094"
            assert usual in file.read_text()
            file.write_text(file.read_text().replace(usual, bootstrap))
            yield file
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@pytest.fixture(scope="module")
def sut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sut]:
    with served(tmp_path_factory.mktemp("served")) as file:
        yield read_sut(file)


def test_the_example_kills_stops_and_cuts_and_each_fault_lands(sut: Sut, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="run", sut="served", world="external")
    with external_deployment(run, sut) as system:
        assert system.levers.offered == {"kill", "pause", "wipe", "cut", "delay"}
        for name in ("cut", "pause", "reimage"):
            nemesis = Nemesis(system)
            active = system.run(nemesis.begin(name, "broker-2"))
            assert not active.out_of_place
            system.run(active.levers.acted())
            system.run(nemesis.end(active))
            assert FAULTS[name].has_landed(active.levers.counts), name
        assert not_offered(system, FAULTS["kill"], "controller") is not None
        assert not_offered(system, FAULTS["cut"], "broker-1 -> controller") is None


def test_a_hook_that_knows_no_links_is_told_of_by_what_it_lacks(sut: Sut, tmp_path: Path) -> None:
    shutil.copytree(sut.folder or Path(), tmp_path / "mute", ignore=_sockets)
    (tmp_path / "mute" / "nodes.py").write_text("")  # it obeys everything and says nothing
    run = Run.create(tmp_path / "run", run="run", sut="served", world="external")
    with external_deployment(run, read_sut(tmp_path / "mute" / "sut.toml")) as system:
        assert system.levers.offered == {"kill", "pause", "wipe"}
        reason = not_offered(system, FAULTS["cut"], "ring")

    assert reason == "its hook process does not know cut, heal, held"


def _sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name.endswith(".sock")]


@pytest.mark.slow
def test_a_sound_cluster_is_certified_by_address(tmp_path: Path) -> None:
    with served(tmp_path) as file:
        code = certify.run(certify.Options(sut=str(file), engine="inline", out=tmp_path / "run"))

    told = json.loads((tmp_path / "run" / "verdict.json").read_text())
    assert code == 0, [one for one in told["rules"] if one["verdict"] not in ("pass",)]
    assert (tmp_path / "run" / "certificate.json").exists()
    assert told["faults"]["landed"]["cut"] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("mutant", CAUGHT)
def test_a_mutant_is_caught_by_address(mutant: str, tmp_path: Path) -> None:
    with served(tmp_path, "--mutant", f"conformance.mutants.replication:{mutant}") as file:
        code = certify.run(certify.Options(sut=str(file), engine="inline", out=tmp_path / "run"))

    rules = json.loads((tmp_path / "run" / "verdict.json").read_text())["rules"]
    assert CAUGHT[mutant] & {one["id"] for one in rules if one["verdict"] == "fail"}
    assert code == 1
