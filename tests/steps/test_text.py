"""Steps as text: what parses, what is refused and with which words."""

from __future__ import annotations

from itertools import product

import pytest

from harness.steps.order import (
    ALL_VERBS,
    CLIENT_VERBS,
    LAB_VERBS,
    NEXT,
    Order,
    OutOfOrder,
    Stand,
    Takes,
)
from harness.steps.step import Step
from harness.steps.text import ScriptError
from harness.steps.text import check_order as check_order_of
from harness.steps.text import parse as parse_with
from harness.steps.text import render as render_with
from harness.steps.vocabulary import Vocabulary, verb
from harness.sut.calls import CALLS, SEEDS
from harness.workloads import BoundarySteps, call_step, generate


class Faulting(Vocabulary):
    """A vocabulary without calls."""

    actors = ("nemesis",)

    @verb()
    async def begin(self, step: Step, fault: str, target: str, lasts: int | None = None) -> None:
        """Begin a fault."""


def parse(text: str) -> list[Step]:
    return parse_with(text, BoundarySteps, Faulting)


def render(steps: list[Step]) -> str:
    return render_with(steps, BoundarySteps, Faulting)


def check_order(steps: list[Step]) -> None:
    check_order_of(steps, BoundarySteps)


EXAMPLE = """
    old   hold     initialize_diskless_migration b0=100 epoch=5 seeds=A
    new   call     register_leader_epoch epoch=6     # it takes over

    old   release
    new   call     get_diskless_log_start_offset
"""


def test_a_table_becomes_one_step_a_line() -> None:
    assert [(step.actor, step.verb, step.f) for step in parse(EXAMPLE)] == [
        ("old", "hold", "initialize_diskless_migration"),
        ("new", "call", "register_leader_epoch"),
        ("old", "release", None),
        ("new", "call", "get_diskless_log_start_offset"),
    ]


def test_lines_of_several_vocabularies_are_one_text() -> None:
    text = """
        old      hold     initialize b0=100 epoch=5
        nemesis  begin    fault=kill target="leader of t-0" lasts=200   # in the middle of it
        old      release
    """
    steps = parse(text)
    assert [(step.actor, step.verb, step.line) for step in steps] == [
        ("old", "hold", 2),
        ("nemesis", "begin", 3),
        ("old", "release", 4),
    ]
    expected = {"fault": "kill", "target": "leader of t-0", "lasts": 200}
    assert dict(steps[1].arguments) == expected
    assert parse(render(steps)) == steps


def test_short_names_mean_the_full_ones() -> None:
    short = "a call initialize b0=100 epoch=5 seeds=A p=3 t=x"
    full = (
        "a call initialize_diskless_migration boundary=100 leader_epoch=5 entries=A"
        " partition=3 topic=x"
    )
    assert parse(short) == parse(full)
    assert dict(parse(short)[0].arguments) == {
        "topic": "x",
        "partition": 3,
        "boundary": 100,
        "leader_epoch": 5,
        "entries": SEEDS["A"],
    }


@pytest.mark.parametrize("call", list(CALLS.values()), ids=lambda call: call.alias)
def test_every_call_has_an_alias_that_means_it(call) -> None:
    needs = {"boundary": "b0=20", "leader_epoch": "epoch=1", "entries": "seeds=A"}
    words = " ".join(needs[name] for name in call.needs)
    assert parse(f"a call {call.alias} {words}")[0].f == call.f


def test_what_is_left_out_gets_its_default() -> None:
    arguments = parse("a call set b0=-1")[0].arguments
    assert dict(arguments) == {"topic": "t", "partition": 0, "boundary": -1, "leader_epoch": None}
    assert parse("a call commit")[0].arguments["record_count"] == 1
    assert parse("a call initialize b0=10 epoch=1")[0].arguments["entries"] == ()


def test_an_upgrade_may_name_several_partitions() -> None:
    assert dict(parse("lab upgrade t=old p=0,2")[0].arguments) == {
        "topic": "old",
        "partition": (0, 2),
    }
    assert dict(parse("lab upgrade")[0].arguments) == {}


