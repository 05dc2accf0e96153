"""Profiles: found by name, one object each, smoked before anything is judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.classic import edge_topics
from conformance.lab import record, run_plan, smoke
from conformance.profiles import PROFILES, built_in_mutants, find_profile, profile_of
from conformance.profiles.profile import Piece, Plan, Played, Profile, Progress
from conformance.scenario import Scenario
from conformance.tiered import divergence, faults, store_faults, topics, transactions
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan
from harness.errors import LabBroken, UsageError
from harness.history import Run
from harness.rules import Catalogue, Depth, Holds, Level, Rule, Verdict
from harness.sut import PROFILES as KNOWN
from harness.sut import Sut, reference_sut
from reference_impl.decisions import Mutant, load_mutant, mutated
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge

RULE = Rule(
    id="TOY-001",
    document="toy",
    section="Toys",
    lines=(),
    sentence="A log can be created.",
    level=Level.MUST,
    depth=Depth.HOOKS,
    profile="toy",
    judge=Holds(table="ops", when="f = 'create_log'", holds="type = 'ok'", show=("type",)),
)


class Toy(Profile):
    name = "toy"
    rules = (RULE,)
    scenarios = (Scenario(name="One log", rules=("TOY-001",), script="a  call  create t=toy"),)

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        return DeploymentPlan(brokers=0, control_plane="memory")

    def pieces(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> list[Piece]:
        return [Piece(lambda: self._record(run, sut, plan))]

    def _record(self, run: Run, sut: Sut, plan: Plan) -> Played:
        roles = self.deployment(sut, plan.world)
        with deploy(sut, roles, run=run, world=plan.world, seed=plan.seed) as system:
            for scenario in self.chosen(plan):
                system.run(_create(system, scenario.slug))
        return Played(counted={"scenario": 1})


async def _create(system: Deployment, topic: str) -> None:
    client = await system.client("a")
    asked = {"topic": topic, "partition": 0}
    operation = system.recorder.invoke("a", "create_log", asked)
    answer = await client.control_plane("create_log", operation.arguments)
    system.recorder.complete(operation, answer)


def new_run(folder: Path) -> Run:
    return Run.create(folder / "run", run="test", sut="reference", world="sim", seed=1)


def test_a_profile_is_found_by_its_name() -> None:
    assert [find_profile(name).name for name in PROFILES] == sorted(PROFILES)
    assert {"classic", "migration"} <= set(PROFILES)


def test_stages_that_are_judged_together_have_topics_of_their_own() -> None:
    edges = [edge_topics.EDGES, *edge_topics.TOPICS, *edge_topics.RETAINED]
    tiers = [*topics.TOPICS, divergence.TOPIC, transactions.TOPIC]
    for stage in (faults.STAGE, store_faults.STAGE):
        tiers += [*stage.topics, *stage.made_later]
    stages = [stage for one in PROFILES.values() for stage in one.stages()]

    assert sorted({*edges, *tiers}) == sorted(edges + tiers)
    assert sorted({*stages, *tiers}) == sorted(stages + tiers)


def test_one_that_is_not_built_says_so() -> None:
    built = f"built: {', '.join(PROFILES)}"
    for name in set(KNOWN) - set(PROFILES):
        with pytest.raises(UsageError, match=f"no rules for profile '{name}' yet; {built}"):
            find_profile(name)
    with pytest.raises(UsageError, match=f"there is no profile 'clasic'; {built}"):
        find_profile("clasic")


@pytest.mark.parametrize("world", ["sim", "process"])
def test_every_mutant_breaks_the_profile_that_has_it(world: str) -> None:
    owners = {ref: profile_of(mutant).name for ref, mutant in built_in_mutants(world).items()}

    assert owners == {ref: one.name for one in PROFILES.values() for ref in one.mutants(world)}


def test_a_profile_is_added_by_one_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROFILES, "toy", Toy())
    sut = replace(reference_sut(), profiles=("toy",))
    plan = Plan(world="sim", seed=1, profiles=("toy",))
    run = new_run(tmp_path)

    assert [part.name for part in run_plan(sut, plan).parts] == ["one-log"]
    assert record(run, sut, plan).counted == {"scenario": 1}
    engine = InlineEngine()
    (judged,) = judge(run.folder, Catalogue([RULE]), engine).judgement.judged
    engine.close()
    assert (judged.verdict, judged.result.exercised) == (Verdict.PASS, 1)


CLASSIC = Plan(world="sim", seed=1, profiles=("classic",))


@pytest.mark.sim
def test_a_sound_cluster_passes_the_smoke_test_and_keeps_no_topic(tmp_path: Path) -> None:
    run = new_run(tmp_path)

    assert smoke(run, reference_sut(), CLASSIC) == 6
    lines = (run.folder / "shards" / "smoke-classic.jsonl").read_text("utf-8").splitlines()
    ended = [(line["f"], line["type"]) for line in map(json.loads, lines) if line["kind"] == "op"]
    asked = ["describe_cluster", "create_topics", "produce", "fetch", "delete_topics"]
    assert ended == [(f, how) for f in asked for how in ("invoke", "ok")]


def wrong(decision: str, replacement: Callable[..., object]) -> Mutant:
    return Mutant(name="wrong", decision=decision, replace=replacement)


@pytest.mark.sim
@pytest.mark.parametrize(
    ("mutant", "said"),
    [
        (
            wrong("response-has-tags", lambda api, flexible: flexible and api != "CreateTopics"),
            "create a topic: .*CreateTopicsResponse.*",
        ),
        (
            wrong("enough-replicas-to-append", lambda acks, in_sync, least: acks != -1),
            "append a record within 30 s",
        ),
        (load_mutant("conformance.mutants.recovery:two-kinds-of-readers"), "give back .* 30 s"),
    ],
    ids=["nonsense", "no-append", "no-read"],
)
def test_a_cluster_that_is_none_is_not_judged(tmp_path: Path, mutant: Mutant, said: str) -> None:
    said = f"^reference does not {said}; no rule can be judged$"

    with mutated(mutant), pytest.raises(LabBroken, match=said):
        smoke(new_run(tmp_path), reference_sut(), CLASSIC)
