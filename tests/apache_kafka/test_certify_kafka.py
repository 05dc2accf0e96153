"""Apache Kafka as system under test: certified, or a sentence about why it cannot be had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.classic.campaign import FAULTS, PROMISED
from conformance.classic.lab import record_classic
from harness.cli import certify
from harness.deployments.apache_kafka import VERSION, KafkaUnavailable
from harness.history import Run
from harness.rules import Verdict
from harness.sut import UsageError, find_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run
from tests.classic.campaign_rules import is_of_campaign

RULES = CATALOGUE.of_profiles(("classic",)).played()


@pytest.mark.process
def test_a_short_campaign_finds_nothing_against_apache_kafka(tmp_path: Path) -> None:
    header = {"sut": "apache-kafka", "world": "process", "profiles": ["classic"], "seed": 1}
    run = Run.create(tmp_path / "run", run="run", **header)
    try:
        record_classic(
            run,
            world="process",
            seed=1,
            sut=find_sut("apache-kafka"),
            faults=("silence-leader",),
        )
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    run.seal()

    engine = InlineEngine()
    judged = judge_run(run.folder, RULES, engine, reference=False).judged
    engine.close()

    free = {rule.id for rule in RULES if not rule.binds_others}
    played = [one for one in judged if one.rule.id not in free and is_of_campaign(one.rule.id)]
    seen = {one.rule.id: (one.verdict, one.reason) for one in played}
    assert seen == dict.fromkeys(seen, (Verdict.PASS, ""))
    assert "Kafka Server started" in (run.folder / "nodes/classic/broker-1/server.log").read_text()


@pytest.mark.foreign
def test_apache_kafka_is_certified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = certify.Options(
        sut="apache-kafka", profiles=("classic",), engine="inline", out=tmp_path / "run"
    )
    try:
        code = certify.run(options)
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))

    out = capsys.readouterr().out
    assert (code, "CERTIFIED  classic" in out) == (0, True), out
    told = json.loads((tmp_path / "run" / "certificate.json").read_text())
    assert (told["sut"], told["sut_version"], told["world"]) == ("apache-kafka", VERSION, "process")
    assert {FAULTS[one].fault for one in PROMISED} <= set(told["faults"]["landed"])
    assert told["faults"]["not_landed"] == []


def test_its_version_is_the_one_of_the_jars() -> None:
    sut = find_sut("apache-kafka")

    assert (sut.version, sut.profiles) == (VERSION, ("classic", "tiered"))


def test_a_profile_without_rules_is_one_sentence() -> None:
    options = certify.Options(sut="apache-kafka", profiles=("diskless",), engine="inline")

    with pytest.raises(
        UsageError, match=r"^there are no rules for profile 'diskless' yet; built: "
    ):
        certify.run(options)


def test_it_cannot_be_simulated() -> None:
    options = certify.Options(sut="apache-kafka", world="sim", engine="inline")

    with pytest.raises(UsageError, match=r"^apache-kafka cannot be simulated"):
        certify.run(options)


def test_where_it_cannot_be_had_the_reason_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("PATH", str(tmp_path))
    options = certify.Options(sut="apache-kafka", engine="inline", out=tmp_path / "run")

    with pytest.raises(KafkaUnavailable, match="neither is Maven") as caught:
        certify.run(options)

    assert caught.value.exit_code == 3
    assert len(str(caught.value).splitlines()) == 1
