"""Campaigns in containers: the reference and Apache Kafka pass them, a mutant does not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conformance.campaigns import read_campaign, record
from harness.history import Run
from harness.rules import Verdict
from harness.sut import Sut, apache_kafka_sut, reference_sut
from tests.conformance.test_campaigns import (
    check_every_role_was_hurt_and_kept_its_promises,
    events_of,
    recorded,
    verdicts_of,
)

pytestmark = pytest.mark.docker

QUICK = Path(__file__).with_name("quick.toml")
EACH = Counter(zombie=1, cut=5, kill=1, lossy=1, reimage=1, restart=1)
CUT_BY_KERNEL = 4  # the first is seen at the clients' links, perhaps before the others
ACKNOWLEDGED_AT_ONCE = "conformance.mutants.replication:acknowledged-at-once"


def played(folder: Path, sut: Sut) -> dict[str, Verdict]:
    """The verdicts of the quick campaign in containers, every fault of which has landed."""
    run = Run.create(folder, run="1", sut=sut.name, world="docker", profiles=["classic"], seed=1)
    record(run, sut, read_campaign(QUICK), world="docker", seed=1)
    faults = [one for one in events_of(folder) if one["kind"] == "fault"]
    assert Counter(one["name"] for one in faults if one["phase"] == "landed") == EACH
    cuts = [one for one in faults if one["name"] == "cut" and one["phase"] == "landed"]
    assert sum(one["evidence"].get("packets_dropped", 0) > 0 for one in cuts) >= CUT_BY_KERNEL
    return verdicts_of(folder)


@pytest.mark.parametrize("sut", [reference_sut(), apache_kafka_sut()], ids=lambda sut: sut.name)
def test_a_system_in_containers_keeps_its_promises(tmp_path: Path, sut: Sut) -> None:
    assert set(played(tmp_path / "run", sut).values()) == {Verdict.PASS}


def test_a_mutant_in_containers_is_caught(tmp_path: Path) -> None:
    verdicts = played(tmp_path / "run", reference_sut(mutants=(ACKNOWLEDGED_AT_ONCE,)))
    assert Verdict.FAIL in verdicts.values()


def test_every_role_is_hurt_in_one_deployment_of_containers(tmp_path: Path) -> None:
    check_every_role_was_hurt_and_kept_its_promises(recorded(tmp_path / "run", "docker"))
