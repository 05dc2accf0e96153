"""Chaos from the tables of a campaign file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conformance.campaigns import read_campaign, record
from conformance.catalogue import CATALOGUE
from conformance.chaos import Chaos, chaos_steps, part_name, read_chaos
from harness.errors import UsageError
from harness.history import Run
from harness.steps.step import NEMESIS
from harness.sut import reference_sut
from nemesis.faults import FAULTS
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge

CAMPAIGNS = Path(__file__).parents[2] / "nemesis" / "campaigns"
FAULT = "kill leader of t-0"


def given(**chaos: object) -> Chaos:
    return read_chaos({"chaos": {"faults": [FAULT, "pause broker-1"], **chaos}})


@pytest.mark.parametrize("file", sorted(CAMPAIGNS.rglob("*.toml")), ids=lambda file: file.stem)
def test_every_campaign_that_is_shipped_can_be_read(file: Path) -> None:
    campaign = read_campaign(file)

    assert campaign.parts()
    assert campaign.rules


def test_each_fault_begins_and_ends_and_one_period_of_four_is_quiet() -> None:
    chaos = given(minutes=2.0, period_s=10.0, overlap=0.0)

    steps = [one for one in chaos_steps("c", chaos, 1) if one.actor == NEMESIS]

    begun = [one for one in steps if one.verb in FAULTS]
    assert Counter(one.verb for one in steps) - Counter(begun_verbs := [b.verb for b in begun]) == {
        "end": len(begun),
        "heal-all": 7,
    }
    assert set(begun_verbs) == {"kill", "pause"}
    assert len(begun) == 9  # of 12 periods
    named = {one.arguments["part"] for one in begun}
    assert named == {part_name("c", one) for one in chaos.faults}


def test_each_of_two_overlapping_faults_of_one_name_ends_by_its_own_target() -> None:
    chaos = given(faults=["kill leader of t-0", "kill follower of t-0"], minutes=4.0, overlap=1.0)

    steps = [one for one in chaos_steps("c", chaos, 1) if one.actor == NEMESIS]

    begun = Counter(one.arguments["target"] for one in steps if one.verb == "kill")
    assert Counter(one.arguments["target"] for one in steps if one.verb == "end") == begun


def test_it_ends_healed_at_rest_fenced_and_read() -> None:
    chaos = read_chaos({"load": {"producers": 2}, "chaos": {"faults": [FAULT]}})

    ending = [f"{one.actor} {one.verb}" for one in chaos_steps("c", chaos, 1)][-14:]

    assert [one for one in ending if one.split()[1] not in ("wait", "nodes", "progress")] == [
        "nemesis heal-all",
        "lab converge",
        "load end",
        "lab idle",
        "transactions finish",
        "transactions close",
        "transactions rest",
        "transactions read",
        "lab converge",
        "lab read-all",
    ]


def test_the_seed_says_which_fault_comes_when() -> None:
    chaos = given(minutes=3.0)

    assert chaos_steps("c", chaos, 1) == chaos_steps("c", chaos, 1)
    assert chaos_steps("c", chaos, 1) != chaos_steps("c", chaos, 2)


@pytest.mark.parametrize(
    ("chaos", "wrong"),
    [
        ({"minutes": 0}, "lasts up to a day"),
        ({"hours": 2}, r"\[chaos\] has no 'hours'"),
        ({"overlap": "half"}, "overlap is float, not 'half'"),
        ({"faults": ["vanish broker-1"]}, "there is no fault 'vanish'"),
        ({"faults": ["kill"]}, "does not say on whom"),
        ({"overlap": 2}, "overlap 0 to 1"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_sentence(chaos: dict[str, object], wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        given(**chaos)


def test_a_campaign_has_steps_or_chaos(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    file.write_text(
        f"name = 'x'\nprofiles = ['classic']\nsteps = 'lab create'\n[chaos]\nfaults = ['{FAULT}']\n"
    )

    with pytest.raises(UsageError, match="steps or"):
        read_campaign(file)


SHORT = """
name = "short"
profiles = ["classic"]
rules = ["KFK-030", "KFK-031", "KFK-046", "KFK-090"]
[load]
mix = "few"
producers = 2
[chaos]
minutes = 0.3
period_s = 6
recover_every = 1
faults = ["kill leader of t-0", "cut leader of ledger-0 <-> everything else"]
"""


@pytest.mark.sim
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "exit_code"),
    [((), 0), (("conformance.mutants.replication:leader-alone-commits",), 1)],
    ids=["sound", "leader-alone-commits"],
)
def test_chaos_spares_the_sound_and_catches_a_mutant(
    mutant: tuple[str, ...], exit_code: int, tmp_path: Path
) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    campaign = read_campaign(tmp_path / "short.toml")
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim", seed=1)

    record(run, reference_sut(mutants=mutant), campaign, world="sim", seed=1)

    engine = InlineEngine()
    conclusion = judge(run.folder, CATALOGUE, engine)
    engine.close()
    assert conclusion.exit_code == exit_code, conclusion.headline
    assert set(conclusion.faults.landed) == {"cut", "kill"}
