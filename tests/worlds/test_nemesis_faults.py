"""The faults as data, and the player that carries them out, say the same."""

from __future__ import annotations

import pytest
from recording import Play

from harness.steps.order import ALL_VERBS, NEXT, OUTAGES
from harness.worlds.player import FAULTS as PLAYED
from nemesis import FAULTS, fault_of_verb, has_landed
from nemesis.request_faults import REQUEST_FAULTS


def test_player_and_table_agree_on_verb_name_and_evidence() -> None:
    described = {fault.verb: (fault.name, fault.landed) for fault in REQUEST_FAULTS}
    assert described == dict(PLAYED)


def test_every_fault_has_a_verb_of_the_language_and_heals_by_one() -> None:
    for fault in REQUEST_FAULTS:
        assert fault.verb in ALL_VERBS
        assert set(fault.healed_by) <= ALL_VERBS
        assert fault_of_verb(fault.verb) is fault
    assert fault_of_verb("call") is None


def test_what_opens_a_lasting_state_can_be_healed() -> None:
    for verb, closing in OUTAGES.items():
        assert fault_of_verb(verb).healed_by == (closing,)
    after_hold = set(NEXT[NEXT[next(iter(NEXT))]["hold"]]) - {"step", "pause"}
    assert set(fault_of_verb("hold").healed_by) == after_hold


@pytest.mark.parametrize("fault", list(FAULTS.values()), ids=lambda fault: fault.name)
def test_only_a_positive_count_of_the_right_key_has_landed(fault) -> None:
    assert has_landed(fault.name, {fault.landed: 1})
    assert not has_landed(fault.name, {fault.landed: 0})
    assert not has_landed(fault.name, {"something_else": 7})
    assert not has_landed(fault.name, {})
    assert not has_landed("no-such-fault", {fault.landed: 1})


def test_every_landed_line_of_a_world_carries_the_evidence_of_the_table(play: Play) -> None:
    recorded = play(
        "sim",
        """
        a   call    create
        a   hold    get
        a   step
        a   release
        a   lose    get
        a   drop    get
        a   begin   get
        a   pause
        a   kill
        lab refuse
        a   call    get
        lab heal
        lab break
        a   call    get
        lab mend
        """,
    )
    landed = [line for line in recorded.of("fault") if line["phase"] == "landed"]
    assert {line["name"] for line in landed} == {fault.name for fault in REQUEST_FAULTS}
    assert all(has_landed(line["name"], line["evidence"]) for line in landed)
