"""confluent-kafka clients on real brokers: what is recorded of them is what they were told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.catalogue import CATALOGUE
from conformance.driver import VOCABULARIES, Driver
from harness.deployments.deploy import deploy
from harness.deployments.plan import DeploymentPlan
from harness.errors import UsageError
from harness.history import Run, read_history
from harness.steps.text import parse
from harness.sut import reference_sut
from harness.workloads.librdkafka import RealClients, RealLoad
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run

RULES = ("KFK-001", "KFK-002", "KFK-003", "KFK-005", "KFK-006")
PLAIN = """
librdkafka create topic=books partitions=2
librdkafka create topic=more partitions=1
librdkafka begin seed=1 producers=2 rate=200 settings="acks=all,compression.type=lz4,linger.ms=20"
lab wait ms=2000
librdkafka finish
"""
WITHIN = """
librdkafka create topic=books partitions=2
librdkafka begin seed=1 producers=2 rate=60 settings="transactional.id=x"
lab wait ms=3000
librdkafka finish
"""


@contextmanager
def driven(folder: Path, world: str) -> Iterator[tuple[Run, Driver]]:
    run = Run.create(folder, run="1", sut="reference", world=world, profiles=["classic"], seed=1)
    settings = {
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
    }
    plan = DeploymentPlan(brokers=1, properties=settings)
    with deploy(reference_sut(), plan, run=run, world=world, seed=1) as on, Driver(on) as driver:
        yield run, driver
    run.seal()


def operations(run: Run) -> list[dict[str, Any]]:
    return [dict(one) for one in read_history(run.folder).events if one["kind"] == "op"]


@pytest.mark.process
@pytest.mark.parametrize(("text", "f"), [(PLAIN, "send"), (WITHIN, "txn")])
def test_everything_that_was_acknowledged_is_read_once(text: str, f: str, tmp_path: Path) -> None:
    with driven(tmp_path / "run", "process") as (run, driver):
        driver.play(parse(text, *VOCABULARIES))

    told = operations(run)
    sent = [one for one in told if (one["f"], one["type"]) == (f, "ok")]
    assert len(sent) > 20
    assert len({one["process"] for one in sent}) > 2 or f == "txn"  # several open at a time
    engine = InlineEngine()
    rules = [CATALOGUE[one] for one in RULES]
    judged = judge_run(run.folder, rules, engine, reference=False).judged
    engine.close()
    verdicts = {one.rule.id: one.verdict.value for one in judged}
    assert verdicts == dict.fromkeys(RULES, "pass") | {"KFK-003": verdicts["KFK-003"]}


def test_they_need_real_sockets(tmp_path: Path) -> None:
    begin = parse("librdkafka begin seed=1", *VOCABULARIES)

    with (
        pytest.raises(UsageError, match="none in a simulation"),
        driven(tmp_path / "run", "sim") as (_, driver),
    ):
        driver.play(begin)


def break_off(folder: Path) -> None:
    begun = "\n".join(PLAIN.strip().splitlines()[:3])
    with driven(folder, "process") as (_, driver):
        driver.play(parse(begun, *VOCABULARIES))
        raise UsageError("in the middle of the load")


@pytest.mark.process
def test_a_run_that_breaks_off_takes_its_clients_along(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="in the middle of the load"):
        break_off(tmp_path / "run")


def test_a_send_fails_no_later_than_its_transaction() -> None:
    short = {"transactional.id": "x", "transaction.timeout.ms": "3000"}

    assert RealLoad(topics={}, settings=short).delivered_ms == 3000
    assert RealLoad(topics={}).delivered_ms == 60_000


def test_settings_that_librdkafka_refuses_are_told_before_anything_is_sent() -> None:
    longer = {
        "transactional.id": "x",
        "transaction.timeout.ms": "3000",
        "message.timeout.ms": "4000",
    }
    on = SimpleNamespace(brokers=(1,), address=lambda broker: "127.0.0.1:1")

    with pytest.raises(UsageError, match="refuses its settings"):
        RealClients(on, RealLoad(topics={}, settings=longer), seed=1).begin()  # type: ignore[arg-type]
