"""Campaigns from files: all roles in one deployment, each of them hurt, judged from the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.campaigns import Campaign, read_campaign, record
from conformance.catalogue import CATALOGUE
from harness.errors import UsageError
from harness.history import Run, read_history
from harness.history.lines import Event
from harness.rules import Verdict
from harness.sut import reference_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge
from spark_checkers.linearizability import model_named, search_events

FILE = Path(__file__).parents[2] / "nemesis" / "campaigns" / "every-role-is-hurt.toml"
ROLES_HURT = {
    "broker-1",  # leads first: frozen until another leads
    "controller",
    "control-plane",
    "object-store",
    "client-i1",
    "client-a → control-plane",
}


def recorded(folder: Path, world: str) -> Path:
    campaign = read_campaign(FILE)
    return recorded_from(campaign, folder, world)


def recorded_from(campaign: Campaign, folder: Path, world: str) -> Path:
    profiles = list(campaign.profiles)
    run = Run.create(folder, run="1", sut="reference", world=world, profiles=profiles, seed=1)
    record(run, reference_sut(), campaign, world=world, seed=1)
    return folder


def verdicts_of(folder: Path) -> dict[str, Verdict]:
    engine = InlineEngine()
    try:
        judged = judge(folder, CATALOGUE, engine).judgement.judged
    finally:
        engine.close()
    return {one.rule.id: one.verdict for one in judged}


def events_of(folder: Path) -> list[Event]:
    return list(read_history(folder / "history.jsonl").events)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("campaign") / "run", "sim")


def check_every_role_was_hurt_and_kept_its_promises(folder: Path) -> None:
    events = events_of(folder)
    landed = [one for one in events if one["kind"] == "fault" and one["phase"] == "landed"]
    assert {one["target"] for one in landed} >= ROLES_HURT
    (plan,) = [one for one in events if one["kind"] == "plan"]
    begun = {one["id"]: one["plan"] for one in events if one.get("plan")}
    assert {begun[one["id"]] for one in landed if one["id"] in begun} == {
        part["name"] for part in plan["parts"]
    }
    verdicts = verdicts_of(folder)
    assert {"KFK-034", "KFK-090", "MIG-021"} <= verdicts.keys() == set(read_campaign(FILE).rules)
    assert set(verdicts.values()) == {Verdict.PASS}
    objects = [one for one in events if one["kind"] != "op" or one["f"] in ("get", "put")]
    assert search_events(objects, model_named("kv")) == []


def test_every_role_is_hurt_in_one_simulated_deployment(simulated: Path) -> None:
    check_every_role_was_hurt_and_kept_its_promises(simulated)


def test_the_same_seed_gives_the_same_bytes(simulated: Path, tmp_path: Path) -> None:
    again = recorded(tmp_path / "run", "sim")

    told = [(one / "history.jsonl").read_bytes().splitlines()[1:-1] for one in (simulated, again)]
    assert told[0] == told[1]


@pytest.mark.process
def test_every_role_is_hurt_in_one_deployment_of_processes(tmp_path: Path) -> None:
    check_every_role_was_hurt_and_kept_its_promises(recorded(tmp_path / "run", "process"))


def test_a_fault_that_does_not_land_leaves_no_proof(tmp_path: Path) -> None:
    told = read_campaign(_file(tmp_path, steps="lab create\nlab converge\n" + OUTAGE))
    folder = recorded_from(told, tmp_path / "run", "sim")

    assert set(verdicts_of(folder).values()) == {Verdict.NO_PROOF}


OUTAGE = """
nemesis object-store-refused target=object-store
lab wait ms=10
nemesis end fault=object-store-refused
lab converge
lab progress
lab read-all
"""


def _file(folder: Path, **given: str) -> Path:
    fields = {"name": "short", "profiles": ["classic"], "object_store": True, "steps": "lab create"}
    lines = [f"{name} = {_toml(value)}" for name, value in {**fields, **given}.items()]
    path = folder / "short.toml"
    path.write_text("\n".join(lines))
    return path


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'''{value}'''" if isinstance(value, str) else repr(value).replace("'", '"')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = 3", "name is str, not 3"),
        ("name = 'a'\nwho = 1", "has no 'who'"),
        ("name = 'a'", "needs profiles, steps"),
        ("name = ", "is no campaign"),
        ("name = '\udcff'", "it is not UTF-8"),
        ("name = 'a'\nprofiles = ['nothing']\nsteps = 'lab create'", "nothing"),
        ("name = 'a'\nprofiles = ['classic']\nsteps = 'lab crate'", "did you mean 'create'"),
        ("name = 'a'\nprofiles = ['classic']\nsteps = 'nemesis kill lasts=5'", "needs target="),
        ("name = 'a'\nprofiles = ['classic']\nsteps = 'lab create'\nbrokers = -1", "0 to 9"),
    ],
)
def test_a_file_that_is_no_campaign_is_refused_with_a_sentence(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(UsageError, match=says):
        read_campaign(path)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("lab wait ms=soon", "ms is a whole number"),
        ("lab wait ms=-5", "0 to 600000 milliseconds"),
        ("lab wait ms=1e9", "ms is a whole number"),
        ("nemesis kill target=broker-1 lasts=-1", "lasts=-1"),
        ("nemesis kill target=broker-1 ms=true", "ms is a whole number"),
        ("nemesis kill target=broker-1 speed=3", "takes no 'speed'"),
        ("nemesis meteor target=broker-1", "has no verb 'meteor'"),
        ("nemesis delay target=broker-1 seconds=long", "seconds is a number"),
        ("load begin mix=few seed=x", "seed is a whole number"),
        ("w put key=../x value=1", "not a key"),
        ("lab converge", "lab create comes before"),
    ],
)
def test_a_step_that_could_not_be_played_is_refused_with_its_line(
    tmp_path: Path, step: str, says: str
) -> None:
    with pytest.raises(UsageError, match=f"line 1: .*{says}"):
        read_campaign(_file(tmp_path, steps=step))


def test_numbers_are_text_where_text_is_asked_for(tmp_path: Path) -> None:
    (step,) = read_campaign(_file(tmp_path, steps="w put key=1 value=1e3")).steps

    assert dict(step.arguments) == {"key": "1", "value": "1e3"}


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("a call get", "a can: "),
        ("nemesis zombie target=broker-1,broker-2", "one leader at a time"),
    ],
)
def test_what_this_deployment_cannot_do_is_a_mistake_of_the_file(
    tmp_path: Path, step: str, says: str
) -> None:
    campaign = read_campaign(_file(tmp_path, steps=f"lab create\n{step}"))

    with pytest.raises(UsageError, match=says):
        recorded_from(campaign, tmp_path / "run", "sim")


def test_steps_that_begin_faults_are_parts_of_the_plan() -> None:
    campaign: Campaign = read_campaign(FILE)

    assert [part.faults[0] for part in campaign.parts()] == [
        "zombie",
        "cut",
        "kill",
        "kill",
        "control-plane-killed",
        "object-store-broken",
        "object-store-reply-lost",
        "pause",
    ]
