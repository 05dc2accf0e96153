"""The campaign on a system of which only an address is known, and perhaps a hook `process`."""

from __future__ import annotations

import asyncio
import json
import socketserver
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.classic.campaign import FAULTS, NODES, PROMISED, part_name
from conformance.classic.lab import record_classic
from conformance.profiles import PROFILES
from harness.cli import certify
from harness.cli.leaving import leaving_no_topics
from harness.clients.admin import create_topic, leadership
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.deployments import external_journal, external_nodes
from harness.deployments.external import external_deployment
from harness.deployments.external_nodes import find_brokers
from harness.deployments.plan import QUICK_TO_NOTICE, DeploymentPlan, broker_name
from harness.deployments.process_cluster import ProcessCluster
from harness.history import Run, read_history
from harness.rules import Verdict
from harness.sut import AdapterError, CannotConnect, Sut, UsageError, read_sut
from harness.sut.process_hook import VERBS, ProcessHook
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run
from tests.classic.campaign_rules import is_of_campaign

UNKNOWN_TOPIC = 3
RULES = CATALOGUE.of_profiles(("classic",)).played()
FILE = """
[sut]
name = "heron"
version = "1"
bootstrap = "{bootstrap}"
profiles = ["classic"]
"""
HOOK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as ways:
    ways.connect({path!r})
    ways.sendall(" ".join(sys.argv[1:]).encode() + b"\\n")
    sys.exit(ways.makefile().readline().strip() or 0)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    plan = DeploymentPlan(brokers=3, properties=QUICK_TO_NOTICE)
    with ProcessCluster(tmp_path_factory.mktemp("heron"), plan) as running:
        yield running


def sut_file(folder: Path, bootstrap: str, *more: str) -> Path:
    path = folder / "heron.toml"
    path.write_text("\n".join([FILE.format(bootstrap=bootstrap), *more]), encoding="utf-8")
    return path


