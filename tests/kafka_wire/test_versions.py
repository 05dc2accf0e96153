"""Versions that both sides speak, of requests and of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from kio.index import load_entity_schema
from kio.static.constants import EntityType
from kio.static.primitive import i8, i16

from conformance.catalogue import CATALOGUE
from conformance.classic.lab import record_classic
from conformance.lab import run_plan
from conformance.profiles.profile import Plan
from harness.clients.asked import ASKED, lacking
from harness.clients.messages import API_KEYS, build, request_schema
from harness.clients.versions import (
    NotOffered,
    Offered,
    OlderAnswer,
    spoken,
    spoken_version,
    why_not_offered,
)
from harness.history import Run, read_history
from harness.history.plan import LabShard, Skip
from harness.sut import reference_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge

FETCH = {
    "replica_id": -1,
    "max_wait": 1,
    "min_bytes": 1,
    "max_bytes": 100,
    "isolation_level": i8(0),
    "topics": [{"topic": "t", "partitions": [{"partition": 0, "current_leader_epoch": 3}]}],
}


def offers(**most: int) -> Offered:
    """A broker that offers these requests up to a version, and all others as the lab asks them."""
    asked = {name.partition("/")[0]: version for name, version in ASKED.items()}
    return {API_KEYS[api]: (0, version) for api, version in (asked | most).items() if version >= 0}


def test_the_newest_version_of_both_is_spoken() -> None:
    assert spoken_version("fetch", 12, offers(fetch=16)) == 12
    assert spoken_version("fetch", 12, offers(fetch=11)) == 11
    assert spoken_version("fetch", 12, offers(fetch=9)) is None
    assert spoken_version("fetch", 12, {API_KEYS["fetch"]: (13, 17)}) is None


def test_what_means_something_else_in_older_versions_is_not_asked_in_them() -> None:
    assert lacking(offers(produce=11)) == {
        "produce/12": "it offers produce in versions 0 to 11, and the lab asks version 12"
    }


def test_why_a_request_is_not_offered_is_said() -> None:
    assert why_not_offered("fetch", 12, offers(fetch=-1)) == "it does not offer fetch"
    assert why_not_offered("fetch", 12, offers(fetch=4)) == (
        "it offers fetch in versions 0 to 4, and the lab asks versions 10 to 12"
    )


def test_an_older_request_says_the_same() -> None:
    asked = spoken(build(request_schema("fetch", 12), FETCH), offers(fetch=10))

    assert asked.__version__ == 10
    assert asked.topics[0].partitions[0].current_leader_epoch == 3


def test_topics_to_delete_are_named_where_they_have_no_ids() -> None:
    request = build(request_schema("delete_topics", 6), {"topics": [{"name": "t"}], "timeout": 1})

    assert spoken(request, offers(delete_topics=4)).topic_names == ("t",)


def test_what_an_older_request_cannot_say_is_not_offered() -> None:
    with pytest.raises(NotOffered, match="its version of fetch has no rack_id"):
        spoken(build(request_schema("fetch", 12), {**FETCH, "rack_id": "a"}), offers(fetch=10))


def test_an_older_answer_is_read_by_newer_names_and_tells_no_more() -> None:
    older = load_entity_schema("create_topics", 4, EntityType.response)
    told = build(older, {"topics": [{"name": "t", "error_code": i16(0)}]})
    newer = load_entity_schema("create_topics", 7, EntityType.response)

    topic = OlderAnswer(told, newer).topics[0]

    assert (topic.name, topic.topic_id) == ("t", None)
    with pytest.raises(AttributeError):
        _ = topic.colour


@pytest.mark.parametrize(
    ("most", "unseen"),
    [
        ({"offset_for_leader_epoch": -1}, {"KFK-072"}),
        ({"delete_records": -1}, {"KFK-065", "KFK-066", "KFK-067"}),
    ],
)
def test_what_is_not_offered_costs_the_rules_that_need_it(
    most: Mapping[str, int], unseen: set[str], tmp_path: Path
) -> None:
    offered = {**offers(**most, fetch=11, produce=8, metadata=9, create_topics=5, list_offsets=7)}
    sut = reference_sut()
    assert sut.reference is not None
    sut = replace(sut, reference=replace(sut.reference, offered=offered))
    rules = tuple(sorted(unseen | {"KFK-030", "KFK-046"}))
    run = Run.create(tmp_path / "run", run="run", sut="reference", world="sim", seed=1)
    plan = Plan(world="sim", seed=1, profiles=("classic",), rules=rules)
    lab = LabShard(run)
    lab.plan(replace(run_plan(sut, plan), parts=()))

    played = record_classic(run, world="sim", seed=1, sut=sut, faults=())

    for name, reason in played.lacks.items():
        lab.skip(Skip(what="request", name=name, reason=reason))
    lab.found("brokers", [{"id": one} for one in played.brokers])
    lab.close()
    run.seal()
    engine = InlineEngine()
    judged = judge(run.folder, CATALOGUE, engine).judgement.judged
    engine.close()
    (name,) = most
    assert {one.rule.id: (one.verdict.value, one.reason) for one in judged} == {
        one: ("not observable", f"it does not offer {name}") if one in unseen else ("pass", "")
        for one in rules
    }
    asked = {one.get("f") for one in read_history(run.folder / "history.jsonl").events}
    assert name not in asked


def test_rules_name_requests_that_the_lab_asks() -> None:
    named = {request for rule in CATALOGUE for request in rule.requests}

    assert named <= set(ASKED)