def test_named_seed_sets_differ_and_lie_below_every_ordinary_boundary() -> None:
    assert len(set(SEEDS.values())) == len(SEEDS)
    for name, entries in SEEDS.items():
        offsets = [entry[4] for entry in entries]
        assert name in ("HIGH", "EDGE", "OVER") or all(offset < 10 for offset in offsets), name


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("old", "a verb must follow 'old'; allowed: call, begin, end"),
        ("old relase", "no verb 'relase'; did you mean 'release'? allowed: call, begin"),
        ("lab hold get", "'lab' has no verb 'hold'; allowed: refuse, heal, break, mend"),
        ("old refuse", "'old' has no verb 'refuse'"),
        ("old call", "a call must follow 'call'; allowed: create, initialize, set, get"),
        ("old call initialise", "no call 'initialise'; did you mean 'initialize'?"),
        ("old call get b0=3", "get takes no 'b0'; allowed: t, p"),
        ("old call initialize b0=3", "initialize needs epoch="),
        ("old call initialize b0=x epoch=1", "b0= takes an integer, found 'x'"),
        ("old call seed seeds=Z", "no seed set 'Z'; allowed: none, A, B"),
        ("old call get p=0 p=1", "'p' is given twice"),
        ("old call get now", "'now' is not key=value"),
        ("old call get p=", "'p=' is not key=value"),
        ("old release", "old cannot release here (old is idle); allowed: call, begin"),
        ("old end extra", "nothing may follow 'end', found 'extra'"),
        ("old lose", "old is idle, so a call must follow"),
        ("lab heal", "lab cannot heal here; allowed: refuse, break, disturb, probe, upgrade"),
        ("lab upgrade p=x", "p= takes an integer, found 'x'"),
        ("nemesis call get", "'nemesis' has no verb 'call'; allowed: begin"),
        ("nemesis begin fault=kill", "begin needs target="),
        ("nemesis begin targe=x fault=kill", "takes no 'targe'; did you mean 'target'? allowed"),
        ("nemesis begin kill", "'kill' is not key=value"),
        ("nemesis begin target='x", "No closing quotation"),
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_what_is_allowed(line: str, said: str) -> None:
    with pytest.raises(ScriptError) as refused:
        parse(f"# a comment\n{line}\n")
    assert str(refused.value).startswith("line 2: ")
    assert said in str(refused.value)


def test_a_script_that_makes_no_sense_as_a_whole_is_refused_at_its_first_wrong_line() -> None:
    with pytest.raises(ScriptError, match=r"line 2: .*old is held; allowed|line 2: .*old is held"):
        parse("old hold get\nold call get\n")
    with pytest.raises(ScriptError, match="old is held, so no call may follow"):
        parse("old hold get\nold lose get\n")


def test_steps_put_together_by_hand_are_checked_the_same_way() -> None:
    with pytest.raises(ScriptError, match="step 'a end': a cannot end here"):
        check_order([Step(actor="a", verb="end")])
    check_order([call_step("a", "begin", "create_log"), Step(actor="a", verb="end")])


@pytest.mark.parametrize(("stand", "verb"), list(product(Stand, CLIENT_VERBS)), ids=str)
def test_only_the_verbs_of_the_order_table_are_legal(stand: Stand, verb: str) -> None:
    order = Order()
    for word in _ways_to(stand):
        order.advance("a", word, with_call=CLIENT_VERBS[word] is not Takes.NOTHING)
    assert order.stand("a") is stand
    with_call = CLIENT_VERBS[verb] is Takes.A_CALL or (
        CLIENT_VERBS[verb] is Takes.MAYBE_A_CALL and stand is Stand.IDLE
    )
    if verb in NEXT[stand]:
        order.advance("a", verb, with_call=with_call)
        assert order.stand("a") is NEXT[stand][verb]
    else:
        with pytest.raises(OutOfOrder):
            order.advance("a", verb, with_call=with_call)


def _ways_to(stand: Stand) -> tuple[str, ...]:
    return {
        Stand.IDLE: (),
        Stand.SENT: ("begin",),
        Stand.HELD: ("hold",),
        Stand.IDLE_PAUSED: ("pause",),
        Stand.SENT_PAUSED: ("begin", "pause"),
        Stand.HELD_PAUSED: ("hold", "pause"),
    }[stand]


def test_two_outages_of_one_kind_cannot_overlap_but_two_kinds_can() -> None:
    parse("lab refuse\nlab break\nlab heal\nlab mend\n")
    with pytest.raises(ScriptError, match="lab cannot refuse here"):
        parse("lab refuse\nlab refuse\n")


def test_every_verb_is_either_a_clients_or_the_labs() -> None:
    assert set(CLIENT_VERBS) | set(LAB_VERBS) == ALL_VERBS
    assert not set(CLIENT_VERBS) & set(LAB_VERBS)


@pytest.mark.parametrize("seed", range(20))
def test_parsing_what_was_rendered_gives_the_same_steps(seed: int) -> None:
    steps = generate(seed, clients=4, partitions=3, operations=60)
    assert parse(render(steps)) == steps


def test_rendering_is_short_and_aligned() -> None:
    assert render(parse(EXAMPLE)) == (
        "old  hold     initialize b0=100 epoch=5 seeds=A\n"
        "new  call     register epoch=6\n"
        "old  release\n"
        "new  call     get\n"
    )
    assert render(parse("lab upgrade t=x p=0,1")) == "lab  upgrade  t=x p=0,1\n"


def test_seeds_without_a_name_cannot_be_rendered() -> None:
    with pytest.raises(ScriptError, match="no name a table could use"):
        render([call_step("a", "call", "seed_producer_state", entries=((1, 2, 3, 4, 5, 6),))])