@contextmanager
def obeying(cluster: ProcessCluster, path: Path) -> Iterator[list[str]]:
    """Carries out what the hook is told; the orders it was given."""
    orders: list[str] = []

    class Orders(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            order = self.rfile.readline().decode().strip()
            verb, *nodes = order.split()
            for node in nodes:
                orders.append(verb)
                getattr(cluster, verb)(broker_name(int(node)))
            self.wfile.write(b"\n")

    with socketserver.UnixStreamServer(str(path), Orders) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield orders
        server.shutdown()


def error_of(cluster: ProcessCluster, topic: str) -> int:
    """What a broker says of a topic."""
    host, _, port = cluster.address(broker_name(1)).rpartition(":")
    client = RawClient(StreamNetwork(), Address(host, int(port)))
    return asyncio.run(leadership(client, TopicPartition(topic, 0), timeout_s=5.0)).error


@pytest.mark.process
def test_without_a_hook_what_needs_no_fault_is_judged(
    cluster: ProcessCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = sut_file(tmp_path, cluster.bootstrap)

    code = certify.run(certify.Options(sut=str(file), engine="inline", out=tmp_path / "run"))

    out = capsys.readouterr().out
    assert code == 0, out
    assert "heron 1 · classic 2026.1 · external" in out
    assert "classic/pause-leader, classic/kill-leader" in " ".join(out.split())
    assert "\nCONFORMANT WITHOUT FAULTS  classic 2026.1 · depth wire " in out
    told = json.loads((tmp_path / "run" / "verdict.json").read_text())
    assert set(told["faults"]["not_tried"]) >= {part_name(fault) for fault in FAULTS}
    assert told["faults"]["landed"] == {}
    verdicts = {one["id"]: (one["verdict"], one["reason"]) for one in told["rules"]}
    seen = {verdict for verdict, _ in verdicts.values()}
    assert seen <= {"pass", "not observable", "not applicable"}
    assert ("not observable", "it has no hook process") in verdicts.values()
    for rule in ("KFK-095", "KFK-097"):
        assert verdicts[rule][1].startswith("the lab has not started its nodes")
    assert not (tmp_path / "run" / "certificate.json").exists()
    assert "smoke      ok      5 calls answered" in out
    tag = Run.open(tmp_path / "run").header["topic_tag"]
    assert {error_of(cluster, f"{name}-{tag}") for name in ("smoke-classic", "classic")} == {
        UNKNOWN_TOPIC
    }


@pytest.mark.process
def test_a_hook_lets_brokers_be_killed_paused_and_wiped(
    cluster: ProcessCluster, tmp_path: Path
) -> None:
    (tmp_path / "ctl.py").write_text(HOOK.format(path=str(tmp_path / "ctl")), encoding="utf-8")
    (tmp_path / "trace.jsonl").write_text('{"a": 1}\n')
    hooks = f'[hooks]\nprocess = "exec:{sys.executable} ctl.py"\ntrace = "file:trace.jsonl"'
    sut = read_sut(sut_file(tmp_path, cluster.bootstrap, hooks))
    run = Run.create(tmp_path / "run", run="run", sut="heron", world="external", topic_tag="x1")

    with obeying(cluster, tmp_path / "ctl") as orders:
        played = record_classic(
            run, world="external", seed=1, sut=sut, lasts_s=3.0, probes=PROFILES["classic"].probes
        )
    run.seal()

    assert set(played.not_played) == {*FAULTS, NODES} - PROMISED
    assert Counter(orders) == {"kill": 2, "start": 2, "pause": 2, "resume": 2, "wipe": 1}
    engine = InlineEngine()
    judged = judge_run(run.folder, RULES, engine, reference=False).judged
    landed = engine.rows("SELECT fault FROM fault_windows WHERE landed")
    engine.close()
    events = read_history(run.folder / "history.jsonl").events
    looks = [(one["what"], one["rows"]) for one in events if one["kind"] == "probe"]
    assert looks == [("trace", [{"a": 1}])]
    faults = Counter(row["fault"] for row in landed)
    assert faults == {"kill": 1, "pause": 2, "reimage": 1}
    free = {rule.id for rule in RULES if not rule.binds_others}
    # Without a plan nothing says that the nodes cannot be seen.
    unasked = ("KFK-095", "KFK-097")
    other = dict.fromkeys(free, Verdict.NOT_APPLICABLE) | dict.fromkeys(unasked, Verdict.NO_PROOF)
    assert {one.rule.id: one.verdict for one in judged if is_of_campaign(one.rule.id)} == {
        rule.id: other.get(rule.id, Verdict.PASS) for rule in RULES if is_of_campaign(rule.id)
    }
    assert Verdict.FAIL not in {one.verdict for one in judged}


@pytest.mark.process
def test_levers_pull_the_hook_and_count_what_is_no_longer_answered(
    cluster: ProcessCluster, tmp_path: Path
) -> None:
    (tmp_path / "ctl.py").write_text(HOOK.format(path=str(tmp_path / "ctl")), encoding="utf-8")
    hook = f'[hooks]\nprocess = "exec:{sys.executable} ctl.py"'
    sut = read_sut(sut_file(tmp_path, cluster.bootstrap, hook))
    run = Run.create(tmp_path / "run", run="run", sut="heron", world="external")

    with obeying(cluster, tmp_path / "ctl") as orders, external_deployment(run, sut) as system:
        killed = system.run(system.levers.kill("broker-3"))
        paused = system.run(system.levers.pause("broker-2"))
        system.run(paused.acted())
        system.run(paused.release())
        system.run(killed.release())

    assert orders == ["kill", "pause", "resume", "start"]
    assert killed.counts == {"processes_ended": 1}
    assert paused.counts["questions_unanswered"] > 0
    assert system.levers.offered == {"kill", "pause", "wipe"}
    assert system.probes == frozenset()


@pytest.mark.process
def test_the_topics_of_a_run_whose_lab_was_killed_go_with_the_next_run(
    cluster: ProcessCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_journal, "PLACE", tmp_path)
    killed = external_journal.Journal(cluster.bootstrap)
    killed.owes(external_journal.TOPICS, "17c0ffee")
    host, _, port = cluster.address(broker_name(1)).rpartition(":")
    client = RawClient(StreamNetwork(), Address(host, int(port)))
    asyncio.run(create_topic(client, "killed-17c0ffee", partitions=1, replication_factor=1))
    killed.close()

    with external_journal.journal_of(heron(bootstrap=cluster.bootstrap)):
        pass

    assert error_of(cluster, "killed-17c0ffee") == UNKNOWN_TOPIC
    assert not list(tmp_path.iterdir())


@pytest.mark.process
def test_a_run_that_is_stopped_takes_its_topics_with_it_and_no_others(
    cluster: ProcessCluster,
) -> None:
    sut = heron(bootstrap=cluster.bootstrap)
    host, _, port = cluster.address(broker_name(1)).rpartition(":")

    def create(topic: str) -> None:
        client = RawClient(StreamNetwork(), Address(host, int(port)))
        asyncio.run(create_topic(client, topic, partitions=1, replication_factor=1))

    def stopped_half_way() -> None:
        with leaving_no_topics(sut, "17c0ffee"):
            for name in ("classic", "edges-1"):
                create(f"{name}-17c0ffee")
            raise KeyboardInterrupt

    create("somebody-elses")
    with pytest.raises(KeyboardInterrupt):
        stopped_half_way()

    assert error_of(cluster, "classic-17c0ffee") == UNKNOWN_TOPIC
    assert error_of(cluster, "edges-1-17c0ffee") == UNKNOWN_TOPIC
    assert error_of(cluster, "somebody-elses") == 0


@pytest.mark.process
def test_a_hook_that_did_not_do_it_is_found_out(
    cluster: ProcessCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_nodes, "GONE_S", 0.0)
    sut = read_sut(sut_file(tmp_path, cluster.bootstrap))
    nodes = external_nodes.ExternalNodes(find_brokers(sut), ProcessHook(["true"], tmp_path))

    with pytest.raises(AdapterError, match="killed broker-2, which still answers"):
        nodes.kill("broker-2")


@pytest.mark.process
def test_a_broker_that_was_killed_is_started_again_whatever_happens(
    cluster: ProcessCluster, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    hook = ProcessHook(["sh", "-c", f'echo "$0 $1" >> {told}; test "$0" != kill'], tmp_path)
    sut = read_sut(sut_file(tmp_path, cluster.bootstrap))
    nodes = external_nodes.ExternalNodes(find_brokers(sut), hook)

    with pytest.raises(AdapterError, match="exit code 1"), nodes.mended():
        nodes.kill("broker-2")

    assert told.read_text().splitlines() == ["verbs ", "kill 2", "start 2"]


def test_the_verbs_of_the_hook_are_those_of_a_cluster() -> None:
    assert all(callable(getattr(ProcessCluster, verb)) for verb in VERBS)


def heron(**known: object) -> Sut:
    sut = Sut(name="heron", version="1", profiles=("classic",), bootstrap="127.0.0.1:1")
    return replace(sut, **known)  # type: ignore[arg-type]


def test_a_system_that_is_gone_keeps_nobody_waiting_for_its_topics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_journal, "PLACE", tmp_path)
    with pytest.raises(KeyboardInterrupt), leaving_no_topics(heron(), "17c0ffee"):
        raise KeyboardInterrupt


def test_nobody_at_the_bootstrap_address_is_one_sentence() -> None:
    with pytest.raises(CannotConnect, match=r"^no broker of heron answers at 127\.0\.0\.1:1$"):
        find_brokers(heron())


def test_clients_that_need_more_than_plaintext_cannot_be_played() -> None:
    unplayable = PROFILES["classic"].unplayable
    said = unplayable(heron(client={"security.protocol": "SASL_SSL"}))

    assert said == "an address that needs SASL_SSL cannot be judged yet: the lab speaks PLAINTEXT"
    assert unplayable(heron(client={"security.protocol": "plaintext"})) is None


def test_classic_needs_an_address(tmp_path: Path) -> None:
    file = tmp_path / "heron.toml"
    hook = '[hooks]\nprocess = "exec:./ctl"'
    text = FILE.replace('bootstrap = "{bootstrap}"\n', "") + hook
    file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match="it has no bootstrap address"):
        certify.run(certify.Options(sut=str(file), profiles=("classic",), engine="inline"))
